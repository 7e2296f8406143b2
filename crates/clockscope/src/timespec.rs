//! Conversions between moments and a `timespec` of CLOCK_MONOTONIC, from which the process's
//! timeline may be apart.

use crate::instant::{Instant, NS_PER_SECOND, seconds_of};

impl Instant {
    /// Converts a `timespec` of CLOCK_MONOTONIC. `None` if it is not one, with nanoseconds that are
    /// negative or a second and more, or if it is beyond 292 years. Adds the process's
    /// [`timeline_offset`](crate::timeline_offset).
    ///
    /// ```
    /// # use clockscope::Instant;
    /// assert_eq!(Instant::from_timespec(2, 5), Some(Instant::from_ns(2_000_000_005)));
    /// assert_eq!(Instant::from_timespec(2, 1_000_000_000), None);
    /// assert_eq!(Instant::from_timespec(-2, 500_000_000), Some(Instant::from_signed_ns(-1_500_000_000)));
    /// ```
    #[must_use]
    pub fn from_timespec(seconds: i64, nanoseconds: i64) -> Option<Self> {
        if !(0..NS_PER_SECOND).contains(&nanoseconds) {
            return None;
        }
        // The seconds alone may not fit where the sum does.
        let ns = i128::from(seconds) * i128::from(NS_PER_SECOND) + i128::from(nanoseconds);
        i64::try_from(ns + i128::from(timeline_offset_ns())).ok().map(Self::from_signed_ns)
    }

    /// Converts the moment to seconds and nanoseconds of a `timespec` of CLOCK_MONOTONIC: before
    /// zero, the seconds are negative and the nanoseconds are not. Subtracts the process's
    /// [`timeline_offset`](crate::timeline_offset).
    ///
    /// ```
    /// # use clockscope::Instant;
    /// assert_eq!(Instant::from_ns(2_000_000_005).as_timespec(), (2, 5));
    /// ```
    #[must_use]
    pub fn as_timespec(self) -> (i64, i64) {
        seconds_of(self.as_signed_ns().saturating_sub_unsigned(timeline_offset_ns()))
    }
}

/// The process's timeline's lead over CLOCK_MONOTONIC. A timeline without a clock is
/// that one.
fn timeline_offset_ns() -> u64 {
    #[cfg(all(feature = "std", not(clockscope_models)))]
    return crate::native::CLOCK.layers.timeline_offset_ns();
    #[cfg(not(all(feature = "std", not(clockscope_models))))]
    return 0;
}
