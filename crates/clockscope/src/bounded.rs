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
    use crate::disciplined::BoundedAt;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn interval(earliest: i64, latest: i64) -> Interval {
        let [earliest, latest] = [earliest, latest].map(WallTime::from_unix_ns);
        Interval::new(earliest, latest, CivilState::Synchronized).expect("in order")
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
    }

    #[test]
    fn nothing_is_certain_without_a_bound() {
        for state in [CivilState::Slewing, CivilState::Worthless, CivilState::Unsynchronized, CivilState::Unavailable] {
            let none = Interval::carried(BoundedAt::nothing(state));
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
