/* The counter against clock_gettime and clockscope: the smallest difference of two readings, how far
 * each is from CLOCK_MONOTONIC after a second, and the cost of a million readings.
 *
 *     make -C examples/c && examples/c/shootout */

#include "clockscope_ticks.h"

#include "clockscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { READS = 1000000 };

static clockscope_ticks_rate rate;
/* A moment on both clocks, from which the counter is converted. */
static clockscope_ticks_bracket origin;

static uint64_t by_clock_gettime(void) {
  uint64_t ns = 0;
  clockscope_os_ns(&ns);
  return ns;
}

static uint64_t by_ticks(void) {
  const uint64_t ticks = clockscope_ticks_unordered() - origin.before;
  return origin.ns + clockscope_ticks_to_ns(&rate, ticks);
}

static uint64_t by_clockscope(void) { return clockscope_now(); }

static void compare(const char *name, uint64_t (*now)(void)) {
  uint64_t step = UINT64_MAX, start, end, sum = 0, before, reading, after, off = UINT64_MAX;
  int read, turn;
  for (read = 0, before = now(); read < READS; ++read, before = reading) {
    reading = now();
    step = reading > before && reading - before < step ? reading - before : step;
  }
  /* The least of several, because any may be interrupted. */
  for (turn = 0; turn < 100; ++turn) {
    uint64_t distance;
    before = by_clock_gettime();
    reading = now();
    after = by_clock_gettime();
    distance = reading < before ? before - reading : reading > after ? reading - after : 0;
    off = distance < off ? distance : off;
  }
  start = by_clock_gettime();
  for (read = 0; read < READS; ++read) {
    sum += now();
  }
  end = by_clock_gettime();
  printf("%-14s %8" PRIu64 " %14" PRIu64 " %10.2f%s\n", name, step, off,
         (double)(end - start) / READS, sum == 0 ? " (stands still)" : "");
}

int main(void) {
  uint64_t start;
  const int error = clockscope_ticks_calibrate(10000000, &rate);
  if (error != 0 || clockscope_ticks_take_bracket(&origin) != 0) {
    fprintf(stderr, "cannot calibrate the counter: %s\n", strerror(error));
    return 1;
  }
  printf("counter: %.6f MHz within %.3f ppm\n", rate.hz / 1e6, clockscope_ticks_bound_ppm(&rate));
  for (start = by_clock_gettime(); by_clock_gettime() - start < CLOCKSCOPE_NS_PER_SECOND;) {
  }
  printf("%-14s %8s %14s %10s\n", "", "step, ns", "off by, ns", "cost, ns");
  compare("clock_gettime", by_clock_gettime);
  compare("counter", by_ticks);
  compare("clockscope", by_clockscope);
  return 0;
}
