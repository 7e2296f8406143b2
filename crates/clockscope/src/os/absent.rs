//! Systems whose clocks this crate does not know yet: only those of Rust's standard library are read there.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::{Clock, Errno, Visitor};

/// Name of [`Reference`].
pub const REFERENCE_NAME: &str = "rust_instant";

/// The standard library's monotonic clock: the only one that is known here.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    origin: Instant,
}

impl Clock for Reference {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        *raw = self.origin.elapsed().as_nanos() as u64;
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

/// The reference, which counts from this call on.
///
/// # Errors
/// None here.
pub fn reference() -> Result<Reference, Errno> {
    Ok(Reference { origin: Instant::now() })
}

/// Seconds since 1970 in UTC; `None` for a clock set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

pub(super) fn each(_: &mut impl Visitor) {}
