/* clockscope_inline.h: the readings of clockscope.h, where they are inlined. That header includes
 * this one; a program includes that header.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_INLINE_H
#define CLOCKSCOPE_INLINE_H

#ifndef CLOCKSCOPE_H
#error "include clockscope.h"
#endif

#if CLOCKSCOPE_IS_INLINE

#ifdef __cplusplus
extern "C" {
#endif

/* The definition is for inlining alone: a program that takes the address gets the library's. The
 * fallbacks end in _call, because a call of the same name would be inlined again. */
#define CLOCKSCOPE_INLINE extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

/* Words of the page. */
#define CLOCKSCOPE_FLOOR 1
#define CLOCKSCOPE_SEGMENTS 20
#define CLOCKSCOPE_BESIDE 52
/* Words of an entry of beside. */
#define CLOCKSCOPE_WALL_OFFSET 0
#define CLOCKSCOPE_BOOT_OFFSET 7

/* "memory": the compiler must not move the reading across accesses that the program wrote before
 * and after it. It is volatile so that two readings are two. Returns the counter, of which x86
 * delivers the upper half apart. Both are put together after all that can be done before. */
CLOCKSCOPE_INLINE uint64_t clockscope_counter_(int is_ordered,
                                               uint64_t *upper) CLOCKSCOPE_NOEXCEPT {
#if defined(__x86_64__)
  uint64_t low;
  if (is_ordered) {
    __asm__ __volatile__("lfence\n\trdtsc" : "=a"(low), "=d"(*upper) : : "memory");
  } else {
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(*upper) : : "memory");
  }
  return low;
#else
  uint64_t ticks;
  if (is_ordered) {
    /* ISB waits for the branch on the version that comes before it, and so for its load. */
    __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  } else {
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  }
  *upper = 0;
  return ticks;
#endif
}

/* The steps 1 to 6 of docs/concepts/library/page.md, and a word of the entry of beside, unless
 * beside is NULL. Returns 0 where the library has to be called. The counter is not touched unless
 * there is a line: it may be forbidden. */
CLOCKSCOPE_INLINE int clockscope_read_(int is_ordered, uint64_t *ns, unsigned int word,
                                       uint64_t *beside) CLOCKSCOPE_NOEXCEPT {
  /* Not a variable: the linker would copy that into the program. Loops call this once. */
  const uint64_t *page = clockscope_page_v1();
  uint64_t version, start, packed, value, slope, lowest, ticks, upper;
  const uint64_t *segment;
  version = __atomic_load_n(page, __ATOMIC_ACQUIRE);
  if (__builtin_expect(!(version >> 63), 0)) {
    return 0;
  }
  /* The constant part is added by the loads. In a sum of three, it would delay them all. */
  segment = page + (version >> 5 & 7) * 4;
  start = __atomic_load_n(segment + CLOCKSCOPE_SEGMENTS, __ATOMIC_RELAXED);
  packed = __atomic_load_n(segment + CLOCKSCOPE_SEGMENTS + 1, __ATOMIC_RELAXED);
  value = __atomic_load_n(segment + CLOCKSCOPE_SEGMENTS + 2, __ATOMIC_RELAXED);
  slope = __atomic_load_n(segment + CLOCKSCOPE_SEGMENTS + 3, __ATOMIC_RELAXED);
  lowest = __atomic_load_n(page + CLOCKSCOPE_FLOOR, __ATOMIC_RELAXED);
  if (beside) {
    *beside = __atomic_load_n(page + CLOCKSCOPE_BESIDE + (version >> 6 & 3) * 8 + word,
                              __ATOMIC_RELAXED);
  }
  ticks = clockscope_counter_(is_ordered, &upper);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (__builtin_expect(__atomic_load_n(page, __ATOMIC_RELAXED) != version, 0)) {
    return 0;
  }
  if (__builtin_expect((upper << 32 | ticks) - start >= packed >> 32, 0)) {
    return 0;
  }
  /* The lower half of start is kept apart for the lower half of the ticks. */
  *ns = value + ((uint64_t)((uint32_t)ticks - (uint32_t)packed) * slope >> 32);
  return *ns >= lowest;
}

CLOCKSCOPE_INLINE uint64_t clockscope_now(void) CLOCKSCOPE_NOEXCEPT {
  uint64_t ns;
  return clockscope_read_(1, &ns, 0, NULL) ? ns : clockscope_now_call();
}

CLOCKSCOPE_INLINE uint64_t clockscope_now_after_stores(void) CLOCKSCOPE_NOEXCEPT {
  /* x86: the store buffer is empty after it, and LFENCE waits for it. */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if !defined(__x86_64__)
  /* DMB orders memory accesses only. DSB waits until the stores are visible, ISB for DSB. */
  __asm__ __volatile__("dsb ish\n\tisb" : : : "memory");
#endif
  return clockscope_now();
}

CLOCKSCOPE_INLINE uint64_t clockscope_now_unordered(void) CLOCKSCOPE_NOEXCEPT {
  uint64_t ns;
  return clockscope_read_(0, &ns, 0, NULL) ? ns : clockscope_now_unordered_call();
}

CLOCKSCOPE_INLINE int64_t clockscope_wall_now(void) CLOCKSCOPE_NOEXCEPT {
  uint64_t ns, offset;
  if (clockscope_read_(1, &ns, CLOCKSCOPE_WALL_OFFSET, &offset) &&
      __builtin_expect(offset != 0, 1)) {
    return (int64_t)(ns + offset);
  }
  return clockscope_wall_now_call();
}

CLOCKSCOPE_INLINE uint64_t clockscope_boot_now(void) CLOCKSCOPE_NOEXCEPT {
  uint64_t ns, offset;
  if (clockscope_read_(1, &ns, CLOCKSCOPE_BOOT_OFFSET, &offset) &&
      __builtin_expect(offset != 0, 1)) {
    return ns + offset;
  }
  return clockscope_boot_now_call();
}

#undef CLOCKSCOPE_FLOOR
#undef CLOCKSCOPE_SEGMENTS
#undef CLOCKSCOPE_BESIDE
#undef CLOCKSCOPE_WALL_OFFSET
#undef CLOCKSCOPE_BOOT_OFFSET
#undef CLOCKSCOPE_INLINE

#ifdef __cplusplus
}
#endif

#endif /* CLOCKSCOPE_IS_INLINE */

#endif /* CLOCKSCOPE_INLINE_H */
