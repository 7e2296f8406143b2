/* The same clocks in plain C loops, which store each reading and end at an error. They are timed as clockscope times
 * its batches: about 20 us between two fenced counter reads, all clocks in turn, the median over the batches. Prints a
 * JSON object of ns a read.
 *
 *   loops CPU SECONDS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>

#define BATCHES 4096
#define LONGEST 1024

/* What the loops leave. Not static: nothing reads them, and the compiler would leave out the stores. */
struct timespec specs[LONGEST];
struct timeval vals[LONGEST];
struct timeb times_b[LONGEST];
uint64_t ticks[LONGEST];

static inline uint64_t now(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* glibc has it for old programs only. */
__asm__(".symver ftime, ftime@GLIBC_2.2.5");

/* Each is an expression that reads the clock into slot i, and is true if that failed. */
#define COUNTER(text, ...)                                                                      \
    ({                                                                                          \
        uint32_t low, high;                                                                     \
        __asm__ volatile(text : "=a"(low), "=d"(high)::"memory", ##__VA_ARGS__);                \
        ticks[i] = (uint64_t)high << 32 | low;                                                  \
        0;                                                                                      \
    })
#define POSIX(id) clock_gettime(id, &specs[i])
#define COUNT(call) ((ticks[i] = (call)) == (uint64_t)-1)
#define USAGE(who)                                                                              \
    ({                                                                                          \
        struct rusage used;                                                                     \
        int failed = getrusage(who, &used);                                                     \
        ticks[i] = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +                 \
                   (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;                      \
        failed;                                                                                 \
    })

/* A row a clock: its name, and the read. */
#define ROWS(ROW)                                                                               \
    ROW(tsc, COUNTER("rdtsc"))                                                                  \
    ROW(tsc_lfence, COUNTER("lfence; rdtsc"))                                                   \
    ROW(rdtscp, COUNTER("rdtscp", "ecx"))                                                       \
    ROW(rdtscp_lfence, COUNTER("rdtscp; lfence", "ecx"))                                        \
    ROW(tsc_cpuid, COUNTER("xorl %%eax, %%eax; xorl %%ecx, %%ecx; cpuid; rdtsc", "ebx", "ecx")) \
    ROW(realtime, POSIX(CLOCK_REALTIME))                                                        \
    ROW(realtime_coarse, POSIX(CLOCK_REALTIME_COARSE))                                          \
    ROW(tai, POSIX(CLOCK_TAI))                                                                  \
    ROW(monotonic, POSIX(CLOCK_MONOTONIC))                                                      \
    ROW(monotonic_coarse, POSIX(CLOCK_MONOTONIC_COARSE))                                        \
    ROW(monotonic_raw, POSIX(CLOCK_MONOTONIC_RAW))                                              \
    ROW(boottime, POSIX(CLOCK_BOOTTIME))                                                        \
    ROW(process, POSIX(CLOCK_PROCESS_CPUTIME_ID))                                               \
    ROW(thread, POSIX(CLOCK_THREAD_CPUTIME_ID))                                                 \
    ROW(gettimeofday, gettimeofday(&vals[i], NULL))                                             \
    ROW(time, COUNT(time(NULL)))                                                                \
    ROW(ftime, ftime(&times_b[i]))                                                              \
    ROW(timespec_get, timespec_get(&specs[i], TIME_UTC) != TIME_UTC)                            \
    ROW(clock, COUNT(clock()))                                                                  \
    ROW(times, ({ struct tms unused; COUNT(times(&unused)); }))                                   \
    ROW(getrusage, USAGE(RUSAGE_SELF))                                                          \
    ROW(getrusage_thread, USAGE(RUSAGE_THREAD))

#define LOOP(name, read)                        \
    static void name##_loop(int reads)          \
    {                                           \
        for (int i = 0; i < reads; i++)         \
            if (read)                           \
                exit(1);                        \
    }
ROWS(LOOP)

static struct {
    const char *name;
    void (*loop)(int);
    int reads, batches;
    double cost[BATCHES];
} clocks[] = {
#define ENTRY(name, read) { #name, name##_loop, 0, 0, { 0 } },
    ROWS(ENTRY)
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
