/* clockscope_upkeep.h: a time that is nearly now, for nearly nothing, for C99 and C++11 or later. A
 * thread writes it down. Link with -lclockscope.
 *
 * The thread also asks the kernel every minute whether the counter may still be used, as
 * clockscope_recheck() does and no reading. Where CLOCK_REALTIME is set, or went on while the
 * machine slept, the kernel wakes the thread (Linux; it takes two file descriptors), and
 * clockscope_wall_now() and clockscope_boot_now() show that at once. The thread renews the history
 * of stamps, if there is one, once a period, and once a millisecond at most. A process that
 * confines itself should start no upkeep, or stop it before.
 *
 * A forked child has no such thread. There, every recent time is clockscope_now(), at that cost, so
 * that it does not stand still; clockscope_upkeep_is_running() returns 0. The child keeps the two
 * file descriptors open until it ends or executes another program. It may start an upkeep of its
 * own.
 *
 * None of the functions changes errno. This header includes clockscope.h. It needs and defines no
 * feature test macro.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_UPKEEP_H
#define CLOCKSCOPE_UPKEEP_H

#include "clockscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A thread that keeps a recent time up to date. */
typedef struct clockscope_upkeep clockscope_upkeep;

/* Starts a thread that writes the time down every period_ns, or every minute if that is longer, and
 * stores the upkeep. Its load is one reading a period; a period of 0 takes a CPU. Calls
 * clockscope_prepare() first. Returns CLOCKSCOPE_OK. Pass the upkeep to clockscope_upkeep_stop() in
 * the end, and before the library is unloaded by dlclose().
 *
 * Unit: ns. Error: none. Ordering: none.
 * Cost: that of a thread. It allocates.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_SYSTEM where the system starts no thread;
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_upkeep_start(uint64_t period_ns,
                                           clockscope_upkeep **upkeep) CLOCKSCOPE_NOEXCEPT;

/* Returns the time that was written down last: that of at most about a period ago, and more if the
 * thread was not run. clockscope_now() if the upkeep is NULL.
 *
 * Unit: ns on the timeline of clockscope_now().
 * Error: its age, and clockscope_error_bound().
 * Ordering: never decreases. A recent time may be smaller than an earlier clockscope_now(): compare
 *   it with recent times.
 * Cost: a call, two loads and a comparison; in a forked child that of clockscope_now() as well.
 * Threads: any, until clockscope_upkeep_stop() is called. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_upkeep_recent(const clockscope_upkeep *upkeep)
    CLOCKSCOPE_NOEXCEPT;

/* Returns whether the thread runs: 0 in a forked child, otherwise 1.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: a system call (getpid).
 * Threads: any, until clockscope_upkeep_stop() is called. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_upkeep_is_running(const clockscope_upkeep *upkeep)
    CLOCKSCOPE_NOEXCEPT;

/* Ends the thread, waits for its end, and frees the upkeep, which nothing uses any longer. Returns
 * CLOCKSCOPE_OK. In a forked child it frees memory, but for what the thread owned.
 *
 * Unit, error, ordering: none.
 * Cost: it waits for the thread, which takes some tens of us. It frees memory.
 * Threads: any, once. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_upkeep_stop(clockscope_upkeep *upkeep) CLOCKSCOPE_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_UPKEEP_H */
