//! Conversions between moments and a `timespec` of CLOCK_MONOTONIC, from which the process's
//! timeline may be apart.

use crate::instant::{Instant, NS_PER_SECOND, seconds_of};

impl Instant {
    /// Converts a `timespec` of CLOCK_MONOTONIC. `None` if it is not one: negative, a second or
    /// more in its nanoseconds, or after 584 years. Adds the process's
    /// [`timeline_offset`](crate::timeline_offset).
    ///
    /// ```
    /// # use clockscope::Instant;
    /// assert_eq!(Instant::from_timespec(2, 5), Some(Instant::from_ns(2_000_000_005)));
    /// assert_eq!(Instant::from_timespec(2, 1_000_000_000), None);
    /// assert_eq!(Instant::from_timespec(-1, 0), None);
    /// ```
    #[must_use]
    pub fn from_timespec(seconds: i64, nanoseconds: i64) -> Option<Self> {
        if !(0..NS_PER_SECOND as i64).contains(&nanoseconds) {
            return None;
        }
        let whole = u64::try_from(seconds).ok()?.checked_mul(NS_PER_SECOND)?;
        whole.checked_add(nanoseconds as u64)?.checked_add(timeline_offset_ns()).map(Self::from_ns)
    }

    /// Converts the moment to seconds and nanoseconds of a `timespec` of CLOCK_MONOTONIC. Subtracts
    /// the process's [`timeline_offset`](crate::timeline_offset); moments before zero become zero.
    ///
    /// ```
    /// # use clockscope::Instant;
    /// assert_eq!(Instant::from_ns(2_000_000_005).as_timespec(), (2, 5));
    /// ```
    #[must_use]
    pub fn as_timespec(self) -> (i64, i64) {
        seconds_of(self.as_ns().saturating_sub(timeline_offset_ns()))
    }
}

/// By how much the process's timeline is ahead of CLOCK_MONOTONIC. A timeline without a clock is
/// that one.
fn timeline_offset_ns() -> u64 {
    #[cfg(all(feature = "std", not(clockscope_models)))]
    return crate::native::CLOCK.timeline_offset_ns();
    #[cfg(not(all(feature = "std", not(clockscope_models))))]
    return 0;
}
