/* clockscope_time.hpp: times a function, for C++11 or later. No library: it reads
 * std::chrono::steady_clock, or any other clock of <chrono>.
 *
 *     auto timed = clockscope::time_function([] { clockscope::keep(work(100)); });
 *     std::cout << timed.median_ns << " ns per call, " << timed.low_ns << " to " << timed.high_ns;
 *
 * The function is repeated between two reads until these are at most 1% of the measurement, which
 * is then made up to 101 times. `clockscope::clock` of clockscope.hpp is the cheaper clock:
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
#include <vector>
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace clockscope {

/* Keeps a value: the compiler has to compute it, and cannot know what happens to it. Costs no
 * instruction where the value is in a register, and a store otherwise. */
template <class T> inline void keep(const T &value) noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
  static const volatile void *volatile kept;
  kept = &value;
  _ReadWriteBarrier();
#else
  __asm__ __volatile__("" : : "r,m"(value) : "memory");
#endif
}

/* Keeps a variable, whose value the compiler does not know from here on: an argument that is not to
 * be folded into the function. */
template <class T> inline void keep(T &value) noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
  static volatile void *volatile kept;
  kept = &value;
  _ReadWriteBarrier();
#elif defined(__clang__)
  __asm__ __volatile__("" : "+r,m"(value) : : "memory");
#else
  __asm__ __volatile__("" : "+m,r"(value) : : "memory");
#endif
}

/* The time of a call. */
struct timed {
  double median_ns;         /* of a call, in ns: the median of all measurements */
  double low_ns;            /* ends of the interval of the median, in ns, at 95% or more; both NaN */
  double high_ns;           /* for fewer than 6 measurements. It holds if these are independent. */
  double least_ns;          /* of a call in the shortest measurement, in ns */
  std::size_t measurements; /* pairs of reads, at least 1 */
  std::uint64_t calls;      /* calls in each of them, at least 1 */
};

/* How to time. */
struct timing {
  double error;                 /* largest share of the reads in a measurement: 0.01 is 1% */
  std::size_t measurements;     /* most measurements */
  std::chrono::nanoseconds most; /* time after which no other measurement is begun; the function is
                                  * called before that, too, to find the number of calls */
};

/* 1%, up to 101 measurements, 0.5 s. */
inline timing default_timing() noexcept { return timing{0.01, 101, std::chrono::milliseconds(500)}; }

namespace detail {

/* Rank, from 0, of the lower end of the interval of a median of `n` values: the largest with at most
 * 2.5% of Binomial(n, 1/2) below it; n if there is none (Hahn and Meeker, Statistical Intervals,
 * section 5.2). The upper end has the same rank from above. */
inline std::size_t rank_of_median(std::size_t n) {
  /* The probability of 0 successes underflows for n > 1074. */
  double of_k = std::exp(-static_cast<double>(n) * std::log(2.0)), below = 0;
  std::size_t rank = n;
  for (std::size_t k = 0; 2 * k < n; k++) {
    below += of_k;
    if (below > 0.025) break;
    rank = k;
    of_k *= static_cast<double>(n - k) / static_cast<double>(k + 1);
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

/* Largest difference of two reads in a row that is usual: the median of 101, but at least the
 * smallest step that was seen, which may be a tick of many reads. */
template <class Clock> double between_reads() {
  std::vector<double> all(101);
  double step = 0;
  for (double &ns : all) {
    const auto start = Clock::now();
    auto end = Clock::now();
    ns = ns_between<Clock>(start, end);
    while (end == start) end = Clock::now();
    const double moved = ns_between<Clock>(start, end);
    step = step > 0 ? std::min(step, moved) : moved;
  }
  std::nth_element(all.begin(), all.begin() + 50, all.end());
  return std::max(all[50], step);
}

} // namespace detail

/* Times a function, which is called without arguments and whose result is dropped: it has to keep()
 * what it computes. It is called some times before the first measurement.
 *
 * Error: the reads add at most the share `error` to each call, in the median. Interruptions make a
 * measurement longer, never shorter. The calls follow one another: their caches are warm.
 * Cost: as many calls as take 0.5 s at most by default, plus the last measurement.
 * Exceptions: those of the function, and std::bad_alloc. */
template <class Clock = std::chrono::steady_clock, class Function>
timed time_function(Function function, timing how = default_timing()) {
  const double enough_ns = detail::between_reads<Clock>() / how.error;
  const auto began = Clock::now();
  const double most_ns = std::chrono::duration<double, std::nano>(how.most).count();
  std::uint64_t calls = 1;
  double last_ns = detail::measured<Clock>(function, calls);
  while (last_ns < enough_ns && detail::ns_between<Clock>(began, Clock::now()) < most_ns) {
    /* Eight times as many at most: the first calls may be slow, or the clock coarse. */
    const double wanted = last_ns > 0 ? 1.25 * enough_ns / last_ns : 8.0;
    calls *= static_cast<std::uint64_t>(std::min(std::max(wanted, 2.0), 8.0));
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
  return timed{median, low, high, all[0], n, calls};
}

} // namespace clockscope

#endif
