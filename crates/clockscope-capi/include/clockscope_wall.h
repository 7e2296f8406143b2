/* clockscope_wall.h: the time of day beyond clockscope_wall_now(), for C99 and C++11 or later: its
 * error, an interval that contains the true time, and conversions. Link with -lclockscope.
 *
 * All functions may be called by any thread at any time. None changes errno. A function that
 * returns an int returns a negative clockscope_error where it fails, and nothing is written then.
 *
 * This header includes clockscope.h. It needs and defines no feature test macro.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_WALL_H
#define CLOCKSCOPE_WALL_H

#include "clockscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The worth of an interval of clockscope_bounded_now(). From CLOCKSCOPE_STATE_SLEWING on nothing
 * bounds the true time, and the interval is unlimited: INT64_MIN to INT64_MAX. */
typedef enum clockscope_state {
  CLOCKSCOPE_STATE_SYNCHRONIZED = 0,
  CLOCKSCOPE_STATE_WHILE_NOT_SLEWING = 1, /* holds while the time daemon corrects no offset */
  CLOCKSCOPE_STATE_LEAP_SECOND = 2,       /* holds; two seconds wider near a leap second */
  CLOCKSCOPE_STATE_SLEWING = 3,           /* an offset of unknown size is corrected */
  CLOCKSCOPE_STATE_WORTHLESS = 4,         /* the daemon states an error that means nothing */
  CLOCKSCOPE_STATE_UNSYNCHRONIZED = 5,    /* nothing keeps the clock right */
  CLOCKSCOPE_STATE_UNAVAILABLE = 6        /* the system states no error */
} clockscope_state;

/* A moment on both clocks: the timeline of clockscope_now(), and the time of day. It converts
 * readings to the time of day by an addition, and keeps their order. Take one by
 * clockscope_anchor_now(), or fill one in from a record, with the clockscope_wall_generation() of
 * now. */
typedef struct clockscope_anchor {
  int64_t offset_ns;   /* the time of day less the moment */
  uint64_t bound_ns;   /* the offset is off by no more */
  uint64_t generation; /* the clockscope_wall_generation() of the anchor */
} clockscope_anchor;

/* ---- True time ---- */

/* Stores the two moments between which the true time lies, and returns a clockscope_state.
 *
 * Unit: ns since the Unix epoch.
 * Error: the interval is the bound. Its worth depends on the daemon that keeps the clock: the
 *   returned state.
 * Ordering: that of its own interval, as clockscope_now().
 * Cost: that of a call of clockscope_now() and two products; for rare callers some 0.13 us, and
 *   once a second some microseconds.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_bounded_now(int64_t *earliest, int64_t *latest) CLOCKSCOPE_NOEXCEPT;

/* Waits until the true time is certainly after unix_ns, stores the interval that shows it, and
 * returns its clockscope_state. Never early. From CLOCKSCOPE_STATE_SLEWING on nothing bounds the
 * true time: it returns at once, stores INT64_MIN and INT64_MAX, and unix_ns may be past or not.
 *
 * A commit that is to be seen after its own latest moment waits for about the width of the
 * interval. There is no time limit: a moment in an hour takes an hour.
 * clockscope_commit_wait_for() has one.
 *
 * Unit: ns since the Unix epoch.
 * Error: as clockscope_bounded_now().
 * Ordering: the interval's, as clockscope_bounded_now().
 * Cost: it sleeps for at most 100 ms at a time, and spins for the last 0.1 ms.
 * Threads: any. Not signal-safe. A signal does not end the wait.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_commit_wait(int64_t unix_ns, int64_t *earliest,
                                          int64_t *latest) CLOCKSCOPE_NOEXCEPT;

/* Waits as clockscope_commit_wait() does, for limit_ns at most: for a thread that also does
 * something else, or that must not wait for a clock that is wrong by a day. With a limit of 0 it
 * only asks.
 *
 * Unit: unix_ns, earliest and latest: ns since the Unix epoch; limit_ns: ns of clockscope_now(),
 *   without suspends.
 * Error: as clockscope_bounded_now(). The wait may end some time after the limit, as a sleep does.
 * Ordering, cost, threads: as clockscope_commit_wait(). Not signal-safe. A signal does not end the
 *   wait.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_TIME_LIMIT if unix_ns is not certainly past at
 *   the end of the limit; CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_commit_wait_for(int64_t unix_ns, uint64_t limit_ns, int64_t *earliest,
                                              int64_t *latest) CLOCKSCOPE_NOEXCEPT;

/* ---- The wall clock ---- */

/* Returns a number that changes when CLOCK_REALTIME was found to have been set, to have leapt, or
 * to have gone on while the machine slept. What happened before the call shows. It changes as well
 * when the process joins another time namespace. 0 outside of Linux.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: three reads of the system's clocks, some 70 ns; up to twelve where those are interrupted,
 *   and more once the clock was set.
 * Threads: any. Signal-safe. It waits for a lock for some milliseconds at most. */
CLOCKSCOPE_API uint64_t clockscope_wall_generation(void) CLOCKSCOPE_NOEXCEPT;

/* Stores how far clockscope_wall_now() is from CLOCK_REALTIME: by a comparison that was made for
 * this answer, and at most since that clock was set last. A clock that is set is an error until it
 * is noticed, for 2.2 ms of use at most, which no bound includes. clockscope_bounded_now() bounds
 * the distance from the true time.
 *
 * Unit: ns. Error: it is an upper bound, as clockscope_error_bound(). Ordering: none.
 * Cost: some thirty reads of the system's clocks, about 1 us.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_NO_CLOCK, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_wall_error_bound(clockscope_bound *bound) CLOCKSCOPE_NOEXCEPT;

/* ---- Conversions ---- */

/* Stores an anchor of now. Returns CLOCKSCOPE_OK.
 *
 * Unit: ns. Error: bound_ns. Ordering: none.
 * Cost: nine reads of the system's clocks, some 200 ns; up to four times as many where those are
 *   interrupted.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_NO_CLOCK where no wall clock answers;
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_anchor_now(clockscope_anchor *anchor) CLOCKSCOPE_NOEXCEPT;

/* Returns whether both moments of an anchor are still one: 1 if the clocks are as far apart now,
 * within the bounds of both comparisons, and no set was noticed since the anchor was taken. 0
 * otherwise, and where no wall clock answers.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: twice that of clockscope_anchor_now().
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_anchor_is_current(clockscope_anchor anchor) CLOCKSCOPE_NOEXCEPT;

/* Returns the time of day at a moment: that of the anchor, and as much time as lies between. At
 * most INT64_MAX. Calls nothing, and may be used anywhere.
 *
 * Unit: ns since the Unix epoch.
 * Error: the anchor's bound_ns, and clockscope_error_bound() for the moment.
 * Ordering: of two moments, the later has not the earlier time of day.
 * Cost: an addition.
 * Threads: any. Signal-safe. */
static inline int64_t clockscope_anchor_to_wall(clockscope_anchor anchor,
                                                uint64_t ns) CLOCKSCOPE_NOEXCEPT {
  const int64_t moment = ns < (uint64_t)INT64_MAX ? (int64_t)ns : INT64_MAX;
  if (anchor.offset_ns > 0 && moment > INT64_MAX - anchor.offset_ns) {
    return INT64_MAX;
  }
  return anchor.offset_ns + moment;
}

/* Returns the moment of a time of day: 0 where that is before the timeline's beginning, and
 * INT64_MAX at most. Undoes clockscope_anchor_to_wall(). Calls nothing, and may be used anywhere.
 *
 * Unit: ns on the timeline of clockscope_now().
 * Error, ordering, cost, threads, signals: as clockscope_anchor_to_wall(). */
static inline uint64_t clockscope_anchor_to_instant(clockscope_anchor anchor,
                                                    int64_t unix_ns) CLOCKSCOPE_NOEXCEPT {
  uint64_t moment;
  if (unix_ns <= anchor.offset_ns) {
    return 0;
  }
  moment = (uint64_t)unix_ns - (uint64_t)anchor.offset_ns;
  return moment < (uint64_t)INT64_MAX ? moment : (uint64_t)INT64_MAX;
}

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_WALL_H */
