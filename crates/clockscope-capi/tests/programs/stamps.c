/* Calls everything that clockscope_stamps.h declares, as C and as C++. Prints what is wrong, and
 * ends with the number of such lines. Prints "refused: " and the reason where the counter is not
 * fit for stamps. */

#include <clockscope_stamps.h>

#include "expect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

/* Less for tools under which every instruction takes its time. */
#ifdef FEW_TURNS
enum { TURNS = 500 };
#else
enum { TURNS = 5000 };
#endif

/* Days of any counter. */
#define DAYS (UINT64_C(1) << 50)

/* Nothing has a time before the history begins, and nothing is written. */
static void check_without_history(void) {
  const uint64_t stamp = 12345;
  uint64_t ns = 7, error_ns = 7;
  int64_t earliest = 7, latest = 7;
  size_t size = 7;
  const int none = CLOCKSCOPE_STAMP_ERROR_NO_HISTORY;
  EXPECT(clockscope_stamps_renew() == none);
  EXPECT(clockscope_stamp_instant(stamp, &ns, &error_ns) == none);
  EXPECT(clockscope_stamp_wall(stamp, &earliest) == none);
  EXPECT(clockscope_stamp_bounded(stamp, &earliest, &latest) == none);
  EXPECT(clockscope_stamp_instants(&stamp, &ns, 1) == 0);
  EXPECT(clockscope_stamps_header(stamp, NULL, &size) == none);
  EXPECT(ns == 7 && error_ns == 7 && earliest == 7 && latest == 7 && size == 7);
}

static void check_nulls(void) {
  const uint64_t stamp = clockscope_stamp();
  uint64_t ns = 7;
  int64_t end = 7;
  EXPECT(clockscope_stamp_instant(stamp, NULL, &ns) == CLOCKSCOPE_ERROR_NULL && ns == 7);
  EXPECT(clockscope_stamp_instant(stamp, NULL, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stamp_wall(stamp, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stamp_bounded(stamp, NULL, &end) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_stamp_bounded(stamp, &end, NULL) == CLOCKSCOPE_ERROR_NULL && end == 7);
  EXPECT(clockscope_stamp_instants(NULL, &ns, 1) == 0 && ns == 7);
  EXPECT(clockscope_stamp_instants(&stamp, NULL, 1) == 0);
  EXPECT(clockscope_stamp_instants(&stamp, &ns, 0) == 0 && ns == 7);
}

/* A converted stamp is between the readings before and after it, within the bounds of both. */
static void check_moments(void) {
  static uint64_t before[TURNS], stamps[TURNS], after[TURNS], times[TURNS];
  clockscope_bound bound = {0, 0, 0};
  uint64_t last = 0;
  size_t index;
  for (index = 0; index < TURNS; ++index) {
    before[index] = clockscope_now();
    stamps[index] = clockscope_stamp();
    after[index] = clockscope_now();
    EXPECT(index == 0 || stamps[index] >= stamps[index - 1]);
    if (index % 1000 == 0) {
      EXPECT(clockscope_stamps_renew() == CLOCKSCOPE_OK);
    }
  }
  EXPECT(clockscope_error_bound(&bound) == CLOCKSCOPE_OK);
  EXPECT(clockscope_stamp_instants(stamps, times, TURNS) == TURNS);
  for (index = 0; index < TURNS; ++index) {
    uint64_t ns = 0, error_ns = UINT64_MAX, off;
    EXPECT(clockscope_stamp_instant(stamps[index], &ns, &error_ns) == CLOCKSCOPE_OK);
    EXPECT(ns == times[index] && ns >= last);
    last = ns;
    off = ns < before[index] ? before[index] - ns : ns > after[index] ? ns - after[index] : 0;
    /* Each is rounded down. */
    EXPECT(error_ns < UINT64_MAX / 2 && off <= error_ns + bound.largest_ns + 1);
    EXPECT(clockscope_stamp_instant(stamps[index], &ns, NULL) == CLOCKSCOPE_OK && ns == last);
  }
  /* In place. */
  EXPECT(clockscope_stamp_instants(stamps, stamps, TURNS) == TURNS);
  EXPECT(memcmp(stamps, times, sizeof stamps) == 0);
}

static void check_time_of_day(void) {
  const uint64_t stamp = clockscope_stamp_unordered();
  int64_t wall = 0, earliest, latest;
  int answer = clockscope_stamp_wall(stamp, &wall), state;
  /* The clock may have been set just now. */
  EXPECT(answer == CLOCKSCOPE_OK || answer == CLOCKSCOPE_STAMP_ERROR_NO_WALL_TIME);
  EXPECT(answer != CLOCKSCOPE_OK || wall > INT64_C(1600000000000000000));
  state = clockscope_stamp_bounded(stamp, &earliest, &latest);
  EXPECT(state >= CLOCKSCOPE_STATE_SYNCHRONIZED && state <= CLOCKSCOPE_STATE_UNAVAILABLE);
  EXPECT(earliest <= latest);
  EXPECT((state >= CLOCKSCOPE_STATE_SLEWING) == (earliest == INT64_MIN && latest == INT64_MAX));
}

/* Stamps that this process cannot have taken. */
static void check_strangers(void) {
  const uint64_t now = clockscope_stamp(), future = now + DAYS, past = now - DAYS;
  const uint64_t mixed[4] = {now, now, future, now};
  uint64_t ns = 7, error_ns = 7, times[4] = {7, 7, 7, 7};
  int64_t earliest = 7, latest = 7;
  EXPECT(clockscope_stamp_instant(future, &ns, &error_ns) == CLOCKSCOPE_STAMP_ERROR_FUTURE);
  EXPECT(clockscope_stamp_instant(past, &ns, &error_ns) == CLOCKSCOPE_STAMP_ERROR_BEFORE_HISTORY);
  EXPECT(clockscope_stamp_wall(future, &earliest) == CLOCKSCOPE_STAMP_ERROR_FUTURE);
  EXPECT(clockscope_stamp_bounded(future, &earliest, &latest) == CLOCKSCOPE_STAMP_ERROR_FUTURE);
  EXPECT(ns == 7 && error_ns == 7 && earliest == 7 && latest == 7);
  EXPECT(clockscope_stamp_instants(mixed, times, 4) == 2);
  EXPECT(times[0] != 7 && times[0] == times[1] && times[2] == 7 && times[3] == 7);
}

/* The header that is stored is whole, and where it does not fit nothing is. */
static void check_header(void) {
  static char text[1 << 20];
  const uint64_t stamp = clockscope_stamp();
  size_t size = 0, small = 10;
  EXPECT(clockscope_stamps_header(stamp, text, NULL) == CLOCKSCOPE_ERROR_NULL);
  EXPECT(clockscope_stamps_header(stamp, NULL, &size) == 0 && size > 100);
  text[0] = '?';
  EXPECT(clockscope_stamps_header(stamp, text, &small) == 0 && small > 100 && text[0] == '?');
  size = sizeof text;
  EXPECT(clockscope_stamps_header(stamp, text, &size) == 1 && size < sizeof text);
  EXPECT(strlen(text) + 1 == size);
  EXPECT(strncmp(text, "clockscope stamps 1\nclock counter\n", 34) == 0);
  EXPECT(strcmp(text + size - 5, "end\n") == 0);
}

/* A child begins a history of its own. Windows has no forks. */
#if !defined(_WIN32)
static void check_fork(void) {
  const uint64_t inherited = clockscope_stamp();
  int status = 0;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    uint64_t ns = 7;
    const int none = CLOCKSCOPE_STAMP_ERROR_NO_HISTORY;
    EXPECT(clockscope_stamp_instant(inherited, &ns, NULL) == none && ns == 7);
    EXPECT(clockscope_stamps_renew() == none);
    EXPECT(clockscope_stamps_counter() == CLOCKSCOPE_OK);
    EXPECT(clockscope_stamp_instant(clockscope_stamp(), &ns, NULL) == CLOCKSCOPE_OK && ns > 7);
    fflush(stdout);
    _exit(wrong);
  }
  EXPECT(child > 0);
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

int main(void) {
  int answer;
  errno = 1234;
  check_without_history();
  answer = clockscope_stamps_counter();
  if (answer != CLOCKSCOPE_OK) {
    EXPECT(answer <= CLOCKSCOPE_STAMP_ERROR_NO_COUNTER &&
           answer >= CLOCKSCOPE_STAMP_ERROR_NOT_COMPARED);
    check_without_history();
    if (!wrong) {
      printf("refused: %s\n", clockscope_strerror(answer));
    }
    return wrong;
  }
  /* A second call changes nothing. */
  EXPECT(clockscope_stamps_counter() == CLOCKSCOPE_OK);
  check_nulls();
  check_moments();
  check_time_of_day();
  check_strangers();
  check_header();
  EXPECT(errno == 1234);
#if !defined(_WIN32)
  check_fork();
#endif
  return wrong;
}
