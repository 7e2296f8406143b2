/* Reads the time-stamp counter N times in a plain loop, each reading stored, and prints the seconds that this took.
 *
 *   reads CPU N
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS 1024

static uint64_t slots[SLOTS];

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fprintf(stderr, "usage: reads CPU N\n"), 2;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set))
        return perror("sched_setaffinity"), 1;
    long reads = atol(argv[2]);
    double start = seconds();
    for (long i = 0; i < reads; i++) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
        slots[i % SLOTS] = (uint64_t)high << 32 | low;
    }
    printf("{\"seconds\": %.6f}\n", seconds() - start);
    return 0;
}
