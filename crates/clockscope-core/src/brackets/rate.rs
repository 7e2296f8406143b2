//! The rates that two brackets allow.

/// A closed interval of rates: units of one clock per unit of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateBounds {
    /// The smallest rate.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl RateBounds {
    /// Stands for bounds that are not known.
    pub const ZERO: Self = Self { low: 0.0, high: 0.0 };

    /// Returns every mean rate of a clock that counted `counted`, or up to `tick` more or less,
    /// while another clock advanced by `shortest` to `longest`. `None` where that one did not
    /// clearly advance.
    #[inline]
    #[must_use]
    pub fn from_count(counted: f64, tick: f64, shortest: f64, longest: f64) -> Option<Self> {
        if shortest <= 0.0 || longest < shortest {
            return None;
        }
        let (fewest, most) = (counted - tick, counted + tick);
        // The longest time gives the smallest rate, unless the count is negative.
        let low = fewest / if fewest < 0.0 { shortest } else { longest };
        let high = most / if most < 0.0 { longest } else { shortest };
        Some(Self { low, high })
    }

    /// Returns the middle.
    #[must_use]
    pub fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    /// Returns half of the width, relative to the middle.
    #[must_use]
    pub fn relative(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.middle()
    }

    /// Returns what both allow; `None` for nothing.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// Returns the interval with `share` of its middle added on both sides.
    #[must_use]
    pub fn widened(&self, share: f64) -> Self {
        let more = self.middle().abs() * share;
        Self { low: self.low - more, high: self.high + more }
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever was counted, backwards as well, and however long it took.
        #[test]
        fn every_rate_that_is_possible_is_inside(
            counted in -1e6f64..1e6,
            tick in prop_oneof![Just(0.0), 0.0f64..1e3],
            shortest in 1.0f64..1e6,
            longer in prop_oneof![Just(0.0), 0.0f64..1e6],
            shares in (-1.0f64..=1.0, 0.0f64..=1.0),
        ) {
            let bounds = RateBounds::from_count(counted, tick, shortest, shortest + longer).unwrap();
            let rate = (counted + tick * shares.0) / (shortest + longer * shares.1);
            let rounding = 1e-12 * rate.abs();
            prop_assert!(bounds.low - rounding <= rate && rate <= bounds.high + rounding, "{bounds:?} {rate}");
        }
    }

    #[test]
    fn what_did_not_clearly_advance_has_no_rate() {
        assert_eq!(RateBounds::from_count(1.0, 1.0, 0.0, 5.0), None);
        assert_eq!(RateBounds::from_count(1.0, 1.0, 5.0, 4.0), None);
    }

    #[test]
    fn intervals_that_touch_have_one_rate_in_common() {
        let [slow, fast, faster] = [(1.0, 2.0), (2.0, 3.0), (2.5, 3.0)].map(|(low, high)| RateBounds { low, high });
        let both = Some(RateBounds { low: 2.0, high: 2.0 });
        assert_eq!([slow.intersection(&fast), fast.intersection(&slow)], [both; 2]);
        assert_eq!([slow.intersection(&faster), fast.intersection(&faster)], [None, Some(faster)]);
    }
}
