/* Times functions by a clock whose every step is known: a read takes 25 ns, and the clock shows
 * multiples of its tick. */

#include "clockscope_time.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

static double now_ns, tick_ns;
static std::uint64_t called;

struct simulated {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<simulated>;
  static constexpr bool is_steady = true;
  static time_point now() {
    now_ns += 25;
    return time_point(duration(static_cast<rep>(std::floor(now_ns / tick_ns) * tick_ns)));
  }
};

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "line %d: %s: median %g (%g to %g), %g, %zu of %llu\n", __LINE__,       \
                   #condition, t.median_ns, t.low_ns, t.high_ns, t.least_ns, t.measurements,       \
                   static_cast<unsigned long long>(t.calls));                                      \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

static clockscope::timed timed(double tick, double call_ns, double interruption_ns = 0) {
  now_ns = 0, tick_ns = tick, called = 0;
  return clockscope::time_function<simulated>([=] {
    called++;
    /* Every third measurement or so is interrupted. */
    now_ns += call_ns + (called % 5000 == 0 ? interruption_ns : 0);
  });
}

int main() {
  for (double tick : {1.0, 10.0, 1000.0, 4e6}) {
    for (double call_ns : {1.0, 7.0, 100.0, 3000.0, 2e6}) {
      const clockscope::timed t = timed(tick, call_ns);
      EXPECT(std::fabs(t.median_ns - call_ns) <= 0.011 * call_ns);
      const bool is_ordered =
          t.least_ns <= t.low_ns && t.low_ns <= t.median_ns && t.median_ns <= t.high_ns;
      EXPECT(t.measurements < 6 ? std::isnan(t.low_ns) && std::isnan(t.high_ns) : is_ordered);
      EXPECT(t.measurements >= 1 && called >= t.calls * t.measurements);
      /* Half a second has too few ticks of 4 ms. */
      EXPECT(t.error > 0 && t.error <= (tick < 4e6 ? 0.0101 : 0.02));
    }
  }
  {
    const clockscope::timed t = timed(1, 7, 50000);
    EXPECT(t.measurements == 101 && std::fabs(t.median_ns - 7) < 0.08 && t.least_ns >= 7);
  }
  {
    /* One call takes longer than all time. */
    const clockscope::timed t = timed(1, 2e9);
    EXPECT(t.measurements == 1 && t.calls == 1 && std::isnan(t.low_ns) && std::isnan(t.high_ns));
  }
  {
    /* Nothing to do, and no time to find that out. */
    now_ns = 0, tick_ns = 1;
    const clockscope::timing brief{0.01, 101, std::chrono::nanoseconds(200)};
    const clockscope::timed t = clockscope::time_function<simulated>([] { called++; }, brief);
    EXPECT(t.calls >= 8 && t.error > 0.01 && t.measurements >= 1 && std::isfinite(t.median_ns));
  }
  /* Tables of order statistics: 6 values from the first to the last, 20 from the 6th to the 15th,
   * 101 from the 41st to the 61st. */
  const clockscope::timed t{};
  EXPECT(clockscope::detail::rank_of_median(5) == 5 && clockscope::detail::rank_of_median(6) == 0);
  EXPECT(clockscope::detail::rank_of_median(20) == 5 && clockscope::detail::rank_of_median(101) == 40);
  /* By the normal distribution: 1000 - 0.98 sqrt(2000). */
  const std::size_t of_2000 = clockscope::detail::rank_of_median(2000);
  EXPECT(of_2000 >= 955 && of_2000 <= 957);
  try {
    clockscope::time_function([] { throw std::runtime_error("its own"); });
    return 1;
  } catch (const std::runtime_error &) {
  }
  /* Values of all kinds, and by the clock of the system. */
  std::string text = "text";
  double number = 0.5;
  auto pointer = std::make_shared<int>(7);
  clockscope::keep(text);
  clockscope::keep(number);
  clockscope::keep(pointer);
  clockscope::keep(std::string("of a moment"));
  clockscope::keep(42);
  const clockscope::timed own = clockscope::time_function([&] { clockscope::keep(number * 3); });
  std::printf("%zu of %llu calls\n", own.measurements, static_cast<unsigned long long>(own.calls));
  return own.median_ns > 0 && own.calls > 1 ? 0 : 1;
}
