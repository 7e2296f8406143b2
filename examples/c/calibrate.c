/* The counter's frequency and the cost of reading it: the lines that the program rdtsc prints, and
 * what they are worth. Needs no library.
 *
 *     make -C examples/c && examples/c/calibrate */

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "rdtsc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READS = 1000000 };

/* So that the compiler does not drop the reads. */
static volatile uint64_t last;

/* The time of a million reads of the counter, in ns. */
static uint64_t time_rdtsc(void) {
  uint64_t start = 0, end = 0, ticks;
  int read;
  clockscope_os_ns(&start);
  for (read = 0; read < READS; ++read) {
    RDTSC(ticks);
    last = ticks;
  }
  clockscope_os_ns(&end);
  return end - start;
}

/* The same of clock_gettime. */
static uint64_t time_clock_gettime(void) {
  uint64_t start = 0, end = 0;
  struct timespec moment;
  int read;
  clockscope_os_ns(&start);
  for (read = 0; read < READS; ++read) {
    clock_gettime(CLOCK_MONOTONIC, &moment);
    last = (uint64_t)moment.tv_nsec;
  }
  clockscope_os_ns(&end);
  return end - start;
}

static void print_cost(const char *name, uint64_t ns) {
  printf("1m %s=%" PRIu64 " ns.\n  %f ns/%s\n", name, ns, (double)ns / READS, name);
}

int main(void) {
  clockscope_ticks_rate rate;
  uint64_t start_ticks, end_ticks;
  const int error = clockscope_ticks_calibrate(100000000, &rate);
  if (error != 0) {
    fprintf(stderr, "cannot calibrate the counter: %s\n", strerror(error));
    return 1;
  }
  rdtsc_ticks_per_sec = rate.rounded_hz;
  printf("rdtsc_ticks_per_sec=%" PRIu64 ".\n", rdtsc_ticks_per_sec);

  RDTSC(start_ticks);
  usleep(1000);
  RDTSC(end_ticks);
  printf("1ms~=%" PRIu64 " ticks (%f sec).\n", end_ticks - start_ticks,
         (double)(end_ticks - start_ticks) / (double)rdtsc_ticks_per_sec);

  print_cost("rdtsc", time_rdtsc());
  print_cost("clock_gettime", time_clock_gettime());
  printf("the frequency is within %.3f ppm of that\n", clockscope_ticks_bound_ppm(&rate));
  return 0;
}
