//! Decides whether the clock is read so often that a line pays.
//!
//! A renewal costs a microsecond where other code has run since the last one: as much as is saved by
//! three hundred readings. So a line is for programs that read every few microseconds. Readings are
//! not counted, which would cost as much as it saves. What tells is how far apart those are that are
//! written down anyway ([`UNWRITTEN_NS`]): all of a program that reads seldom, and of any other one
//! every so many ns.

use super::page::UNWRITTEN_NS;

/// A reading is in time if it comes no later than so many ns after the last one that was written
/// down. Any program's does that reads every eight microseconds; where readings are farther apart,
/// all are written down, so that this is their distance.
pub(super) const IN_TIME_NS: u64 = 2 * UNWRITTEN_NS;

/// From so many in a row on the counter is calibrated, and a line is begun: a quarter of a
/// millisecond at least.
const DENSE: u64 = 32;

/// How many readings in a row were in time, up to [`DENSE`]. All zero is the state before the first
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage(pub(super) u64);

impl Usage {
    /// The usage after a reading that is so much later than the last one that was written down.
    #[inline(always)]
    pub(super) fn after(self, ns: u64) -> Self {
        Self(if ns <= IN_TIME_NS { (self.0 + 1).min(DENSE) } else { 0 })
    }

    #[inline(always)]
    pub(super) fn is_dense(self) -> bool {
        self.0 >= DENSE
    }
}

/// How well a line was in use of late: from 0 for not at all, when it is not renewed any more, to
/// four. A program that was only interrupted goes on with the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InUse(u8);

impl InUse {
    pub(super) const NOT: Self = Self(0);
    /// Of a line that has only begun.
    pub(super) const BEGUN: Self = Self(1);
    const MOST: u8 = 4;

    /// After a sample: was the line read within a part of a window after some moment?
    pub(super) fn after(self, is_in_time: bool) -> Self {
        Self(if is_in_time { (self.0 + 1).min(Self::MOST) } else { self.0.saturating_sub(2) })
    }

    pub(super) fn is_renewed(self) -> bool {
        self != Self::NOT
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many of the readings at these distances find that they are dense. As in `serve_os`.
    fn dense(gaps: impl Iterator<Item = u64>) -> usize {
        let (mut now, mut written, mut usage) = (1u64 << 40, 0, Usage(0));
        let mut is_dense = |gap| {
            now += gap;
            let is_written = now - written >= UNWRITTEN_NS;
            if is_written {
                usage = usage.after(now - written);
                written = now;
            }
            is_written && usage.is_dense()
        };
        gaps.filter(|gap| is_dense(*gap)).count()
    }

    #[test]
    fn who_reads_every_ten_microseconds_is_dense_after_half_a_window() {
        for every in [100, 1_000, 5_000, 9_000, 10_000, 15_000] {
            assert!(dense((0..520_000 / every).map(|_| every)) > 0, "{every}");
        }
    }

    #[test]
    fn who_reads_fewer_than_sixty_times_in_a_window_is_not() {
        for every in (16_500..3_000_000).step_by(500) {
            assert_eq!(dense((0..10_000).map(|_| every)), 0, "{every}");
        }
    }

    #[test]
    fn bursts_are_not_dense() {
        for burst_ns in [1_000, 10_000, 100_000, 200_000] {
            let burst = (0..burst_ns / 500).map(|_| 500).chain([1_000_000]);
            assert_eq!(dense((0..1000).flat_map(|_| burst.clone())), 0, "{burst_ns}");
        }
    }

    #[test]
    fn a_line_is_given_up_by_who_reads_it_late() {
        let mut usage = InUse::BEGUN;
        (0..10).for_each(|_| usage = usage.after(true));
        assert!(usage.after(false).is_renewed(), "it was only interrupted");
        assert!(!usage.after(false).after(false).is_renewed());
        assert!(!InUse::BEGUN.after(false).is_renewed());
    }
}
