/* rdtsc.h: the interface of Steven Ford's rdtsc (https://github.com/fordsfords/rdtsc), on top of
 * clockscope_ticks.h and without a library. The usage that its README shows compiles unchanged; do
 * not compile rdtsc.c as well. Put braces around RDTSC(x); between if and else.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_COMPAT_RDTSC_H
#define CLOCKSCOPE_COMPAT_RDTSC_H

#include "../clockscope_ticks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ticks of the counter in a second, rounded; 0 until rdtsc_calibrate() has found them. All source
 * files share it. */
#if defined(_MSC_VER) && !defined(__GNUC__)
__declspec(selectany) uint64_t rdtsc_ticks_per_sec = 0;
#else
extern uint64_t rdtsc_ticks_per_sec;
__attribute__((__weak__)) uint64_t rdtsc_ticks_per_sec = 0;
#endif

/* Stores the counter in a variable by a bare read. A block, so that a use without a semicolon
 * compiles as well. */
#define RDTSC(variable)                                                                            \
  { (variable) = clockscope_ticks_unordered(); }

/* Sets rdtsc_ticks_per_sec: to 0 where no clock answers or one stands still. Takes 100 ms, in which
 * it spins. The error is 0.4 ppm and less, where no bracket is wider than 40 ns:
 * clockscope_ticks_calibrate() returns the bound. */
static inline void rdtsc_calibrate(void) {
  clockscope_ticks_rate rate;
  rdtsc_ticks_per_sec = clockscope_ticks_calibrate(100000000, &rate) == 0 ? rate.rounded_hz : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_COMPAT_RDTSC_H */
