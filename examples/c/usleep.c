/* How long does usleep(1000) really take? Sleeps 200 times and prints a histogram.
 *
 *     make -C examples/c && examples/c/usleep */

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include <clockscope.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLEEPS = 200, BUCKETS = 16, SLEEP_NS = 1000000, WIDEST_BAR = 50 };

static int compare(const void *one, const void *other) {
  const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
  return (a > b) - (a < b);
}

/* Buckets of the time beyond what was asked for: up to 1 us, 2 us, 4 us and so on. */
static int bucket_of(uint64_t ns) {
  uint64_t limit = 1000;
  int bucket = 0;
  while (bucket < BUCKETS - 1 && ns > SLEEP_NS + limit) {
    limit *= 2;
    ++bucket;
  }
  return bucket;
}

int main(void) {
  static uint64_t took[SLEEPS];
  int counts[BUCKETS] = {0}, sleep, bucket, first = BUCKETS, last = 0;
  clockscope_bound bound;
  for (sleep = 0; sleep < SLEEPS; ++sleep) {
    const uint64_t start = clockscope_now();
    usleep(1000);
    took[sleep] = clockscope_elapsed_ns(start, clockscope_now());
    bucket = bucket_of(took[sleep]);
    ++counts[bucket];
    first = bucket < first ? bucket : first;
    last = bucket > last ? bucket : last;
  }
  qsort(took, SLEEPS, sizeof took[0], compare);
  printf("usleep(1000), %d times: median %.1f us, 99 %% within %.1f us, longest %.1f us\n", SLEEPS,
         (double)took[SLEEPS / 2] / 1e3, (double)took[SLEEPS * 99 / 100] / 1e3,
         (double)took[SLEEPS - 1] / 1e3);
  for (bucket = first; bucket <= last; ++bucket) {
    const int bar = (counts[bucket] * WIDEST_BAR + SLEEPS - 1) / SLEEPS;
    if (bucket < BUCKETS - 1) {
      printf("up to %6d us late %5d ", 1 << bucket, counts[bucket]);
    } else {
      printf("later              %5d ", counts[bucket]);
    }
    printf("%.*s\n", bar, "##################################################");
  }
  usleep(3000); /* The largest holds for readings that are at least 3 ms old. */
  if (clockscope_error_bound(&bound) == CLOCKSCOPE_OK) {
    printf("each reading is within %" PRIu64 " ns of CLOCK_MONOTONIC\n", bound.largest_ns);
  }
  return 0;
}
