//! How far two clocks are apart that cannot be read at one moment, from messages that each stamps.
//!
//! A message leaves at the reading `t1` of the first clock and arrives at `t2` of the second, the
//! answer leaves at `t3` and arrives at `t4` (NTP's four timestamps, RFC 5905 section 8). Nothing
//! arrives before it left. So the second clock is ahead by at most t2 - t1 and by at least t3 - t4,
//! whatever either way took: each exchange bounds the offset, and all of them together bound it by
//! the fastest way there and the fastest way back. NTP's own estimate is the middle; its bound,
//! half of the tightest round trip, is never smaller than that of all exchanges.

/// What exchanges have shown so far. Differences are in the clocks' unit, and wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetBounds {
    /// The second clock is ahead by no more than this.
    most: i64,
    /// And by no less.
    least: i64,
    /// Tightest round trip, less what the second side took to answer.
    round_trip: u64,
    exchanges: u64,
}

/// The offset of a second clock against a first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// The second clock's reading less the first one's, at one moment: the middle of what is
    /// possible.
    pub offset: f64,
    /// By how much the truth may differ from that.
    pub bound: f64,
}

impl Default for OffsetBounds {
    fn default() -> Self {
        Self { most: i64::MAX, least: i64::MIN, round_trip: u64::MAX, exchanges: 0 }
    }
}

impl OffsetBounds {
    /// Takes an exchange: left the first, arrived at the second, left that, arrived at the first.
    pub fn push(&mut self, [t1, t2, t3, t4]: [u64; 4]) {
        let difference = |later: u64, earlier: u64| later.wrapping_sub(earlier) as i64;
        let (there, back) = (difference(t2, t1), difference(t3, t4));
        self.most = self.most.min(there);
        self.least = self.least.max(back);
        // Each way may seem to take less than nothing; both together cannot, unless a clock stepped
        // back.
        let both_ways = (i128::from(there) - i128::from(back)).clamp(0, i128::from(u64::MAX)) as u64;
        self.round_trip = self.round_trip.min(both_ways);
        self.exchanges += 1;
    }

    /// The same from the other side, where the first clock is the second of `other`: what both
    /// together tell.
    #[must_use]
    pub fn with_reverse(&self, other: &Self) -> Self {
        Self {
            most: self.most.min(other.least.saturating_neg()),
            least: self.least.max(other.most.saturating_neg()),
            round_trip: self.round_trip.min(other.round_trip),
            exchanges: self.exchanges + other.exchanges,
        }
    }

    /// How many exchanges were taken.
    #[must_use]
    pub fn exchanges(&self) -> u64 {
        self.exchanges
    }

    /// The tightest round trip in the clocks' unit, without what the second side took to answer;
    /// `None` before there was any.
    #[must_use]
    pub fn round_trip(&self) -> Option<u64> {
        (self.exchanges > 0).then_some(self.round_trip)
    }

    /// Returns whether the clocks are apart, for clocks that move in steps of `quantum` units:
    /// every offset that agrees with all exchanges is on one side of zero, or there is none. `None`
    /// before there was an exchange.
    #[must_use]
    pub fn is_apart(&self, quantum: f64) -> Option<bool> {
        let is_apart = || self.offset(quantum).is_none_or(|found| found.offset.abs() > found.bound);
        (self.exchanges > 0).then(is_apart)
    }

    /// The offset, for clocks that move in steps of `quantum` units, which a reading may be late
    /// by. `None` before there was an exchange, and where no constant offset agrees with all of
    /// them: it changed, or a clock stepped.
    #[must_use]
    pub fn offset(&self, quantum: f64) -> Option<Offset> {
        if self.exchanges == 0 {
            return None;
        }
        // Exact until the end: differences of 64 bits have more digits than a float.
        let (most, least) = (i128::from(self.most), i128::from(self.least));
        let (offset, half) = ((most + least) as f64 / 2.0, (most - least) as f64 / 2.0 + quantum);
        (half >= 0.0).then_some(Offset { offset, bound: half + offset.abs() * f64::EPSILON })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One way each, in ticks: mostly short, sometimes interrupted.
    fn delays() -> impl Strategy<Value = (u64, u64, u64, u64)> {
        let way = || prop_oneof![8 => 30u64..90, 1 => 30u64..1_000_000];
        (way(), way(), 0u64..200, 0u64..1000)
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
            let shown = |time: u64, skew: i64| start.wrapping_add_signed(skew).wrapping_add(time) / quantum * quantum;
            // A quantised reading near the end of the number range would wrap in the middle of a
            // quantum.
            prop_assume!(start.wrapping_add(1 << 53) > start && start.checked_add_signed(skew).is_some_and(|s| s < u64::MAX >> 1));
            let mut time = 0;
            for (index, (there, back, answering, pause)) in ways.into_iter().enumerate() {
                let moments = [time, time + there, time + there + answering, time + there + answering + back];
                let (here, other) = if index % 2 == 0 { (0, skew) } else { (skew, 0) };
                let stamps = [
                    shown(moments[0], here), shown(moments[1], other), shown(moments[2], other), shown(moments[3], here),
                ];
                if index % 2 == 0 { bounds.push(stamps) } else { reverse.push(stamps) }
                time = moments[3] + pause;
            }
            let found = bounds.with_reverse(&reverse).offset(quantum as f64).unwrap();
            prop_assert!((found.offset - skew as f64).abs() <= found.bound, "{found:?} {skew}");
            // Never wider than half of the tightest round trip, and the steps.
            let half = bounds.round_trip().into_iter().chain(reverse.round_trip()).min().unwrap() as f64 / 2.0;
            prop_assert!(found.bound <= half + quantum as f64 + found.offset.abs() * f64::EPSILON);
        }

        #[test]
        fn any_stamps_are_answered(stamps in prop::collection::vec(any::<[u64; 4]>(), 0..20)) {
            let mut bounds = OffsetBounds::default();
            stamps.iter().for_each(|stamps| bounds.push(*stamps));
            if let Some(found) = bounds.with_reverse(&bounds).offset(1.0) {
                prop_assert!(found.bound >= 0.0);
            }
        }
    }

    #[test]
    fn an_offset_that_changes_has_no_value() {
        let mut bounds = OffsetBounds::default();
        assert_eq!((bounds.offset(1.0), bounds.round_trip()), (None, None));
        bounds.push([0, 100, 110, 60]);
        let found = bounds.offset(0.0).unwrap();
        assert!(found.offset == 75.0 && (found.bound - 25.0).abs() < 1e-9, "{found:?}");
        bounds.push([1000, 5100, 5110, 1060]);
        assert_eq!(bounds.offset(1.0), None);
    }
}
