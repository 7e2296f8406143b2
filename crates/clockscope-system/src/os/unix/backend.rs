//! macOS, FreeBSD, NetBSD, OpenBSD and illumos: POSIX clocks and older calls by the C library, and
//! the calls that a system has beside them.
//!
//! No machine of these systems was available: nothing of this was run. Numbers of clocks are the
//! libc crate's, and where it has none, those of the system's header. When it is compiled, each
//! table is compared with the catalog.

#[cfg(any(target_os = "illumos", target_os = "solaris"))]
mod high_resolution;
mod legacy;
#[cfg(target_vendor = "apple")]
mod mach;
mod posix;
mod timespec;

use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(target_vendor = "apple")]
pub use mach::{Reference, references};
#[cfg(not(target_vendor = "apple"))]
pub use posix::{Reference, references};

use crate::Visitor;

/// Returns seconds since 1970 in UTC; `None` for a clock set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

pub(super) fn each(visitor: &mut impl Visitor) {
    #[cfg(target_vendor = "apple")]
    mach::each(visitor);
    posix::each(visitor);
    #[cfg(any(target_os = "illumos", target_os = "solaris"))]
    high_resolution::each(visitor);
    legacy::each(visitor);
}
