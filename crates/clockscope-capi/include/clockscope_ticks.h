/* clockscope_ticks.h: the processor's counter, for C99 and C++11 or later. A single header, without
 * a library.
 *
 * It reads the counter, compares it with the system's monotonic clock, and converts. It does not
 * know whether the counter can be trusted: `clockscope` reports that, and clockscope.h serves the
 * time by the counter only where it can.
 *
 * Counters: x86-64 and x86 (TSC), aarch64 (CNTVCT), POWER (time base), riscv64 (RDTIME), s390x
 * (time-of-day clock). A process whose counter is disabled (prctl(PR_SET_TSC)) ends at a read by a
 * signal.
 * Compilers: gcc and clang; MSVC on x86-64 and x86, which is not tested.
 *
 * It defines no feature test macro, and on Linux it needs none: it may be included before or after
 * other headers, with any of these macros or with none.
 *
 * All functions may be called by any thread. Those of the first two parts are async-signal-safe.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_TICKS_H
#define CLOCKSCOPE_TICKS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#if defined(_WIN32)
#ifdef WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef WIN32_LEAN_AND_MEAN
#endif
#else
/* Without feature test macros, <time.h> of C99 has no struct timespec, but this has. */
#include <sched.h>
#endif

#if defined(_MSC_VER) && !defined(__GNUC__)
#include <intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions of the system ---- */

#if defined(__linux__)

/* The C library declares these functions only with feature test macros. Names of this header's own
 * conflict with no declaration of the C library or of the program. */
#define CLOCKSCOPE_TICKS_MONOTONIC 1

/* The symbols for a time_t of 64 bits on 32-bit processors: glibc's and musl's. */
#if defined(__i386__) && defined(__USE_TIME_BITS64)
#define CLOCKSCOPE_TICKS_GETTIME "__clock_gettime64"
#define CLOCKSCOPE_TICKS_GETRES "__clock_getres64"
#elif defined(__i386__) && defined(_REDIR_TIME64)
#define CLOCKSCOPE_TICKS_GETTIME "__clock_gettime64"
#define CLOCKSCOPE_TICKS_GETRES "__clock_getres_time64"
#else
#define CLOCKSCOPE_TICKS_GETTIME "clock_gettime"
#define CLOCKSCOPE_TICKS_GETRES "clock_getres"
#endif

extern int clockscope_ticks_gettime_(int clock, struct timespec *moment)
    __asm__(CLOCKSCOPE_TICKS_GETTIME);
extern int clockscope_ticks_getres_(int clock, struct timespec *tick)
    __asm__(CLOCKSCOPE_TICKS_GETRES);
extern int clockscope_ticks_setaffinity_(int thread, size_t size, const unsigned long *cpus)
    __asm__("sched_setaffinity");

#undef CLOCKSCOPE_TICKS_GETTIME
#undef CLOCKSCOPE_TICKS_GETRES

#elif !defined(_WIN32)

#define CLOCKSCOPE_TICKS_MONOTONIC CLOCK_MONOTONIC
#define clockscope_ticks_gettime_ clock_gettime
#define clockscope_ticks_getres_ clock_getres

#endif

/* ---- Reads of the counter ---- */

/* The code of a bare read of the counter, of one with fences on both sides, and of one with a fence
 * before it. */
#if defined(_MSC_VER) && !defined(__GNUC__)

#if !defined(_M_X64) && !defined(_M_IX86)
#error "clockscope_ticks.h: with MSVC, only x86-64 and x86 are supported"
#endif

#elif defined(__x86_64__) || defined(__i386__)
#define CLOCKSCOPE_TICKS_BARE "rdtsc"
#define CLOCKSCOPE_TICKS_FENCED "lfence\n\trdtsc\n\tlfence"
#elif defined(__aarch64__)
#define CLOCKSCOPE_TICKS_BARE "mrs %0, cntvct_el0"
#define CLOCKSCOPE_TICKS_FENCED "dsb ishld\n\tisb\n\tmrs %0, cntvct_el0\n\tisb"
#elif defined(__powerpc64__)
#define CLOCKSCOPE_TICKS_BARE "mfspr %0, 268"
#define CLOCKSCOPE_TICKS_FENCED "sync\n\tmfspr %0, 268\n\tisync"
#elif defined(__riscv) && __riscv_xlen == 64
#define CLOCKSCOPE_TICKS_BARE "rdtime %0"
#define CLOCKSCOPE_TICKS_FENCED "fence iorw, iorw\n\trdtime %0\n\tfence iorw, iorw"
#elif defined(__s390x__)
#define CLOCKSCOPE_TICKS_BARE "stckf %0"
#define CLOCKSCOPE_TICKS_FENCED "bcr 15,0\n\tstckf %0\n\tbcr 15,0"
#else
#error "clockscope_ticks.h: this processor's counter is not known"
#endif

#if defined(_MSC_VER) && !defined(__GNUC__)

static __inline uint64_t clockscope_ticks_unordered(void) { return __rdtsc(); }

static __inline uint64_t clockscope_ticks_start(void) {
  uint64_t ticks;
  _mm_lfence();
  ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

#else

/* "memory": the compiler must not move the read across accesses of the program. */
#if defined(__x86_64__) || defined(__i386__)
#define CLOCKSCOPE_TICKS_READ(sequence)                                                            \
  uint32_t low, high;                                                                              \
  __asm__ __volatile__(sequence : "=a"(low), "=d"(high) : : "memory");                             \
  return (uint64_t)high << 32 | low
#elif defined(__s390x__)
/* It stores to memory, and sets the condition code. */
#define CLOCKSCOPE_TICKS_READ(sequence)                                                            \
  uint64_t ticks;                                                                                  \
  __asm__ __volatile__(sequence : "=Q"(ticks) : : "cc", "memory");                                 \
  return ticks
#else
#define CLOCKSCOPE_TICKS_READ(sequence)                                                            \
  uint64_t ticks;                                                                                  \
  __asm__ __volatile__(sequence : "=r"(ticks) : : "memory");                                       \
  return ticks
#endif

/* Reads the counter by the bare instruction. Unit: ticks. Ordering: none; the processor may do it
 * earlier or later than the program says. Cost: that of the instruction. */
static inline uint64_t clockscope_ticks_unordered(void) {
  CLOCKSCOPE_TICKS_READ(CLOCKSCOPE_TICKS_BARE);
}

/* Reads the counter before code that is to be timed: after all earlier loads, and before any later
 * instruction. (On riscv64 before any later access; arithmetic may begin.) Unit: ticks. Cost: on
 * x86 some 2.5 times the bare read. */
static inline uint64_t clockscope_ticks_start(void) {
  CLOCKSCOPE_TICKS_READ(CLOCKSCOPE_TICKS_FENCED);
}

#undef CLOCKSCOPE_TICKS_READ
#undef CLOCKSCOPE_TICKS_BARE
#undef CLOCKSCOPE_TICKS_FENCED

#endif

/* Reads the counter after code that is to be timed: after all of its loads, and before any later
 * instruction. Unit, cost: as clockscope_ticks_start(). */
static inline uint64_t clockscope_ticks_stop(void) { return clockscope_ticks_start(); }

/* Reads the counter as clockscope_ticks_stop() does, and stores the number of the CPU that it was
 * read on. Returns 0, or ENOTSUP where the processor does not deliver both at once: all but x86.
 * (Linux stores the number of the NUMA node in the bits from 12 on: they are cut off. Other systems
 * may store something else.) Needs RDTSCP, which every x86-64 processor has since 2010: without it
 * the process ends by a signal. EINVAL for NULL. */
static inline int clockscope_ticks_stop_with_cpu(uint64_t *ticks, uint32_t *cpu) {
  if (!ticks || !cpu) {
    return EINVAL;
  }
#if defined(_MSC_VER) && !defined(__GNUC__)
  {
    unsigned int number;
    *ticks = __rdtscp(&number);
    _mm_lfence();
    *cpu = number & 0xfff;
    return 0;
  }
#elif defined(__x86_64__) || defined(__i386__)
  {
    uint32_t low, high, number;
    __asm__ __volatile__("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(number) : : "memory");
    *ticks = (uint64_t)high << 32 | low;
    *cpu = number & 0xfff;
    return 0;
  }
#else
  return ENOTSUP;
#endif
}

/* ---- Conversions ---- */

#define CLOCKSCOPE_NS_PER_SECOND UINT64_C(1000000000)

/* The rate of the counter: the mean over a window, between bounds that assume nothing about what
 * happened within it. */
typedef struct clockscope_ticks_rate {
  double hz;            /* the estimate */
  double lowest_hz;     /* the mean rate was not below this */
  double highest_hz;    /* nor above this */
  uint64_t window_ns;   /* length of the window */
  uint64_t rounded_hz;  /* the estimate in whole Hz, which conversions use; never 0 */
  uint64_t ns_factor;   /* ns a tick, times 2^ns_shift, rounded up: clockscope_ticks_set_hz() */
  uint32_t ns_shift;
} clockscope_ticks_rate;

/* Half the distance of the bounds, in parts per million of the estimate. */
static inline double clockscope_ticks_bound_ppm(const clockscope_ticks_rate *rate) {
  return (rate->highest_hz - rate->lowest_hz) / 2.0 / rate->hz * 1e6;
}

/* x * numerator / denominator, rounded down, without overflow while the result fits and numerator *
 * denominator does. */
static inline uint64_t clockscope_ticks_scale_(uint64_t x, uint64_t numerator,
                                               uint64_t denominator) {
  return x / denominator * numerator + x % denominator * numerator / denominator;
}

/* Sets the rate that conversions use: rounded_hz, ns_factor and ns_shift. Returns 0, or ERANGE for
 * rates of 0 and above 2^63 Hz. clockscope_ticks_calibrate() does so. */
static inline int clockscope_ticks_set_hz(clockscope_ticks_rate *rate, uint64_t hz) {
  uint64_t factor, rest;
  uint32_t shift = 0;
  if (hz == 0 || hz >> 63 != 0) {
    return ERANGE;
  }
  /* A division of 10^9 * 2^shift by hz, bit by bit, until the quotient fills 64 bits. It is no
   * more than 2^64 - 2 then. */
  factor = CLOCKSCOPE_NS_PER_SECOND / hz;
  rest = CLOCKSCOPE_NS_PER_SECOND % hz;
  while (factor >> 63 == 0) {
    rest <<= 1;
    factor = factor << 1 | (rest >= hz);
    rest -= rest >= hz ? hz : 0;
    shift += 1;
  }
  rate->rounded_hz = hz;
  rate->ns_factor = factor + (rest != 0);
  rate->ns_shift = shift;
  return 0;
}

/* x * factor / 2^shift, rounded down, for a shift below 128. */
static inline uint64_t clockscope_ticks_scaled_(uint64_t x, uint64_t factor, uint32_t shift) {
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)((wide)x * factor >> shift);
#else
  const uint64_t low = (x & 0xffffffffu) * (factor & 0xffffffffu);
  const uint64_t one = (x >> 32) * (factor & 0xffffffffu);
  const uint64_t other = (x & 0xffffffffu) * (factor >> 32);
  const uint64_t middle = (low >> 32) + (one & 0xffffffffu) + (other & 0xffffffffu);
  const uint64_t high = (x >> 32) * (factor >> 32) + (one >> 32) + (other >> 32) + (middle >> 32);
  const uint64_t below = middle << 32 | (low & 0xffffffffu);
  if (shift >= 64) {
    return high >> (shift - 64);
  }
  return shift == 0 ? below : high << (64 - shift) | below >> shift;
#endif
}

/* Converts a number of ticks to ns, rounded down. Error: the rate's, half a Hz, and at most 1 ns
 * more than ticks * 10^9 / rounded_hz. Counters of up to 18 GHz, and up to 292 years. Cost: a
 * multiplication of 64 bits and a shift; no division. */
static inline uint64_t clockscope_ticks_to_ns(const clockscope_ticks_rate *rate, uint64_t ticks) {
  return clockscope_ticks_scaled_(ticks, rate->ns_factor, rate->ns_shift);
}

/* Converts ns to a number of ticks, rounded down. Error: as clockscope_ticks_to_ns(). */
static inline uint64_t clockscope_ns_to_ticks(const clockscope_ticks_rate *rate, uint64_t ns) {
  return clockscope_ticks_scale_(ns, rate->rounded_hz, CLOCKSCOPE_NS_PER_SECOND);
}

/* Converts ns to seconds and ns. */
static inline struct timespec clockscope_ns_to_timespec(uint64_t ns) {
  struct timespec moment;
  moment.tv_sec = (time_t)(ns / CLOCKSCOPE_NS_PER_SECOND);
  moment.tv_nsec = (long)(ns % CLOCKSCOPE_NS_PER_SECOND);
  return moment;
}

/* Converts seconds and ns to ns. Not before the epoch, and not after 584 years. */
static inline uint64_t clockscope_timespec_to_ns(struct timespec moment) {
  return (uint64_t)moment.tv_sec * CLOCKSCOPE_NS_PER_SECOND + (uint64_t)moment.tv_nsec;
}

/* Converts a number of ticks to seconds and ns. Error: as clockscope_ticks_to_ns(). */
static inline struct timespec clockscope_ticks_to_timespec(const clockscope_ticks_rate *rate,
                                                           uint64_t ticks) {
  return clockscope_ns_to_timespec(clockscope_ticks_to_ns(rate, ticks));
}

/* Returns later - earlier. Its tv_nsec is from 0 to 999,999,999 for any order of the two: a quarter
 * of a second back is -1 s and 750,000,000 ns. */
static inline struct timespec clockscope_timespec_diff(struct timespec later,
                                                       struct timespec earlier) {
  struct timespec difference;
  difference.tv_sec = later.tv_sec - earlier.tv_sec;
  difference.tv_nsec = later.tv_nsec - earlier.tv_nsec;
  if (difference.tv_nsec < 0) {
    difference.tv_sec -= 1;
    difference.tv_nsec += (long)CLOCKSCOPE_NS_PER_SECOND;
  }
  return difference;
}

/* ---- Calibration ---- */

/* A reading of the system's clock between two of the counter: at that time the counter was between
 * both. */
typedef struct clockscope_ticks_bracket {
  uint64_t before;
  uint64_t ns;
  uint64_t after;
} clockscope_ticks_bracket;

/* Stores the time of the system's monotonic clock in ns (CLOCK_MONOTONIC; Windows:
 * QueryPerformanceCounter). Returns 0, or the error number. */
static inline int clockscope_os_ns(uint64_t *ns) {
#if defined(_WIN32)
  LARGE_INTEGER count, frequency;
  if (!QueryPerformanceFrequency(&frequency) || !QueryPerformanceCounter(&count)) {
    return ENOTSUP;
  }
  *ns = clockscope_ticks_scale_((uint64_t)count.QuadPart, CLOCKSCOPE_NS_PER_SECOND,
                                (uint64_t)frequency.QuadPart);
  return 0;
#else
  struct timespec moment;
  if (clockscope_ticks_gettime_(CLOCKSCOPE_TICKS_MONOTONIC, &moment) != 0) {
    return errno;
  }
  *ns = clockscope_timespec_to_ns(moment);
  return 0;
#endif
}

/* Stores the most that a reading of that clock may be early, in ns. Returns 0, or the error
 * number. */
static inline int clockscope_os_tick_ns(uint64_t *ns) {
#if defined(_WIN32)
  LARGE_INTEGER frequency;
  if (!QueryPerformanceFrequency(&frequency) || frequency.QuadPart <= 0) {
    return ENOTSUP;
  }
  *ns = CLOCKSCOPE_NS_PER_SECOND / (uint64_t)frequency.QuadPart + 2;
  return 0;
#else
  struct timespec tick;
  if (clockscope_ticks_getres_(CLOCKSCOPE_TICKS_MONOTONIC, &tick) != 0) {
    return errno;
  }
  *ns = clockscope_timespec_to_ns(tick);
  return 0;
#endif
}

/* Takes several brackets and stores the narrowest: the first after a pause is cold, and any may be
 * interrupted. Returns 0, or the error number. */
static inline int clockscope_ticks_take_bracket(clockscope_ticks_bracket *narrowest) {
  int turn;
  for (turn = 0; turn < 16; ++turn) {
    clockscope_ticks_bracket bracket = {0, 0, 0};
    int error;
    bracket.before = clockscope_ticks_start();
    error = clockscope_os_ns(&bracket.ns);
    bracket.after = clockscope_ticks_stop();
    if (error != 0) {
      return error;
    }
    if (turn == 0 || bracket.after - bracket.before < narrowest->after - narrowest->before) {
      *narrowest = bracket;
    }
  }
  return 0;
}

/* Stores the mean rate between two brackets, with its bounds. Returns 0, or ERANGE where the
 * counter or the clock did not advance by more than its uncertainty. */
static inline int clockscope_ticks_rate_between(const clockscope_ticks_bracket *first,
                                                const clockscope_ticks_bracket *last,
                                                uint64_t tick_ns, clockscope_ticks_rate *rate) {
  const uint64_t window = last->ns - first->ns;
  const uint64_t fewest = last->before - first->after, most = last->after - first->before;
  double middle;
  if (last->ns <= first->ns || window <= tick_ns || (int64_t)fewest <= 0) {
    return ERANGE;
  }
  middle = (double)fewest + (double)(most - fewest) / 2.0;
  rate->hz = middle / (double)window * 1e9;
  rate->lowest_hz = (double)fewest / (double)(window + tick_ns) * 1e9;
  rate->highest_hz = (double)most / (double)(window - tick_ns) * 1e9;
  rate->window_ns = window;
  return clockscope_ticks_set_hz(rate, (uint64_t)(rate->hz + 0.5));
}

/* Compares the counter with the system's clock for a time in ns, and stores its rate with the
 * bound: the width of two brackets over the time between them (some 40 ns of 100 ms are 0.4 ppm).
 * Spins, because a counter that is not invariant may stop in a sleeping processor.
 *
 * Returns 0 or an error number: EINVAL for NULL; ERANGE where a clock does not advance, or by less
 * than its uncertainty, or where the time is too short for that; what the system's clock
 * returns. */
static inline int clockscope_ticks_calibrate(uint64_t time_ns, clockscope_ticks_rate *rate) {
  clockscope_ticks_bracket first, last;
  uint64_t tick_ns = 0, now = 0, latest = 0;
  uint32_t unchanged = 0;
  int error;
  if (!rate) {
    return EINVAL;
  }
  error = clockscope_os_tick_ns(&tick_ns);
  if (error == 0) {
    error = clockscope_ticks_take_bracket(&first);
  }
  while (error == 0) {
    error = clockscope_os_ns(&now);
    if (error == 0 && now >= first.ns && now - first.ns >= time_ns) {
      break;
    }
    /* A clock that stands still would be waited for without end. */
    unchanged = now == latest ? unchanged + 1 : 0;
    latest = now;
    if (unchanged > 100000000u) {
      error = ERANGE;
    }
  }
  if (error == 0) {
    error = clockscope_ticks_take_bracket(&last);
  }
  return error != 0 ? error : clockscope_ticks_rate_between(&first, &last, tick_ns, rate);
}

/* ---- Threads ---- */

/* Binds the calling thread to a CPU. Returns 0 or an error number: EINVAL for a CPU that does not
 * exist or that the process may not use, ENOTSUP on other systems than Linux and Windows. Children
 * inherit the binding. */
static inline int clockscope_pin_thread(unsigned int cpu) {
#if defined(_WIN32)
  if (cpu >= 8 * sizeof(DWORD_PTR)) {
    return EINVAL;
  }
  return SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)1 << cpu) != 0 ? 0 : EINVAL;
#elif defined(__linux__)
  enum { CPUS = 1024, CPUS_PER_WORD = 8 * sizeof(unsigned long) };
  unsigned long cpus[CPUS / CPUS_PER_WORD] = {0};
  if (cpu >= CPUS) {
    return EINVAL;
  }
  cpus[cpu / CPUS_PER_WORD] = 1ul << cpu % CPUS_PER_WORD;
  return clockscope_ticks_setaffinity_(0, sizeof cpus, cpus) == 0 ? 0 : errno;
#else
  (void)cpu;
  return ENOTSUP;
#endif
}

#undef CLOCKSCOPE_TICKS_MONOTONIC
#if !defined(__linux__) && !defined(_WIN32)
#undef clockscope_ticks_gettime_
#undef clockscope_ticks_getres_
#endif

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_TICKS_H */
