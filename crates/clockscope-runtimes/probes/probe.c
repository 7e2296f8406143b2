/* A probe of clockscope: how C's stopwatch reads. The protocol is probes/README.md of clockscope-runtimes.
 *
 *     cc -O2 -o probe probe.c && ./probe MILLISECONDS
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READS = 1000, MIN_BATCHES = 6, MAX_DURATIONS = 10000, MAX_STEPS = 20000, SMALL = 100000 };

static struct timespec readings[READS];
static int64_t batch_ns[MAX_DURATIONS], steps[MAX_STEPS];
/* Nearly all differences are below 100,000 ns, forward or back: they are counted by index. The others are few, whatever the clock: they
 * are kept. */
static uint64_t small[2 * SMALL];
static int64_t *others;
static size_t others_length, others_capacity;

static int64_t ns(struct timespec t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec; }

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ns(t);
}

/* One batch, and how long it took. Inlined with a constant id, as in a program that names its clock. */
static inline __attribute__((always_inline)) int64_t batch(clockid_t id) {
    int64_t start = now();
    for (int i = 0; i < READS; i++) clock_gettime(id, &readings[i]);
    return now() - start;
}

static void count(int64_t difference) {
    if (difference >= -SMALL && difference < SMALL) {
        small[difference + SMALL]++;
        return;
    }
    if (others_length == others_capacity) {
        others_capacity = others_capacity ? 2 * others_capacity : 1024;
        others = realloc(others, others_capacity * sizeof *others);
        if (!others) abort();
    }
    others[others_length++] = difference;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static const char *separator = "";

static void print_pair(int64_t difference, uint64_t times) {
    printf("%s[%" PRId64 ",%" PRIu64 "]", separator, difference, times);
    separator = ",";
}

/* Prints those of the others that are below a limit, from one of them on, and tells where it stopped. */
static size_t print_others(size_t from, int64_t limit) {
    while (from < others_length && others[from] < limit) {
        size_t end = from;
        while (end < others_length && others[end] == others[from]) end++;
        print_pair(others[from], end - from);
        from = end;
    }
    return from;
}

static void print_list(const char *key, const int64_t *list, int64_t length) {
    printf(",\"%s\":[", key);
    for (int i = 0; i < length; i++) printf("%s%" PRId64, i ? "," : "", list[i]);
    printf("]");
}

static inline __attribute__((always_inline)) void measure(const char *name, clockid_t id, int milliseconds) {
    struct timespec resolution;
    if (clock_getres(id, &resolution) != 0 || clock_gettime(id, &readings[0]) != 0) {
        printf("{\"clockscope_probe\":1,\"api\":\"clock_gettime(%s)\",\"unavailable\":\"the system does not know this clock\"}\n", name);
        fflush(stdout);
        return;
    }
    for (int i = 0; i < 2 * SMALL; i++) small[i] = 0;
    others_length = 0;
    int64_t batches = 0, seen = 0, last = 0;

    int64_t end = now() + (milliseconds < 1000 ? milliseconds : 1000) * INT64_C(250000);
    do batch(id); while (now() < end);

    end = now() + milliseconds * INT64_C(1000000);
    while (batches < MIN_BATCHES || now() < end) {
        int64_t took = batch(id);
        if (batches < MAX_DURATIONS) batch_ns[batches] = took;
        batches++;
        for (int i = 0; i < READS; i++) {
            int64_t value = ns(readings[i]), difference = value - last;
            last = value;
            if (i > 0) count(difference);
            if (difference != 0 && seen < MAX_STEPS && (i > 0 || batches > 1)) steps[seen++] = difference;
        }
    }

    printf("{\"clockscope_probe\":1,\"api\":\"clock_gettime(%s)\",\"built_on\":\"%s\",", name, name);
    printf("\"moved_by\":\"clocksource\",\"documented_coarse\":false,\"units_per_second\":1000000000,");
    printf("\"nominal_hz\":%" PRId64 ",\"batch_reads\":%d", ns(resolution) ? 1000000000 / ns(resolution) : 1000000000, READS);
    printf(",\"batches\":%" PRId64, batches);
    print_list("batch_ns", batch_ns, batches < MAX_DURATIONS ? batches : MAX_DURATIONS);
    printf(",\"differences\":[");
    separator = "";
    if (others_length) qsort(others, others_length, sizeof *others, ascending);
    size_t above = print_others(0, -SMALL);
    for (int i = 0; i < 2 * SMALL; i++)
        if (small[i]) print_pair(i - SMALL, small[i]);
    print_others(above, INT64_MAX);
    printf("]");
    print_list("steps", steps, seen);
#ifdef __VERSION__
    /* Some compilers put words there, too, in which no version is looked for. */
    if (!__VERSION__[strspn(__VERSION__, "0123456789.")]) printf(",\"version\":\"%s\"", __VERSION__);
#endif
    puts("}");
    fflush(stdout);
}

int main(int argc, char **argv) {
    char *end = "";
    long milliseconds = argc == 2 ? strtol(argv[1], &end, 10) : 0;
    if (*end || milliseconds < 1 || milliseconds > 60000) {
        fprintf(stderr, "usage: probe MILLISECONDS (1 to 60000)\n");
        return 2;
    }
    measure("CLOCK_MONOTONIC", CLOCK_MONOTONIC, (int)milliseconds);
    measure("CLOCK_REALTIME", CLOCK_REALTIME, (int)milliseconds);
#ifdef CLOCK_MONOTONIC_RAW
    measure("CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW, (int)milliseconds);
#endif
}
