//! Conversions to and from `std::time::Instant`, which shows no number of its own.
//!
//! Reads std's clock between two readings of CLOCK_MONOTONIC, on which it is based.

use std::time::Instant as StdInstant;

use crate::process::CLOCK;
use crate::{Instant, os};

/// Comparisons, of which the tightest counts.
const TRIES: u32 = 8;

impl Instant {
    /// Converts a moment of std's. `None` if it is outside of the timeline, or no clock answers.
    ///
    /// - Error: half of the cost of a read of CLOCK_MONOTONIC, some 20 ns.
    /// - Applies [`crate::timeline_offset`].
    /// - Cost: 16 reads of CLOCK_MONOTONIC and 8 of std's clock.
    ///
    /// ```
    /// use clockscope::Instant;
    ///
    /// let std = std::time::Instant::now();
    /// let ours = Instant::now();
    /// assert!(Instant::from_std(std).unwrap() <= ours + std::time::Duration::from_millis(1));
    /// ```
    #[must_use]
    pub fn from_std(moment: StdInstant) -> Option<Self> {
        let (std, ours) = both()?;
        match moment.checked_duration_since(std) {
            Some(later) => ours.checked_add(later),
            None => ours.checked_sub(std.duration_since(moment)),
        }
    }

    /// Converts the moment to one of std's. Error, cost and `None`: as for [`Instant::from_std`].
    ///
    /// ```
    /// use clockscope::Instant;
    ///
    /// let start = Instant::now();
    /// assert!(start.to_std().unwrap() <= std::time::Instant::now() + std::time::Duration::from_millis(1));
    /// ```
    #[must_use]
    pub fn to_std(self) -> Option<StdInstant> {
        let (std, ours) = both()?;
        match self.checked_duration_since(ours) {
            Some(later) => std.checked_add(later),
            None => std.checked_sub(ours.duration_since(self)),
        }
    }
}

/// Both clocks at one moment.
fn both() -> Option<(StdInstant, Instant)> {
    // Where the counter is disabled, std's clock may be fatal where ours is not; it is the caller
    // who has just read it.
    let take = || {
        let before = CLOCK.os_ns().ok()?;
        let std = StdInstant::now();
        let after = CLOCK.os_ns().ok()?;
        let width = after.saturating_sub(before);
        Some((width, std, Instant::from_ns(before + width / 2)))
    };
    let tightest = os::keep_errno(|| (0..TRIES).filter_map(|_| take()).min_by_key(|(width, ..)| *width));
    tightest.map(|(_, std, ours)| (std, ours))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::time::Duration;

    /// There and back, for moments before and after now: both comparisons err by half of their
    /// widths.
    #[test]
    fn there_and_back() {
        let now = Instant::now();
        for (moment, back) in [
            (now, now.to_std()),
            (now + Duration::from_secs(1000), (now + Duration::from_secs(1000)).to_std()),
            (now - Duration::from_millis(5), (now - Duration::from_millis(5)).to_std()),
        ] {
            let again = Instant::from_std(back.unwrap()).unwrap();
            let error = again.ns_since(moment) + moment.ns_since(again);
            assert!(error < 10_000, "{error} ns");
        }
    }

    /// A reading of std's between two of ours is between them, give or take both errors.
    #[test]
    fn a_reading_of_stds_is_between_ours() {
        for _ in 0..100 {
            let (before, std, after) = (Instant::now(), StdInstant::now(), Instant::now());
            let moment = Instant::from_std(std).unwrap();
            let slack = Duration::from_micros(10);
            assert!(before - slack <= moment && moment <= after + slack, "{before} {moment} {after}");
        }
    }
}
