//! Advice on repeating what is timed, from readings around work of a known length.
//!
//! Two readings overestimate the interval between them, and reads that follow other work cost more
//! than reads in a loop. So a spin lies between two readings, and the counter measures it between
//! fences. Repetitions between the two readings divide the error.

use std::array::from_fn;
use std::hint::black_box;

use crate::answers::CallFailure;

/// Intervals that are measured.
const INTERVALS: usize = 500;
/// By what share the 99th percentile of other intervals, minutes later, may be larger.
const LATER_SHARE: f64 = 0.15;
/// Batches of readings that are timed, and readings in one.
const BATCHES: usize = 32;
const READINGS: u32 = 64;

/// Advice on repeating what is timed: `clockscope_advice`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Advice {
    /// By what two readings overestimate the work between them, in ns: the median.
    pub overhead_ns: f64,
    /// The smallest difference of two readings that differ, in ns: [`clockscope::resolution`].
    pub resolution_ns: f64,
    /// 99th percentile of that overestimate, with a share of it for later, less its median, in ns.
    pub jitter_ns: f64,
    /// The sum of the three as a share of the interval. The clock's rate has an error of its own,
    /// which repetitions do not shrink.
    pub reading_error: f64,
    /// The smallest number that divides `reading_error` to what was asked for.
    pub repetitions: u64,
}

/// Figures of two readings around work, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Readings {
    overhead_ns: f64,
    jitter_ns: f64,
}

impl Readings {
    /// Reads the clock around the work, which returns its length in ns, and in a loop.
    pub(crate) fn take(mut now: impl FnMut() -> u64, mut work: impl FnMut() -> f64) -> Self {
        let mut errors: [f64; INTERVALS] = from_fn(|_| {
            let first = now();
            let work_ns = work();
            (now().saturating_sub(first) as f64 - work_ns).abs()
        });
        let mut costs: [f64; BATCHES] = from_fn(|_| {
            let first = now();
            for _ in 1..READINGS {
                black_box(now());
            }
            now().saturating_sub(first) as f64 / f64::from(READINGS)
        });
        errors.sort_by(f64::total_cmp);
        costs.sort_by(f64::total_cmp);
        let (median, p99) = (errors[INTERVALS / 2], errors[INTERVALS * 99 / 100]);
        // Readings of a coarse clock usually do not differ, and still take their time.
        let overhead_ns = median.max(costs[BATCHES / 2]);
        Self { overhead_ns, jitter_ns: p99 * (1.0 + LATER_SHARE) - median }
    }

    /// Returns the advice for intervals of this length and a relative error of at most `error`.
    pub(crate) fn advise(self, resolution_ns: f64, interval_ns: u64, error: f64) -> Advice {
        let Self { overhead_ns, jitter_ns } = self;
        let reading_error = (overhead_ns + resolution_ns + jitter_ns) / interval_ns as f64;
        let repetitions = (reading_error / error).ceil().max(1.0) as u64;
        Advice { overhead_ns, resolution_ns, jitter_ns, reading_error, repetitions }
    }
}

/// Returns work for [`Readings::take`]: a spin of `ns` nanoseconds, 100 µs at most. Its length
/// includes a read of the counter. Where the counter is not used, the work takes no time.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "powerpc64",
    target_arch = "s390x"
))]
pub(crate) fn spin(ns: u64) -> impl FnMut() -> f64 {
    use clockscope::ticks::{now_unordered, start, stop};

    /// The longest spin, in ns.
    const MAX_SPIN_NS: u64 = 100_000;
    let counter = clockscope::frequency().map(|frequency| {
        let mut costs: [u64; INTERVALS] = from_fn(|_| start().abs_diff(stop()));
        costs.sort_unstable();
        (1e9 / frequency.hz, costs[INTERVALS / 2])
    });
    move || {
        let Some((ns_per_tick, cost)) = counter else { return 0.0 };
        let ns = ns.min(MAX_SPIN_NS);
        let ticks = (ns as f64 / ns_per_tick) as u64;
        let first = start();
        // A counter that stands still ends it, too: each read takes a nanosecond at least.
        for _ in 0..ns {
            if now_unordered().wrapping_sub(first) >= ticks {
                break;
            }
        }
        stop().wrapping_sub(first).wrapping_add(cost) as f64 * ns_per_tick
    }
}

/// Returns work that takes no time: no counter is known here.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "powerpc64",
    target_arch = "s390x"
)))]
pub(crate) fn spin(_: u64) -> impl FnMut() -> f64 {
    || 0.0
}

/// Checks what is asked for.
pub(crate) fn check(interval_ns: u64, error: f64) -> Result<(), CallFailure> {
    if interval_ns > 0 && error.is_finite() && error > 0.0 { Ok(()) } else { Err(CallFailure::Argument) }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The figures are those of the command's `advise`.
    #[test]
    fn repetitions_divide_the_error() {
        let readings = Readings { overhead_ns: 20.0, jitter_ns: 10.0 };
        let short = readings.advise(10.0, 10, 0.01);
        assert_eq!((short.reading_error, short.repetitions), (4.0, 400));
        assert_eq!(readings.advise(10.0, 1_000_000_000, 0.01).repetitions, 1);
        assert_eq!(readings.advise(10.0, 1, 1e-300).repetitions, u64::MAX);
    }

    /// A clock that a reading takes 20 ns of, and every fiftieth one 500 ns.
    #[test]
    fn the_figures_are_those_of_the_clock() {
        let (mut ns, mut turn) = (0u64, 0u64);
        let now = || {
            turn += 1;
            ns += if turn.is_multiple_of(50) { 500 } else { 20 };
            ns
        };
        // The cost of a reading is a mean, with its share of the long ones.
        let readings = Readings::take(now, || 0.0);
        assert!((20.0..40.0).contains(&readings.overhead_ns), "{readings:?}");
        assert_eq!(readings.jitter_ns.round(), 555.0);
    }

    /// A clock whose reading takes 20 ns in a loop, and 50 ns after work.
    #[test]
    fn the_error_is_that_of_reads_after_work() {
        let (ns, is_after_work) = (Cell::new(0), Cell::new(false));
        let now = || {
            ns.set(ns.get() + if is_after_work.take() { 50 } else { 20 });
            ns.get()
        };
        let work = || {
            ns.set(ns.get() + 1000);
            is_after_work.set(true);
            1000.0
        };
        let readings = Readings::take(now, work);
        assert_eq!((readings.overhead_ns, readings.jitter_ns.round()), (50.0, 7.0));
    }

    /// The spin's length by the counter is within that by the library's clock, which contains it.
    #[test]
    fn a_spin_has_the_length_that_it_returns() {
        let _ = clockscope::resolution();
        for (ns, least_ns) in [(20_000, 20_000.0), (u64::MAX, 100_000.0)] {
            let mut work = spin(ns);
            let start = clockscope::now();
            let length_ns = work();
            let around_ns = (clockscope::now() - start).as_nanos() as f64;
            assert_eq!(length_ns > 0.0, clockscope::frequency().is_some());
            assert!(length_ns == 0.0 || length_ns > least_ns * 0.999, "{length_ns} ns");
            assert!(length_ns < around_ns * 1.1, "{length_ns} ns in {around_ns} ns");
        }
    }

    /// A clock whose tick hides what a reading costs.
    #[test]
    fn readings_that_do_not_differ_have_a_cost() {
        let mut turn = 0u64;
        let now = || {
            turn += 1;
            turn / 10 * 300
        };
        let readings = Readings::take(now, || 0.0);
        assert!((27.0..33.0).contains(&readings.overhead_ns), "{readings:?}");
    }

    #[test]
    fn impossible_requests_are_refused() {
        assert_eq!(check(1, 0.01), Ok(()));
        for (interval_ns, error) in [(0, 0.01), (1, 0.0), (1, -1.0), (1, f64::NAN), (1, f64::INFINITY)] {
            assert_eq!(check(interval_ns, error), Err(CallFailure::Argument), "{interval_ns} {error}");
        }
    }

    /// The smallest number that divides the error to the one that is allowed.
    #[test]
    fn repetitions_are_rounded_up() {
        let readings = Readings { overhead_ns: 20.0, jitter_ns: 10.0 };
        for (interval_ns, error, repetitions) in [(10, 0.03, 134), (30, 0.1, 14), (39, 1.0, 2), (40, 1.0, 1)] {
            let advice = readings.advise(10.0, interval_ns, error);
            assert_eq!(advice.repetitions, repetitions, "{interval_ns} ns");
            assert!(advice.reading_error / advice.repetitions as f64 <= error, "{advice:?}");
        }
    }
}
