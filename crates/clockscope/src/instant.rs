//! Moments on the timeline of the system's monotonic clock.

use clockscope_core::atomic::AtomicI64;
use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::sync::atomic::Ordering;
use core::time::Duration;

pub(crate) const NS_PER_SECOND: i64 = 1_000_000_000;

/// A moment: nanoseconds on the timeline of the operating system's monotonic clock.
///
/// Eight bytes, `Copy`, totally ordered, 292 years to each side of zero. Where the timeline is the
/// kernel's, a moment can be compared with one that another program, or the kernel, took on the
/// same machine since it was started.
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
/// saturate at zero, sums that do not fit panic, the `checked_` forms give `None`. A moment may be
/// before zero, where the machine was not started yet: `now() - Duration::from_secs(864_000)` is a
/// moment ten days ago on a machine that was started today.
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
/// assert_eq!(start - Duration::from_secs(2), Instant::from_signed_ns(-500_000_000));
/// assert_eq!(size_of::<Instant>(), 8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(i64);

/// Declares what all moments of 64 bits have, each on a timeline of its own.
macro_rules! moment {
    ($moment:ident) => {
        impl $moment {
            /// The latest moment, 292 years after the timeline's zero.
            pub const MAX: Self = Self(i64::MAX);
            /// The earliest moment, 292 years before the timeline's zero.
            pub const MIN: Self = Self(i64::MIN);

            /// Returns the moment `ns` nanoseconds after the timeline's zero; [`Self::MAX`] if that
            /// is after it.
            #[inline(always)]
            #[must_use]
            pub const fn from_ns(ns: u64) -> Self {
                Self(if ns > i64::MAX as u64 { i64::MAX } else { ns as i64 })
            }

            /// Returns the moment `ns` nanoseconds after the timeline's zero, or before it.
            #[inline(always)]
            #[must_use]
            pub const fn from_signed_ns(ns: i64) -> Self {
                Self(ns)
            }

            /// Returns the nanoseconds since the timeline's zero; 0 for a moment before it, which
            /// [`Self::as_signed_ns`] distinguishes.
            #[inline(always)]
            #[must_use]
            pub const fn as_ns(self) -> u64 {
                if self.0 < 0 { 0 } else { self.0 as u64 }
            }

            /// Returns the nanoseconds since the timeline's zero; a negative number for a moment
            /// before it.
            #[inline(always)]
            #[must_use]
            pub const fn as_signed_ns(self) -> i64 {
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
                if self.0 < earlier.0 { None } else { Some(duration(self.ns_since(earlier))) }
            }

            /// Returns the time from `earlier` to this moment; zero if `earlier` is later.
            #[inline(always)]
            #[must_use]
            pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
                duration(self.ns_since(earlier))
            }

            /// Returns the nanoseconds from `earlier` to this moment; zero if `earlier` is later.
            /// Equals `duration_since(..).as_nanos()`, without a division.
            #[inline(always)]
            #[must_use]
            pub const fn ns_since(self, earlier: Self) -> u64 {
                // Two moments are less than 2^64 ns apart.
                if self.0 < earlier.0 { 0 } else { self.0.wrapping_sub(earlier.0) as u64 }
            }

            /// Returns the moment `duration` later; `None` if that is after [`Self::MAX`].
            #[must_use]
            pub const fn checked_add(self, duration: Duration) -> Option<Self> {
                match whole_ns(duration) {
                    Some(ns) => match self.0.checked_add_unsigned(ns) {
                        Some(ns) => Some(Self(ns)),
                        None => None,
                    },
                    None => None,
                }
            }

            /// Returns the moment `duration` earlier; `None` if that is before [`Self::MIN`].
            #[must_use]
            pub const fn checked_sub(self, duration: Duration) -> Option<Self> {
                match whole_ns(duration) {
                    Some(ns) => match self.0.checked_sub_unsigned(ns) {
                        Some(ns) => Some(Self(ns)),
                        None => None,
                    },
                    None => None,
                }
            }

            /// Returns the moment `duration` later, or [`Self::MAX`].
            #[must_use]
            pub const fn saturating_add(self, duration: Duration) -> Self {
                match self.checked_add(duration) {
                    Some(moment) => moment,
                    None => Self::MAX,
                }
            }

            /// Returns the moment `duration` earlier, or [`Self::MIN`].
            #[must_use]
            pub const fn saturating_sub(self, duration: Duration) -> Self {
                match self.checked_sub(duration) {
                    Some(moment) => moment,
                    None => Self::MIN,
                }
            }
        }

        impl Add<Duration> for $moment {
            type Output = Self;

            /// # Panics
            /// The sum is after [`Self::MAX`]: see [`Self::checked_add`].
            #[allow(clippy::expect_used, reason = "as std's Instant does, and documented")]
            fn add(self, duration: Duration) -> Self {
                self.checked_add(duration).expect("a moment after the end of the timeline")
            }
        }

        impl Sub<Duration> for $moment {
            type Output = Self;

            /// # Panics
            /// The difference is before [`Self::MIN`]: see [`Self::checked_sub`].
            #[allow(clippy::expect_used, reason = "as std's Instant does, and documented")]
            fn sub(self, duration: Duration) -> Self {
                self.checked_sub(duration).expect("a moment before the beginning of the timeline")
            }
        }

        impl Sub for $moment {
            type Output = Duration;

            /// Returns the time from `earlier` to this moment; zero if `earlier` is later.
            #[inline(always)]
            fn sub(self, earlier: Self) -> Duration {
                self.duration_since(earlier)
            }
        }

        impl AddAssign<Duration> for $moment {
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }

        impl SubAssign<Duration> for $moment {
            fn sub_assign(&mut self, duration: Duration) {
                *self = *self - duration;
            }
        }

        /// Seconds since the timeline's zero, as the kernel's log prints them; with a minus sign
        /// before it.
        impl fmt::Display for $moment {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (sign, ns) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
                let second = NS_PER_SECOND as u64;
                write!(f, "{sign}{}.{:09}", ns / second, ns % second)
            }
        }

        /// Nanoseconds since the timeline's zero, as a signed number. They mean something to
        /// processes of the same machine, until it is started again.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $moment {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_i64(self.0)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $moment {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                i64::deserialize(deserializer).map(Self)
            }
        }
    };
}
#[cfg(all(feature = "std", not(clockscope_models)))]
pub(crate) use moment;

moment!(Instant);

impl Instant {
    /// Returns the moment of a reading. No clock reads 292 years, so that this has no branch.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) const fn from_reading(ns: u64) -> Self {
        Self(ns as i64)
    }
}

/// Whole seconds, rounded down, and the nanoseconds that are left.
pub(crate) fn seconds_of(ns: i64) -> (i64, i64) {
    (ns.div_euclid(NS_PER_SECOND), ns.rem_euclid(NS_PER_SECOND))
}

/// A number of ns as a duration. Most are shorter than a second: a branch that is foreseen, where
/// the next ordered reading would wait for a division.
#[inline(always)]
pub(crate) const fn duration(ns: u64) -> Duration {
    if ns < NS_PER_SECOND as u64 { Duration::new(0, ns as u32) } else { Duration::from_nanos(ns) }
}

/// A duration in ns, if 64 bits hold it.
pub(crate) const fn whole_ns(duration: Duration) -> Option<u64> {
    match duration.as_secs().checked_mul(NS_PER_SECOND as u64) {
        Some(whole) => whole.checked_add(duration.subsec_nanos() as u64),
        None => None,
    }
}

/// An [`Instant`] that threads share: for the last time that something happened.
///
/// Memory orderings mean what they mean for an [`AtomicI64`], which this is.
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
pub struct AtomicInstant(AtomicI64);

impl AtomicInstant {
    /// Creates one that holds `moment`.
    #[must_use]
    pub const fn new(moment: Instant) -> Self {
        Self(AtomicI64::new(moment.0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_timespec_and_back(ns in any::<i64>()) {
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
        fn sums_are_exact_or_refused(ns in any::<i64>(), seconds in any::<u64>(), nanos in 0u32..1_000_000_000) {
            let moment = Instant(ns);
            for duration in [Duration::new(seconds, nanos), Duration::from_nanos(seconds)] {
                let length = duration.as_nanos() as i128;
                let (later, earlier) = (moment.checked_add(duration), moment.checked_sub(duration));
                prop_assert_eq!(later.map(|sum| sum.0), i64::try_from(i128::from(ns) + length).ok());
                prop_assert_eq!(earlier.map(|sum| sum.0), i64::try_from(i128::from(ns) - length).ok());
                prop_assert_eq!(moment.saturating_add(duration), later.unwrap_or(Instant::MAX));
                prop_assert_eq!(moment.saturating_sub(duration), earlier.unwrap_or(Instant::MIN));
                for (first, last) in [(Some(moment), later), (earlier, Some(moment))] {
                    let (Some(first), Some(last)) = (first, last) else { continue };
                    prop_assert_eq!((last - first, last.checked_duration_since(first)), (duration, Some(duration)));
                    prop_assert_eq!(last.ns_since(first), length as u64);
                    prop_assert_eq!(first.checked_duration_since(last), Some(Duration::ZERO).filter(|_| first == last));
                    prop_assert_eq!((first - last, first.ns_since(last)), (Duration::ZERO, 0));
                    prop_assert_eq!(first.cmp(&last), Duration::ZERO.cmp(&duration));
                }
            }
        }

        /// As std's moments, which are seconds of 64 bits on Linux: up to 200 years from now.
        #[test]
        #[cfg(all(feature = "std", target_os = "linux", not(clockscope_models)))]
        fn arithmetic_is_that_of_std(
            [first, second] in [(0u64..6_300_000_000, 0u32..1_000_000_000), (0u64..20_000_000, 0u32..1_000_000_000)],
            order in any::<bool>(),
        ) {
            let [first, second] = [first, second].map(|(seconds, nanos)| Duration::new(seconds, nanos));
            let [first, second] = if order { [first, second] } else { [second, first] };
            let (std_now, now) = (std::time::Instant::now(), crate::now());
            let (std_past, past) = (std_now.checked_sub(first), now.checked_sub(first));
            prop_assert_eq!(std_past.is_some(), past.is_some());
            let (std_past, past) = (std_past.unwrap(), now - first);
            prop_assert_eq!((past + first, now - past), (now, first));
            let [std_all, all] = [
                std_past.checked_add(second).map(|other| (other.cmp(&std_now), other - std_past, other.saturating_duration_since(std_now))),
                past.checked_add(second).map(|other| (other.cmp(&now), other - past, other.saturating_duration_since(now))),
            ];
            prop_assert_eq!(std_all, all);
        }

        #[test]
        fn shared_moments_are_ordered_as_moments([held, other] in [any::<i64>(), any::<i64>()]) {
            let [held, other] = [held, other].map(Instant);
            for (store, expected) in [
                (AtomicInstant::fetch_max as fn(&AtomicInstant, Instant, Ordering) -> Instant, held.max(other)),
                (AtomicInstant::fetch_min, held.min(other)),
            ] {
                let shared = AtomicInstant::new(held);
                prop_assert_eq!(store(&shared, other, Ordering::Relaxed), held);
                prop_assert_eq!(shared.into_inner(), expected);
            }
        }
    }

    #[test]
    fn moments_before_zero_have_numbers_and_texts() {
        let before = Instant::from_ns(500_000_000) - Duration::from_secs(2);
        assert_eq!((before.as_ns(), before.as_signed_ns()), (0, -1_500_000_000));
        assert_eq!((Instant::from_signed_ns(-1_500_000_000), before.as_timespec()), (before, (-2, 500_000_000)));
        assert_eq!(before.to_string(), "-1.500000000");
        assert_eq!(Instant::MIN.to_string(), "-9223372036.854775808");
        assert_eq!([1 << 63, u64::MAX].map(Instant::from_ns), [Instant::MAX; 2]);
        assert_eq!(Instant::MAX.as_ns(), i64::MAX as u64);
    }
}
