//! The pace of a clock that is handed from CPU to CPU, by which one that stands still is noticed.

use crate::instrument::pair::handoff::{Pace, smaller};

/// A clock that moved this often stands still if it does not for `STALL_INTERVALS` times as long as
/// it usually takes, and for `STALL_READINGS` at least.
const MOVES: u64 = 16;
const STALL_INTERVALS: f64 = 100.0;
const STALL_READINGS: u64 = 200;
/// A clock that moved less often than `MOVES` stands still if it does not for this number of its
/// steps. A reading takes `MIN_READ_NS` at least. Each reading may fall anywhere within a
/// step: one that lasts is missed in all of them with a chance of e^-32.
const STALL_STEPS: f64 = 32.0;
const MIN_READ_NS: f64 = 5.0;
/// Time after which a clock that never moved stands still, in ns: none whose nominal resolution is
/// fine is known to take longer steps; and in steps of one that does.
const NEVER_MOVED_NS: u64 = 100_000_000;
const NEVER_MOVED_STEPS: f64 = 4.0;

/// Advance of a clock, slice by slice.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacing {
    readings: u64,
    pub(super) moved: u64,
    /// Readings since it last moved, and the time of the slices in which it did not move at all, in
    /// ns.
    unchanged: u64,
    unchanged_ns: u64,
    most_unchanged: u64,
    /// The smallest difference by which its readings grew, in its unit; 0 if none did.
    step: u64,
}

impl Pacing {
    /// Takes a slice in which its readings did this.
    pub(super) fn add(&mut self, slice: &Pace, elapsed_ns: u64) {
        self.readings += slice.readings;
        // One reading differs from nothing: a machine that runs both threads rarely takes no more
        // in a slice.
        if slice.readings < 2 {
            return;
        }
        self.moved += slice.moved;
        self.step = smaller(self.step, slice.step);
        (self.unchanged, self.unchanged_ns) = if slice.moved > 0 {
            (slice.unchanged, 0)
        } else {
            (self.unchanged + slice.unchanged, self.unchanged_ns + elapsed_ns)
        };
        // The longest rest is left out of what it is compared with.
        self.most_unchanged = self.most_unchanged.max(self.unchanged);
    }

    /// Returns whether it stood still, which a clock of such a step and unit does not.
    pub(super) fn is_stuck(&self, step_ns: f64, ns_per_unit: f64) -> bool {
        if self.moved == 0 {
            let is_long = self.unchanged_ns as f64 > (NEVER_MOVED_STEPS * step_ns).max(NEVER_MOVED_NS as f64);
            return is_long && self.unchanged > STALL_READINGS;
        }
        let unchanged = self.most_unchanged as f64;
        let is_long = if self.moved >= MOVES {
            unchanged
                > STALL_INTERVALS * (self.readings - self.most_unchanged.min(self.readings)) as f64 / self.moved as f64
        } else {
            // It moves in steps that are no longer than this.
            unchanged * MIN_READ_NS > STALL_STEPS * step_ns.max(self.step as f64 * ns_per_unit)
        };
        is_long && self.most_unchanged > STALL_READINGS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pacing of a clock of 1 ns a unit that moved `moved` times by `step`, and then stood still.
    fn pacing(moved: u64, step: u64, unchanged: u64) -> Pacing {
        let mut pace = Pace::default();
        (pace.readings, pace.moved, pace.unchanged, pace.step) = (moved + unchanged, moved, unchanged, step);
        let mut pacing = Pacing::default();
        pacing.add(&pace, 0);
        pacing
    }

    /// Fewer than 16 steps do not show how often a clock takes one.
    #[test]
    fn a_clock_of_few_steps_is_stuck_after_many_readings() {
        assert!(pacing(1, 700, 6000).is_stuck(1.0, 1.0));
        assert!(!pacing(1, 700, 4000).is_stuck(1.0, 1.0), "4000 readings may take 29 steps");
        assert!(!pacing(5, 30, 200).is_stuck(1.0, 1.0), "these are few");
        // A coarse clock, of which all or a part of a step was seen.
        assert!(!pacing(3, 4_000_000, 1_000_000).is_stuck(1.0, 1.0));
        assert!(!pacing(3, 100, 1_000_000).is_stuck(4e6, 1.0));
        // Its unit is not 1 ns.
        assert!(!pacing(3, 300, 6000).is_stuck(1.0, 40.0));
    }

    /// Slices of 25 ms in each of which a clock showed one value in `readings` readings.
    fn resting(slices: u64, readings: u64) -> Pacing {
        let mut pacing = Pacing::default();
        let mut slice = Pace::default();
        (slice.readings, slice.unchanged) = (readings, readings);
        for _ in 0..slices {
            pacing.add(&slice, 25_000_000);
        }
        pacing
    }

    /// Slices of a machine that runs both threads once say nothing, however long they take.
    #[test]
    fn a_clock_that_was_hardly_read_is_not_stuck() {
        assert!(!resting(100_000, 1).is_stuck(1.0, 1.0));
        assert!(!resting(50, 2).is_stuck(1.0, 1.0), "these are few");
        assert!(resting(50, 1000).is_stuck(1.0, 1.0));
        // A coarse clock of 4 s a step.
        assert!(!resting(50, 1000).is_stuck(4e9, 1.0));
    }
}
