/* Calls everything that clockscope_ticks.h defines, as C and as C++. Prints the rate's bounds, and
 * what is wrong; ends with the number of such lines. */

/* For sched_getaffinity(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <clockscope_ticks.h>

#include "expect.h"

static struct timespec moment(time_t seconds, long nanoseconds) {
  struct timespec made;
  made.tv_sec = seconds;
  made.tv_nsec = nanoseconds;
  return made;
}

static int is_equal(struct timespec one, struct timespec other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static clockscope_ticks_rate rate_of(uint64_t hz) {
  clockscope_ticks_rate rate;
  rate.hz = rate.lowest_hz = rate.highest_hz = (double)hz;
  rate.window_ns = CLOCKSCOPE_NS_PER_SECOND;
  EXPECT(clockscope_ticks_set_hz(&rate, hz) == 0 && rate.rounded_hz == hz);
  return rate;
}

/* The factor of ns is a division's, to 1 ns. */
static void check_factors(void) {
  uint64_t hz = 1, ticks = 1;
  clockscope_ticks_rate rate = rate_of(1);
  EXPECT(clockscope_ticks_set_hz(&rate, 0) == ERANGE);
  EXPECT(clockscope_ticks_set_hz(&rate, UINT64_C(1) << 63) == ERANGE && rate.rounded_hz == 1);
  while (hz < UINT64_C(18000000000)) {
    rate = rate_of(hz);
    for (ticks = 1; ticks < UINT64_MAX / 7 && ticks / hz < UINT64_C(9000000000); ticks = ticks * 7 + 3) {
      const uint64_t exact = clockscope_ticks_scale_(ticks, CLOCKSCOPE_NS_PER_SECOND, hz);
      EXPECT(clockscope_ticks_to_ns(&rate, ticks) - exact <= 1);
    }
    hz = hz * 3 + 1;
  }
  rate = rate_of(999999999);
  EXPECT(clockscope_ticks_to_ns(&rate, UINT64_C(9075674349765559940)) -
             clockscope_ticks_scale_(UINT64_C(9075674349765559940), CLOCKSCOPE_NS_PER_SECOND,
                                     999999999) <= 1);
}

/* Rates up to what 64 bits hold, and numbers up to two hundred years. */
static void check_conversions(void) {
  const uint64_t rates[] = {1, 1000, 10000000, 24000000, 62500000, UINT64_C(2199999997),
                            UINT64_C(3789854845), UINT64_C(18000000000)};
  const uint64_t times[] = {0, 1, 999, 999999999, 1000000000, UINT64_C(86400000000001),
                            UINT64_C(300000000000000007)};
  unsigned int r, t;
  for (r = 0; r < sizeof rates / sizeof rates[0]; ++r) {
    const clockscope_ticks_rate rate = rate_of(rates[r]);
    EXPECT(clockscope_ticks_to_ns(&rate, rates[r]) == CLOCKSCOPE_NS_PER_SECOND);
    EXPECT(clockscope_ns_to_ticks(&rate, CLOCKSCOPE_NS_PER_SECOND) == rates[r]);
    EXPECT(clockscope_ticks_bound_ppm(&rate) <= 0);
    for (t = 0; t < sizeof times / sizeof times[0]; ++t) {
      uint64_t back = clockscope_ticks_to_ns(&rate, clockscope_ns_to_ticks(&rate, times[t]));
      /* Rounded down twice: by less than a tick, and by less than a nanosecond. */
      EXPECT(back <= times[t] && times[t] - back <= CLOCKSCOPE_NS_PER_SECOND / rates[r] + 1);
      EXPECT(clockscope_timespec_to_ns(clockscope_ns_to_timespec(times[t])) == times[t]);
    }
  }
  {
    const clockscope_ticks_rate rate = rate_of(2000);
    EXPECT(is_equal(clockscope_ticks_to_timespec(&rate, 3001), moment(1, 500500000)));
  }
}

static void check_differences(void) {
  EXPECT(is_equal(clockscope_timespec_diff(moment(5, 1), moment(3, 2)), moment(1, 999999999)));
  EXPECT(is_equal(clockscope_timespec_diff(moment(5, 2), moment(3, 1)), moment(2, 1)));
  EXPECT(is_equal(clockscope_timespec_diff(moment(3, 0), moment(3, 250000000)),
                  moment(-1, 750000000)));
}

static void check_rates(void) {
  const clockscope_ticks_bracket first = {1000, 500, 1100}, last = {3000, 1500, 3200};
  clockscope_ticks_rate rate;
  EXPECT(clockscope_ticks_rate_between(&first, &last, 10, &rate) == 0);
  /* 1,900 to 2,200 ticks in 990 to 1,010 ns. */
  EXPECT(rate.lowest_hz > 1.8811e9 && rate.lowest_hz < 1.8813e9);
  EXPECT(rate.highest_hz > 2.2221e9 && rate.highest_hz < 2.2223e9);
  EXPECT(rate.rounded_hz == 2050000000 && rate.window_ns == 1000);
  EXPECT(clockscope_ticks_rate_between(&last, &first, 10, &rate) == ERANGE);
  EXPECT(clockscope_ticks_rate_between(&first, &last, 1000, &rate) == ERANGE);
  EXPECT(clockscope_ticks_rate_between(&first, &first, 0, &rate) == ERANGE);
  EXPECT(clockscope_ticks_calibrate(0, NULL) == EINVAL);
  EXPECT(clockscope_ticks_calibrate(20000000, &rate) == 0);
  EXPECT(rate.lowest_hz <= rate.hz && rate.hz <= rate.highest_hz && rate.window_ns >= 20000000);
  printf("%.17g %.17g\n", rate.lowest_hz, rate.highest_hz);
}

static void check_reads(void) {
  int turn;
  for (turn = 0; turn < 100000; ++turn) {
    uint64_t first = clockscope_ticks_start(), bare = clockscope_ticks_unordered(), last;
    last = clockscope_ticks_stop();
    EXPECT((int64_t)(bare - first) >= 0 && (int64_t)(last - bare) >= 0);
  }
}

#if defined(_WIN32)
static void check_threads(void) {
  DWORD_PTR allowed = 0, all = 0;
  unsigned int cpu;
  EXPECT(clockscope_pin_thread(1u << 20) == EINVAL);
  EXPECT(GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all) && allowed != 0);
  for (cpu = 0; cpu < 8 * sizeof allowed; ++cpu) {
    EXPECT((allowed >> cpu & 1) == 0 || clockscope_pin_thread(cpu) == 0);
  }
}
#else
static void check_threads(void) {
  cpu_set_t allowed;
  unsigned int cpu;
  uint32_t read_on = 0;
  uint64_t ticks = 0;
  EXPECT(clockscope_pin_thread(1u << 20) == EINVAL && clockscope_pin_thread(CPU_SETSIZE - 1) != 0);
  EXPECT(clockscope_ticks_stop_with_cpu(NULL, &read_on) == EINVAL);
  EXPECT(clockscope_ticks_stop_with_cpu(&ticks, NULL) == EINVAL);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return;
  }
  for (cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) {
      continue;
    }
    EXPECT(clockscope_pin_thread(cpu) == 0);
#if defined(__x86_64__) || defined(__i386__)
    EXPECT(clockscope_ticks_stop_with_cpu(&ticks, &read_on) == 0 && read_on == cpu && ticks != 0);
#else
    EXPECT(clockscope_ticks_stop_with_cpu(&ticks, &read_on) == ENOTSUP);
#endif
  }
}
#endif

int main(void) {
  check_factors();
  check_conversions();
  check_differences();
  check_rates();
  check_reads();
  check_threads();
  return wrong;
}
