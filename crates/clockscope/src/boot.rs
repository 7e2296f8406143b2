//! The time since the machine was started, suspends included, at the cost of a timestamp.
//!
//! [`now`] is CLOCK_BOOTTIME, by the counter. It goes on while the machine sleeps, where
//! [`crate::now`] stands still; otherwise both are the same clock. Their distance is compared at
//! each renewal, once a millisecond, from the first call of this module on; programs that never ask
//! for it pay nothing. Callers too rare to be served by the counter read CLOCK_BOOTTIME itself.
//!
//! ```
//! use clockscope::boot;
//!
//! let start = boot::now();
//! // A night in which the laptop sleeps.
//! println!("{:?} later, suspends included", start.elapsed());
//! ```

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::time::Duration;

use clockscope_core::os::keep_errno;

use crate::Errno;
use crate::disciplined::OffsetClock;
use crate::evidence::ErrorBound;
use crate::instant::{NS_PER_SECOND, duration, moment, whole_ns};
use crate::native::CLOCK;

/// A moment: nanoseconds on a timeline that counts suspends, as CLOCK_BOOTTIME does.
///
/// Eight bytes, `Copy`, totally ordered. All processes of the time namespace see the same timeline,
/// from the start of the machine to its end. Arithmetic is that of [`crate::Instant`], with which
/// it cannot be mixed: the two timelines part at each suspend. On a machine that never sleeps their
/// numbers are nearly equal, so no test would notice code that mixes them.
///
/// | system | timeline |
/// |---|---|
/// | Linux, Android | CLOCK_BOOTTIME |
/// | Windows | QueryPerformanceCounter, as [`crate::now`] |
/// | macOS, iOS | mach_continuous_time |
/// | OpenBSD | CLOCK_BOOTTIME |
/// | others | that of [`crate::now`], of which it is not known: [`counts_suspends`] is `false` |
///
/// Only Linux was measured; the other rows are what the systems document, and are served without
/// the counter.
///
/// ```
/// use clockscope::boot::{self, BootInstant};
/// use core::time::Duration;
///
/// let deadline = boot::now() + Duration::from_secs(3600);
/// assert!(deadline > boot::now());
/// assert_eq!(BootInstant::from_ns(5).ns_since(BootInstant::from_ns(3)), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct BootInstant(i64);

moment!(BootInstant);

impl BootInstant {
    /// Calls [`now`].
    #[inline(always)]
    #[must_use]
    pub fn now() -> Self {
        now()
    }

    /// Returns the time from this moment to [`now`], suspends included; zero for a moment to come.
    ///
    /// ```
    /// let start = clockscope::boot::now();
    /// assert!(start.elapsed() <= clockscope::boot::now() - start);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn elapsed(self) -> Duration {
        now().duration_since(self)
    }
}

/// Returns the time since the machine was started, suspends included.
///
/// - Unit: a [`BootInstant`] counts nanoseconds, as CLOCK_BOOTTIME does.
/// - Error: [`error_bound`]; a fraction of a microsecond against CLOCK_BOOTTIME.
/// - Ordering: as [`crate::now`], across suspends of 2.2 ms and more, unless the process joins
///   another time namespace.
/// - Suspends: one shows within 2.2 ms of use, at once after [`crate::recheck`], and at once where
///   an [`Upkeep`](crate::Upkeep) runs (Linux).
/// - Cost: that of [`crate::now`] and a load. A program that calls less often than every fifteen
///   microseconds is served CLOCK_BOOTTIME at about its cost. Before Linux 5.3 the vDSO does not
///   answer that clock: there it is a system call, once a millisecond where the counter is used.
/// - Allocates nothing, takes no lock that it waits for, and may be called in a signal handler.
///   If no such clock answers, it goes on by the last distance that was known; without one it is
///   the timeline of [`crate::now`].
///
/// ```
/// use clockscope::boot;
///
/// let (first, second) = (boot::now(), boot::now());
/// assert!(first <= second);
/// ```
#[inline(always)]
#[must_use]
pub fn now() -> BootInstant {
    BootInstant(CLOCK.boot_ns())
}

/// Returns the same time by a bare read of the counter, which the processor may take earlier or
/// later than the program says: [`crate::now_unordered`].
///
/// - Unit, error, suspends: as [`now`]. Ordering: none. Cost: that of [`crate::now_unordered`] and
///   a load.
///
/// ```
/// assert!(clockscope::boot::now_unordered().as_ns() > 0);
/// ```
#[inline(always)]
#[must_use]
pub fn now_unordered() -> BootInstant {
    BootInstant(CLOCK.boot_ns_unordered())
}

/// Returns whether [`now`] goes on in a suspend, as far as the system promises that and answers. A
/// call of the system's clock.
///
/// ```
/// if !clockscope::boot::counts_suspends() {
///     println!("boot::now() may stand still while the machine sleeps");
/// }
/// ```
#[must_use]
pub fn counts_suspends() -> bool {
    let answer: Result<i64, Errno> = keep_errno(|| {
        // Where the counter is disabled, reading a clock by the vDSO is fatal.
        crate::prepare();
        CLOCK.os().boot_ns()
    });
    answer.is_ok()
}

/// Returns how far [`now`] is from CLOCK_BOOTTIME: by a fresh comparison, and at most since the
/// last suspend. `None` where no clock answers.
///
/// The sum of [`crate::error_bound`] and of what is known of the distance. A suspend is an error
/// until it is noticed, for 2.2 ms of use at most, which no bound includes.
///
/// - Cost: some thirty reads of the system's clocks, about 1 µs.
///
/// ```
/// if let Some(bound) = clockscope::boot::error_bound() {
///     assert!(bound.now <= bound.largest);
/// }
/// ```
#[must_use]
pub fn error_bound() -> Option<ErrorBound> {
    keep_errno(|| CLOCK.layers.offset_error_bound(OffsetClock::Boot))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use clockscope_core::os::Timeline;

    /// Between two readings of CLOCK_BOOTTIME, within a slack: by the line, and in pauses.
    #[test]
    #[cfg(target_os = "linux")]
    fn it_is_the_systems_boot_clock() {
        let (timeline, slack) = (Timeline::new(), Duration::from_micros(20));
        for turn in 0..200_000 {
            if turn % 20_000 == 0 {
                std::thread::sleep(Duration::from_millis(20));
            }
            let before = BootInstant(timeline.boot_ns().unwrap());
            let ours = now();
            let after = BootInstant(timeline.boot_ns().unwrap());
            assert!(before - slack <= ours && ours <= after + slack, "{before} {ours} {after}");
        }
        assert!(error_bound().unwrap().now < Duration::from_millis(10));
    }

    #[test]
    fn threads_never_see_it_go_back() {
        let known = std::sync::atomic::AtomicI64::new(i64::MIN);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..200_000 {
                        let least = known.load(core::sync::atomic::Ordering::Acquire);
                        let now = now().as_signed_ns();
                        assert!(now >= least, "{now} after {least}");
                        known.store(now, core::sync::atomic::Ordering::Release);
                    }
                });
            }
        });
    }
}
