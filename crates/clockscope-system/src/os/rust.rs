//! The clocks of Rust's standard library.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// [`std::time::Instant::now`].
#[derive(Clone, Debug)]
pub struct RustInstant {
    /// The first reading whose value was asked for. Readings are relative to it: std does not show
    /// an instant's number. Not read beforehand, because where the counter is disabled every read
    /// kills the process.
    origin: OnceLock<Instant>,
}

/// [`std::time::SystemTime::now`].
#[derive(Clone, Copy, Debug)]
pub struct RustSystemTime(());

impl RawClock for RustInstant {
    type Raw = Option<Instant>;

    #[inline(always)]
    fn read(&self, raw: &mut Self::Raw) -> Result<(), Errno> {
        *raw = Some(Instant::now());
        Ok(())
    }

    fn value(&self, raw: &Self::Raw) -> u64 {
        let Some(now) = raw else { return 0 };
        let origin = *self.origin.get_or_init(|| *now);
        signed_ns(now.checked_duration_since(origin), || origin.duration_since(*now))
    }
}

impl RawClock for RustSystemTime {
    type Raw = Option<SystemTime>;

    #[inline(always)]
    fn read(&self, raw: &mut Self::Raw) -> Result<(), Errno> {
        *raw = Some(SystemTime::now());
        Ok(())
    }

    fn value(&self, raw: &Self::Raw) -> u64 {
        let now = raw.unwrap_or(UNIX_EPOCH);
        signed_ns(now.duration_since(UNIX_EPOCH).ok(), || UNIX_EPOCH.duration_since(now).unwrap_or_default())
    }
}

/// Nanoseconds after an origin; before it, their two's complement, so that wrapping differences
/// stay right.
fn signed_ns(after: Option<Duration>, before: impl Fn() -> Duration) -> u64 {
    match after {
        Some(after) => after.as_nanos() as u64,
        None => (before().as_nanos() as u64).wrapping_neg(),
    }
}

/// Hands both to `visitor`.
pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry { info: cataloged!("rust_instant"), clock: Ok(RustInstant { origin: OnceLock::new() }) });
    visitor.visit(Entry { info: cataloged!("rust_system_time"), clock: Ok(RustSystemTime(())) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_before_the_origin_is_a_negative_difference() {
        let clock = RustInstant { origin: OnceLock::new() };
        let later = Instant::now();
        let earlier = later.checked_sub(Duration::from_micros(5)).unwrap();
        let (first, second) = (clock.value(&Some(later)), clock.value(&Some(earlier)));
        assert_eq!(second.wrapping_sub(first) as i64, -5000);
    }
}
