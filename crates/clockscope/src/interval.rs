//! An interval that holds the true time.

use core::time::Duration;

use clockscope_core::kernel_clock::Leap;
use clockscope_core::{Basis, WallState};

use crate::WallTime;
use crate::disciplined::BoundedAt;

/// Two moments between which the true time lies, and what that is worth: what [`bounded::now`],
/// [`utc_now`], [`tai_now`] and [`Stamps::bounded`] return.
///
/// An interval that is worth nothing reaches from [`WallTime::MIN`] to [`WallTime::MAX`]:
/// nothing is definitely before or after it, so that code that does not look at the state waits too
/// long, and never too short. [`utc_now`] and [`tai_now`] return an error instead, whose
/// [`Unbounded::interval`] is what was stated.
///
/// [`utc_now`] and [`tai_now`] ask at each call, and know the basis and the leap second.
/// [`bounded::now`] and stamps carry an older statement on, of which the page and the history keep
/// only the ends and the state: there, and from [`Interval::new`], both are `None`.
///
/// [`Unbounded::interval`]: crate::Unbounded::interval
/// [`bounded::now`]: crate::bounded::now
/// [`utc_now`]: crate::utc_now
/// [`tai_now`]: crate::tai_now
/// [`Stamps::bounded`]: crate::stamps::Stamps::bounded
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "Sent"))]
#[non_exhaustive]
pub struct Interval {
    /// The true time is not before this.
    pub earliest: WallTime,
    /// The true time is not after this.
    pub latest: WallTime,
    /// State of the time of day, which says what the interval is worth.
    pub state: WallState,
    /// Basis of the interval; `None` where it is not known.
    pub basis: Option<Basis>,
    /// The leap second that is near, if one is; `None` where it is not known. Within a second of
    /// one the interval is two seconds wider, but for [`tai_now`].
    ///
    /// [`tai_now`]: crate::tai_now
    pub leap: Option<Leap>,
}

/// An [`Interval`] as it comes from outside.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Sent {
    earliest: WallTime,
    latest: WallTime,
    state: WallState,
    #[serde(default)]
    basis: Option<Basis>,
    #[serde(default)]
    leap: Option<Leap>,
}

#[cfg(feature = "serde")]
impl TryFrom<Sent> for Interval {
    type Error = &'static str;

    fn try_from(Sent { earliest, latest, state, basis, leap }: Sent) -> Result<Self, Self::Error> {
        let sent = Self::new(earliest, latest, state);
        let interval = sent.ok_or("the interval ends before it begins: expected earliest <= latest")?;
        Ok(Self { basis, leap, ..interval })
    }
}

impl Interval {
    /// Returns the interval of two moments: one that another machine has sent. `None` if the
    /// earliest is after the latest.
    ///
    /// ```
    /// use clockscope::{WallState, Interval, WallTime};
    ///
    /// let (earliest, latest) = (WallTime::from_unix_ns(1_000), WallTime::from_unix_ns(2_000));
    /// let theirs = Interval::new(earliest, latest, WallState::Synchronized);
    /// assert!(theirs.is_some_and(|theirs| theirs.contains(earliest)));
    /// assert_eq!(Interval::new(latest, earliest, WallState::Synchronized), None);
    /// ```
    #[must_use]
    pub fn new(earliest: WallTime, latest: WallTime, state: WallState) -> Option<Self> {
        (earliest <= latest).then_some(Self { earliest, latest, state, basis: None, leap: None })
    }

    /// Returns an interval that was carried on.
    #[inline(always)]
    pub(crate) fn carried(BoundedAt { earliest_ns, latest_ns, state }: BoundedAt) -> Self {
        let [earliest, latest] = [earliest_ns, latest_ns].map(WallTime::from_unix_ns);
        Self { earliest, latest, state, basis: None, leap: None }
    }

    /// Returns whether the true time may be `moment`.
    #[inline(always)]
    #[must_use]
    pub fn contains(&self, moment: WallTime) -> bool {
        self.earliest <= moment && moment <= self.latest
    }

    /// Returns whether the true time is certainly before `moment`.
    #[inline(always)]
    #[must_use]
    pub fn definitely_before(&self, moment: WallTime) -> bool {
        self.latest < moment
    }

    /// Returns whether the true time is certainly after `moment`.
    #[inline(always)]
    #[must_use]
    pub fn definitely_after(&self, moment: WallTime) -> bool {
        moment < self.earliest
    }

    /// Returns whether both intervals hold a common moment: then nothing is known of their order.
    #[inline(always)]
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.earliest <= other.latest && other.earliest <= self.latest
    }

    /// Returns the interval's length: 584 years where nothing is known.
    #[inline(always)]
    #[must_use]
    pub fn width(&self) -> Duration {
        self.latest.saturating_duration_since(self.earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(earliest: i64, latest: i64) -> Interval {
        let [earliest, latest] = [earliest, latest].map(WallTime::from_unix_ns);
        Interval::new(earliest, latest, WallState::Synchronized).expect("in order")
    }

    proptest! {
        #[test]
        fn order_is_said_only_where_it_is_certain(a in -9i64..9, b in 0i64..9, c in -9i64..9, d in 0i64..9) {
            let (first, second) = (interval(a, a + b), interval(c, c + d));
            let is_before = first.definitely_before(second.earliest);
            let is_after = first.definitely_after(second.latest);
            prop_assert_eq!(first.overlaps(&second), !is_before && !is_after);
            prop_assert_eq!(first.overlaps(&second), second.overlaps(&first));
            prop_assert_eq!(first.width(), Duration::from_nanos(b as u64));
        }
    }
}
