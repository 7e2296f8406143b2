/* Calls everything that clockscope.h declares, as C and as C++. Prints what is wrong, and ends with
 * the number of such lines. */

/* clock_gettime is POSIX's, not C's. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <clockscope.h>

#include "expect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <windows.h>
#endif

/* The clock whose timeline the library follows. */
static uint64_t os_ns(void) {
#if defined(_WIN32)
  LARGE_INTEGER count, frequency;
  uint64_t counts, hz;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&count);
  counts = (uint64_t)count.QuadPart;
  hz = (uint64_t)frequency.QuadPart;
  return counts / hz * 1000000000u + counts % hz * 1000000000u / hz;
#else
  struct timespec moment;
  clock_gettime(CLOCK_MONOTONIC, &moment);
  return (uint64_t)moment.tv_sec * 1000000000u + (uint64_t)moment.tv_nsec;
#endif
}

/* The clock that counts suspends, where there is one. */
static uint64_t os_boot_ns(void) {
#if defined(CLOCK_BOOTTIME)
  struct timespec moment;
  clock_gettime(CLOCK_BOOTTIME, &moment);
  return (uint64_t)moment.tv_sec * 1000000000u + (uint64_t)moment.tv_nsec;
#else
  return os_ns();
#endif
}

/* What no slew explains, in ns. */
#define TOLERANCE_NS 1000000u

/* Less for tools under which every instruction takes its time. */
#ifdef FEW_TURNS
enum { TURNS = 5000 };
#else
enum { TURNS = 200000 };
#endif

/* The time is that of the system's clock. Readings often enough for the counter. */
static void check_timeline(void) {
  clockscope_bound bound;
  uint64_t last = 0, worst = 0;
  int turn;
  for (turn = 0; turn < TURNS; ++turn) {
    uint64_t before = os_ns(), now = clockscope_now(), after = os_ns();
    uint64_t off = now < before ? before - now : now > after ? now - after : 0;
    EXPECT(now >= last);
    last = now;
    worst = off > worst ? off : worst;
  }
  EXPECT(clockscope_error_bound(&bound) == CLOCKSCOPE_OK);
  EXPECT(bound.now_ns <= bound.largest_ns);
  EXPECT(worst <= bound.largest_ns + TOLERANCE_NS);
}

/* The same of the clock that counts suspends. */
static void check_boot(void) {
  clockscope_bound bound = {7, 7, 7};
  uint64_t last = 0, worst = 0;
  int turn;
  for (turn = 0; turn < TURNS; ++turn) {
    uint64_t before = os_boot_ns(), now = clockscope_boot_now(), after = os_boot_ns();
    uint64_t off = now < before ? before - now : now > after ? now - after : 0;
    EXPECT(off <= TOLERANCE_NS);
    EXPECT(now >= last);
    last = now;
    worst = off > worst ? off : worst;
  }
  EXPECT(clockscope_boot_error_bound(&bound) == CLOCKSCOPE_OK);
  EXPECT(bound.now_ns <= bound.largest_ns && bound.largest_at_ns != 7);
  EXPECT(worst <= bound.largest_ns + TOLERANCE_NS);
#if defined(CLOCK_BOOTTIME)
  EXPECT(clockscope_boot_counts_suspends() == 1);
#else
  EXPECT(clockscope_boot_counts_suspends() == 0 || clockscope_boot_counts_suspends() == 1);
#endif
  EXPECT(last <= clockscope_boot_now_call());
}

static void check_readings(void) {
  uint64_t start = clockscope_now_unordered(), called;
  int64_t wall = clockscope_wall_now();
  EXPECT(clockscope_now_unordered() + TOLERANCE_NS > start);
  EXPECT(clockscope_elapsed_ns(3, 5) == 2 && clockscope_elapsed_ns(5, 3) == 0);
  EXPECT(wall > INT64_C(1600000000000000000));
  called = clockscope_now_call();
  EXPECT(called <= clockscope_now());
  EXPECT(called <= clockscope_now_after_stores());
  EXPECT(clockscope_try_now(&start) == CLOCKSCOPE_OK && start >= called);
  EXPECT(start <= clockscope_now());
  EXPECT(clockscope_now_unordered_call() > 0);
  EXPECT(clockscope_wall_now_call() > INT64_C(1600000000000000000));
}

/* How often the visitor was called, and after how many calls it ends. */
struct visits {
  int count;
  int end_at;
};

static int visit(const clockscope_evidence_item *item, void *context) {
  struct visits *visits = (struct visits *)context;
  ++visits->count;
  EXPECT(strlen(item->name) > 0 && strlen(item->seen) > 0);
  EXPECT(item->unit && item->source && item->advice);
  EXPECT(item->finding >= CLOCKSCOPE_FINDING_FOR && item->finding <= CLOCKSCOPE_FINDING_UNKNOWN);
  EXPECT(!(item->word && item->has_figure));
  /* It may call the library. */
  EXPECT(clockscope_now() > 0);
  return visits->count == visits->end_at;
}

static void check_evidence(void) {
  struct visits all = {0, -1}, one = {0, 1}, revalidated = {0, -1};
  int passed;
  EXPECT(clockscope_evidence(visit, &all) == all.count && all.count > 1);
  EXPECT(clockscope_evidence(visit, &one) == 1 && one.count == 1);
  passed = clockscope_revalidate(visit, &revalidated);
  EXPECT((passed == 0 || passed == 1) && revalidated.count > 1);
}

static void check_answers(void) {
  clockscope_frequency_range frequency;
  uint64_t step = 0;
  int answer = clockscope_frequency(&frequency);
  EXPECT(answer == CLOCKSCOPE_OK || answer == CLOCKSCOPE_ERROR_UNKNOWN);
  if (answer == CLOCKSCOPE_OK) {
    EXPECT(frequency.lowest_hz <= frequency.hz && frequency.hz <= frequency.highest_hz);
    EXPECT(frequency.hz > 0 && frequency.window_ns > 0);
  }
  answer = clockscope_resolution(&step);
  EXPECT(answer == CLOCKSCOPE_ERROR_UNKNOWN || (answer == CLOCKSCOPE_OK && step > 0));
  answer = clockscope_source();
  EXPECT(answer >= CLOCKSCOPE_SOURCE_COUNTER && answer <= CLOCKSCOPE_SOURCE_NOTHING);
  /* Readings came before. */
  EXPECT(clockscope_generation() > 0);
  EXPECT(clockscope_timeline_offset() == 0);
  answer = clockscope_recheck();
  EXPECT(answer == 0 || answer == 1);
  EXPECT(strcmp(clockscope_version(), CLOCKSCOPE_VERSION) == 0);
  EXPECT(strcmp(clockscope_strerror(CLOCKSCOPE_OK), "success") == 0);
  EXPECT(strcmp(clockscope_strerror(CLOCKSCOPE_ERROR_NULL), clockscope_strerror(12345)) != 0);
  EXPECT(clockscope_page_v1() && clockscope_page_v1()[13] == 1);
}

static void check_advice(void) {
  clockscope_advice advice, longer;
  clockscope_frequency_range frequency;
  uint64_t start, least_ns;
  double sum;
  int answer = clockscope_advise(1, 0.01, &advice);
  EXPECT(clockscope_advise(0, 0.01, &longer) == CLOCKSCOPE_ERROR_ARGUMENT);
  EXPECT(clockscope_advise(1, 0, &longer) == CLOCKSCOPE_ERROR_ARGUMENT);
  EXPECT(answer == CLOCKSCOPE_OK || answer == CLOCKSCOPE_ERROR_UNKNOWN);
  if (answer != CLOCKSCOPE_OK) {
    return;
  }
  EXPECT(advice.overhead_ns > 0 && advice.resolution_ns >= 1 && advice.jitter_ns >= 0);
  sum = advice.overhead_ns + advice.resolution_ns + advice.jitter_ns;
  /* Of 1 ns, so that the share is the sum. */
  EXPECT(advice.reading_error > sum * 0.999 && advice.reading_error < sum * 1.001);
  EXPECT((double)advice.repetitions >= advice.reading_error / 0.01);
  EXPECT((double)advice.repetitions <= advice.reading_error / 0.01 + 1);
  /* 500 spins of 100 us, where the counter is used. */
  least_ns = clockscope_frequency(&frequency) == CLOCKSCOPE_OK ? 49000000 : 0;
  start = clockscope_now();
  answer = clockscope_advise(UINT64_MAX, 0.5, &longer);
  EXPECT(clockscope_elapsed_ns(start, clockscope_now()) >= least_ns);
  EXPECT(answer == CLOCKSCOPE_ERROR_UNKNOWN || (answer == CLOCKSCOPE_OK && longer.repetitions == 1));
}

/* By a clock that is set, so that every figure is exact. */
static void check_stopwatch(void) {
  clockscope_stopwatch watch = CLOCKSCOPE_STOPWATCH_INIT;
  clockscope_manual *clock = clockscope_manual_new(0), *stepping = clockscope_manual_new(10);
  uint64_t now = 7, elapsed = 7;
  EXPECT(clockscope_manual_now(clock, &now) == CLOCKSCOPE_OK && now == 0);
  EXPECT(clockscope_stopwatch_elapsed_at(&watch, 5, &elapsed) == CLOCKSCOPE_OK && elapsed == 0);
  EXPECT(clockscope_stopwatch_start_at(&watch, now) == CLOCKSCOPE_OK);
  EXPECT(clockscope_manual_advance(clock, 2000) == CLOCKSCOPE_OK);
  clockscope_manual_now(clock, &now);
  /* It runs already. */
  clockscope_stopwatch_start_at(&watch, now);
  EXPECT(clockscope_stopwatch_stop_at(&watch, now) == CLOCKSCOPE_OK);
  EXPECT(clockscope_manual_set(clock, 7000) == 1 && clockscope_manual_set(clock, 6999) == 0);
  clockscope_manual_now(clock, &now);
  EXPECT(now == 7000);
  /* It stands already. */
  clockscope_stopwatch_stop_at(&watch, now);
  clockscope_stopwatch_start_at(&watch, now);
  EXPECT(clockscope_stopwatch_elapsed_at(&watch, now + 1, &elapsed) == 0 && elapsed == 2001);
  /* Of a clock that went back. */
  EXPECT(clockscope_stopwatch_elapsed_at(&watch, now - 1, &elapsed) == 0 && elapsed == 2000);
  EXPECT(clockscope_stopwatch_elapsed_at(&watch, UINT64_MAX, &elapsed) == 0);
  EXPECT(elapsed == UINT64_MAX - 7000 + 2000);
  clockscope_stopwatch_restart_at(&watch, 0);
  clockscope_stopwatch_stop_at(&watch, UINT64_MAX);
  clockscope_stopwatch_start_at(&watch, 0);
  EXPECT(clockscope_stopwatch_elapsed_at(&watch, 9, &elapsed) == 0 && elapsed == UINT64_MAX);
  EXPECT(clockscope_stopwatch_reset(&watch) == CLOCKSCOPE_OK);
  EXPECT(clockscope_stopwatch_elapsed_at(&watch, 9, &elapsed) == 0 && elapsed == 0);
  clockscope_manual_now(stepping, &now);
  clockscope_manual_now(stepping, &elapsed);
  EXPECT(now == 0 && elapsed == 10);
  EXPECT(clockscope_manual_free(clock) == CLOCKSCOPE_OK);
  EXPECT(clockscope_manual_free(stepping) == CLOCKSCOPE_OK);
}

/* The stopwatch's own readings lie between others. */
static void check_stopwatch_by_itself(void) {
  clockscope_stopwatch watch = CLOCKSCOPE_STOPWATCH_INIT;
  uint64_t before = clockscope_now(), after, elapsed = 0, later = 0;
  EXPECT(clockscope_stopwatch_start(&watch) == CLOCKSCOPE_OK);
  while (elapsed == 0) {
    EXPECT(clockscope_stopwatch_elapsed(&watch, &elapsed) == CLOCKSCOPE_OK);
  }
  EXPECT(clockscope_stopwatch_stop(&watch) == CLOCKSCOPE_OK);
  after = clockscope_now();
  clockscope_stopwatch_elapsed(&watch, &later);
  EXPECT(elapsed <= later && later <= after - before);
  EXPECT(clockscope_stopwatch_restart(&watch) == CLOCKSCOPE_OK && watch.started_ns >= after);
  EXPECT(watch.counted_ns == 0 && watch.is_running == 1);
}

static void check_nulls(void) {
  clockscope_manual *clock = clockscope_manual_new(0);
  clockscope_stopwatch watch = CLOCKSCOPE_STOPWATCH_INIT;
  uint64_t ns = 7;
  EXPECT(clockscope_advise(1, 0.01, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_manual_now(NULL, &ns) == CLOCKSCOPE_ERROR_NULL && ns == 7);
  EXPECT(clockscope_manual_now(clock, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_manual_advance(NULL, 1) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_manual_set(NULL, 1) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_manual_free(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_manual_free(clock) == CLOCKSCOPE_OK);
  EXPECT(clockscope_stopwatch_reset(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stopwatch_start(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stopwatch_restart(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stopwatch_stop(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stopwatch_elapsed(NULL, &ns) == CLOCKSCOPE_ERROR_NULL && ns == 7);
  EXPECT(clockscope_stopwatch_elapsed(&watch, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_try_now(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_error_bound(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_boot_error_bound(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_frequency(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_resolution(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_evidence(NULL, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_revalidate(NULL, NULL) == CLOCKSCOPE_ERROR_NULL);
}

#if defined(_WIN32)
/* Windows' own clock is served, because the counter is not used there. */
static void check_windows(void) {
  clockscope_frequency_range frequency;
  struct visits visits = {0, -1};
  uint64_t sum;
  EXPECT(clockscope_revalidate(visit, &visits) == 0);
  EXPECT(clockscope_survive_disabled_counter() == CLOCKSCOPE_ERROR_SYSTEM);
  EXPECT(clockscope_source() == CLOCKSCOPE_SOURCE_OS_CLOCK);
  EXPECT(clockscope_frequency(&frequency) == CLOCKSCOPE_ERROR_UNKNOWN);
  SetLastError(1234);
  sum = clockscope_now() + clockscope_now_unordered() + (uint64_t)clockscope_wall_now();
  sum += clockscope_boot_now();
  EXPECT(GetLastError() == 1234 && sum != 0);
}
#endif

int main(void) {
  errno = 1234;
  EXPECT(clockscope_prepare() == CLOCKSCOPE_OK);
  check_readings();
  check_nulls();
  check_advice();
  check_stopwatch();
  check_stopwatch_by_itself();
  check_answers();
  check_evidence();
  EXPECT(errno == 1234);
  check_timeline();
  check_boot();
#if defined(_WIN32)
  check_windows();
#endif
  return wrong;
}
