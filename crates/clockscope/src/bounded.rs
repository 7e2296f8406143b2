//! The time of day as an interval, at the cost of a timestamp.
//!
//! [`now`] returns two moments between which the true time lies, and what that is worth: what
//! TrueTime gives to databases. The kernel is asked for its bound at most once a second. In between
//! the counter carries the interval on, or CLOCK_MONOTONIC_RAW for callers too rare to be served by
//! the counter. It grows by the 500 ppm by which the kernel lets its own bound grow. The interval
//! follows true time and not CLOCK_REALTIME: a clock that is set or slewed within the second takes
//! the true time out of no interval.
//!
//! The worth of the kernel's bound depends on the daemon that keeps the clock: see [`WallState`].
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

use clockscope_core::WallState;
use clockscope_core::os::keep_errno;
use clockscope_core::pause;

use crate::native::CLOCK;
use crate::{Interval, WallTime};

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
    Interval::carried(CLOCK.bounded())
}

/// End of a wait in which it spins, in ns: a sleeping thread may be woken late.
const SPIN_NS: u64 = 100_000;
/// Longest sleep, in case the clock is set or its error becomes smaller.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// Nothing bounds the true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoBound {
    /// Reason for its absence.
    pub state: WallState,
}

impl fmt::Display for NoBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no bound of the true time: {}", self.state)
    }
}

impl core::error::Error for NoBound {}

/// Reason why [`commit_wait_for`] has ended before the moment was certainly past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotPast {
    /// Nothing bounds the true time.
    NoBound(NoBound),
    /// The limit has passed. The interval is the last one, which does not show that the moment is
    /// past.
    TimeLimit(Interval),
}

impl fmt::Display for NotPast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBound(error) => error.fmt(f),
            Self::TimeLimit(_) => f.write_str("the moment is not certainly past at the end of the time limit"),
        }
    }
}

impl core::error::Error for NotPast {}

impl From<NoBound> for NotPast {
    fn from(error: NoBound) -> Self {
        Self::NoBound(error)
    }
}

/// Waits until `moment` is certainly past, and returns the interval that shows it: never early.
/// Sleeps, and spins for the last tenth of a millisecond.
///
/// The time depends on the bound: a commit at `now().latest` waits for about the width of the
/// interval. There is no time limit: a moment in an hour takes an hour. [`commit_wait_for`] has
/// one.
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
    loop {
        match keep_errno(|| wait(moment, now, pause, || Duration::MAX)) {
            Ok(interval) => return Ok(interval),
            Err(NotPast::NoBound(error)) => return Err(error),
            Err(NotPast::TimeLimit(_)) => {}
        }
    }
}

/// Waits as [`commit_wait`] does, for `limit` at most: for a thread that also does something else,
/// or that must not wait for a clock that is wrong by a day.
///
/// With a limit of zero it only asks. The limit is measured by [`crate::now`], without suspends; a
/// sleep may end some time after it.
///
/// # Errors
/// [`NotPast::TimeLimit`] after the limit, [`NotPast::NoBound`] as soon as nothing bounds the true
/// time.
///
/// ```
/// use clockscope::bounded::{self, NotPast};
/// use core::time::Duration;
///
/// let in_an_hour = bounded::now().latest.saturating_add(Duration::from_secs(3600));
/// match bounded::commit_wait_for(in_an_hour, Duration::from_millis(2)) {
///     Err(NotPast::TimeLimit(last)) => assert!(!last.definitely_after(in_an_hour)),
///     Err(error) => println!("{error}"),
///     Ok(after) => println!("the clock was set: {} is past", after.earliest),
/// }
/// ```
pub fn commit_wait_for(moment: WallTime, limit: Duration) -> Result<Interval, NotPast> {
    let began = crate::now();
    keep_errno(|| wait(moment, now, pause, || limit.saturating_sub(began.elapsed())))
}

/// Waits while time remains.
fn wait(
    moment: WallTime,
    now: impl Fn() -> Interval,
    pause: impl Fn(Duration),
    remaining: impl Fn() -> Duration,
) -> Result<Interval, NotPast> {
    loop {
        let interval = now();
        if !interval.state.is_bounded() {
            return Err(NotPast::NoBound(NoBound { state: interval.state }));
        }
        if interval.definitely_after(moment) {
            return Ok(interval);
        }
        let remaining = remaining();
        if remaining.is_zero() {
            return Err(NotPast::TimeLimit(interval));
        }
        let left = moment.saturating_duration_since(interval.earliest);
        match left.checked_sub(Duration::from_nanos(SPIN_NS)) {
            Some(sleep) if !sleep.is_zero() => pause(sleep.min(MAX_SLEEP).min(remaining)),
            _ => core::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disciplined::BoundedAt;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn interval(earliest: i64, latest: i64) -> Interval {
        let [earliest, latest] = [earliest, latest].map(WallTime::from_unix_ns);
        Interval::new(earliest, latest, WallState::Synchronized).expect("in order")
    }

    proptest! {
        /// Sleeps of any length, too short or too long, and bounds that jump: it returns only when
        /// the moment is past, or when the limit is. No sleep is asked for beyond that.
        #[test]
        fn a_wait_is_never_early_and_ends(
            moment in 0i64..1_000_000_000,
            widths in proptest::collection::vec(0i64..2_000_000, 1..20),
            share in 0.0f64..3.0,
            limit in prop_oneof![Just(i64::MAX), 0i64..1_000_000_000],
        ) {
            let (true_ns, turn) = (Cell::new(0i64), Cell::new(0usize));
            let ask = || {
                true_ns.set(true_ns.get() + 100);
                turn.set(turn.get() + 1);
                let width = widths[turn.get() % widths.len()];
                interval(true_ns.get() - width, true_ns.get() + width)
            };
            let sleep = |duration: Duration| {
                assert!(duration.as_nanos() <= (limit - true_ns.get()) as u128, "{duration:?}");
                true_ns.set(true_ns.get() + (duration.as_nanos() as f64 * share) as i64);
            };
            let remaining = || Duration::from_nanos(limit.saturating_sub(true_ns.get()).max(0) as u64);
            let moment = WallTime::from_unix_ns(moment);
            match wait(moment, ask, sleep, remaining) {
                Ok(after) => prop_assert!(true_ns.get() > moment.as_unix_ns() && after.definitely_after(moment)),
                Err(NotPast::TimeLimit(last)) => {
                    prop_assert!(true_ns.get() >= limit && !last.definitely_after(moment));
                }
                Err(NotPast::NoBound(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn nothing_is_certain_without_a_bound() {
        for state in [WallState::Slewing, WallState::Worthless, WallState::Unsynchronized, WallState::Unavailable] {
            let none = Interval::carried(BoundedAt::nothing(state));
            assert!(!none.definitely_after(WallTime::MIN) && !none.definitely_before(WallTime::MAX));
            assert!(none.overlaps(&none));
            assert_eq!(none.width(), Duration::from_nanos(u64::MAX));
            let found = wait(WallTime::UNIX_EPOCH, || none, |_| (), || Duration::ZERO);
            assert_eq!(found, Err(NotPast::NoBound(NoBound { state })));
        }
    }

    /// A moment that is past needs no time. The wait for another one ends at the limit.
    #[test]
    fn a_limit_ends_a_wait() {
        let interval = interval(100, 200);
        let [past, later] = [99, 100].map(WallTime::from_unix_ns);
        assert_eq!(wait(past, || interval, |_| (), || Duration::ZERO), Ok(interval));
        assert_eq!(wait(later, || interval, |_| (), || Duration::ZERO), Err(NotPast::TimeLimit(interval)));
        let (began, limit) = (crate::now(), Duration::from_millis(3));
        match commit_wait_for(WallTime::MAX, limit) {
            Err(NotPast::TimeLimit(last)) => assert!(last.state.is_bounded() && began.elapsed() >= limit),
            Err(NotPast::NoBound(error)) => assert!(!error.state.is_bounded()),
            Ok(past) => panic!("{past:?} is after the end of time"),
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
