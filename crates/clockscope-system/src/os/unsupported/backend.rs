//! Systems whose clocks this crate does not know yet: only those of Rust's standard library are
//! read there.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::{Errno, RawClock, ReadPath, Visitor};

pub(crate) use crate::os::unsupported as facts;

/// The standard library's monotonic clock: the only one that is known here.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    origin: Instant,
}

impl RawClock for Reference {
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

/// The one reference, which counts from this call on.
#[must_use]
pub fn references() -> Vec<Reference> {
    vec![Reference { origin: Instant::now() }]
}

impl Reference {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        "rust_instant"
    }

    /// Returns true if a time daemon may steer it.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        true
    }

    /// Returns the path by which it is read.
    #[must_use]
    pub fn path(&self) -> ReadPath {
        ReadPath::Std
    }

    /// Its tick in ns; 0, because nothing is stated.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        0.0
    }
}

/// Seconds since 1970 in UTC; `None` for a clock set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

pub(super) fn each(_: &mut impl Visitor) {}
