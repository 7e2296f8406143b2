/* clockscope_stamps.h: a bare count now, the exact time later, for C99 and C++11 or later. Link
 * with -lclockscope.
 *
 * A stamp is what the processor's counter showed: eight bytes, taken by one instruction. The
 * library keeps a history of comparisons of the counter with CLOCK_MONOTONIC. It converts stamps by
 * that history: now or later, on any thread. Loggers, tracers and profilers take millions of them.
 *
 * Call clockscope_stamps_counter() first. It begins the history, or returns why the counter is not
 * fit for stamps: use clockscope_now() then. Take no stamp before it has returned CLOCKSCOPE_OK. A
 * stamp ends a process by a signal if the process may not read its counter.
 *
 * Call clockscope_stamps_renew() about once a second: shorter periods make narrower bounds. The
 * conversion of a stamp that is later than the last renewal renews by itself.
 *
 * A stamp that was converted keeps its time, and an earlier stamp never becomes a later time. A
 * stamp of another machine or boot becomes a wrong time if the history covers its count. A forked
 * child has no history until it calls clockscope_stamps_counter().
 *
 * All functions may be called by any thread. None changes errno. A function that returns an int
 * returns a negative clockscope_stamp_error or clockscope_error where it fails; nothing is written
 * then. clockscope_strerror() describes both. CLOCKSCOPE_ERROR_UNKNOWN is a reason of a later
 * library that this header does not name.
 *
 * This header includes clockscope_ticks.h and clockscope_wall.h. It needs and defines no feature
 * test macro.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_STAMPS_H
#define CLOCKSCOPE_STAMPS_H

/* 1 where clockscope_ticks.h knows the processor's counter, otherwise 0. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) ||                            \
    defined(__powerpc64__) || (defined(__riscv) && __riscv_xlen == 64) || defined(__s390x__) ||    \
    defined(_M_X64) || defined(_M_IX86)
#define CLOCKSCOPE_HAS_STAMPS 1
#include "clockscope_ticks.h"
#else
#define CLOCKSCOPE_HAS_STAMPS 0
#endif

#include "clockscope_wall.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reason why there are no stamps, or why a stamp has no time. */
typedef enum clockscope_stamp_error {
  CLOCKSCOPE_STAMP_ERROR_NO_COUNTER = -6,      /* no counter of this processor is known */
  CLOCKSCOPE_STAMP_ERROR_NOT_INVARIANT = -7,   /* the processor does not promise that its counter
                                                  runs at one rate and never stops */
  CLOCKSCOPE_STAMP_ERROR_NOT_USED = -8,        /* the clock does not use the counter:
                                                  clockscope_demotion() has the reason */
  CLOCKSCOPE_STAMP_ERROR_NOT_COMPARED = -9,    /* the counter could not be compared with
                                                  CLOCK_MONOTONIC: try again in some ms */
  CLOCKSCOPE_STAMP_ERROR_NO_HISTORY = -10,     /* clockscope_stamps_counter() was not called, or
                                                  by a parent process alone */
  CLOCKSCOPE_STAMP_ERROR_BEFORE_HISTORY = -11, /* the stamp is older than the history */
  CLOCKSCOPE_STAMP_ERROR_FUTURE = -12,         /* the stamp is later than now: it comes from
                                                  another machine, boot or clock */
  CLOCKSCOPE_STAMP_ERROR_GAP = -13,            /* the machine was suspended or moved, or a clock
                                                  stepped, between the renewals around the stamp */
  CLOCKSCOPE_STAMP_ERROR_WENT_BACK = -14,      /* the counter went back: there are two moments of
                                                  this count */
  CLOCKSCOPE_STAMP_ERROR_NO_WALL_TIME = -15,   /* the wall clock was set between the renewals
                                                  around the stamp, or does not answer */
  CLOCKSCOPE_STAMP_ERROR_GIVEN_UP = -16,       /* the counter is not used any more:
                                                  clockscope_demotion() has the reason */
  CLOCKSCOPE_STAMP_ERROR_BUSY = -17            /* the history is being written, perhaps by code that
                                                  this signal handler interrupted: convert later */
} clockscope_stamp_error;

/* ---- The history ---- */

/* Asks the kernel whether the counter is fit for stamps, and begins the history. Returns
 * CLOCKSCOPE_OK, or why the counter is refused. A later call goes on with the history. Call it
 * before the process confines itself (seccomp, Landlock, chroot).
 *
 * Unit, error, ordering: none.
 * Cost: more than two milliseconds at first; some tens of us later. The history takes a megabyte.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_STAMP_ERROR_NO_COUNTER, CLOCKSCOPE_STAMP_ERROR_NOT_INVARIANT,
 *   CLOCKSCOPE_STAMP_ERROR_NOT_USED, CLOCKSCOPE_STAMP_ERROR_NOT_COMPARED,
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_stamps_counter(void) CLOCKSCOPE_NOEXCEPT;

/* Compares the clocks now, for the history. Returns CLOCKSCOPE_OK. If it fails, the stamps that the
 * history covers can still be converted.
 *
 * Unit, error, ordering: none.
 * Cost: some us. The only system calls are those of clockscope_bounded_now().
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_STAMP_ERROR_NO_HISTORY, CLOCKSCOPE_STAMP_ERROR_NOT_COMPARED,
 *   CLOCKSCOPE_STAMP_ERROR_GIVEN_UP, CLOCKSCOPE_STAMP_ERROR_BUSY, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_stamps_renew(void) CLOCKSCOPE_NOEXCEPT;

/* ---- Stamps ---- */

/* Takes a stamp by a bare read of the counter. 0 for processors whose counter is not known.
 *
 * Unit: ticks. Error: clockscope_stamp_instant().
 * Ordering: none. The processor may take it earlier or later than the program says, by tens of
 *   nanoseconds.
 * Cost: that of the counter's instruction.
 * Threads: any. Signal-safe. */
static inline uint64_t clockscope_stamp_unordered(void) CLOCKSCOPE_NOEXCEPT {
#if CLOCKSCOPE_HAS_STAMPS
  return clockscope_ticks_unordered();
#else
  return 0;
#endif
}

/* Takes a stamp after all earlier loads, and before any later instruction: of two stamps in
 * happens-before order, on any threads, the later is not smaller. 0 as above.
 *
 * Unit, error: as clockscope_stamp_unordered().
 * Ordering, cost: clockscope_ticks_start().
 * Threads: any. Signal-safe. */
static inline uint64_t clockscope_stamp(void) CLOCKSCOPE_NOEXCEPT {
#if CLOCKSCOPE_HAS_STAMPS
  return clockscope_ticks_start();
#else
  return 0;
#endif
}

/* ---- Conversions ---- */

/* Stores the moment of a stamp, and the bound of its error unless error_ns is NULL. Returns
 * CLOCKSCOPE_OK.
 *
 * Unit: ns on the timeline of CLOCK_MONOTONIC.
 * Error: *error_ns against CLOCK_MONOTONIC, if that changes its rate at most once in any two
 *   periods of renewal: some 0.1 us where the rate stays the same. clockscope_now() has an error of
 *   its own.
 * Ordering: an earlier stamp is never a later moment, whenever each is converted.
 * Cost: some 20 ns. If the stamp is later than the last renewal, that of clockscope_stamps_renew(),
 *   without a system call where the vDSO answers.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL if ns is NULL; CLOCKSCOPE_ERROR_PANICKED; every
 *   clockscope_stamp_error from CLOCKSCOPE_STAMP_ERROR_NOT_COMPARED on, but for
 *   CLOCKSCOPE_STAMP_ERROR_NO_WALL_TIME. */
CLOCKSCOPE_API int clockscope_stamp_instant(uint64_t stamp, uint64_t *ns,
                                            uint64_t *error_ns) CLOCKSCOPE_NOEXCEPT;

/* Stores the time of day at a stamp: its moment plus the lead of CLOCK_REALTIME then. Returns
 * CLOCKSCOPE_OK.
 *
 * Unit: ns since the Unix epoch, without leap seconds.
 * Error: that of clockscope_stamp_instant() and a fraction of a microsecond, against CLOCK_REALTIME
 *   as it was set then.
 * Ordering, cost: as clockscope_stamp_instant(), on Linux while CLOCK_REALTIME is not set back.
 * Threads: any. Signal-safe.
 * Errors: as clockscope_stamp_instant(), and CLOCKSCOPE_STAMP_ERROR_NO_WALL_TIME. */
CLOCKSCOPE_API int clockscope_stamp_wall(uint64_t stamp, int64_t *unix_ns) CLOCKSCOPE_NOEXCEPT;

/* Stores the two moments between which the true time was at a stamp, and returns a
 * clockscope_state, as clockscope_bounded_now() would have done.
 *
 * Unit: ns since the Unix epoch.
 * Error: the interval is the bound. It is wider than that of clockscope_bounded_now() by what may
 *   have happened between two renewals: 0.5 ms at each end where they are a second apart, and as
 *   much again where others nearby are.
 * Ordering: none. Cost: as clockscope_stamp_instant().
 * Threads: any. Signal-safe.
 * Errors: as clockscope_stamp_instant(). */
CLOCKSCOPE_API int clockscope_stamp_bounded(uint64_t stamp, int64_t *earliest,
                                            int64_t *latest) CLOCKSCOPE_NOEXCEPT;

/* Stores the moments of count stamps, up to the first one that has no time, and returns their
 * number. The reason is that of clockscope_stamp_instant() for the next stamp. Returns 0 if a
 * pointer is NULL. Both pointers may be the same.
 *
 * Unit, error, ordering: as clockscope_stamp_instant().
 * Cost: some 2.5 ns a stamp where neighbors are close in time.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API size_t clockscope_stamp_instants(const uint64_t *stamps, uint64_t *ns,
                                                size_t count) CLOCKSCOPE_NOEXCEPT;

/* ---- Files ---- */

/* Stores the header of a file of stamps, as text with a zero byte behind it: the history from a
 * stamp to now. The program `clockscope stamps` turns counts below it into times, as this process
 * does: take the header after the last stamp, and write the counts behind it, as decimal numbers in
 * lines, or as 64 bits each in little-endian order. Returns 1, or 0 if the header does not fit
 * *size bytes (text may be NULL then). Sets *size to the bytes that it has, the zero byte included.
 * The header grows with each renewal, of any thread: allocate more than that, and call until it
 * fits.
 *
 * Unit, error, ordering: none.
 * Cost: twice that of clockscope_stamps_renew(), and the header's: some 150 bytes for each time
 *   that the rates changed or the clocks did not go on. Allocates.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL if size is NULL; CLOCKSCOPE_ERROR_PANICKED;
 *   CLOCKSCOPE_STAMP_ERROR_NO_HISTORY, CLOCKSCOPE_STAMP_ERROR_GIVEN_UP,
 *   CLOCKSCOPE_STAMP_ERROR_BUSY. */
CLOCKSCOPE_API int clockscope_stamps_header(uint64_t from, char *text,
                                            size_t *size) CLOCKSCOPE_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_STAMPS_H */
