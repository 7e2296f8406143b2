//! The published part of the clock: two joined segments of a line from ticks to nanoseconds.
//!
//! A [`ServedLine`] is a value. What it says about a tick never changes: the line that follows it
//! repeats its second segment as its first one, so that readers who hold the old line and readers
//! who hold the new one agree on every tick that both cover.

/// Fraction bits of a slope.
///
/// A segment is at most 111 ms long and rises by at most one and a half times that, so that ticks ×
/// slope < 2^28 × 2^32 never overflows 64 bits, even with a counter of 40 GHz; and 32 bits of
/// fraction misplace its end by less than 0.1 ns.
pub(crate) const FRACTION_BITS: u32 = 32;

/// Two segments, A and then B. Readings are served by A, then by B; in the second half of B the
/// next line is due. All zero is a line that covers no tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServedLine {
    a: Segment,
    /// Half of its length is `ticks`: the part that the fast path serves.
    b: Segment,
}

/// From `start` on for `ticks` ticks: `value` ns, and `slope` ns × 2^[`FRACTION_BITS`] more with
/// each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    start: u64,
    ticks: u32,
    /// The lower half of `start`, in a word of its own so that the compiler does not know it: see
    /// [`Segment::at`].
    start_low: u32,
    value: u64,
    slope: u64,
}

/// Position of a tick on a line, with the time there in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePosition {
    /// In A or the first half of B.
    Fresh(u64),
    /// In the second half of B: the next line is due.
    NearlyExpired(u64),
    /// At the end or after it, and the time at the end; also any tick of a line that covers none.
    Expired(u64),
    /// Before the start.
    Before,
}

impl ServedLine {
    /// Its two segments.
    pub(crate) fn segments(&self) -> [Segment; 2] {
        [self.a, self.b]
    }

    /// The line of these segments.
    pub(crate) fn from_segments([a, b]: [Segment; 2]) -> Self {
        Self { a, b }
    }

    /// A line of one segment from `(start, value)` on. `slope` in ns a tick, `ticks` its length.
    pub(crate) fn single(start: u64, value: u64, slope: f64, ticks: u64) -> Self {
        Self { a: Segment::new(start, 0, 0, 0.0), b: Segment::new(start, half(ticks), value, slope) }
    }

    /// The line that follows: its A is this one's B, and its B begins at the end of this one.
    pub(crate) fn followed_by(&self, slope: f64, ticks: u64) -> Self {
        let a = Segment { ticks: 2 * self.b.ticks, ..self.b };
        Self { a, b: Segment::new(self.end(), half(ticks), self.end_value(), slope) }
    }

    /// The time at `tick`, if it lies in A or the first half of B.
    fn fresh(&self, tick: u64) -> Option<u64> {
        self.a.fresh(tick).or_else(|| self.b.fresh(tick))
    }

    /// Returns true if `tick` lies in B: readings are served by that from now on.
    pub(crate) fn is_at_second(&self, tick: u64) -> bool {
        tick.wrapping_sub(self.b.start) < 2 * u64::from(self.b.ticks)
    }

    /// Position of `tick` on the line.
    pub(crate) fn position(&self, tick: u64) -> LinePosition {
        if let Some(ns) = self.fresh(tick) {
            return LinePosition::Fresh(ns);
        }
        // Ticks are compared around the end: half of all numbers are before it.
        let since_end = tick.wrapping_sub(self.end());
        if !self.covers_any() || (since_end as i64) >= 0 {
            LinePosition::Expired(self.end_value())
        } else if self.is_at_second(tick) {
            LinePosition::NearlyExpired(self.b.at(tick))
        } else {
            LinePosition::Before
        }
    }

    /// The time at `tick`, if the line covers it.
    pub(crate) fn at(&self, tick: u64) -> Option<u64> {
        match self.position(tick) {
            LinePosition::Fresh(ns) | LinePosition::NearlyExpired(ns) => Some(ns),
            LinePosition::Expired(_) | LinePosition::Before => None,
        }
    }

    /// Returns true if the line covers any tick.
    pub(crate) fn covers_any(&self) -> bool {
        self.b.ticks != 0
    }

    /// The tick at which B begins, and the time there; `None` for a line without A.
    pub(crate) fn joint(&self) -> Option<(u64, u64)> {
        if self.a.ticks != 0 { Some((self.b.start, self.b.value)) } else { None }
    }

    /// The tick at which the next line is due: in the middle of B.
    pub(crate) fn due(&self) -> u64 {
        self.b.start.wrapping_add(u64::from(self.b.ticks))
    }

    /// The first tick that is not covered.
    pub(crate) fn end(&self) -> u64 {
        self.b.start.wrapping_add(2 * u64::from(self.b.ticks))
    }

    /// The time at [`ServedLine::end`]: no reading by this line is larger.
    pub(crate) fn end_value(&self) -> u64 {
        self.b.at(self.end())
    }
}

impl Segment {
    /// Number of words that a segment is published in.
    pub(crate) const WORDS: usize = 4;

    /// The segment as words.
    pub(crate) fn words(&self) -> [u64; Self::WORDS] {
        [self.start, u64::from(self.ticks) << 32 | u64::from(self.start_low), self.value, self.slope]
    }

    /// The segment of these words.
    #[inline(always)]
    pub(crate) fn from_words([start, packed, value, slope]: [u64; Self::WORDS]) -> Self {
        Self { start, ticks: (packed >> 32) as u32, start_low: packed as u32, value, slope }
    }

    /// The time at `tick`, if it lies in the part that `ticks` covers, the one of the fast path. A
    /// tick before the start wraps to a distance that is not covered.
    #[inline(always)]
    pub(crate) fn fresh(&self, tick: u64) -> Option<u64> {
        if self.is_fresh(tick) { Some(self.at(tick)) } else { None }
    }

    /// Returns true if the part that `ticks` covers has this tick.
    #[inline(always)]
    pub(crate) fn is_fresh(&self, tick: u64) -> bool {
        tick.wrapping_sub(self.start) < u64::from(self.ticks)
    }

    fn new(start: u64, ticks: u32, value: u64, slope: f64) -> Self {
        Self { start, ticks, start_low: start as u32, value, slope: fixed(slope) }
    }

    /// The time at a tick that is less than 2^32 ticks after the start. The lower half of the tick
    /// is enough for that; on x86, which delivers the halves in two registers, it is there two
    /// cycles before both are put together. (If the compiler knew that `start_low` is half of
    /// `start`, it would use the difference of 64 bits, which it has anyway.)
    #[inline(always)]
    fn at(&self, tick: u64) -> u64 {
        let ticks = (tick as u32).wrapping_sub(self.start_low);
        self.value.wrapping_add(u64::from(ticks).wrapping_mul(self.slope) >> FRACTION_BITS)
    }
}

/// Half of a segment's length: at least one tick, and so that all of it is less than 2^32.
fn half(ticks: u64) -> u32 {
    (ticks / 2).clamp(1, u64::from(u32::MAX / 2)) as u32
}

/// A slope in ns a tick as a fixed-point number.
pub(crate) fn fixed(slope: f64) -> u64 {
    (slope * (1u64 << FRACTION_BITS) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A line and its successors never decrease, agree where both cover a tick, and stay within
        /// rounding of the exact line.
        #[test]
        fn lines_join_without_a_step(
            start in any::<u64>(),
            value in 0u64..(1 << 62),
            ns_per_tick in 0.05f64..1000.0,
            bends in proptest::collection::vec(0.5f64..1.5, 1..8),
            window_ns in 20_000u64..1_000_000,
        ) {
            let ticks = (window_ns as f64 / ns_per_tick) as u64 / 2 * 2;
            let mut line = ServedLine::single(start, value, ns_per_tick, ticks);
            prop_assert_eq!(line.position(start), LinePosition::Fresh(value));
            prop_assert_eq!(line.position(start.wrapping_sub(1)), LinePosition::Before);
            let mut last = value;
            for bend in bends {
                let next = line.followed_by(ns_per_tick * bend, ticks);
                for step in 0..=64u64 {
                    let tick = line.b.start.wrapping_add(2 * u64::from(line.b.ticks) * step / 64);
                    let old = line.position(tick);
                    let ns = match (old, next.position(tick)) {
                        (LinePosition::Fresh(old) | LinePosition::NearlyExpired(old), LinePosition::Fresh(new)) => {
                            prop_assert_eq!(old, new);
                            new
                        }
                        (LinePosition::Expired(end), LinePosition::Fresh(new)) if tick == line.end() => {
                            prop_assert_eq!(end, new);
                            new
                        }
                        other => return Err(TestCaseError::fail(format!("{other:?} at step {step}"))),
                    };
                    prop_assert!(ns >= last);
                    last = ns;
                }
                let exact = 2.0 * next.b.ticks as f64 * ns_per_tick * bend;
                prop_assert!(((next.end_value() - next.b.value) as f64 - exact).abs() < 1.1);
                line = next;
            }
        }
    }

    #[test]
    fn nothing_is_covered_by_zero() {
        for tick in [0, 1, u64::MAX, 1 << 63] {
            assert_eq!(ServedLine::default().fresh(tick), None);
            assert_eq!(ServedLine::default().position(tick), LinePosition::Expired(0));
        }
    }

    #[test]
    fn ticks_around_a_wrap_of_the_counter_are_covered() {
        let line = ServedLine::single(u64::MAX - 4, 100, 1.0, 10);
        assert_eq!(line.position(u64::MAX), LinePosition::Fresh(104));
        assert_eq!(line.position(0), LinePosition::NearlyExpired(105));
        assert_eq!(line.position(5), LinePosition::Expired(110));
        assert_eq!(line.position(u64::MAX - 5), LinePosition::Before);
    }
}
