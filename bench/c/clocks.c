/* Cost of a read in C: all kinds in turn, batch by batch, the median over the batches. Prints
 * `name ns` lines.
 *
 *   clocks ROUNDS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <clockscope.h>
#include <clockscope_ticks.h>

#define READS 200
#define KINDS 5

static clockscope_ticks_rate rate;

static uint64_t rdtsc(void) { return clockscope_ticks_unordered(); }
static uint64_t converted(void) { return clockscope_ticks_to_ns(&rate, clockscope_ticks_unordered()); }
static uint64_t now_unordered(void) { return clockscope_now_unordered(); }
static uint64_t now(void) { return clockscope_now(); }

static uint64_t gettime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Ticks of a batch. Each kind has a loop of its own, so that the compiler sees the call. */
#define BATCH(read)                                                                                                    \
    static uint64_t batch_##read(void)                                                                                 \
    {                                                                                                                  \
        uint64_t start = clockscope_ticks_start();                                                                     \
        for (int i = 0; i < READS; i++) {                                                                              \
            uint64_t value = read();                                                                                   \
            __asm__ volatile("" ::"r"(value) : "memory");                                                              \
        }                                                                                                              \
        return clockscope_ticks_stop() - start;                                                                        \
    }
BATCH(rdtsc)
BATCH(converted)
BATCH(now_unordered)
BATCH(now)
BATCH(gettime)

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    long rounds = argc == 2 ? atol(argv[1]) : 0;
    if (rounds < 1)
        return fprintf(stderr, "usage: clocks ROUNDS\n"), 2;
    if (clockscope_ticks_calibrate(100000000, &rate) != 0)
        return fprintf(stderr, "the counter has no known rate\n"), 1;
    const struct {
        const char *name;
        uint64_t (*batch)(void);
    } kinds[KINDS] = {{"rdtsc", batch_rdtsc},
                      {"converted_rdtsc", batch_converted},
                      {"now_unordered", batch_now_unordered},
                      {"now", batch_now},
                      {"os", batch_gettime}};
    uint64_t *costs = calloc((size_t)rounds * KINDS, sizeof *costs);
    if (!costs)
        return perror("calloc"), 1;
    /* An extra fifth comes first, in which the library settles. */
    for (long round = -rounds / 5; round < rounds; round++)
        for (long kind = 0; kind < KINDS; kind++) {
            uint64_t ticks = kinds[kind].batch();
            if (round >= 0)
                costs[kind * rounds + round] = ticks;
        }
    for (long kind = 0; kind < KINDS; kind++) {
        qsort(costs + kind * rounds, (size_t)rounds, sizeof *costs, compare);
        double ns = (double)clockscope_ticks_to_ns(&rate, costs[kind * rounds + rounds / 2]);
        printf("%s %.3f\n", kinds[kind].name, ns / READS);
    }
    return 0;
}
