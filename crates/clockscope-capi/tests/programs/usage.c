/* Calls everything that clockscope.h declares, as C and as C++. Prints what is wrong, and ends with
 * the number of such lines. */

/* clock_gettime is POSIX's, not C's. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <clockscope.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int wrong = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: expected %s\n", __LINE__, #condition);                                      \
      ++wrong;                                                                                     \
    }                                                                                              \
  } while (0)

static uint64_t os_ns(void) {
  struct timespec moment;
  clock_gettime(CLOCK_MONOTONIC, &moment);
  return (uint64_t)moment.tv_sec * 1000000000u + (uint64_t)moment.tv_nsec;
}

/* What no slew explains, in ns. */
#define FAR 1000000u

/* The time is CLOCK_MONOTONIC's. Readings often enough for the counter. */
static void check_timeline(void) {
  clockscope_bound bound;
  uint64_t last = 0, worst = 0;
  int turn;
  for (turn = 0; turn < 200000; ++turn) {
    uint64_t before = os_ns(), now = clockscope_now(), after = os_ns();
    uint64_t off = now < before ? before - now : now > after ? now - after : 0;
    EXPECT(now >= last);
    last = now;
    worst = off > worst ? off : worst;
  }
  EXPECT(clockscope_error_bound(&bound) == CLOCKSCOPE_OK);
  EXPECT(bound.now_ns <= bound.largest_ns);
  EXPECT(worst <= bound.largest_ns + FAR);
}

static void check_readings(void) {
  uint64_t start = clockscope_now_unordered(), called;
  int64_t earliest, latest, wall = clockscope_wall_now();
  int state = clockscope_bounded_now(&earliest, &latest);
  EXPECT(clockscope_now_unordered() + FAR > start);
  EXPECT(clockscope_elapsed_ns(3, 5) == 2 && clockscope_elapsed_ns(5, 3) == 0);
  EXPECT(wall > INT64_C(1600000000000000000));
  EXPECT(state >= CLOCKSCOPE_STATE_SYNCHRONIZED && state <= CLOCKSCOPE_STATE_UNAVAILABLE);
  EXPECT(earliest <= latest);
  EXPECT((state >= CLOCKSCOPE_STATE_SLEWING) == (earliest == INT64_MIN && latest == INT64_MAX));
  called = clockscope_now_call();
  EXPECT(called <= clockscope_now());
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
  struct visits all = {0, -1}, one = {0, 1}, tested = {0, -1};
  int passed;
  EXPECT(clockscope_evidence(visit, &all) == all.count && all.count > 1);
  EXPECT(clockscope_evidence(visit, &one) == 1 && one.count == 1);
  passed = clockscope_revalidate(visit, &tested);
  EXPECT((passed == 0 || passed == 1) && tested.count > 1);
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
  answer = clockscope_recheck();
  EXPECT(answer == 0 || answer == 1);
  EXPECT(strcmp(clockscope_version(), CLOCKSCOPE_VERSION) == 0);
  EXPECT(strcmp(clockscope_strerror(CLOCKSCOPE_OK), "success") == 0);
  EXPECT(strcmp(clockscope_strerror(CLOCKSCOPE_ERROR_NULL), clockscope_strerror(12345)) != 0);
  EXPECT(clockscope_page_v1() && clockscope_page_v1()[13] == 1);
}

static void check_nulls(void) {
  int64_t end = 7;
  EXPECT(clockscope_bounded_now(NULL, &end) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_bounded_now(&end, NULL) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_error_bound(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_frequency(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_resolution(NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_evidence(NULL, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_revalidate(NULL, NULL) == CLOCKSCOPE_ERROR_NULL);
}

int main(void) {
  errno = 1234;
  EXPECT(clockscope_prepare() == CLOCKSCOPE_OK);
  check_readings();
  check_nulls();
  check_answers();
  check_evidence();
  EXPECT(errno == 1234);
  check_timeline();
  return wrong;
}
