/* clockscope.hpp: clockscope.h as clocks of <chrono>, and the true time of clockscope_wall.h in
 * their moments, for C++11 or later. Link with -lclockscope.
 *
 *     auto start = clockscope::clock::now();
 *     work();
 *     std::chrono::nanoseconds elapsed = clockscope::clock::now() - start;
 *
 * These headers have the details of each function: error, ordering, cost, threads, signals. Readings
 * are inlined as there, and nothing is added to them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_HPP
#define CLOCKSCOPE_HPP

#include <chrono>
#include <cstdint>
#include <ctime>
#if defined(__has_include)
#if __cplusplus >= 202002L && __has_include(<format>)
#include <format>
#endif
#endif

#include "clockscope.h"
#include "clockscope_wall.h"

namespace clockscope {

namespace detail {

/* Before C++17 a static member that is used by its address needs a definition. Only that of a
 * template's member may be in a header. */
template <bool IsSteady> struct steadiness { static constexpr bool is_steady = IsSteady; };
#if !defined(__cpp_inline_variables)
template <bool IsSteady> constexpr bool steadiness<IsSteady>::is_steady;
#endif

} // namespace detail

/* clockscope_now(): ordered, on the timeline of CLOCK_MONOTONIC. A TrivialClock. */
class clock : public detail::steadiness<true> {
public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock>;

  /* Returns the time now. */
  static time_point now() noexcept { return from_ns(clockscope_now()); }

  /* Returns the time now, after all earlier stores of this thread are visible:
   * clockscope_now_after_stores(). */
  static time_point now_after_stores() noexcept { return from_ns(clockscope_now_after_stores()); }

  /* Returns the moment of a reading in C. */
  static constexpr time_point from_ns(uint64_t ns) noexcept {
    return time_point(duration(static_cast<rep>(ns)));
  }

  /* Returns the moment as C reads it. Only of one that is not before the timeline's beginning. */
  static constexpr uint64_t to_ns(time_point moment) noexcept {
    return static_cast<uint64_t>(moment.time_since_epoch().count());
  }

#if defined(__linux__) && (defined(__GLIBCXX__) || defined(_LIBCPP_VERSION))
  /* Returns the moment on std's steady_clock, which is CLOCK_MONOTONIC with these libraries on
   * Linux. Error: clockscope_error_bound(). */
  static constexpr std::chrono::steady_clock::time_point to_steady(time_point moment) noexcept {
    return std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(moment.time_since_epoch()));
  }

  /* Returns the moment of std's steady_clock on this one. Error: clockscope_error_bound(). */
  static constexpr time_point from_steady(std::chrono::steady_clock::time_point moment) noexcept {
    return time_point(std::chrono::duration_cast<duration>(moment.time_since_epoch()));
  }
#endif
};

/* clockscope_now_unordered(): a bare read of the counter, on the timeline of clock and with its
 * moments, so that both can be subtracted. Not steady: two readings may be out of order by tens of
 * nanoseconds. A TrivialClock. */
class unordered_clock : public detail::steadiness<false> {
public:
  using duration = clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = clock::time_point;

  /* Returns the time now. */
  static time_point now() noexcept { return clock::from_ns(clockscope_now_unordered()); }
};

/* clockscope_boot_now(): CLOCK_BOOTTIME, which counts suspends. A TrivialClock. Its moments cannot
 * be subtracted from those of clock, which stands still in a suspend. */
class boot_clock : public detail::steadiness<true> {
public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;

  /* Returns the time now. */
  static time_point now() noexcept {
    return time_point(duration(static_cast<rep>(clockscope_boot_now())));
  }
};

/* clockscope_wall_now(): CLOCK_REALTIME, since the Unix epoch. A TrivialClock. C++20's clock_cast
 * converts its moments. */
class wall_clock : public detail::steadiness<false> {
public:
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<wall_clock>;

  /* Returns the time now. */
  static time_point now() noexcept {
    return time_point(duration(static_cast<rep>(clockscope_wall_now())));
  }

  /* Returns the moment on system_clock, which counts from the Unix epoch, too: by the standard from
   * C++20 on, and with all known libraries before. */
  template <class Duration>
  static constexpr std::chrono::time_point<std::chrono::system_clock, Duration>
  to_sys(std::chrono::time_point<wall_clock, Duration> moment) noexcept {
    return std::chrono::time_point<std::chrono::system_clock, Duration>(moment.time_since_epoch());
  }

  /* Returns the moment of system_clock on this one. */
  template <class Duration>
  static constexpr std::chrono::time_point<wall_clock, Duration>
  from_sys(std::chrono::time_point<std::chrono::system_clock, Duration> moment) noexcept {
    return std::chrono::time_point<wall_clock, Duration>(moment.time_since_epoch());
  }

  /* Returns the moment in whole seconds, rounded down. */
  static std::time_t to_time_t(time_point moment) noexcept {
    using std::chrono::seconds;
    const seconds toward_zero = std::chrono::duration_cast<seconds>(moment.time_since_epoch());
    const bool is_above = toward_zero > moment.time_since_epoch();
    return static_cast<std::time_t>((is_above ? toward_zero - seconds(1) : toward_zero).count());
  }

  /* Returns the moment of whole seconds. */
  static constexpr time_point from_time_t(std::time_t seconds) noexcept {
    return time_point(std::chrono::seconds(seconds));
  }
};

/* The two moments between which the true time lies, and the worth of that. */
struct interval {
  wall_clock::time_point earliest;
  wall_clock::time_point latest;
  int state; /* a clockscope_state, or a negative clockscope_error */

  /* Returns true if earliest and latest bound the true time. Otherwise they are the first and the
   * last moment of wall_clock. */
  constexpr bool is_bounded() const noexcept {
    return state >= CLOCKSCOPE_STATE_SYNCHRONIZED && state < CLOCKSCOPE_STATE_SLEWING;
  }
};

namespace detail {

/* Returns what a function of C returned and stored. */
inline interval to_interval(int state, int64_t earliest, int64_t latest) noexcept {
  using moment = wall_clock::time_point;
  return {moment(wall_clock::duration(earliest)), moment(wall_clock::duration(latest)), state};
}

} // namespace detail

/* Returns the two moments between which the true time lies: clockscope_bounded_now(). */
inline interval bounded_now() noexcept {
  int64_t earliest = INT64_MIN, latest = INT64_MAX;
  const int state = clockscope_bounded_now(&earliest, &latest);
  return detail::to_interval(state, earliest, latest);
}

/* Waits until the true time is certainly after a moment, and returns the interval that shows it:
 * clockscope_commit_wait(). Not is_bounded() as soon as nothing bounds the true time. */
inline interval commit_wait(wall_clock::time_point moment) noexcept {
  int64_t earliest = INT64_MIN, latest = INT64_MAX;
  const int state =
      clockscope_commit_wait(moment.time_since_epoch().count(), &earliest, &latest);
  return detail::to_interval(state, earliest, latest);
}

/* The same for a limit at most, measured by clock: clockscope_commit_wait_for(). The state is
 * CLOCKSCOPE_ERROR_TIME_LIMIT after it. A limit below zero is zero. */
inline interval commit_wait_for(wall_clock::time_point moment,
                                std::chrono::nanoseconds limit) noexcept {
  int64_t earliest = INT64_MIN, latest = INT64_MAX;
  const uint64_t limit_ns = limit.count() > 0 ? static_cast<uint64_t>(limit.count()) : 0;
  const int state = clockscope_commit_wait_for(moment.time_since_epoch().count(), limit_ns,
                                               &earliest, &latest);
  return detail::to_interval(state, earliest, latest);
}

} // namespace clockscope

/* 1 where std::format takes moments of wall_clock, as it takes those of system_clock: in UTC. In
 * C++20, where the library states that it formats dates, or is libc++ from 17 on. Otherwise 0. */
#if defined(__cpp_lib_format) &&                                                                   \
    ((defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L) ||                                 \
     (defined(_LIBCPP_VERSION) && _LIBCPP_VERSION >= 170000))
#define CLOCKSCOPE_HAS_FORMAT 1

template <class Char>
struct std::formatter<clockscope::wall_clock::time_point, Char>
    : std::formatter<std::chrono::sys_time<std::chrono::nanoseconds>, Char> {
  template <class Context>
  auto format(clockscope::wall_clock::time_point moment, Context &context) const {
    using Base = std::formatter<std::chrono::sys_time<std::chrono::nanoseconds>, Char>;
    return Base::format(clockscope::wall_clock::to_sys(moment), context);
  }
};
#else
#define CLOCKSCOPE_HAS_FORMAT 0
#endif

#endif /* CLOCKSCOPE_HPP */
