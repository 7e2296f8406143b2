//! POSIX clocks by the C library, as the catalog lists them.

use super::timespec::ByLibc;
pub(super) use super::timespec::{UnixTimespec as Timespec, resolution};
use crate::clocks::catalog::posix_clocks;
use crate::{ClockInfo, Entry, Visitor};
#[cfg(not(target_vendor = "apple"))]
use crate::{Errno, RawClock, ReadPath, Resolution};

pub(super) fn each(visitor: &mut impl Visitor) {
    for (info, id) in posix_clocks() {
        let info = ClockInfo { resolution: resolution(id), ..info.clone() };
        visitor.visit(Entry { info, clock: Ok(ByLibc::new(id)) });
    }
}

/// The system's clock that its programs usually take intervals from, which others are judged
/// against.
#[cfg(not(target_vendor = "apple"))]
#[derive(Clone, Copy, Debug)]
pub struct Reference(ByLibc);

/// Returns the references: CLOCK_MONOTONIC alone.
#[cfg(not(target_vendor = "apple"))]
#[must_use]
pub fn references() -> Vec<Reference> {
    vec![Reference(ByLibc::new(libc::CLOCK_MONOTONIC))]
}

#[cfg(not(target_vendor = "apple"))]
impl Reference {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        "monotonic"
    }

    /// Returns true if a time daemon may steer it.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        true
    }

    /// Returns by which path it is read.
    #[must_use]
    pub fn path(&self) -> ReadPath {
        ReadPath::Libc
    }

    /// Returns its tick in ns, as clock_getres states it; 0 where nothing is stated.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        match resolution(libc::CLOCK_MONOTONIC) {
            Resolution::Nanoseconds(ns) => ns,
            Resolution::OneCount | Resolution::Unknown(_) => 0.0,
        }
    }
}

#[cfg(not(target_vendor = "apple"))]
impl RawClock for Reference {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        self.0.read(raw)
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        self.0.value(raw)
    }
}
