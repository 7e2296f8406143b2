//! A system's statement on civil time, and the words in which that is published.

use clockscope_core::CivilState;

use super::line::FRACTION_BITS;

/// A system's statement on civil time at the moment of the question.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CivilStatement {
    /// The true time is this or later, in ns since the Unix epoch; `i64::MIN` without a bound.
    pub earliest_ns: i64,
    /// It is this or earlier; `i64::MAX` without a bound.
    pub latest_ns: i64,
    /// Time for which this may be carried on, in ns; at most a second is.
    pub lasts_ns: u64,
    /// By how much the clock's rate is corrected, in ppm.
    pub rate_ppm: f64,
    /// Worth of the statement.
    pub state: CivilState,
}

impl CivilStatement {
    /// Makes a statement that may be carried on for a second, of a clock whose rate is not
    /// corrected.
    #[must_use]
    pub const fn new(earliest_ns: i64, latest_ns: i64, state: CivilState) -> Self {
        Self { earliest_ns, latest_ns, lasts_ns: LASTS_NS, rate_ppm: 0.0, state }
    }

    /// Nothing is stated.
    #[must_use]
    pub const fn nothing(state: CivilState) -> Self {
        Self::new(i64::MIN, i64::MAX, state)
    }
}

/// An interval of civil time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundedAt {
    /// As in [`CivilStatement`].
    pub earliest_ns: i64,
    /// As in [`CivilStatement`].
    pub latest_ns: i64,
    /// As in [`CivilStatement`].
    pub state: CivilState,
}

const DAY_NS: i64 = 86_400_000_000_000;

/// Two answers of the system are of one rate if they differ by no more than this, in ppm.
const SAME_RATE_PPM: f64 = 1.0;

/// Returns true if two corrections of the clock's rate, in ppm, are the same, as far as bounds go.
pub(crate) fn is_same_rate(one_ppm: f64, other_ppm: f64) -> bool {
    (one_ppm - other_ppm).abs() <= SAME_RATE_PPM
}

impl BoundedAt {
    /// Nothing bounds the true time, for this reason.
    pub(crate) const fn nothing(state: CivilState) -> Self {
        Self { earliest_ns: i64::MIN, latest_ns: i64::MAX, state }
    }
}

/// Returns a moment that is so much later. Without a bound there is none.
pub(crate) fn later(ns: i64, by_ns: u64) -> i64 {
    ns.saturating_add_unsigned(by_ns)
}

/// Returns a moment that is so much earlier, likewise.
pub(crate) fn earlier(ns: i64, by_ns: u64) -> i64 {
    ns.saturating_sub_unsigned(by_ns)
}

/// A statement is carried on for so long, in ns.
const LASTS_NS: u64 = 1_000_000_000;

/// The rate of a clock that is kept right is off by no more than 500 ppm (MAXFREQ of
/// include/linux/timex.h), and the counter's by one more.
pub(crate) const GROWS: f64 = 501e-6;

/// A statement as it is published: from `start` on, for so many ticks, both ends with their slopes
/// in ns a tick × 2^32. All zero is none. A second's ticks times the slope are less than 2^63.
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
    pub(crate) fn of_words([start, ticks_and_state, earliest, earliest_slope, latest, latest_slope]: [u64; 6]) -> Self {
        Self { start, ticks_and_state, earliest, earliest_slope, latest, latest_slope }
    }

    /// Worth of the statement.
    pub(crate) fn state(&self) -> CivilState {
        CivilState::of_number(self.ticks_and_state & 255)
    }

    /// The interval at `tick`, where these bounds last.
    #[inline(always)]
    pub(crate) fn at(&self, tick: u64) -> Option<BoundedAt> {
        let since = tick.wrapping_sub(self.start);
        let rise = |slope: u64| since.wrapping_mul(slope) >> FRACTION_BITS;
        (since < self.ticks_and_state >> 8).then(|| BoundedAt {
            earliest_ns: self.earliest.wrapping_add(rise(self.earliest_slope)) as i64,
            latest_ns: self.latest.wrapping_add(rise(self.latest_slope)) as i64,
            state: self.state(),
        })
    }

    /// The same for as long as it may have been: the ends part all the time. `None` before them,
    /// and within a second of a midnight of UTC, where a second may leap.
    pub(crate) fn at_any_age(&self, tick: u64) -> Option<BoundedAt> {
        let since = tick.wrapping_sub(self.start);
        let rise = |slope: u64| ((u128::from(since) * u128::from(slope)) >> FRACTION_BITS) as u64;
        let at = BoundedAt {
            earliest_ns: later(self.earliest as i64, rise(self.earliest_slope)),
            latest_ns: later(self.latest as i64, rise(self.latest_slope)),
            state: self.state(),
        };
        let day = |ns: i64| ns.div_euclid(DAY_NS);
        let is_of_a_day = day(earlier(at.earliest_ns, LASTS_NS)) == day(later(at.latest_ns, LASTS_NS));
        (since < u64::MAX / 2 && (is_of_a_day || !at.state.is_bounded())).then_some(at)
    }

    /// A statement from `start` on, at so many ns a tick.
    pub(crate) fn of(statement: &CivilStatement, start: u64, ns_per_tick: f64) -> Self {
        let fixed = |slope: f64| (slope * (1u64 << FRACTION_BITS) as f64) as u64;
        let slopes = if statement.state.is_bounded() {
            [ns_per_tick * (1.0 - GROWS), ns_per_tick * (1.0 + GROWS)].map(fixed)
        } else {
            [0, 0]
        };
        // What would leave the range is not carried on.
        let stays = !statement.state.is_bounded() || statement.latest_ns.checked_add_unsigned(2 * LASTS_NS).is_some();
        let lasts_ns = if stays { statement.lasts_ns.min(LASTS_NS) } else { 0 };
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
            let statement = CivilStatement { earliest_ns, latest_ns, lasts_ns: u64::MAX, rate_ppm: 0.0, state: CivilState::Synchronized };
            let bounds = Bounds::of(&statement, start, ns_per_tick);
            prop_assert_eq!(Bounds::of_words(bounds.words()), bounds);
            let ticks = (bounds.ticks_and_state >> 8) as f64 * part;
            let at = bounds.at(start.wrapping_add(ticks as u64)).unwrap();
            let truth = around + (half as f64 * off) as i64 + (ticks.floor() * ns_per_tick * (1.0 + rate_ppm * 1e-6)) as i64;
            prop_assert!(at.earliest_ns <= truth && truth <= at.latest_ns, "{at:?} {truth}");
            prop_assert_eq!(at.state, CivilState::Synchronized);
            prop_assert_eq!(bounds.at(start.wrapping_sub(1)), None);
        }
    }

    #[test]
    fn nothing_is_carried_on_by_zero_and_no_state_is_lost() {
        assert_eq!(Bounds::default().at(0), None);
        let at_the_end = CivilStatement {
            earliest_ns: 0,
            latest_ns: i64::MAX - 5,
            lasts_ns: u64::MAX,
            rate_ppm: 0.0,
            state: CivilState::Synchronized,
        };
        assert_eq!(Bounds::of(&at_the_end, 5, 1.0).at(5), None, "its end would become the earliest moment");
        for number in 0..7 {
            let state = CivilState::of_number(number);
            assert_eq!(state as u64, number);
            let mut statement = CivilStatement::nothing(state);
            if state.is_bounded() {
                (statement.earliest_ns, statement.latest_ns) = (0, 0);
            }
            let at = Bounds::of(&statement, 5, 0.4).at(1_000_000).unwrap();
            assert_eq!(at.state, state);
            assert!(state.is_bounded() || (at.earliest_ns, at.latest_ns) == (i64::MIN, i64::MAX));
        }
    }
}
