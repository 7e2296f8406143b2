//! Advice on repeating what is timed, from readings with nothing between them.
//!
//! Two readings overestimate the interval between them by what they show with nothing between them,
//! and are uncertain by the resolution and by how much that overhead varies. The sum of the three
//! bounds the error of nearly every single measurement. Repetitions between the two readings divide
//! it.

use std::array::from_fn;
use std::hint::black_box;

use crate::answers::CallFailure;

/// Pairs of readings that are compared.
const PAIRS: usize = 2048;
/// Batches of readings that are timed, and readings in one.
const BATCHES: usize = 32;
const READINGS: u32 = 64;

/// Advice on repeating what is timed: `clockscope_advice`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Advice {
    /// By what two readings overestimate the time between them, in ns.
    pub overhead_ns: f64,
    /// The smallest difference of two readings that differ, in ns: [`clockscope::resolution`].
    pub resolution_ns: f64,
    /// 99th percentile of the difference of two readings less its median, in ns.
    pub jitter_ns: f64,
    /// The sum of the three as a share of the interval. The clock's rate has an error of its own,
    /// which repetitions do not shrink.
    pub reading_error: f64,
    /// The smallest number that divides `reading_error` to what was asked for.
    pub repetitions: u64,
    /// The same where the overhead is subtracted from what was measured.
    pub repetitions_subtracted: u64,
}

/// Figures of two readings with nothing between them, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Readings {
    overhead_ns: f64,
    jitter_ns: f64,
}

impl Readings {
    /// Looks at some thousand readings.
    pub(crate) fn take(mut now: impl FnMut() -> u64) -> Self {
        let mut differences: [u64; PAIRS] = from_fn(|_| {
            let first = now();
            now().saturating_sub(first)
        });
        let mut costs: [f64; BATCHES] = from_fn(|_| {
            let first = now();
            for _ in 1..READINGS {
                black_box(now());
            }
            now().saturating_sub(first) as f64 / f64::from(READINGS)
        });
        differences.sort_unstable();
        costs.sort_by(f64::total_cmp);
        let median = differences[PAIRS / 2] as f64;
        // Readings of a coarse clock usually do not differ, and still take their time.
        let overhead_ns = median.max(costs[BATCHES / 2]);
        Self { overhead_ns, jitter_ns: differences[PAIRS * 99 / 100] as f64 - median }
    }

    /// Returns the advice for intervals of this length and a relative error of at most `error`.
    pub(crate) fn advise(self, resolution_ns: f64, interval_ns: u64, error: f64) -> Advice {
        let Self { overhead_ns, jitter_ns } = self;
        let share = |ns: f64| ns / interval_ns as f64;
        let repetitions = |share: f64| (share / error).ceil().max(1.0) as u64;
        let reading_error = share(overhead_ns + resolution_ns + jitter_ns);
        Advice {
            overhead_ns,
            resolution_ns,
            jitter_ns,
            reading_error,
            repetitions: repetitions(reading_error),
            repetitions_subtracted: repetitions(share(resolution_ns + jitter_ns)),
        }
    }
}

/// Checks what is asked for.
pub(crate) fn check(interval_ns: u64, error: f64) -> Result<(), CallFailure> {
    if interval_ns > 0 && error.is_finite() && error > 0.0 { Ok(()) } else { Err(CallFailure::Argument) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same figures as in the command's `advise`.
    #[test]
    fn repetitions_divide_the_error() {
        let readings = Readings { overhead_ns: 20.0, jitter_ns: 10.0 };
        let short = readings.advise(10.0, 10, 0.01);
        assert_eq!((short.reading_error, short.repetitions, short.repetitions_subtracted), (4.0, 400, 200));
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
        let readings = Readings::take(now);
        assert!((20.0..40.0).contains(&readings.overhead_ns), "{readings:?}");
        assert_eq!(readings.jitter_ns, 480.0);
    }

    /// A clock whose tick hides what a reading costs.
    #[test]
    fn readings_that_do_not_differ_have_a_cost() {
        let mut turn = 0u64;
        let now = || {
            turn += 1;
            turn / 10 * 300
        };
        let readings = Readings::take(now);
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
