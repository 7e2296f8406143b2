/* Errors of intervals that a clock measures around work: what the clock shows more than a fenced
 * pair of counters inside, less what that pair takes itself. One a line, in ns, in order of time.
 *
 * errors CLOCK WORK NS COUNT
 * CLOCK: monotonic, realtime, monotonic_raw, boottime, tsc_lfence, rdtscp or rdtscp_lfence.
 * WORK: spin (for NS), touch (NS bytes, each line once) or sleep (for NS). x86-64 alone. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

enum { LINE = 64, BLOCKS = 1000, READS = 100 };

static double ns_per_count;
static volatile char *memory;

static inline uint64_t fenced(void) {
    _mm_lfence();
    uint64_t counts = __rdtsc();
    _mm_lfence();
    return counts;
}

static inline uint64_t system_ns(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline uint64_t tsc_lfence(void) {
    _mm_lfence();
    return __rdtsc();
}

static inline uint64_t rdtscp(void) {
    unsigned core;
    return __rdtscp(&core);
}

static inline uint64_t rdtscp_lfence(void) {
    uint64_t counts = rdtscp();
    _mm_lfence();
    return counts;
}

static void work(const char *name, uint64_t amount) {
    if (name[0] == 't') {
        for (uint64_t at = 0; at < amount; at += LINE) memory[at]++;
    } else if (name[1] == 'p') {
        uint64_t end = __rdtsc() + (uint64_t)((double)amount / ns_per_count);
        while (__rdtsc() < end) { }
    } else {
        struct timespec time = {(time_t)(amount / 1000000000u), (long)(amount % 1000000000u)};
        nanosleep(&time, NULL);
    }
}

struct interval { uint64_t outer, inner; };

#define AROUND(name, read)                                                     \
    static struct interval name##_around(const char *what, uint64_t amount) {  \
        uint64_t began = read;                                                 \
        uint64_t inner_began = fenced();                                       \
        work(what, amount);                                                    \
        uint64_t inner_ended = fenced();                                       \
        uint64_t ended = read;                                                 \
        return (struct interval){ended - began, inner_ended - inner_began};    \
    }
AROUND(monotonic, system_ns(CLOCK_MONOTONIC))
AROUND(realtime, system_ns(CLOCK_REALTIME))
AROUND(monotonic_raw, system_ns(CLOCK_MONOTONIC_RAW))
AROUND(boottime, system_ns(CLOCK_BOOTTIME))
AROUND(tsc_lfence, tsc_lfence())
AROUND(rdtscp, rdtscp())
AROUND(rdtscp_lfence, rdtscp_lfence())

static const struct clock {
    const char *name;
    int is_counter;
    struct interval (*around)(const char *, uint64_t);
} CLOCKS[] = {
    {"monotonic", 0, monotonic_around},   {"realtime", 0, realtime_around},
    {"monotonic_raw", 0, monotonic_raw_around}, {"boottime", 0, boottime_around},
    {"tsc_lfence", 1, tsc_lfence_around}, {"rdtscp", 1, rdtscp_around},
    {"rdtscp_lfence", 1, rdtscp_lfence_around},
};

/* CLOCK_MONOTONIC between two counters, the narrowest of many. */
static void bracket(double *counts, double *ns) {
    uint64_t narrowest = UINT64_MAX;
    for (int index = 0; index < 1000; index++) {
        uint64_t before = fenced(), now = system_ns(CLOCK_MONOTONIC), after = fenced();
        if (after - before < narrowest) {
            narrowest = after - before;
            *counts = (double)before + (double)(after - before) / 2;
            *ns = (double)now;
        }
    }
}

int main(int count, char **words) {
    if (count != 5) return 64;
    const struct clock *clock = NULL;
    for (size_t index = 0; index < sizeof CLOCKS / sizeof *CLOCKS; index++)
        if (!strcmp(CLOCKS[index].name, words[1])) clock = &CLOCKS[index];
    if (!clock) return 3;
    uint64_t amount = strtoull(words[3], NULL, 10);
    size_t wanted = strtoull(words[4], NULL, 10);
    struct interval *found = calloc(wanted, sizeof *found);
    memory = malloc(8 << 20);
    if (!found || !memory) return 71;
    memset((void *)memory, 1, 8 << 20);
    memset(found, 1, wanted * sizeof *found);
    double counts[2], ns[2], least = 1e9;
    bracket(&counts[0], &ns[0]);
    while (system_ns(CLOCK_MONOTONIC) < ns[0] + 3e8) { }
    bracket(&counts[1], &ns[1]);
    ns_per_count = (ns[1] - ns[0]) / (counts[1] - counts[0]);
    for (size_t index = 0; index < wanted; index++) found[index] = clock->around(words[2], amount);
    for (int block = 0; block < BLOCKS; block++) {
        uint64_t began = fenced();
        for (int index = 0; index < READS; index++) fenced();
        double each = (double)(fenced() - began) * ns_per_count / (READS + 1);
        if (each < least) least = each;
    }
    /* The rate over the whole run: that of the start is off by a share that shows in a second. */
    bracket(&counts[1], &ns[1]);
    ns_per_count = (ns[1] - ns[0]) / (counts[1] - counts[0]);
    for (size_t index = 0; index < wanted; index++) {
        double outer = (double)found[index].outer * (clock->is_counter ? ns_per_count : 1);
        printf("%.2f\n", outer - (double)found[index].inner * ns_per_count - least);
    }
    return 0;
}
