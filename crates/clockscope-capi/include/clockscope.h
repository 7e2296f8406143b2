/* clockscope.h: one fast clock that can be defended, for C99 and C++11 or later.
 *
 * clockscope_now() is the time on the timeline of CLOCK_MONOTONIC, for little more than a read of
 * the processor's counter, with an error bound and the evidence for it. It works from the first
 * call on, needs no set-up and no thread, and serves the operating system's clock where the counter
 * cannot be trusted. Link with -lclockscope. clockscope_wall.h has more of the time of day,
 * clockscope_stamps.h bare counts that become times later, clockscope_upkeep.h a recent time.
 *
 * With gcc and clang, on 64-bit x86 and Arm, the readings are inlined: they take the time from the
 * page that the library publishes (docs/concepts/library/page.md). Elsewhere they are calls: with
 * other compilers, on Windows, on 32-bit processors, under ThreadSanitizer, which does not know the
 * page's protocol, and where CLOCKSCOPE_NO_INLINE is defined. A library whose page has another
 * format than this header knows returns a page without a line from clockscope_page_v1(): each
 * reading is a call then.
 *
 * All functions may be called by any thread at any time. None changes errno. A function that
 * returns an int returns a negative clockscope_error where it fails; no other return is negative.
 * Pointers must not be NULL where nothing else is said; those that are yield CLOCKSCOPE_ERROR_NULL,
 * and nothing is written. "Signal-safe" means async-signal-safe: the first call of all included.
 *
 * A program that contains the library twice (a static and a shared one, or a plugin with its own)
 * has two clocks. Their readings are in order only within the sum of their bounds.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_H
#define CLOCKSCOPE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header: clockscope_version() returns the library's. */
#define CLOCKSCOPE_VERSION "0.1.0"
#define CLOCKSCOPE_VERSION_MAJOR 0
#define CLOCKSCOPE_VERSION_MINOR 1
#define CLOCKSCOPE_VERSION_PATCH 0

/* CLOCKSCOPE_API begins every declaration of a function. Define CLOCKSCOPE_STATIC where the static
 * library is linked on Windows. */
#ifndef CLOCKSCOPE_API
#if defined(_WIN32) && !defined(CLOCKSCOPE_STATIC)
#define CLOCKSCOPE_API __declspec(dllimport)
#else
#define CLOCKSCOPE_API extern
#endif
#endif

#ifdef __cplusplus
#define CLOCKSCOPE_NOEXCEPT noexcept
#else
#define CLOCKSCOPE_NOEXCEPT
#endif

#if defined(__GNUC__)
#define CLOCKSCOPE_CONST __attribute__((__const__))
#else
#define CLOCKSCOPE_CONST
#endif

#if defined(__SANITIZE_THREAD__)
#define CLOCKSCOPE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CLOCKSCOPE_TSAN 1
#endif
#endif

/* 1 where readings are inlined, otherwise 0. */
#if !defined(CLOCKSCOPE_NO_INLINE) && !defined(CLOCKSCOPE_TSAN) && defined(__GNUC__) &&            \
    defined(__LP64__) && !defined(_WIN32) && (defined(__x86_64__) || defined(__aarch64__))
#define CLOCKSCOPE_IS_INLINE 1
#else
#define CLOCKSCOPE_IS_INLINE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The reason why a call failed. */
typedef enum clockscope_error {
  CLOCKSCOPE_OK = 0,
  CLOCKSCOPE_ERROR_NULL = -1,       /* a pointer is NULL */
  CLOCKSCOPE_ERROR_NO_CLOCK = -2,   /* no clock of the system answers */
  CLOCKSCOPE_ERROR_UNKNOWN = -3,    /* the figure is not known */
  CLOCKSCOPE_ERROR_PANICKED = -4,   /* the library has failed: please report it */
  CLOCKSCOPE_ERROR_ARGUMENT = -5,   /* a number is out of its range */
  /* -6 to -17: clockscope_stamp_error */
  CLOCKSCOPE_ERROR_SYSTEM = -18,    /* the system refuses, or has no such thing */
  CLOCKSCOPE_ERROR_TIME_LIMIT = -19 /* the time limit has passed */
} clockscope_error;

/* The source of the time. */
typedef enum clockscope_time_source {
  CLOCKSCOPE_SOURCE_COUNTER = 0,
  CLOCKSCOPE_SOURCE_OS_CLOCK = 1, /* until the counter is calibrated, for rare callers, and where
                                     the counter may not be used */
  CLOCKSCOPE_SOURCE_NOTHING = 2   /* every clock refuses: the time stands still */
} clockscope_time_source;

/* Why the clock does not use the counter. A later library may return other numbers. */
typedef enum clockscope_demotion_reason {
  CLOCKSCOPE_DEMOTION_NONE = 0,                /* it does, or is still being calibrated */
  CLOCKSCOPE_DEMOTION_NOT_PERMITTED = 1,       /* the process may not read the counter, or it
                                                  is not known */
  CLOCKSCOPE_DEMOTION_NOT_CLOCKSOURCE = 2,     /* the kernel does not build its clocks on it */
  CLOCKSCOPE_DEMOTION_CLOCKSOURCE_UNKNOWN = 3, /* the kernel does not show whether it does */
  CLOCKSCOPE_DEMOTION_COARSE_OS_CLOCK = 4,     /* the OS clock is too coarse to compare with */
  CLOCKSCOPE_DEMOTION_COARSE_COUNTER = 5,      /* the counter is slower than 1 MHz */
  CLOCKSCOPE_DEMOTION_WRAPS = 6,               /* the counter wraps too soon */
  CLOCKSCOPE_DEMOTION_UNSTEADY = 7,            /* it contradicted the OS clock repeatedly; tried
                                                  again after a pause */
  CLOCKSCOPE_DEMOTION_OUT_OF_ORDER = 8,        /* readings went back between CPUs */
  CLOCKSCOPE_DEMOTION_OS_CLOCK_SLOWER = 9,     /* the OS clock became slower; the counter is
                                                  tried again after a pause */
  CLOCKSCOPE_DEMOTION_ABANDONED = 10,          /* two threads that renewed the clock did not
                                                  come back */
  CLOCKSCOPE_DEMOTION_UNTESTED = 11            /* clockscope_revalidate() tested it on other
                                                  CPUs, or on another machine */
} clockscope_demotion_reason;

/* The meaning of a piece of evidence for using the counter. */
typedef enum clockscope_finding {
  CLOCKSCOPE_FINDING_FOR = 0,
  CLOCKSCOPE_FINDING_AGAINST = 1,
  CLOCKSCOPE_FINDING_UNKNOWN = 2
} clockscope_finding;

/* The distance of the time from CLOCK_MONOTONIC. */
typedef struct clockscope_bound {
  uint64_t now_ns;        /* by a comparison that was made for this answer */
  uint64_t largest_ns;    /* the largest that may have been since the generation began */
  uint64_t largest_at_ns; /* the time of that, to some ms */
} clockscope_bound;

/* The counter's frequency: the mean over a window that ends now, between rigorous bounds. */
typedef struct clockscope_frequency_range {
  double hz;
  double lowest_hz;
  double highest_hz;
  uint64_t window_ns;
} clockscope_frequency_range;

/* Advice on repeating what is timed. Errors are shares of the interval: 0.01 is one percent. The
 * clock's rate has an error of its own, the same share of every interval, which repetitions do not
 * shrink. */
typedef struct clockscope_advice {
  double overhead_ns;   /* two readings overestimate the work between them by this: the median */
  double resolution_ns; /* the smallest difference of two readings that differ */
  double jitter_ns;     /* the overhead's 99th percentile and 15 % of it, less its median */
  double reading_error; /* the sum of the three, of a single measurement */
  uint64_t repetitions; /* the smallest number that divides it to what was asked for */
} clockscope_advice;

/* A clock that a test sets. */
typedef struct clockscope_manual clockscope_manual;

/* A piece of evidence. The texts are UTF-8, belong to the library, and are there until the visitor
 * returns. A later library may have more members, at the end. */
typedef struct clockscope_evidence_item {
  const char *name;   /* the question, in a few words */
  const char *seen;   /* the answer in a sentence */
  const char *word;   /* the answer as one word; NULL where it is a figure, or neither */
  const char *unit;   /* the figure's unit; empty for words and counts */
  const char *source; /* a register, a file, a test */
  const char *advice; /* the remedy; empty where none is needed */
  double figure;      /* the answer as one figure, where has_figure is 1; otherwise NaN */
  int has_figure;     /* 0 or 1 */
  int finding;        /* a clockscope_finding */
} clockscope_evidence_item;

/* A function that is called for each piece of evidence. It returns 0 to go on, and anything else to
 * end. It may call the library. It must not throw, and must not leave by longjmp. */
typedef int clockscope_visit(const clockscope_evidence_item *item, void *context);

/* ---- Readings ---- */

/* Returns the time now, ordered: a reading taken after another one, on any thread, in
 * happens-before order, is never smaller.
 *
 * Unit: ns on the timeline of CLOCK_MONOTONIC, as clock_gettime counts them.
 * Error: clockscope_error_bound(); a fraction of a microsecond against CLOCK_MONOTONIC.
 * Ordering: after everything that happens before it, and before every later store. Later loads may
 *   be done before it, and earlier stores may not be visible to other CPUs yet:
 *   clockscope_now_after_stores() waits for those. On aarch64 an earlier load whose value has not
 *   been needed yet may still be outstanding, unless it acquires.
 * Cost: about twice a bare RDTSC, less than clock_gettime's; about once a millisecond, up to a
 *   microsecond more. A program that calls less often than every 15 us is served CLOCK_MONOTONIC at
 *   about its cost. The first call of a process is a system call; the second takes some 40 to 70 us
 *   more (clockscope_prepare()).
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_now(void) CLOCKSCOPE_NOEXCEPT;

/* Returns the time now, ordered as by clockscope_now(), once all earlier stores of this thread are
 * visible to every CPU: a thread that reads a later time and then loads sees them. After
 * clockscope_now() a store may still wait in the processor's store buffer.
 *
 * Unit, error: as clockscope_now().
 * Ordering: as clockscope_now(), and after all earlier stores. A reading on another thread, by
 *   clockscope_now() or this function, that is greater comes after them, and so do the loads after
 *   it. Equal readings show no order. A load can overtake the counter's instruction in the reading
 *   before it, by less time than a store needs to reach another CPU; a second reading between them
 *   excludes it.
 * Cost: 1 to 2 ns more than clockscope_now(), and the time until the stores are visible.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_now_after_stores(void) CLOCKSCOPE_NOEXCEPT;

/* Returns the time now by a bare read of the counter: the processor may take it earlier, or later,
 * than the program says, by tens of nanoseconds. For durations on one thread that are long against
 * that.
 *
 * Unit, error: as clockscope_now().
 * Ordering: none. Two such readings may be out of order, so subtract with
 *   clockscope_elapsed_ns().
 * Cost: a bare RDTSC's. Otherwise as clockscope_now().
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_now_unordered(void) CLOCKSCOPE_NOEXCEPT;

/* Stores the time now, as clockscope_now() returns it. Fails if no clock answers, where
 * clockscope_now() stands still: in a process whose system calls are denied.
 *
 * Unit, error, ordering: as clockscope_now().
 * Cost: a call, and that of clockscope_now(). While the time stands still, another call of the
 *   system's clock.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_NO_CLOCK, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_try_now(uint64_t *ns) CLOCKSCOPE_NOEXCEPT;

/* Returns the time of day: CLOCK_REALTIME.
 *
 * Unit: ns since the Unix epoch, without leap seconds.
 * Error: a fraction of a microsecond against CLOCK_REALTIME, and whatever that is off from true
 *   time: clockscope_bounded_now() of clockscope_wall.h bounds it. A clock that is set, leaps, or
 *   went on while the machine slept shows within 2.2 ms of use, at once after clockscope_recheck(),
 *   and at once where an upkeep of clockscope_upkeep.h runs (Linux).
 * Ordering: as clockscope_now(), while CLOCK_REALTIME is not set back, across suspends of 2.2 ms
 *   and more, unless the process joins another time namespace.
 * Cost: that of clockscope_now() and a load.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API int64_t clockscope_wall_now(void) CLOCKSCOPE_NOEXCEPT;

/* Returns the time since the machine was started, suspends included: CLOCK_BOOTTIME. Do not
 * subtract it from clockscope_now(), which stands still in a suspend.
 *
 * Unit: ns. Where the system has no such clock: that of clockscope_now().
 * Error: clockscope_boot_error_bound(); a fraction of a microsecond against CLOCK_BOOTTIME. A
 *   suspend shows within 2.2 ms of use, at once after clockscope_recheck(), and at once where an
 *   upkeep of clockscope_upkeep.h runs (Linux).
 * Ordering: as clockscope_now(), across suspends of 2.2 ms and more, unless the process joins
 *   another time namespace.
 * Cost: that of clockscope_now() and a load. Before Linux 5.3 a system call, once a millisecond
 *   where the counter is used.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_boot_now(void) CLOCKSCOPE_NOEXCEPT;

/* ---- Questions ---- */

/* Returns where clockscope_now()'s time comes from at this moment: a clockscope_time_source.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: about that of a reading.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_UNKNOWN for a source that this header does not name,
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_source(void) CLOCKSCOPE_NOEXCEPT;

/* Returns why the clock does not use the counter at this moment: a clockscope_demotion_reason. It
 * is CLOCKSCOPE_DEMOTION_NONE before the first reading. clockscope_evidence() describes the reason
 * and its remedy.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: a call.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_demotion(void) CLOCKSCOPE_NOEXCEPT;

/* Stores how far clockscope_now() is from CLOCK_MONOTONIC: now, and at most since the generation
 * began. The first holds at a moment of the call, and assumes nothing. The largest holds for
 * readings that are at least 3 ms old, if CLOCK_MONOTONIC changes its rate at most once in any 2 ms
 * in which it is read. After a pause it is some 0.4 ms: nothing shows what that clock did after the
 * last comparison.
 *
 * Unit: ns. Error: it is an upper bound. Ordering: none.
 * Cost: some twenty reads of both clocks, about 0.8 us.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_NO_CLOCK, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_error_bound(clockscope_bound *bound) CLOCKSCOPE_NOEXCEPT;

/* Stores how far clockscope_boot_now() is from CLOCK_BOOTTIME: by a comparison that was made for
 * this answer, and at most since the last suspend. A suspend is an error until it is noticed, for
 * 2.2 ms of use at most, which no bound includes.
 *
 * Unit: ns. Error: it is an upper bound, as clockscope_error_bound(). Ordering: none.
 * Cost: some thirty reads of the system's clocks, about 1 us.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL, CLOCKSCOPE_ERROR_NO_CLOCK, CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_boot_error_bound(clockscope_bound *bound) CLOCKSCOPE_NOEXCEPT;

/* Returns whether clockscope_boot_now() goes on in a suspend, as far as the system promises that
 * and answers: 0 or 1.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: a read of the system's clock; at first that of clockscope_prepare(), which it calls.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_boot_counts_suspends(void) CLOCKSCOPE_NOEXCEPT;

/* Returns a number that changes whenever the calibration is invalidated: the machine was
 * suspended, a snapshot was restored, the kernel turned away from the counter, the process was
 * forked. 0 before the first reading.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: a call and a load.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_generation(void) CLOCKSCOPE_NOEXCEPT;

/* Returns how far the time is ahead of CLOCK_MONOTONIC: 0 unless that clock has stepped back, as
 * under a process that joins another time namespace or is restored from a checkpoint. The time then
 * stands still for 10 ms, and goes on from there at the clock's rate, in a new generation. A forked
 * child starts on CLOCK_MONOTONIC again.
 *
 * Unit: ns. Error: none. Ordering: none.
 * Cost: a call and some loads.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API uint64_t clockscope_timeline_offset(void) CLOCKSCOPE_NOEXCEPT;

/* Stores the counter's frequency.
 *
 * Unit: Hz, ns. Error: the true mean frequency is between lowest_hz and highest_hz. Ordering: none.
 * Cost: a few reads of both clocks; one or two milliseconds before the clock is calibrated.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_UNKNOWN where the counter is not used;
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_frequency(clockscope_frequency_range *frequency) CLOCKSCOPE_NOEXCEPT;

/* Stores the smallest difference of two readings that differ, as a search in some thousand of them
 * found it.
 *
 * Unit: ns, at least 1. Error: it is an observed figure. Ordering: none.
 * Cost: about 50 us. It allocates.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_UNKNOWN where no step was found;
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_resolution(uint64_t *ns) CLOCKSCOPE_NOEXCEPT;

/* Calls visit for each piece of evidence about this machine's counter, and why it is used or not.
 * Returns how often it called visit. The library allocates; the caller need not. The context is
 * passed on, and may be NULL.
 *
 * Unit: in each item. Error: none. Ordering: none.
 * Cost: some microseconds; one or two milliseconds before the clock is calibrated. The kernel is
 *   not asked: its answers are those of clockscope_prepare(), of the second reading or of the last
 *   clockscope_recheck(). After these, a confined process may call it: the only system calls are
 *   the allocator's, and CLOCK_MONOTONIC's where there is no vDSO.
 * Threads: any; visit is called by the calling thread, and no lock is held. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL if visit is NULL; CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_evidence(clockscope_visit *visit, void *context);

/* Stores how often to repeat what takes interval_ns between two readings, so that 99 of 100
 * measurements are off by at most this share by their readings. Subtract no overhead from what was
 * measured: reads that follow work cost more than reads in a loop, and work may begin before the
 * first reading has ended. No repetition removes an interruption, or the error of the clock's rate
 * (clockscope_frequency()).
 *
 * It reads the clock around spins of interval_ns, or of 100 us for a longer interval, and compares
 * with the counter between them. Readings after longer work, or work that uses much memory, cost
 * more. Where the counter is not used, nothing is between the readings: the error is too small.
 *
 * Unit: ns, shares. Error: the figures are observed, with inlined readings; where readings are
 *   calls, the call is extra. Ordering: none.
 * Cost: about 0.4 ms and 500 times the interval, of which 50 ms at most; one or two milliseconds
 *   more before the clock is calibrated. It allocates.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_ARGUMENT unless the interval is above 0 and the
 *   error above 0 and finite; CLOCKSCOPE_ERROR_UNKNOWN where no step was found;
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_advise(uint64_t interval_ns, double error,
                                     clockscope_advice *advice) CLOCKSCOPE_NOEXCEPT;

/* ---- Decisions ---- */

/* Asks the kernel now all that readings would ask later, and prepares for forks. Call it before
 * the process confines itself (seccomp, Landlock, chroot). After it, readings and
 * clockscope_source(), clockscope_error_bound(), clockscope_frequency() and clockscope_evidence()
 * make two kinds of system calls alone: the allocator's, and CLOCK_MONOTONIC's where there is no
 * vDSO. Returns CLOCKSCOPE_OK.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: some 50 us; a second call costs nothing.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_prepare(void) CLOCKSCOPE_NOEXCEPT;

/* Asks the kernel again whether the counter may be used, follows the answer, and returns it: 0 or
 * 1. Readings and clockscope_evidence() never ask by themselves; clockscope_evidence() reports the
 * new answers. A process that has confined itself must not call it, unless it may make the system
 * calls.
 *
 * Unit: none. Error: none. Ordering: none.
 * Cost: some 20 us; it opens a file. Some 10 us more where no register states the counter's
 *   frequency: it opens a perf event.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_recheck(void) CLOCKSCOPE_NOEXCEPT;

/* Installs a handler of SIGSEGV that lets the process survive a counter that is disabled
 * (prctl(PR_SET_TSC)) during its life. Without it such a process dies at its next read of any clock
 * of the vDSO. With it clockscope_now() goes on with the system call, and the C library's clocks as
 * coarse ones. A thread that blocks SIGSEGV still dies. Returns CLOCKSCOPE_OK; a second call does
 * nothing.
 *
 * Every other SIGSEGV goes to the action that was there before, with its flags, mask and siginfo. A
 * handler that is installed later must pass on to this one, with all three arguments. If a process
 * has two copies of the library and both install a handler, the later one answers, and only its
 * clock learns that the counter is disabled. A library with a handler must not be unloaded by
 * dlclose().
 *
 * Unit, error, ordering: none.
 * Cost: some system calls, once.
 * Threads: any. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_SYSTEM, also on systems other than Linux on x86-64;
 *   CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_survive_disabled_counter(void) CLOCKSCOPE_NOEXCEPT;

/* Tests the counter on the CPUs that the calling thread may run on. Takes it into use if it passes
 * although the kernel does not build its clocks on it, and gives it up if it fails. Calls visit for
 * each piece of evidence, as clockscope_evidence(), and returns whether it passed: 0 or 1. Outside
 * of Linux it does not pass.
 *
 * Unit: in each item. Error: none. Ordering: none.
 * Cost: some 5 ms for each CPU but the first, in which two CPUs are busy. It starts threads.
 * Threads: any; calls take turns. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL if visit is NULL; CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_revalidate(clockscope_visit *visit, void *context);

/* ---- A clock for tests ---- */

/* Returns a clock at 0 that stands still, or that each reading advances by step_ns. It never goes
 * back. Pass it to clockscope_manual_free() in the end. Ends the process where memory lacks.
 *
 * Unit: ns. Error: none. Ordering: none. Cost: it allocates.
 * Threads: any. Not signal-safe. */
CLOCKSCOPE_API clockscope_manual *clockscope_manual_new(uint64_t step_ns) CLOCKSCOPE_NOEXCEPT;

/* Frees a clock that nothing uses any longer. Returns CLOCKSCOPE_OK.
 *
 * Unit, error, ordering: none. Cost: it frees memory.
 * Threads: any, once. Not signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL. */
CLOCKSCOPE_API int clockscope_manual_free(clockscope_manual *clock) CLOCKSCOPE_NOEXCEPT;

/* Stores the clock's time, and then advances the clock by its step.
 *
 * Unit: ns. Error: none.
 * Ordering: a reading after another one, in happens-before order, is never smaller; with a step,
 *   readings of all threads differ.
 * Cost: a call.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_manual_now(const clockscope_manual *clock,
                                         uint64_t *ns) CLOCKSCOPE_NOEXCEPT;

/* Advances the clock, at most to INT64_MAX. Returns CLOCKSCOPE_OK.
 *
 * Unit: ns. Error: none. Ordering: readings after the call include it. Cost: a call.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_manual_advance(const clockscope_manual *clock,
                                             uint64_t ns) CLOCKSCOPE_NOEXCEPT;

/* Sets the clock to a moment, at most to INT64_MAX. Returns 1; 0 where the moment is in the clock's
 * past, which leaves the clock as it is.
 *
 * Unit: ns. Error: none. Ordering: readings after the call include it. Cost: a call.
 * Threads: any. Signal-safe.
 * Errors: CLOCKSCOPE_ERROR_NULL; CLOCKSCOPE_ERROR_PANICKED. */
CLOCKSCOPE_API int clockscope_manual_set(const clockscope_manual *clock,
                                         uint64_t ns) CLOCKSCOPE_NOEXCEPT;

/* ---- About the library ---- */

/* Returns the address of the page that inlined readings take the time from: 84 words of 64 bits,
 * of format 1. Never NULL, so that readings need not ask. A library whose page has another format
 * returns 84 words that are 0, by which each reading is a call. The address stays the same for the
 * life of the process, in forked children as well.
 *
 * Unit, error, ordering: docs/concepts/library/page.md.
 * Cost: a call; it reads no clock.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API const uint64_t *clockscope_page_v1(void) CLOCKSCOPE_NOEXCEPT CLOCKSCOPE_CONST;

/* Returns a text that describes what a function of this library returned: an error, or success.
 *
 * Unit, error, ordering: none. Cost: a call. The text is static.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API const char *clockscope_strerror(int code) CLOCKSCOPE_NOEXCEPT CLOCKSCOPE_CONST;

/* Returns the library's version, such as "0.1.0".
 *
 * Unit, error, ordering: none. Cost: a call. The text is static.
 * Threads: any. Signal-safe. */
CLOCKSCOPE_API const char *clockscope_version(void) CLOCKSCOPE_NOEXCEPT CLOCKSCOPE_CONST;

/* Return what the ones without _call return, by a call: for inlined readings that cannot take the
 * time from the page. Unit, error, ordering, threads and signals are theirs. Cost: a call more. */
CLOCKSCOPE_API uint64_t clockscope_now_call(void) CLOCKSCOPE_NOEXCEPT;
CLOCKSCOPE_API uint64_t clockscope_now_unordered_call(void) CLOCKSCOPE_NOEXCEPT;
CLOCKSCOPE_API int64_t clockscope_wall_now_call(void) CLOCKSCOPE_NOEXCEPT;
CLOCKSCOPE_API uint64_t clockscope_boot_now_call(void) CLOCKSCOPE_NOEXCEPT;

/* Returns the ns from start to end; 0 if end is not after start. Calls nothing, and may be used
 * anywhere. */
static inline uint64_t clockscope_elapsed_ns(uint64_t start, uint64_t end) CLOCKSCOPE_NOEXCEPT {
  return end > start ? end - start : 0;
}

/* The readings, where they are inlined. */
#include "clockscope_inline.h"

/* ---- A stopwatch ---- */

/* Adds up one or several intervals. Begin with CLOCKSCOPE_STOPWATCH_INIT or
 * clockscope_stopwatch_reset(). The members are the functions' own.
 *
 * Functions that end in _at take the moment from the caller, so that any clock will do:
 * clockscope_manual_now() in tests. The others call clockscope_now() once. All return
 * CLOCKSCOPE_OK, or CLOCKSCOPE_ERROR_NULL. No interval is negative, and the sum ends at UINT64_MAX.
 *
 * Unit: ns. Error, ordering, signals: those of the reading. Cost: the reading's, and a store or
 *   two.
 * Threads: one stopwatch, one thread at a time. */
typedef struct clockscope_stopwatch {
  uint64_t counted_ns; /* sum of the intervals that are over */
  uint64_t started_ns; /* when the running interval began */
  int is_running;      /* 0 or 1 */
} clockscope_stopwatch;

#define CLOCKSCOPE_STOPWATCH_INIT {0, 0, 0}

/* Stops it and sets it to zero. */
static inline int clockscope_stopwatch_reset(clockscope_stopwatch *watch) CLOCKSCOPE_NOEXCEPT {
  if (!watch) {
    return CLOCKSCOPE_ERROR_NULL;
  }
  watch->counted_ns = 0;
  watch->started_ns = 0;
  watch->is_running = 0;
  return CLOCKSCOPE_OK;
}

/* Starts it, or lets it go on. Does nothing to one that runs. */
static inline int clockscope_stopwatch_start_at(clockscope_stopwatch *watch,
                                                uint64_t now_ns) CLOCKSCOPE_NOEXCEPT {
  if (!watch) {
    return CLOCKSCOPE_ERROR_NULL;
  }
  if (!watch->is_running) {
    watch->started_ns = now_ns;
    watch->is_running = 1;
  }
  return CLOCKSCOPE_OK;
}

/* Sets it to zero and starts it. */
static inline int clockscope_stopwatch_restart_at(clockscope_stopwatch *watch,
                                                  uint64_t now_ns) CLOCKSCOPE_NOEXCEPT {
  const int answer = clockscope_stopwatch_reset(watch);
  return answer == CLOCKSCOPE_OK ? clockscope_stopwatch_start_at(watch, now_ns) : answer;
}

/* Stores the time that it has run in all. */
static inline int clockscope_stopwatch_elapsed_at(const clockscope_stopwatch *watch,
                                                  uint64_t now_ns,
                                                  uint64_t *ns) CLOCKSCOPE_NOEXCEPT {
  uint64_t running;
  if (!watch || !ns) {
    return CLOCKSCOPE_ERROR_NULL;
  }
  running = watch->is_running ? clockscope_elapsed_ns(watch->started_ns, now_ns) : 0;
  *ns = running > UINT64_MAX - watch->counted_ns ? UINT64_MAX : watch->counted_ns + running;
  return CLOCKSCOPE_OK;
}

/* Stops it. Does nothing to one that stands. */
static inline int clockscope_stopwatch_stop_at(clockscope_stopwatch *watch,
                                               uint64_t now_ns) CLOCKSCOPE_NOEXCEPT {
  if (!watch) {
    return CLOCKSCOPE_ERROR_NULL;
  }
  clockscope_stopwatch_elapsed_at(watch, now_ns, &watch->counted_ns);
  watch->is_running = 0;
  return CLOCKSCOPE_OK;
}

static inline int clockscope_stopwatch_start(clockscope_stopwatch *watch) CLOCKSCOPE_NOEXCEPT {
  return clockscope_stopwatch_start_at(watch, clockscope_now());
}

static inline int clockscope_stopwatch_restart(clockscope_stopwatch *watch) CLOCKSCOPE_NOEXCEPT {
  return clockscope_stopwatch_restart_at(watch, clockscope_now());
}

static inline int clockscope_stopwatch_stop(clockscope_stopwatch *watch) CLOCKSCOPE_NOEXCEPT {
  return clockscope_stopwatch_stop_at(watch, clockscope_now());
}

static inline int clockscope_stopwatch_elapsed(const clockscope_stopwatch *watch,
                                               uint64_t *ns) CLOCKSCOPE_NOEXCEPT {
  return clockscope_stopwatch_elapsed_at(watch, clockscope_now(), ns);
}

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_H */
