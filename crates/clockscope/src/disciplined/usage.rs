//! Decides whether the clock is read so often that a line pays. A renewal costs as much as ten
//! readings of the OS clock, so a line is for programs that read fifty times in a window and more.

/// A window has at least so many parts, and less than twice as many: a part of a millisecond has 16
/// µs. What counts is in how many of them a reading was taken, not how many readings there were: a
/// burst needs no line that lasts.
const PARTS: u64 = 32;

/// Parts are no shorter than 2^8 ns: readings of some clocks take as long.
const SHORTEST: u32 = 8;

/// From this score on the counter is calibrated, and a line is begun.
pub(super) const CALIBRATES: u64 = 8;
pub(super) const BEGINS: u64 = 32;
const MOST: u64 = 64;

/// What a part without a reading takes from the score: as much as two with one add. So callers that
/// leave out every third part, or more, never get there.
const MISSED: u64 = 2;

/// The latest part that saw a reading, and the score: in how many parts in a row there was one. All
/// zero is the state before the first reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage(pub(super) u64);

const SCORE_BITS: u32 = 8;

impl Usage {
    /// The binary logarithm of the length of a part, in ns.
    pub(super) const fn part_shift(window_ns: u64) -> u64 {
        let shift = (window_ns / PARTS).checked_ilog2();
        match shift {
            Some(shift) if shift > SHORTEST => shift as u64,
            _ => SHORTEST as u64,
        }
    }

    #[inline(always)]
    pub(super) fn score(self) -> u64 {
        self.0 & ((1 << SCORE_BITS) - 1)
    }

    #[inline(always)]
    fn part(self) -> u64 {
        self.0 >> SCORE_BITS
    }

    /// The usage after a reading at `os_ns`.
    #[inline(always)]
    pub(super) fn with(self, os_ns: u64, part_shift: u64) -> Self {
        let part = os_ns >> (part_shift & 63);
        if part == self.part() { self } else { self.with_part(part) }
    }

    /// The same for the first reading of a part. A part that is before the last one is as far away
    /// as can be: the OS clock was set.
    fn with_part(self, part: u64) -> Self {
        let missed = part.wrapping_sub(self.part()).wrapping_sub(1);
        let score = match missed {
            0 => (self.score() + 1).min(MOST),
            _ => self.score().saturating_sub(missed.saturating_mul(MISSED)),
        };
        Self(part << SCORE_BITS | score)
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
    use proptest::prelude::*;

    const WINDOW_NS: u64 = 1_000_000;

    /// The largest score of a program that reads at these distances.
    fn largest(gaps: impl Iterator<Item = u64>) -> u64 {
        let shift = Usage::part_shift(WINDOW_NS);
        let mut now = 1 << 40;
        let scores = gaps.scan(Usage(0), |usage, gap| {
            now += gap;
            *usage = usage.with(now, shift);
            Some(usage.score())
        });
        scores.max().unwrap()
    }

    #[test]
    fn who_reads_every_ten_microseconds_has_a_line_within_a_window() {
        for every in [100, 1_000, 10_000] {
            assert!(largest((0..WINDOW_NS / every).map(|_| every)) >= BEGINS, "{every}");
        }
    }

    #[test]
    fn who_reads_fewer_than_forty_times_in_a_window_never_calibrates() {
        for every in (25_000..3_000_000).step_by(500) {
            assert!(largest((0..10_000).map(|_| every)) < CALIBRATES, "{every}");
        }
    }

    #[test]
    fn bursts_are_no_use() {
        for burst_ns in [1_000, 10_000, 100_000] {
            let burst = (0..burst_ns / 500).map(|_| 500).chain([WINDOW_NS]);
            assert!(largest((0..1000).flat_map(|_| burst.clone())) < CALIBRATES, "{burst_ns}");
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

    proptest! {
        /// No reading of any clock makes it fail, and no score is larger than its bits hold.
        #[test]
        fn any_readings_are_counted(start in any::<u64>(), reads in proptest::collection::vec(any::<u64>(), 0..50), window in 1_000u64..100_000_001) {
            let shift = Usage::part_shift(window);
            let mut usage = Usage(start).with(0, shift);
            for os_ns in reads {
                usage = usage.with(os_ns, shift);
                prop_assert!(usage.score() <= MOST.max(start & 255));
                prop_assert_eq!(usage.part(), os_ns >> shift);
            }
        }
    }
}
