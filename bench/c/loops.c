/* The same clocks in plain C loops, timed as clockscope times its batches: about 20 us between two fenced counter
 * reads, all clocks in turn, the median over the batches. Prints a JSON object of ns a read.
 *
 *   loops CPU SECONDS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>

#define BATCHES 4096
#define LONGEST 1024

static struct timespec slots[LONGEST];
static uint64_t ticks[LONGEST];

static inline uint64_t now(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static void tsc(int reads)
{
    for (int i = 0; i < reads; i++) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
        ticks[i] = (uint64_t)high << 32 | low;
    }
}

#define LOOP(name, id)                        \
    static void name(int reads)               \
    {                                         \
        for (int i = 0; i < reads; i++)       \
            clock_gettime(id, &slots[i]);     \
    }
LOOP(realtime, CLOCK_REALTIME)
LOOP(monotonic, CLOCK_MONOTONIC)
LOOP(monotonic_raw, CLOCK_MONOTONIC_RAW)
LOOP(boottime, CLOCK_BOOTTIME)
LOOP(process, CLOCK_PROCESS_CPUTIME_ID)
LOOP(thread, CLOCK_THREAD_CPUTIME_ID)

#define USAGE(name, who)                                                    \
    static void name(int reads)                                             \
    {                                                                       \
        struct rusage usage;                                                \
        for (int i = 0; i < reads; i++) {                                   \
            getrusage(who, &usage);                                         \
            ticks[i] = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;     \
        }                                                                   \
    }
USAGE(getrusage_self, RUSAGE_SELF)
USAGE(getrusage_thread, RUSAGE_THREAD)

static void cpu_clock(int reads)
{
    for (int i = 0; i < reads; i++)
        ticks[i] = clock();
}

static void times_call(int reads)
{
    struct tms unused;
    for (int i = 0; i < reads; i++)
        ticks[i] = times(&unused);
}

static struct {
    const char *name;
    void (*loop)(int);
    int reads, batches;
    double cost[BATCHES];
} clocks[] = {
    { "tsc", tsc, 0, 0, { 0 } },
    { "realtime", realtime, 0, 0, { 0 } },
    { "monotonic", monotonic, 0, 0, { 0 } },
    { "monotonic_raw", monotonic_raw, 0, 0, { 0 } },
    { "boottime", boottime, 0, 0, { 0 } },
    { "process", process, 0, 0, { 0 } },
    { "thread", thread, 0, 0, { 0 } },
    { "clock", cpu_clock, 0, 0, { 0 } },
    { "times", times_call, 0, 0, { 0 } },
    { "getrusage", getrusage_self, 0, 0, { 0 } },
    { "getrusage_thread", getrusage_thread, 0, 0, { 0 } },
};
enum { CLOCKS = sizeof clocks / sizeof *clocks };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fprintf(stderr, "usage: loops CPU SECONDS\n"), 2;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set))
        return perror("sched_setaffinity"), 1;
    double start = seconds(), length = atof(argv[2]);
    uint64_t start_ticks = now();
    while (seconds() < start + 0.01)
        ;
    double ticks_per_ns = (now() - start_ticks) / (seconds() - start) / 1e9;
    for (int c = 0; c < CLOCKS; c++) {
        uint64_t before = now();
        clocks[c].loop(32);
        before = now();
        clocks[c].loop(32);
        double reads = 19000 * ticks_per_ns * 32 / (now() - before);
        clocks[c].reads = reads < 1 ? 1 : reads > LONGEST ? LONGEST : reads;
    }
    while (seconds() < start + length)
        for (int c = 0; c < CLOCKS; c++) {
            uint64_t before = now();
            clocks[c].loop(clocks[c].reads);
            double taken = now() - before;
            if (clocks[c].batches < BATCHES)
                clocks[c].cost[clocks[c].batches++] = taken / clocks[c].reads;
        }
    double rate = (now() - start_ticks) / (seconds() - start) / 1e9;
    for (int c = 0; c < CLOCKS; c++) {
        qsort(clocks[c].cost, clocks[c].batches, sizeof(double), ascending);
        printf("%s\"%s\": %.4f", c ? ", " : "{", clocks[c].name, clocks[c].cost[clocks[c].batches / 2] / rate);
    }
    puts("}");
    return 0;
}
