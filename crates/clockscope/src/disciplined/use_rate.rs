//! Decides whether the clock is read so often that a line pays.
//!
//! A renewal costs a microsecond where other code has run since the last one: as much as is saved
//! by three hundred readings by [`now`](super::Disciplined::now), or by seventy of `now_unordered`.
//! To count all readings would cost as much as it saves, and threads would wait for each other. So
//! one of eight is counted, and which one depends on the time that it shows; of those of the OS
//! clock, only one that comes soon after another.

/// Number of readings of which one is a sample.
const READS_PER_SAMPLE: u32 = 8;

/// Longest time from the recorded reading to a sample, in ns: for a rare caller, a random sample
/// would be a branch that the processor cannot predict.
const MAX_SAMPLE_NS: u64 = 16_000;

/// Longest time between two samples, in ns, of which the second is in time.
const MAX_IN_TIME_NS: u64 = 200_000;

/// Shortest time between two samples that count, in ns: a short burst is not a lasting use.
const MIN_SAMPLE_NS: u64 = 25_000;

/// Score from which on the counter is calibrated, and a line is begun. A program that reads every
/// ten microseconds reaches it in some milliseconds, one that reads every fifty does not.
const DENSE_SCORE: u64 = 12;
const MAX_SCORE: u64 = 20;

/// Reduction of the score by a late sample. One in time adds one: so the score rises if the clock
/// is read every fifteen microseconds, or in bursts of as many readings. With more, a program of
/// bursts that pauses twice a millisecond would never get a line.
const LATE_SCORE: u64 = 2;

/// Recent rate of readings of the OS clock: the score, and the time of the last sample. All zero is
/// the state before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage(pub(super) u64);

/// Bits of the score. The time has the others, in ns.
const SCORE_BITS: u64 = 255;

impl Usage {
    /// The state before the first sample.
    pub(super) const NONE: Self = Self(0);

    /// Returns the state after a line that was in use until now: the largest score.
    pub(super) fn full(os_ns: u64) -> Self {
        Self(os_ns & !SCORE_BITS | MAX_SCORE)
    }

    /// Returns the state after a pause of a line that was in use: a line begins at the next sample
    /// in time.
    pub(super) fn resumed(os_ns: u64) -> Self {
        Self(os_ns & !SCORE_BITS | (DENSE_SCORE - 1))
    }

    /// Returns true if this reading of the OS clock is a sample: one of eight, at random. All of
    /// its bits count, because the lowest are equal in all readings of a clock that steps by 16 or
    /// 40 ns.
    #[inline(always)]
    pub(super) const fn is_sample(os_ns: u64) -> bool {
        os_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - READS_PER_SAMPLE.ilog2()) == 0
    }

    /// Returns true if this reading of the OS clock is a sample, where the recorded one is this
    /// much earlier.
    #[inline(always)]
    pub(super) const fn is_sample_after(os_ns: u64, since_recorded_ns: u64) -> bool {
        since_recorded_ns < MAX_SAMPLE_NS && Self::is_sample(os_ns)
    }

    pub(super) const fn is_dense(self) -> bool {
        self.0 & SCORE_BITS >= DENSE_SCORE
    }

    /// The usage after a sample.
    pub(super) fn after(self, os_ns: u64) -> Self {
        let (time, score) = (os_ns & !SCORE_BITS, self.0 & SCORE_BITS);
        // If the OS clock was set back, this wraps.
        let since_ns = time.wrapping_sub(self.0 & !SCORE_BITS);
        if since_ns < MIN_SAMPLE_NS {
            return self;
        }
        let is_in_time = since_ns <= MAX_IN_TIME_NS;
        Self(time | if is_in_time { (score + 1).min(MAX_SCORE) } else { score.saturating_sub(LATE_SCORE) })
    }
}

/// Longest time from the moment at which the next line is due to a reading, in ns, or an eighth of
/// a window, at which the line is in use.
const MAX_DUE_NS: u64 = 12_000;

/// Number of late readings that show that the line is in use, too, if they come within this time,
/// in ns, or a quarter of a window.
const MIN_LATE_READINGS: u32 = 16;
const MAX_LATE_NS: u64 = 200_000;

/// The use of a line: it is renewed if readings come often. All zero is the state without a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineUse {
    in_use: InUse,
    /// The tick at which the line was due or expired at the last reading that checked it.
    due: u64,
    /// Readings since then that did not renew it, and the tick of the first.
    late: u32,
    late_since: u64,
}

impl LineUse {
    pub(super) const NONE: Self = Self { in_use: InUse::NOT, due: 0, late: 0, late_since: 0 };

    /// A line is wanted: it will be renewed at first.
    pub(super) fn begin(&mut self) {
        self.in_use = InUse::BEGUN;
    }

    /// Takes a reading at `tick` of a line that is due since `due`. Returns true if it is renewed,
    /// which depends on the delay of the first such reading.
    pub(super) fn is_renewed(&mut self, due: u64, tick: u64, ns_per_tick: f64, window_ns: u64) -> bool {
        if due != self.due {
            self.due = due;
            let due_ns = tick.wrapping_sub(due) as f64 * ns_per_tick;
            self.in_use = self.in_use.after(due_ns <= MAX_DUE_NS.min(window_ns / 8) as f64);
            (self.late, self.late_since) = (0, tick);
        }
        if !self.in_use.is_renewed() {
            self.late += 1;
            if self.late >= MIN_LATE_READINGS {
                // Dense readings: the first one was late because of a pause.
                let late_ns = tick.wrapping_sub(self.late_since) as f64 * ns_per_tick;
                if late_ns <= MAX_LATE_NS.min(window_ns / 4) as f64 {
                    self.begin();
                }
                (self.late, self.late_since) = (0, tick);
            }
        }
        self.in_use.is_renewed()
    }

    /// Takes a reading of a line that expired at `end` without a renewal, which counts once.
    /// Returns true if another line begins.
    pub(super) fn is_resumed(&mut self, end: u64) -> bool {
        if self.due != end {
            self.due = end;
            self.in_use = self.in_use.after(false);
        }
        self.in_use.is_renewed()
    }
}

/// Recent use of a line: from 0, at which it is not renewed, to four. A program that was only
/// interrupted goes on with the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InUse(u8);

impl InUse {
    const NOT: Self = Self(0);
    /// The use of a new line.
    const BEGUN: Self = Self(1);
    const MAX_USE: u8 = 4;

    /// Returns the use after a line became due: was it read within [`MAX_DUE_NS`] after that?
    fn after(self, is_in_time: bool) -> Self {
        Self(if is_in_time { (self.0 + 1).min(Self::MAX_USE) } else { self.0.saturating_sub(2) })
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

    /// Time as by [`dense_after`], on a clock that steps by `step` ns.
    fn dense_on(step: u64, gaps: impl Iterator<Item = u64>) -> Option<u64> {
        let start = (1u64 << 40) + 7;
        let (mut now, mut usage, mut recorded) = (start, Usage(0), 0);
        for (gap, turn) in gaps.zip(0u64..) {
            // No program reads to the ns.
            now += gap + ((turn ^ turn >> 7).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 58);
            let reading = start + (now - start) / step * step;
            let unrecorded_ns = reading - recorded;
            if unrecorded_ns >= MAX_SAMPLE_NS / 2 {
                recorded = reading;
            }
            if Usage::is_sample_after(reading, unrecorded_ns) {
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
        let pauses = [30_000, 30_000, 30_000, 30_000, 30_000, 30_000, 270_000, 330_000];
        let millisecond = pauses.into_iter().flat_map(|pause| core::iter::repeat_n(35, 199).chain([pause]));
        let after = dense_after((0..100).flat_map(|_| millisecond.clone()));
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
                let since_ns = (os_ns & !SCORE_BITS).wrapping_sub(usage.0 & !SCORE_BITS);
                prop_assert!(usage.0 & SCORE_BITS <= MAX_SCORE && since_ns < MIN_SAMPLE_NS);
            }
        }
    }
}
