//! Distance of two clocks that cannot be read at one moment, from brackets.
//!
//! A message leaves at a reading of the outer clock, the inner clock stamps it, and the answer
//! arrives at the next reading of the outer clock (NTP's timestamps, RFC 5905 section 8, with one
//! stamp for arrival and answer). Nothing arrives before it left. So each bracket bounds the
//! offset, whatever either way took, and all brackets together bound it by the fastest way there
//! and the fastest way back. NTP's own estimate is the middle; its bound, half of the tightest
//! round trip, is never smaller than that of all brackets.

use crate::brackets::Bracket;

/// Bounds that brackets have shown so far. Differences are in the clocks' unit, and wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetBounds {
    /// The most that the inner clock may be ahead.
    most: i64,
    /// The least that it may be ahead.
    least: i64,
    /// The tightest round trip.
    round_trip: u64,
    brackets: u64,
}

/// The offset of the inner clock against the outer one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// The inner clock's reading less the outer one's, at one moment: the middle of what is
    /// possible.
    pub offset: f64,
    /// The largest error of `offset`.
    pub bound: f64,
}

impl Default for OffsetBounds {
    fn default() -> Self {
        Self { most: i64::MAX, least: i64::MIN, round_trip: u64::MAX, brackets: 0 }
    }
}

impl OffsetBounds {
    /// Takes a bracket.
    pub fn push(&mut self, bracket: &Bracket) {
        let (least, most) = bracket.ahead();
        self.least = self.least.max(least);
        self.most = self.most.min(most);
        // Either way may seem to take less than nothing; both together cannot, unless a clock
        // stepped back.
        let round_trip = if bracket.went_back() { 0 } else { bracket.span() };
        self.round_trip = self.round_trip.min(round_trip);
        self.brackets += 1;
    }

    /// Returns what both show together, where `other` is from the other side: its outer clock is
    /// the inner one here.
    #[must_use]
    pub fn with_reverse(&self, other: &Self) -> Self {
        Self {
            most: self.most.min(other.least.saturating_neg()),
            least: self.least.max(other.most.saturating_neg()),
            round_trip: self.round_trip.min(other.round_trip),
            brackets: self.brackets + other.brackets,
        }
    }

    /// Returns how many brackets were taken.
    #[must_use]
    pub fn brackets(&self) -> u64 {
        self.brackets
    }

    /// Returns the tightest round trip in the clocks' unit; `None` before the first bracket.
    #[must_use]
    pub fn round_trip(&self) -> Option<u64> {
        (self.brackets > 0).then_some(self.round_trip)
    }

    /// Returns true if the clocks disagree, for clocks of a tick of `tick` units: every offset that
    /// agrees with all brackets is on one side of zero, or there is none. `None` before the first
    /// bracket.
    #[must_use]
    pub fn is_apart(&self, tick: f64) -> Option<bool> {
        if self.brackets == 0 {
            return None;
        }
        Some(self.offset(tick).is_none_or(|found| found.offset.abs() > found.bound))
    }

    /// Returns the offset, for clocks of a tick of `tick` units, which a reading may be late by.
    /// `None` before the first bracket, and where no constant offset agrees with all of them: it
    /// changed, or a clock stepped.
    #[must_use]
    pub fn offset(&self, tick: f64) -> Option<Offset> {
        if self.brackets == 0 {
            return None;
        }
        // Exact until the end: differences of 64 bits have more digits than a float.
        let (most, least) = (i128::from(self.most), i128::from(self.least));
        let (offset, half) = ((most + least) as f64 / 2.0, (most - least) as f64 / 2.0 + tick);
        (half >= 0.0).then_some(Offset { offset, bound: half + offset.abs() * f64::EPSILON })
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One way each, and a pause, in ticks: mostly short, sometimes interrupted.
    fn delays() -> impl Strategy<Value = (u64, u64, u64)> {
        let way = || prop_oneof![8 => 30u64..90, 1 => 30u64..1_000_000];
        (way(), way(), 0u64..1000)
    }

    fn bracket([before, inner, after]: [u64; 3]) -> Bracket {
        Bracket { before, inner, after }
    }

    proptest! {
        /// Whatever the skew, from 100 ticks to 10^9 and further, and whatever the delays: the
        /// truth is inside.
        #[test]
        fn the_truth_is_inside_the_bound(
            skew in prop_oneof![-200i64..200, -2_000_000_000i64..2_000_000_000, any::<i32>().prop_map(|s| i64::from(s) << 29)],
            start in any::<u64>(),
            ways in prop::collection::vec(delays(), 1..200),
            quantum in prop_oneof![Just(1u64), Just(26), 2u64..1000],
        ) {
            let (mut bounds, mut reverse) = (OffsetBounds::default(), OffsetBounds::default());
            let reading = |time: u64, skew: i64| start.wrapping_add_signed(skew).wrapping_add(time) / quantum * quantum;
            // A quantized reading near the end of the number range would wrap in the middle of a
            // quantum.
            prop_assume!(start.wrapping_add(1 << 53) > start && start.checked_add_signed(skew).is_some_and(|s| s < u64::MAX >> 1));
            let mut time = 0;
            for (index, (there, back, pause)) in ways.into_iter().enumerate() {
                let moments = [time, time + there, time + there + back];
                let (here, other) = if index % 2 == 0 { (0, skew) } else { (skew, 0) };
                let seen = bracket([reading(moments[0], here), reading(moments[1], other), reading(moments[2], here)]);
                if index % 2 == 0 { bounds.push(&seen) } else { reverse.push(&seen) }
                time = moments[2] + pause;
            }
            let found = bounds.with_reverse(&reverse).offset(quantum as f64).unwrap();
            prop_assert!((found.offset - skew as f64).abs() <= found.bound, "{found:?} {skew}");
            // Never wider than half of the tightest round trip, and the steps.
            let half = bounds.round_trip().into_iter().chain(reverse.round_trip()).min().unwrap() as f64 / 2.0;
            prop_assert!(found.bound <= half + quantum as f64 + found.offset.abs() * f64::EPSILON);
        }

        #[test]
        fn any_stamps_are_answered(stamps in prop::collection::vec(any::<[u64; 3]>(), 0..20)) {
            let mut bounds = OffsetBounds::default();
            stamps.iter().for_each(|stamps| bounds.push(&bracket(*stamps)));
            if let Some(found) = bounds.with_reverse(&bounds).offset(1.0) {
                prop_assert!(found.bound >= 0.0);
            }
        }
    }

    #[test]
    fn an_offset_that_changes_has_no_value() {
        let mut bounds = OffsetBounds::default();
        assert_eq!((bounds.offset(1.0), bounds.round_trip()), (None, None));
        bounds.push(&bracket([0, 100, 60]));
        let found = bounds.offset(0.0).unwrap();
        assert!(found.offset == 70.0 && (found.bound - 30.0).abs() < 1e-9, "{found:?}");
        bounds.push(&bracket([1000, 5100, 1060]));
        assert_eq!(bounds.offset(1.0), None);
    }

    /// Clocks disagree if zero is no offset that agrees with all brackets, or if there is none.
    #[test]
    fn clocks_are_apart_where_zero_is_outside_the_bounds() {
        let is_apart = |brackets: &[[u64; 3]], tick: f64| {
            let mut bounds = OffsetBounds::default();
            brackets.iter().for_each(|stamps| bounds.push(&bracket(*stamps)));
            bounds.is_apart(tick)
        };
        assert_eq!(is_apart(&[], 1.0), None);
        assert_eq!(is_apart(&[[0, 30, 60]], 0.0), Some(false));
        // Ahead by 10 to 70, and by a tick more or less.
        assert_eq!([9.0, 11.0].map(|tick| is_apart(&[[0, 70, 60]], tick)), [Some(true), Some(false)]);
        assert_eq!(is_apart(&[[0, 100, 60], [1000, 5100, 1060]], 1.0), Some(true), "the offset changed");
    }
}
