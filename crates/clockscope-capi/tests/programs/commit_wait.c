/* Waits for moments of true time, with synchronized.c: the kernel seems to know its error. Prints
 * what is wrong, and ends with the number of such lines. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope_wall.h>

#include "expect.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

#define HOUR_NS INT64_C(3600000000000)
#define LIMIT_NS UINT64_C(3000000)

/* Of synchronized.c. */
extern long max_error_us;
extern int status;

static int64_t real_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static volatile sig_atomic_t handled;

static void handle(int number) {
  (void)number;
  ++handled;
}

/* Has a signal come at this interval; none more at 0. */
static void interrupt(suseconds_t microseconds) {
  struct itimerval often;
  memset(&often, 0, sizeof often);
  often.it_value.tv_usec = often.it_interval.tv_usec = microseconds;
  EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
}

/* Waits for a moment that is `ahead_ns` later than the true time can be now. */
static void check_wait(int64_t ahead_ns) {
  int64_t earliest = 7, latest = 7, moment, began;
  int state = clockscope_bounded_now(&earliest, &latest);
  EXPECT(state >= 0 && state < CLOCKSCOPE_STATE_SLEWING);
  EXPECT(latest - earliest >= 2000000);
  moment = latest + ahead_ns;
  began = real_ns();
  state = clockscope_commit_wait(moment, &earliest, &latest);
  EXPECT(state >= 0 && state < CLOCKSCOPE_STATE_SLEWING);
  EXPECT(earliest > moment && latest > earliest);
  /* The true time is the kernel's here, and its error a millisecond at least. */
  EXPECT(real_ns() >= moment + 1000000 && real_ns() > began);
  EXPECT(earliest <= real_ns());
}

/* A wait with a limit ends with the moment, or with the limit. */
static void check_limit(void) {
  int64_t earliest = 7, latest = 7, end = 7;
  uint64_t began;
  int state = clockscope_bounded_now(&earliest, &latest);
  const int64_t moment = latest;
  EXPECT(state >= 0 && state < CLOCKSCOPE_STATE_SLEWING);
  EXPECT(clockscope_commit_wait_for(moment, 0, &end, &end) == CLOCKSCOPE_ERROR_TIME_LIMIT);
  began = clockscope_now();
  state = clockscope_commit_wait_for(moment + HOUR_NS, LIMIT_NS, &end, &end);
  EXPECT(state == CLOCKSCOPE_ERROR_TIME_LIMIT && end == 7);
  EXPECT(clockscope_now() - began >= LIMIT_NS);
  state = clockscope_commit_wait_for(moment + (int64_t)LIMIT_NS, UINT64_MAX, &earliest, &latest);
  EXPECT(state >= 0 && state < CLOCKSCOPE_STATE_SLEWING);
  EXPECT(earliest > moment + (int64_t)LIMIT_NS && latest > earliest);
  EXPECT(clockscope_commit_wait_for(moment, 0, &earliest, &latest) == state && earliest > moment);
}

int main(void) {
  struct sigaction action;
  int64_t earliest = 7, latest = 7, began;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
  errno = 1234;
  check_wait(0);
  check_wait(-1000000);
  check_wait(3000000);
  check_limit();
  interrupt(500);
  check_wait(20000000);
  interrupt(0);
  EXPECT(handled > 10);
  EXPECT(errno == 1234);
  /* Nothing bounds the true time any longer: a wait ends, once the kernel is asked again. */
  status = STA_UNSYNC;
  max_error_us = 16000000;
  began = real_ns();
  EXPECT(clockscope_commit_wait(INT64_MAX, &earliest, &latest) == CLOCKSCOPE_STATE_UNSYNCHRONIZED);
  EXPECT(earliest == INT64_MIN && latest == INT64_MAX);
  earliest = latest = 7;
  EXPECT(clockscope_commit_wait_for(INT64_MAX, UINT64_MAX, &earliest, &latest) ==
         CLOCKSCOPE_STATE_UNSYNCHRONIZED);
  EXPECT(earliest == INT64_MIN && latest == INT64_MAX);
  EXPECT(real_ns() - began < INT64_C(10000000000));
  return wrong;
}
