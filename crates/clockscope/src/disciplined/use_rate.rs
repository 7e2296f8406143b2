//! Decides whether the clock is read so often that a line pays.
//!
//! A renewal costs a microsecond where other code has run since the last one: as much as is saved
//! by three hundred readings by [`now`](super::Disciplined::now), or by seventy of `now_unordered`.
//! To count all readings would cost as much as it saves, and threads would wait for each other. So
//! one of eight is counted, and which one depends on the time that it shows; of those of the OS
//! clock, only one that comes soon after another.

/// One reading of so many is a sample.
const ONE_OF: u32 = 8;

/// A reading that comes later than so many ns after one that was written down is no sample: to a
/// rare caller the chance of one would be a branch that is not foreseen.
const SPARSE_NS: u64 = 16_000;

/// A sample is in time if it comes no later than this after the last one, in ns.
const IN_TIME_NS: u64 = 200_000;

/// One that comes sooner than this does not count: readings at once are no use that lasts.
const AT_ONCE_NS: u64 = 25_000;

/// From this score on the counter is calibrated, and a line is begun. A program that reads every
/// ten microseconds gets there in some milliseconds, one that reads every fifty does not.
const DENSE: u64 = 12;
const MOST: u64 = 20;

/// Amount that a sample that is late takes from the score. One in time adds one: so the score rises
/// if the clock is read every fifteen microseconds, or in bursts of as many readings. More would
/// make a program of bursts wait for ever that pauses twice a millisecond.
const LATE: u64 = 2;

/// Rate at which the OS clock was read of late: the score, and when the last sample was taken. All
/// zero is the state before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage(pub(super) u64);

/// The score has the lowest bits, and the time is counted in as many ns as they would.
const SCORE: u64 = 255;

impl Usage {
    /// The state before the first sample.
    pub(super) const NONE: Self = Self(0);

    /// Returns the state after a line that was in use: as often as can be, until now.
    pub(super) fn full(os_ns: u64) -> Self {
        Self(os_ns & !SCORE | MOST)
    }

    /// Returns the state after a pause of a line that was in use: one sample in time, and another
    /// begins.
    pub(super) fn resumed(os_ns: u64) -> Self {
        Self(os_ns & !SCORE | (DENSE - 1))
    }

    /// Returns whether this reading of the OS clock is a sample: one of eight, at random. All of
    /// its bits count, because the lowest are the same in all readings of a clock that steps by 16
    /// or 40 ns.
    #[inline(always)]
    pub(super) const fn is_sample(os_ns: u64) -> bool {
        os_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ONE_OF.ilog2()) == 0
    }

    /// Returns whether this reading of the OS clock is a sample, where one was written down so many
    /// ns before it.
    #[inline(always)]
    pub(super) const fn is_sample_after(os_ns: u64, since_written_ns: u64) -> bool {
        since_written_ns < SPARSE_NS && Self::is_sample(os_ns)
    }

    pub(super) const fn is_dense(self) -> bool {
        self.0 & SCORE >= DENSE
    }

    /// The usage after a sample.
    pub(super) fn after(self, os_ns: u64) -> Self {
        let (time, score) = (os_ns & !SCORE, self.0 & SCORE);
        // An OS clock that was set back is far away.
        let since_ns = time.wrapping_sub(self.0 & !SCORE);
        if since_ns < AT_ONCE_NS {
            return self;
        }
        let is_in_time = since_ns <= IN_TIME_NS;
        Self(time | if is_in_time { (score + 1).min(MOST) } else { score.saturating_sub(LATE) })
    }
}

/// A line is in use if a reading comes no later than so many ns after the next one was due, or an
/// eighth of a window.
const LATE_NS: u64 = 12_000;

/// Or if so many readings come within so many ns after that, or a quarter of a window.
const MANY_LATE: u32 = 16;
const MANY_LATE_NS: u64 = 200_000;

/// The use of a line: it is renewed if readings come often. All zero is the state without a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineUse {
    in_use: InUse,
    /// The tick at which the line was last seen to be due or spent.
    seen_due: u64,
    /// Readings since then that did not renew it, and the tick of the first.
    late: u32,
    late_since: u64,
}

impl LineUse {
    pub(super) const NONE: Self = Self { in_use: InUse::NOT, seen_due: 0, late: 0, late_since: 0 };

    /// A line is wanted: it will be renewed at first.
    pub(super) fn begin(&mut self) {
        self.in_use = InUse::BEGUN;
    }

    /// A reading at `tick` finds the line due since `due`. Returns whether it is renewed, by how
    /// late the first such reading is.
    pub(super) fn is_renewed(&mut self, due: u64, tick: u64, ns_per_tick: f64, window_ns: u64) -> bool {
        let ns_since = |earlier: u64| tick.wrapping_sub(earlier) as f64 * ns_per_tick;
        if due != self.seen_due {
            self.seen_due = due;
            self.in_use = self.in_use.after(ns_since(due) <= LATE_NS.min(window_ns / 8) as f64);
            (self.late, self.late_since) = (0, tick);
        }
        if !self.in_use.is_renewed() {
            self.late += 1;
            if self.late >= MANY_LATE {
                // If they are many, only a pause came at the wrong moment.
                if ns_since(self.late_since) <= MANY_LATE_NS.min(window_ns / 4) as f64 {
                    self.begin();
                }
                (self.late, self.late_since) = (0, tick);
            }
        }
        self.in_use.is_renewed()
    }

    /// A reading finds the line spent at `end`, renewed by nobody: counted once. Returns whether
    /// another one is begun.
    pub(super) fn is_resumed(&mut self, end: u64) -> bool {
        if self.seen_due != end {
            self.seen_due = end;
            self.in_use = self.in_use.after(false);
        }
        self.in_use.is_renewed()
    }
}

/// Use of a line of late: from 0 for none, when it is not renewed any more, to four. A program that
/// was only interrupted goes on with the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InUse(u8);

impl InUse {
    const NOT: Self = Self(0);
    /// Of a line that has only begun.
    const BEGUN: Self = Self(1);
    const MOST: u8 = 4;

    /// Returns the state after a line became due: was it read within [`LATE_NS`] after that?
    fn after(self, is_in_time: bool) -> Self {
        Self(if is_in_time { (self.0 + 1).min(Self::MOST) } else { self.0.saturating_sub(2) })
    }

    fn is_renewed(self) -> bool {
        self != Self::NOT
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Time at which the first of the readings at these distances finds that they are dense, in ns.
    fn dense_after(gaps: impl Iterator<Item = u64>) -> Option<u64> {
        dense_on(1, gaps)
    }

    /// The same on a clock that steps by so many ns.
    fn dense_on(step: u64, gaps: impl Iterator<Item = u64>) -> Option<u64> {
        let start = (1u64 << 40) + 7;
        let (mut now, mut usage, mut written) = (start, Usage(0), 0);
        for (gap, turn) in gaps.zip(0u64..) {
            // No program reads to the ns.
            now += gap + ((turn ^ turn >> 7).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 58);
            let reading = start + (now - start) / step * step;
            let unwritten_ns = reading - written;
            if unwritten_ns >= SPARSE_NS / 2 {
                written = reading;
            }
            if Usage::is_sample_after(reading, unwritten_ns) {
                usage = usage.after(reading);
            }
            if usage.is_dense() {
                return Some(now - start);
            }
        }
        None
    }

    #[test]
    fn who_reads_every_ten_microseconds_is_dense_after_some_windows() {
        for every in [20, 100, 1_000, 5_000, 9_000, 10_000] {
            let after = dense_after((0..10_000).map(|_| every)).unwrap();
            assert!(after <= 10_000_000, "{after} ns at one every {every} ns");
        }
    }

    #[test]
    fn any_step_of_the_clock_will_do() {
        for step in [8, 10, 16, 32, 40, 42, 64, 100, 1_000] {
            assert!(dense_on(step, (0..10_000).map(|_| 1_000)).is_some_and(|ns| ns <= 2_000_000), "{step}");
        }
    }

    #[test]
    fn who_reads_fewer_than_twenty_times_in_a_window_is_not() {
        for every in (50_000..3_000_000).step_by(10_000) {
            assert_eq!(dense_after((0..20_000).map(|_| every)), None, "{every}");
        }
    }

    #[test]
    fn bursts_are_dense_if_they_are_long() {
        for (readings, is_dense) in [(1, false), (20, false), (50, false), (1_000, false), (40_000, true)] {
            let burst = (1..readings).map(|_| 25).chain([1_000_000]);
            assert_eq!(dense_after((0..200).flat_map(|_| burst.clone())).is_some(), is_dense, "{readings}");
        }
    }

    /// Eight batches of 200 readings a millisecond, and two pauses that are late.
    #[test]
    fn batches_between_pauses_are_dense() {
        let batch = |pause: u64| core::iter::repeat_n(35, 199).chain([pause]);
        let millisecond = || (0..6).flat_map(move |_| batch(30_000)).chain(batch(270_000)).chain(batch(330_000));
        let after = dense_after((0..100).flat_map(|_| millisecond()));
        assert!(after.is_some_and(|ns| ns < 30_000_000), "{after:?}");
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
        /// No reading of any clock makes it fail.
        #[test]
        fn any_readings_are_counted(reads in proptest::collection::vec(any::<u64>(), 0..50)) {
            let mut usage = Usage(0);
            for os_ns in reads {
                usage = usage.after(os_ns);
                prop_assert!(usage.0 & SCORE <= MOST && (os_ns & !SCORE).wrapping_sub(usage.0 & !SCORE) < AT_ONCE_NS);
            }
        }
    }
}
