/* clockscope_time.hpp: times a function, for C++11 or later. No library: it reads
 * std::chrono::steady_clock, or any other clock of <chrono>.
 *
 *     auto timed = clockscope::time_function([] {
 *       unsigned limit = 100;
 *       clockscope::keep(limit);
 *       clockscope::keep(work(limit));
 *     });
 *     std::cout << timed.median_ns << " ns per call, " << timed.low_ns << " to " << timed.high_ns;
 *
 * Without the first keep() the compiler computes work(100) once, or when it compiles. The function
 * is repeated between two reads until these are at most 1% of the measurement, which is then made up
 * to 101 times. `clockscope::clock` of clockscope.hpp is the cheaper clock:
 * clockscope::time_function<clockscope::clock>(...).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef CLOCKSCOPE_TIME_HPP
#define CLOCKSCOPE_TIME_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace clockscope {

namespace detail {

/* True for what a register of the processor's core holds. */
template <class T>
struct fits_register
    : std::integral_constant<bool, (std::is_integral<T>::value || std::is_pointer<T>::value) &&
                                       sizeof(T) <= sizeof(void *)> {};

#if defined(_MSC_VER) && !defined(__clang__)
inline void kept(const volatile void *address) noexcept {
  static const volatile void *volatile last;
  last = address;
  _ReadWriteBarrier();
}
template <class T> inline void keep_value(const T &value, std::true_type) noexcept { kept(std::addressof(value)); }
template <class T> inline void keep_value(const T &value, std::false_type) noexcept { kept(std::addressof(value)); }
template <class T> inline void keep_variable(T &value, std::true_type) noexcept { kept(std::addressof(value)); }
template <class T> inline void keep_variable(T &value, std::false_type) noexcept { kept(std::addressof(value)); }
#else
template <class T> inline void keep_value(const T &value, std::true_type) noexcept {
  __asm__ __volatile__("" : : "r"(value) : "memory");
}
template <class T> inline void keep_value(const T &value, std::false_type) noexcept {
  __asm__ __volatile__("" : : "m"(value) : "memory");
}
template <class T> inline void keep_variable(T &value, std::true_type) noexcept {
  __asm__ __volatile__("" : "+r"(value) : : "memory");
}
template <class T> inline void keep_variable(T &value, std::false_type) noexcept {
  __asm__ __volatile__("" : "+m"(value) : : "memory");
}
#endif

} // namespace detail

/* Keeps a value: the compiler has to compute it, and cannot know what happens to it. Costs no
 * instruction for an integer or a pointer in a register, and a store to memory otherwise. A value
 * that the compiler knows is not computed anew by that: keep() its arguments as variables, too. */
template <class T> inline void keep(const T &value) noexcept {
  detail::keep_value(value, detail::fits_register<T>());
}

/* Keeps a variable, whose value the compiler does not know from here on: an argument that is not to
 * be folded into the function. */
template <class T> inline void keep(T &value) noexcept {
  detail::keep_variable(value, detail::fits_register<T>());
}

/* The time of a call. */
struct timed {
  double median_ns;         /* of a call, in ns: the median of all measurements */
  double low_ns;            /* ends of the interval of the median, in ns, at 95% or more; both NaN */
  double high_ns;           /* for fewer than 6 measurements. It holds if these are independent. */
  double least_ns;          /* of a call in the shortest measurement, in ns */
  std::size_t measurements; /* pairs of reads, at least 1 */
  std::uint64_t calls;      /* calls in each of them, 1 to 2^40 */
  double error;             /* share of the reads in a measurement, in the median: 0.01 is 1%. Larger
                             * than what was asked for if the time did not suffice: a coarse clock,
                             * or a function without anything to do. */
};

/* Limits of a timing. */
struct timing {
  double error;                      /* largest share of the reads in a measurement: 0.01 is 1% */
  std::size_t measurements;          /* largest number of measurements */
  std::chrono::nanoseconds max_time; /* after this time, no other measurement is begun */
};

/* 1%, up to 101 measurements, 0.5 s. */
inline timing default_timing() noexcept { return timing{0.01, 101, std::chrono::milliseconds(500)}; }

namespace detail {

/* Calls of a measurement, at most: a loop of as many takes minutes. */
constexpr std::uint64_t max_calls() { return std::uint64_t(1) << 40; }

/* Rank, from 0, of the lower end of the interval of a median of `n` values: the largest with at most
 * 2.5% of Binomial(n, 1/2) up to it; n if there is none (Hahn and Meeker, Statistical Intervals,
 * section 5.2). The upper end has the same rank from above. */
inline std::size_t rank_of_median(std::size_t n) {
  const double size = static_cast<double>(n);
  double below = 0;
  std::size_t rank = n;
  for (std::size_t k = 0; 2 * k < n; k++) {
    /* By logarithms: the probability of 0 is too small for a double from n = 1075 on. */
    const double of_k = static_cast<double>(k);
    below += std::exp(std::lgamma(size + 1) - std::lgamma(of_k + 1) - std::lgamma(size - of_k + 1) -
                      size * std::log(2.0));
    if (below > 0.025) break;
    rank = k;
  }
  return rank;
}

template <class Clock> double ns_between(typename Clock::time_point start, typename Clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - start).count();
}

template <class Clock, class Function> double measured(Function &function, std::uint64_t calls) {
  const auto start = Clock::now();
  for (std::uint64_t call = 0; call < calls; call++) function();
  return ns_between<Clock>(start, Clock::now());
}

/* Median of 101 differences of two reads in a row, or the smallest of ten steps of the clock if that
 * is larger: a tick may be as long as many reads. Infinite for a clock that stands still. */
template <class Clock> double between_reads() {
  std::vector<double> all(101);
  for (double &ns : all) {
    const auto start = Clock::now();
    ns = ns_between<Clock>(start, Clock::now());
  }
  std::nth_element(all.begin(), all.begin() + 50, all.end());
  double step = std::numeric_limits<double>::infinity();
  for (int steps = 0; steps < 10; steps++) {
    const auto start = Clock::now();
    auto end = Clock::now();
    for (long reads = 0; end == start && reads < 100000000; reads++) end = Clock::now();
    if (end == start) break;
    step = (std::min)(step, ns_between<Clock>(start, end));
  }
  return (std::max)(all[50], step);
}

} // namespace detail

/* Times a function, which is called without arguments and whose result is dropped: it has to keep()
 * what it computes. It is called some times before the first measurement.
 *
 * Error: `error` of the result, which is at most what was asked for if the time sufficed.
 * Interruptions make a measurement longer, never shorter. The calls follow one another: their caches
 * are warm. The loop around them counts: an empty function takes a fraction of a ns.
 * Cost: 0.5 s by default, and the last measurement. Before that ten steps of the clock, and for a
 * function that takes longer than 0.5 s, two calls.
 * Exceptions: those of the function, and std::bad_alloc. */
template <class Clock = std::chrono::steady_clock, class Function>
timed time_function(Function function, timing how = default_timing()) {
  const double reads_ns = detail::between_reads<Clock>(), enough_ns = reads_ns / how.error;
  const auto began = Clock::now();
  const double most_ns = std::chrono::duration<double, std::nano>(how.max_time).count();
  std::uint64_t calls = 1;
  double last_ns = detail::measured<Clock>(function, calls);
  while (last_ns < enough_ns && calls < detail::max_calls() &&
         detail::ns_between<Clock>(began, Clock::now()) < most_ns) {
    /* Eight times as many at most: the first calls may be slow, or the clock coarse. */
    const double wanted = last_ns > 0 ? 1.25 * enough_ns / last_ns : 8.0;
    calls *= static_cast<std::uint64_t>((std::min)((std::max)(wanted, 2.0), 8.0));
    calls = (std::min)(calls, detail::max_calls());
    last_ns = detail::measured<Clock>(function, calls);
  }
  std::vector<double> all;
  do {
    all.push_back(detail::measured<Clock>(function, calls) / static_cast<double>(calls));
  } while (all.size() < how.measurements && detail::ns_between<Clock>(began, Clock::now()) < most_ns);
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size(), rank = detail::rank_of_median(n);
  const double median = n % 2 != 0 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
  const double low = rank < n ? all[rank] : std::nan(""), high = rank < n ? all[n - 1 - rank] : std::nan("");
  const double error = reads_ns / (median * static_cast<double>(calls));
  return timed{median, low, high, all[0], n, calls, error};
}

} // namespace clockscope

#endif
