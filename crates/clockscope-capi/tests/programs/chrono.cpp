/* What <chrono> demands of clocks, and what clockscope.hpp says. Prints what of C++20 was compiled
 * and what is wrong, and ends with the number of wrong lines. */

#include <clockscope.hpp>

#include <condition_variable>
#include <cstdio>
#include <initializer_list>
#include <mutex>
#include <thread>
#include <type_traits>

static int wrong = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::printf("line %d: expected %s\n", __LINE__, #condition);                                 \
      ++wrong;                                                                                     \
    }                                                                                              \
  } while (0)

using clockscope::boot_clock;
using clockscope::unordered_clock;
using clockscope::wall_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
/* C has a function clock(). */
using ordered_clock = clockscope::clock;

/* Cpp17TrivialClock, as [time.clock.req] lists it. */
template <class Clock> struct Demanded {
  using duration = typename Clock::duration;
  using time_point = typename Clock::time_point;
  static_assert(std::is_same<typename Clock::rep, typename duration::rep>::value, "rep");
  static_assert(std::is_same<typename Clock::period, typename duration::period>::value, "period");
  static_assert(std::is_same<duration, typename time_point::duration>::value, "time_point");
  static_assert(std::is_same<const bool, decltype(Clock::is_steady)>::value, "is_steady");
  static_assert(std::is_same<time_point, decltype(Clock::now())>::value, "now");
  static_assert(noexcept(Clock::now()), "now() does not throw");
  static constexpr bool is_clock = true;
};

static_assert(Demanded<ordered_clock>::is_clock && Demanded<unordered_clock>::is_clock, "clocks");
static_assert(Demanded<wall_clock>::is_clock && Demanded<boot_clock>::is_clock, "clocks");
static_assert(ordered_clock::is_steady && !unordered_clock::is_steady, "steady");
static_assert(!wall_clock::is_steady, "it may be set");
static_assert(boot_clock::is_steady, "it is never set");
/* In libstdc++ from 11 and libc++ from 21, long before all of C++20's <chrono> is. */
#if __cplusplus >= 202002L && (!defined(_LIBCPP_VERSION) || _LIBCPP_VERSION >= 210000)
#define HAS_IS_CLOCK 1
static_assert(std::chrono::is_clock_v<ordered_clock>, "a clock");
static_assert(std::chrono::is_clock_v<unordered_clock>, "a clock");
static_assert(std::chrono::is_clock_v<wall_clock>, "a clock");
static_assert(std::chrono::is_clock_v<boot_clock>, "a clock");
#else
#define HAS_IS_CLOCK 0
#endif

/* Further apart than any slew explains. */
static const milliseconds far(1);

static void check_clock() {
  using std::chrono::steady_clock;
  const steady_clock::time_point before = steady_clock::now();
  const uint64_t first = clockscope_now();
  const ordered_clock::time_point now = ordered_clock::now();
  const uint64_t last = clockscope_now();
  const steady_clock::time_point after = steady_clock::now();
  EXPECT(ordered_clock::from_ns(first) <= now && now <= ordered_clock::from_ns(last));
  EXPECT(now <= ordered_clock::now_after_stores());
  EXPECT(ordered_clock::to_ns(ordered_clock::from_ns(first)) == first);
  EXPECT(before - far <= ordered_clock::to_steady(now));
  EXPECT(ordered_clock::to_steady(now) <= after + far);
  EXPECT(ordered_clock::from_steady(ordered_clock::to_steady(now)) == now);
  EXPECT(unordered_clock::now() + far > now);
}

/* Another time, where the clock was set meanwhile. */
static void check_wall() {
  using std::chrono::system_clock;
  bool is_between = false;
  for (int turn = 0; turn < 10; ++turn) {
    const system_clock::time_point before = system_clock::now();
    const wall_clock::time_point now = wall_clock::now();
    const system_clock::time_point after = system_clock::now();
    const auto converted = wall_clock::to_sys(now);
    is_between = is_between || (before - far <= converted && converted <= after + far);
    EXPECT(wall_clock::from_sys(converted) == now);
  }
  EXPECT(is_between);
  EXPECT(wall_clock::to_time_t(wall_clock::time_point(nanoseconds(1999999999))) == 1);
  EXPECT(wall_clock::to_time_t(wall_clock::time_point(nanoseconds(-1))) == -1);
  EXPECT(wall_clock::to_time_t(wall_clock::time_point(seconds(-2))) == -2);
  EXPECT(wall_clock::from_time_t(-2) == wall_clock::time_point(seconds(-2)));
#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L && defined(__GNUC__) && __GNUC__ >= 14
  EXPECT(std::chrono::clock_cast<system_clock>(wall_clock::from_time_t(5)) ==
         system_clock::from_time_t(5));
#endif
}

static void check_boot() {
  const auto first = static_cast<boot_clock::rep>(clockscope_boot_now());
  const boot_clock::time_point now = boot_clock::now();
  const auto last = static_cast<boot_clock::rep>(clockscope_boot_now());
  EXPECT(first <= now.time_since_epoch().count() && now.time_since_epoch().count() <= last);
}

/* What std's waits make of such clocks. */
static void check_waits() {
  const ordered_clock::time_point end = ordered_clock::now() + milliseconds(2);
  std::this_thread::sleep_until(end);
  EXPECT(ordered_clock::now() >= end);
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> lock(mutex);
  const ordered_clock::time_point later = ordered_clock::now() + milliseconds(2);
  EXPECT(!condition.wait_until(lock, later, [] { return false; }));
  EXPECT(ordered_clock::now() >= later);
}

/* The true time in moments of wall_clock; moments and limits of other units convert. */
static void check_true_time() {
  using clockscope::interval;
  const wall_clock::time_point first = wall_clock::time_point::min(), in_2020(seconds(1600000000));
  const wall_clock::time_point last = wall_clock::time_point::max();
  const ordered_clock::time_point began = ordered_clock::now();
  const interval never = clockscope::commit_wait_for(last, milliseconds(2));
  if (never.state == CLOCKSCOPE_ERROR_TIME_LIMIT) {
    EXPECT(ordered_clock::now() - began >= milliseconds(2));
  } else {
    EXPECT(never.state >= CLOCKSCOPE_STATE_SLEWING);
  }
  EXPECT(!never.is_bounded() && never.earliest == first && never.latest == last);
  for (const interval &found : {clockscope::bounded_now(), clockscope::commit_wait(in_2020),
                                clockscope::commit_wait_for(in_2020, seconds(-1))}) {
    EXPECT(found.state >= 0 && found.earliest <= found.latest);
    EXPECT(found.is_bounded() == (found.earliest != first));
    EXPECT(!found.is_bounded() || found.earliest > in_2020);
  }
  using std::chrono::system_clock;
  const std::chrono::time_point<system_clock, seconds> later(seconds(1600000001));
  EXPECT(clockscope::commit_wait(wall_clock::from_sys(later)).state >= 0);
}

/* By address, as a program does that passes it by reference: it needs a definition. */
static bool is_so(const bool &flag) {
  const bool *volatile address = &flag;
  return *address;
}

static void check_steadiness() {
  EXPECT(is_so(ordered_clock::is_steady) && is_so(boot_clock::is_steady));
  EXPECT(!is_so(unordered_clock::is_steady) && !is_so(wall_clock::is_steady));
}

#if CLOCKSCOPE_HAS_FORMAT
static void check_format() {
  const wall_clock::time_point moment(seconds(86400) + nanoseconds(5));
  EXPECT(std::format("{:%F %T}", moment) == "1970-01-02 00:00:00.000000005");
  EXPECT(std::format("{:>12%F}", moment) == "  1970-01-02");
}
#else
static void check_format() {}
#endif

int main() {
  std::printf("is_clock_v %d, std::format %d\n", HAS_IS_CLOCK, CLOCKSCOPE_HAS_FORMAT);
  check_format();
  check_steadiness();
  check_clock();
  check_wall();
  check_boot();
  check_waits();
  check_true_time();
  return wrong;
}
