//! Civil time as an interval, at the cost of a timestamp.
//!
//! [`now`] returns two moments between which the true time lies, and what that is worth: what
//! TrueTime gives to databases. The kernel is asked for its bound at most once a second. In between
//! the counter carries the interval on, or CLOCK_MONOTONIC_RAW for callers too rare to be served by
//! the counter. It grows by the 500 ppm by which the kernel lets its own bound grow. The interval
//! follows true time and not CLOCK_REALTIME: a clock that is set or slewed within the second takes
//! the true time out of no interval.
//!
//! What the kernel's bound is worth depends on the daemon that keeps the clock: see [`CivilState`].
//! [`crate::utc_now`] asks anew at each call, and chronyd or ClockBound themselves with their
//! features.
//!
//! ```
//! use clockscope::bounded;
//!
//! let written = bounded::now();
//! // Later, in another transaction:
//! let read = bounded::now();
//! if read.definitely_after(written.latest) {
//!     println!("the write came first, on every machine");
//! }
//! ```

use core::fmt;
use core::time::Duration;

use clockscope_core::CivilState;
use clockscope_core::os::keep_errno;
use clockscope_core::pause;

use crate::WallTime;
use crate::disciplined::BoundedAt;
use crate::native::CLOCK;

/// Two moments between which the true time lies, and what that is worth.
///
/// Where it is worth nothing, the interval reaches from [`WallTime::MIN`] to [`WallTime::MAX`]:
/// nothing is definitely before or after it, so that code that does not look at the state waits too
/// long, and never too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "Sent"))]
#[non_exhaustive]
pub struct Interval {
    /// The true time is not before this.
    pub earliest: WallTime,
    /// The true time is not after this.
    pub latest: WallTime,
    /// Worth of the interval.
    pub state: CivilState,
}

/// An [`Interval`] as it comes from outside.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Sent {
    earliest: WallTime,
    latest: WallTime,
    state: CivilState,
}

#[cfg(feature = "serde")]
impl TryFrom<Sent> for Interval {
    type Error = &'static str;

    fn try_from(Sent { earliest, latest, state }: Sent) -> Result<Self, Self::Error> {
        Self::new(earliest, latest, state).ok_or("the interval ends before it begins: expected earliest <= latest")
    }
}

impl Interval {
    /// Returns the interval of two moments: one that another machine has sent. `None` if the
    /// earliest is after the latest.
    ///
    /// ```
    /// use clockscope::{CivilState, bounded::Interval};
    /// use clockscope::WallTime;
    ///
    /// let (earliest, latest) = (WallTime::from_unix_ns(1_000), WallTime::from_unix_ns(2_000));
    /// let theirs = Interval::new(earliest, latest, CivilState::Synchronized);
    /// assert!(theirs.is_some_and(|theirs| theirs.contains(earliest)));
    /// assert_eq!(Interval::new(latest, earliest, CivilState::Synchronized), None);
    /// ```
    #[must_use]
    pub fn new(earliest: WallTime, latest: WallTime, state: CivilState) -> Option<Self> {
        (earliest <= latest).then_some(Self { earliest, latest, state })
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

/// Returns the interval in which the true time lies at some moment of this call.
///
/// - Unit: [`WallTime`]s, nanoseconds since the Unix epoch.
/// - Ordering: of its own interval, as [`crate::now`].
/// - Cost: that of [`crate::now`] and two products, where the counter is in use. Programs that call
///   less often than every fifteen microseconds: some 0.13 µs, for readings of CLOCK_MONOTONIC,
///   CLOCK_REALTIME and CLOCK_MONOTONIC_RAW. Once a second, four calls of adjtimex(2), some
///   microseconds, by one of the callers. Where the vDSO does not answer CLOCK_MONOTONIC_RAW
///   (before Linux 5.3), and near a leap second, two of them for each rare call.
/// - Source: adjtimex(2), judged by the signature of the daemon that keeps the clock.
/// - What a daemon states anew shows within a second, a clock that is set or slewed within two
///   milliseconds of use. To rare callers a set shows at once, and a slew when it has moved the
///   clock by more than the interval may have grown.
/// - May be called in a signal handler. [`crate::prepare`] does not replace its system calls.
///
/// ```
/// let now = clockscope::bounded::now();
/// println!("between {} and {}: {:?}", now.earliest, now.latest, now.state);
/// assert!(now.earliest <= now.latest);
/// ```
#[inline(always)]
#[must_use]
pub fn now() -> Interval {
    let BoundedAt { earliest_ns, latest_ns, state } = CLOCK.bounded();
    Interval { earliest: WallTime::from_unix_ns(earliest_ns), latest: WallTime::from_unix_ns(latest_ns), state }
}

/// From here on the wait spins, because a sleeping thread may be woken so much too late.
const SPIN_NS: u64 = 100_000;
/// A sleep is no longer than this, in case that the clock is set or its error grows smaller.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// Nothing bounds the true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoBound {
    /// Reason for its absence.
    pub state: CivilState,
}

impl fmt::Display for NoBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no bound of the true time: {}", self.state)
    }
}

impl core::error::Error for NoBound {}

/// Waits until `moment` is certainly past, and returns the interval that shows it: never early.
/// Sleeps, and spins for the last tenth of a millisecond.
///
/// How long it takes is up to the bound: a commit that is to be seen after `now().latest` waits for
/// about the width of the interval. There is no time limit: a moment in an hour takes an hour.
///
/// # Errors
/// [`NoBound`] as soon as nothing bounds the true time: `moment` may be past or not.
///
/// ```
/// use clockscope::bounded;
///
/// let commit = bounded::now().latest;
/// match bounded::commit_wait(commit) {
///     Ok(after) => assert!(after.definitely_after(commit)),
///     Err(error) => println!("{error}"),
/// }
/// ```
pub fn commit_wait(moment: WallTime) -> Result<Interval, NoBound> {
    keep_errno(|| wait_for(moment, now, pause))
}

fn wait_for(moment: WallTime, now: impl Fn() -> Interval, pause: impl Fn(Duration)) -> Result<Interval, NoBound> {
    loop {
        let interval = now();
        if !interval.state.is_bounded() {
            return Err(NoBound { state: interval.state });
        }
        if interval.definitely_after(moment) {
            return Ok(interval);
        }
        let left = moment.saturating_duration_since(interval.earliest);
        match left.checked_sub(Duration::from_nanos(SPIN_NS)) {
            Some(sleep) if !sleep.is_zero() => pause(sleep.min(LONGEST_SLEEP)),
            _ => core::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn interval(earliest: i64, latest: i64) -> Interval {
        let [earliest, latest] = [earliest, latest].map(WallTime::from_unix_ns);
        Interval { earliest, latest, state: CivilState::Synchronized }
    }

    proptest! {
        /// Sleeps of any length, too short or too long, and bounds that jump: it returns only when
        /// the moment is past.
        #[test]
        fn a_wait_is_never_early_and_ends(
            moment in 0i64..1_000_000_000,
            widths in proptest::collection::vec(0i64..2_000_000, 1..20),
            share in 0.0f64..3.0,
        ) {
            let (true_ns, turn) = (Cell::new(0i64), Cell::new(0usize));
            let ask = || {
                true_ns.set(true_ns.get() + 100);
                turn.set(turn.get() + 1);
                let width = widths[turn.get() % widths.len()];
                interval(true_ns.get() - width, true_ns.get() + width)
            };
            let sleep = |duration: Duration| true_ns.set(true_ns.get() + (duration.as_nanos() as f64 * share) as i64);
            let after = wait_for(WallTime::from_unix_ns(moment), ask, sleep).expect("a bound");
            prop_assert!(true_ns.get() > moment);
            prop_assert!(after.definitely_after(WallTime::from_unix_ns(moment)));
        }

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

    #[test]
    fn nothing_is_certain_without_a_bound() {
        for state in [CivilState::Slewing, CivilState::Worthless, CivilState::Unsynchronized, CivilState::Unavailable] {
            let none = Interval { earliest: WallTime::MIN, latest: WallTime::MAX, state };
            assert!(!none.definitely_after(WallTime::MIN) && !none.definitely_before(WallTime::MAX));
            assert!(none.overlaps(&none));
            assert_eq!(none.width(), Duration::from_nanos(u64::MAX));
            assert_eq!(wait_for(WallTime::UNIX_EPOCH, || none, |_| ()), Err(NoBound { state }));
        }
    }

    /// Whatever keeps this machine's clock: the answer agrees with the question that is asked anew.
    #[test]
    #[cfg(target_os = "linux")]
    fn it_agrees_with_utc_now() {
        for _ in 0..20_000 {
            let interval = now();
            assert!(interval.earliest <= interval.latest);
            assert_eq!(interval.width() == Duration::from_nanos(u64::MAX), !interval.state.is_bounded());
        }
    }
}
