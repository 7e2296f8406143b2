//! A system's statement on the time of day, and the words in which that is published.

use clockscope_core::WallState;

use super::line::{FRACTION_BITS, fixed};

/// A system's statement on the time of day at the moment of the question.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WallStatement {
    /// The true time is this or later, in ns since the Unix epoch; `i64::MIN` without a bound.
    pub earliest_ns: i64,
    /// It is this or earlier; `i64::MAX` without a bound.
    pub latest_ns: i64,
    /// Time for which this may be carried on, in ns; at most a second is.
    pub lasts_ns: u64,
    /// Correction of the clock's rate, in ppm.
    pub rate_ppm: f64,
    /// Worth of the statement.
    pub state: WallState,
}

impl WallStatement {
    /// Makes a statement that may be carried on for a second, of a clock whose rate is not
    /// corrected.
    #[must_use]
    pub const fn new(earliest_ns: i64, latest_ns: i64, state: WallState) -> Self {
        Self { earliest_ns, latest_ns, lasts_ns: MAX_LASTS_NS, rate_ppm: 0.0, state }
    }

    /// Nothing is stated.
    #[must_use]
    pub const fn nothing(state: WallState) -> Self {
        Self::new(i64::MIN, i64::MAX, state)
    }
}

/// An interval of the time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundedAt {
    /// As in [`WallStatement`].
    pub earliest_ns: i64,
    /// As in [`WallStatement`].
    pub latest_ns: i64,
    /// As in [`WallStatement`].
    pub state: WallState,
}

const DAY_NS: i64 = 86_400_000_000_000;

/// Two answers of the system are of one rate if they differ by no more than this, in ppm.
const MAX_SAME_RATE_DIFFERENCE_PPM: f64 = 1.0;

/// Returns true if two corrections of the clock's rate, in ppm, are the same, as far as bounds go.
pub(crate) fn is_same_rate(one_ppm: f64, other_ppm: f64) -> bool {
    (one_ppm - other_ppm).abs() <= MAX_SAME_RATE_DIFFERENCE_PPM
}

impl BoundedAt {
    /// Nothing bounds the true time, for this reason.
    pub(crate) const fn nothing(state: WallState) -> Self {
        Self { earliest_ns: i64::MIN, latest_ns: i64::MAX, state }
    }
}

/// Returns a moment that is later by some ns; without a bound, none.
pub(crate) fn later(ns: i64, by_ns: u64) -> i64 {
    ns.saturating_add_unsigned(by_ns)
}

/// Returns a moment that is earlier by some ns; without a bound, none.
pub(crate) fn earlier(ns: i64, by_ns: u64) -> i64 {
    ns.saturating_sub_unsigned(by_ns)
}

/// Longest time for which a statement is carried on, in ns.
const MAX_LASTS_NS: u64 = 1_000_000_000;

/// Largest error of a rate: 500 ppm of a clock that is kept right (MAXFREQ of
/// include/linux/timex.h), and one more of the counter.
pub(crate) const MAX_DRIFT: f64 = 501e-6;

/// A statement as it is published: from `start` on, for a number of ticks, both ends with their
/// slopes in ns a tick × 2^32. All zero is none. A second's ticks times the slope are less than
/// 2^63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    start: u64,
    /// The number of ticks, and the state in the lowest 8 bits.
    ticks_and_state: u64,
    earliest: u64,
    earliest_slope: u64,
    latest: u64,
    latest_slope: u64,
}

impl Bounds {
    pub(crate) const NONE: Self =
        Self { start: 0, ticks_and_state: 0, earliest: 0, earliest_slope: 0, latest: 0, latest_slope: 0 };

    pub(crate) fn words(&self) -> [u64; 6] {
        [self.start, self.ticks_and_state, self.earliest, self.earliest_slope, self.latest, self.latest_slope]
    }

    #[inline(always)]
    pub(crate) fn from_words(
        [start, ticks_and_state, earliest, earliest_slope, latest, latest_slope]: [u64; 6],
    ) -> Self {
        Self { start, ticks_and_state, earliest, earliest_slope, latest, latest_slope }
    }

    /// Worth of the statement.
    pub(crate) fn state(&self) -> WallState {
        WallState::of_number(self.ticks_and_state & 255)
    }

    /// The interval at `tick`, until these bounds expire.
    #[inline(always)]
    pub(crate) fn at(&self, tick: u64) -> Option<BoundedAt> {
        let since = tick.wrapping_sub(self.start);
        if since >= self.ticks_and_state >> 8 {
            return None;
        }
        let [earliest, latest] =
            [self.earliest_slope, self.latest_slope].map(|slope| since.wrapping_mul(slope) >> FRACTION_BITS);
        Some(BoundedAt {
            earliest_ns: self.earliest.wrapping_add(earliest) as i64,
            latest_ns: self.latest.wrapping_add(latest) as i64,
            state: self.state(),
        })
    }

    /// The interval at `tick`, also after these bounds have expired: it becomes wider all the time.
    /// `None` before them, and within a second of a midnight of UTC, where a second may leap.
    pub(crate) fn at_any_age(&self, tick: u64) -> Option<BoundedAt> {
        let since = tick.wrapping_sub(self.start);
        let [earliest, latest] = [self.earliest_slope, self.latest_slope]
            .map(|slope| ((u128::from(since) * u128::from(slope)) >> FRACTION_BITS) as u64);
        let (earliest_ns, latest_ns) = (later(self.earliest as i64, earliest), later(self.latest as i64, latest));
        let [first_day, last_day] =
            [earlier(earliest_ns, MAX_LASTS_NS), later(latest_ns, MAX_LASTS_NS)].map(|ns| ns.div_euclid(DAY_NS));
        let state = self.state();
        if since >= u64::MAX / 2 || first_day != last_day && state.is_bounded() {
            return None;
        }
        Some(BoundedAt { earliest_ns, latest_ns, state })
    }

    /// A statement from `start` on, at a rate.
    pub(crate) fn new(statement: &WallStatement, start: u64, ns_per_tick: f64) -> Self {
        let drift = if statement.state.is_bounded() { [1.0 - MAX_DRIFT, 1.0 + MAX_DRIFT] } else { [0.0; 2] };
        let slopes = drift.map(|factor| fixed(ns_per_tick * factor));
        // A statement that would leave the range is not carried on.
        let stays =
            !statement.state.is_bounded() || statement.latest_ns.checked_add_unsigned(2 * MAX_LASTS_NS).is_some();
        let lasts_ns = if stays { statement.lasts_ns.min(MAX_LASTS_NS) } else { 0 };
        let ticks = (lasts_ns as f64 / ns_per_tick) as u64;
        Self {
            start,
            ticks_and_state: ticks << 8 | statement.state as u64,
            earliest: statement.earliest_ns as u64,
            earliest_slope: slopes[0],
            latest: statement.latest_ns as u64,
            // Rounded up.
            latest_slope: slopes[1] + u64::from(slopes[1] != 0),
        }
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever true time does that the rate allows for, it stays inside; and words are what
        /// they were.
        #[test]
        fn a_true_time_that_keeps_its_rate_stays_inside(
            start in any::<u64>(),
            ns_per_tick in 0.1f64..100.0,
            around in -(1i64 << 60)..(1 << 60),
            half in prop_oneof![Just(0i64), 0i64..1_000, 0i64..1_000_000_000],
            off in prop_oneof![Just(-1.0), Just(1.0), -1.0f64..1.0],
            rate_ppm in prop_oneof![Just(-500.0), Just(500.0), -500.0f64..500.0],
            part in 0.0f64..0.999,
        ) {
            let (earliest_ns, latest_ns) = (around - half, around + half);
            let statement = WallStatement { earliest_ns, latest_ns, lasts_ns: u64::MAX, rate_ppm: 0.0, state: WallState::Synchronized };
            let bounds = Bounds::new(&statement, start, ns_per_tick);
            prop_assert_eq!(Bounds::from_words(bounds.words()), bounds);
            let ticks = (bounds.ticks_and_state >> 8) as f64 * part;
            let at = bounds.at(start.wrapping_add(ticks as u64)).unwrap();
            let truth = around + (half as f64 * off) as i64 + (ticks.floor() * ns_per_tick * (1.0 + rate_ppm * 1e-6)) as i64;
            prop_assert!(at.earliest_ns <= truth && truth <= at.latest_ns, "{at:?} {truth}");
            prop_assert_eq!(at.state, WallState::Synchronized);
            prop_assert_eq!(bounds.at(start.wrapping_sub(1)), None);
        }
    }

    #[test]
    fn nothing_is_carried_on_by_zero_and_no_state_is_lost() {
        assert_eq!(Bounds::default().at(0), None);
        let at_the_end = WallStatement {
            earliest_ns: 0,
            latest_ns: i64::MAX - 5,
            lasts_ns: u64::MAX,
            rate_ppm: 0.0,
            state: WallState::Synchronized,
        };
        assert_eq!(Bounds::new(&at_the_end, 5, 1.0).at(5), None, "its end would become the earliest moment");
        for number in 0..7 {
            let state = WallState::of_number(number);
            assert_eq!(state as u64, number);
            let mut statement = WallStatement::nothing(state);
            if state.is_bounded() {
                (statement.earliest_ns, statement.latest_ns) = (0, 0);
            }
            let at = Bounds::new(&statement, 5, 0.4).at(1_000_000).unwrap();
            assert_eq!(at.state, state);
            assert!(state.is_bounded() || (at.earliest_ns, at.latest_ns) == (i64::MIN, i64::MAX));
        }
    }
}
