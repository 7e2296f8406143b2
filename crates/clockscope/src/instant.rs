//! Moments on the timeline of the system's monotonic clock.

use clockscope_core::atomic::AtomicU64;
use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::sync::atomic::Ordering;
use core::time::Duration;

pub(crate) const NS_PER_SECOND: u64 = 1_000_000_000;

/// A moment: nanoseconds on the timeline of the operating system's monotonic clock.
///
/// Eight bytes, `Copy`, totally ordered, 584 years wide. Where the timeline is the kernel's, a
/// moment can be compared with one that another program, or the kernel, took on the same machine
/// since it was started.
///
/// | system | timeline | while the machine sleeps | comparable with | usual step |
/// |---|---|---|---|---|
/// | Linux, Android | CLOCK_MONOTONIC | stands still | all processes of the time namespace | 1 ns |
/// | Windows | QueryPerformanceCounter | goes on | all processes | 100 ns |
/// | macOS, iOS | mach_absolute_time | stands still | all processes | 42 ns (Apple), 1 ns (Intel) |
/// | FreeBSD, DragonFly, NetBSD, OpenBSD, illumos | CLOCK_MONOTONIC | differs | all processes | 1 ns |
/// | WASI | clock_time_get of the monotonic clock | the host's | the host's | the host's |
/// | browsers, Node (feature `js`) | performance.timeOrigin and now() | differs | threads of the page | 5 µs where isolated, else 100 µs |
/// | others | std's `Instant`, from the first reading | std's | this process | std's |
///
/// Only Linux was measured on real machines; the other rows are what the systems document.
/// WebAssembly without a host of JavaScript has no clock: [`try_now`](crate::try_now) says so, and
/// [`now`](crate::now) stands still at zero.
///
/// Arithmetic is that of
/// [`std::time::Instant`](https://doc.rust-lang.org/std/time/struct.Instant.html): differences
/// saturate at zero, sums that do not fit panic, the `checked_` forms give `None`.
///
/// ```
/// use clockscope::Instant;
/// use core::time::Duration;
///
/// let start = Instant::from_ns(1_500_000_000);
/// let end = start + Duration::from_millis(20);
/// assert_eq!(end.duration_since(start), Duration::from_millis(20));
/// assert_eq!(start.duration_since(end), Duration::ZERO);
/// assert_eq!(end.checked_duration_since(start), Some(Duration::from_millis(20)));
/// assert_eq!(start.checked_sub(Duration::from_secs(2)), None);
/// assert_eq!(size_of::<Instant>(), 8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The timeline's end, 584 years after the machine was started.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the moment `ns` nanoseconds after the timeline's beginning.
    #[inline(always)]
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns the nanoseconds since the timeline's beginning.
    #[inline(always)]
    #[must_use]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the time from `earlier` to this moment; zero if `earlier` is later.
    #[inline(always)]
    #[must_use]
    pub const fn duration_since(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// Returns the time from `earlier` to this moment; `None` if `earlier` is later.
    #[inline(always)]
    #[must_use]
    pub const fn checked_duration_since(self, earlier: Self) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(ns) => Some(Duration::from_nanos(ns)),
            None => None,
        }
    }

    /// Returns the time from `earlier` to this moment; zero if `earlier` is later.
    #[inline(always)]
    #[must_use]
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Returns the nanoseconds from `earlier` to this moment; zero if `earlier` is later. What
    /// `duration_since(..).as_nanos()` says, without a division.
    #[inline(always)]
    #[must_use]
    pub const fn ns_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the moment `duration` later; `None` if that is after the timeline's end.
    #[must_use]
    pub const fn checked_add(self, duration: Duration) -> Option<Self> {
        match whole_ns(duration) {
            Some(ns) => match self.0.checked_add(ns) {
                Some(ns) => Some(Self(ns)),
                None => None,
            },
            None => None,
        }
    }

    /// Returns the moment `duration` earlier; `None` if that is before the timeline's beginning.
    #[must_use]
    pub const fn checked_sub(self, duration: Duration) -> Option<Self> {
        match whole_ns(duration) {
            Some(ns) => match self.0.checked_sub(ns) {
                Some(ns) => Some(Self(ns)),
                None => None,
            },
            None => None,
        }
    }

    /// Returns the moment `duration` later, or the timeline's end.
    #[must_use]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        match self.checked_add(duration) {
            Some(moment) => moment,
            None => Self(u64::MAX),
        }
    }

    /// Returns the moment `duration` earlier, or the timeline's beginning.
    #[must_use]
    pub const fn saturating_sub(self, duration: Duration) -> Self {
        match self.checked_sub(duration) {
            Some(moment) => moment,
            None => Self(0),
        }
    }
}

/// Whole seconds, and the nanoseconds that are left.
pub(crate) fn seconds_of(ns: u64) -> (i64, i64) {
    ((ns / NS_PER_SECOND) as i64, (ns % NS_PER_SECOND) as i64)
}

/// A duration in ns, if 64 bits hold it.
const fn whole_ns(duration: Duration) -> Option<u64> {
    match duration.as_secs().checked_mul(NS_PER_SECOND) {
        Some(whole) => whole.checked_add(duration.subsec_nanos() as u64),
        None => None,
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// The sum is after the timeline's end: see [`Instant::checked_add`].
    #[allow(clippy::expect_used, reason = "as std's Instant does, and documented")]
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("a moment after the end of the timeline")
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// # Panics
    /// The difference is before the timeline's beginning: see [`Instant::checked_sub`].
    #[allow(clippy::expect_used, reason = "as std's Instant does, and documented")]
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("a moment before the beginning of the timeline")
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// Returns the time from `earlier` to this moment; zero if `earlier` is later.
    #[inline(always)]
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

/// Seconds since the timeline's beginning, as the kernel's log prints them.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanoseconds) = seconds_of(self.0);
        write!(f, "{seconds}.{nanoseconds:09}")
    }
}

/// An [`Instant`] that threads share: for the last time that something happened.
///
/// Memory orderings mean what they mean for an [`AtomicU64`], which this is.
///
/// ```
/// use clockscope::{AtomicInstant, Instant};
/// use core::sync::atomic::Ordering;
///
/// static LAST: AtomicInstant = AtomicInstant::new(Instant::from_ns(0));
/// LAST.fetch_max(Instant::from_ns(5), Ordering::Relaxed);
/// LAST.fetch_max(Instant::from_ns(3), Ordering::Relaxed);
/// assert_eq!(LAST.load(Ordering::Relaxed), Instant::from_ns(5));
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct AtomicInstant(AtomicU64);

impl AtomicInstant {
    /// Creates one that holds `moment`.
    #[must_use]
    pub const fn new(moment: Instant) -> Self {
        Self(AtomicU64::new(moment.0))
    }

    /// Returns the moment.
    #[inline(always)]
    pub fn load(&self, order: Ordering) -> Instant {
        Instant(self.0.load(order))
    }

    /// Stores `moment`.
    #[inline(always)]
    pub fn store(&self, moment: Instant, order: Ordering) {
        self.0.store(moment.0, order);
    }

    /// Stores `moment` and returns the previous value.
    pub fn swap(&self, moment: Instant, order: Ordering) -> Instant {
        Instant(self.0.swap(moment.0, order))
    }

    /// Stores the later of the current value and `moment`, and returns the previous value.
    pub fn fetch_max(&self, moment: Instant, order: Ordering) -> Instant {
        Instant(self.0.fetch_max(moment.0, order))
    }

    /// Stores the earlier of the current value and `moment`, and returns the previous value.
    pub fn fetch_min(&self, moment: Instant, order: Ordering) -> Instant {
        Instant(self.0.fetch_min(moment.0, order))
    }

    /// Stores what `update` makes of the current value, unless that is `None`. Calls
    /// `update` again where another thread has stored something meanwhile.
    ///
    /// # Errors
    /// The moment that it holds, of which `update` makes nothing.
    pub fn fetch_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut update: impl FnMut(Instant) -> Option<Instant>,
    ) -> Result<Instant, Instant> {
        let updated = self.0.fetch_update(set_order, fetch_order, |ns| update(Instant(ns)).map(|moment| moment.0));
        updated.map(Instant).map_err(Instant)
    }

    /// Stores `new` if the value is `current`, and returns the previous value.
    ///
    /// # Errors
    /// The moment that it holds, which is not `current`.
    pub fn compare_exchange(
        &self,
        current: Instant,
        new: Instant,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Instant, Instant> {
        self.0.compare_exchange(current.0, new.0, success, failure).map(Instant).map_err(Instant)
    }

    /// Returns the moment.
    #[must_use]
    pub fn into_inner(self) -> Instant {
        Instant(self.0.into_inner())
    }
}

/// Nanoseconds since the timeline's beginning, as a number. They mean something to processes of the
/// same machine, until it is started again.
#[cfg(feature = "serde")]
impl serde::Serialize for Instant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Instant {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_timespec_and_back(ns in any::<u64>()) {
            let (seconds, nanoseconds) = Instant(ns).as_timespec();
            prop_assert_eq!(Instant::from_timespec(seconds, nanoseconds), Some(Instant(ns)));
        }

        #[test]
        fn any_timespec_is_answered(seconds in any::<i64>(), nanoseconds in any::<i64>()) {
            if let Some(moment) = Instant::from_timespec(seconds, nanoseconds) {
                prop_assert_eq!(moment.as_timespec(), (seconds, nanoseconds));
            }
        }

        #[test]
        fn sums_are_exact_or_refused(ns in any::<u64>(), seconds in any::<u64>(), nanos in 0u32..1_000_000_000) {
            let duration = Duration::new(seconds, nanos);
            let exact = u128::from(ns) + duration.as_nanos();
            prop_assert_eq!(Instant(ns).checked_add(duration).map(|sum| u128::from(sum.0)), Some(exact).filter(|sum| *sum <= u128::from(u64::MAX)));
            if let Some(sum) = Instant(ns).checked_add(duration) {
                prop_assert_eq!(sum.checked_sub(duration), Some(Instant(ns)));
                prop_assert_eq!(sum - Instant(ns), duration);
            }
        }
    }
}
