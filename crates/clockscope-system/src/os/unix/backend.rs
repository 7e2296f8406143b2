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
mod uname;

/// No machine of these systems was there to show more.
pub(crate) mod facts {
    pub(crate) use super::uname::kernel;
    #[cfg(not(target_os = "freebsd"))]
    pub(crate) use crate::os::unsupported::timecounter_number;
    #[cfg(not(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")))]
    pub(crate) use crate::os::unsupported::timecounters;
    pub(crate) use crate::os::unsupported::{
        Sleeper, adjtimex, is_wine, kernel_log, online_cpus, performance_counter_hz, ptp, switches, timer_slack_ns,
        vdso, windows,
    };
    #[cfg(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
    pub(crate) use clockscope_core::os::timecounter::available as timecounters;
    #[cfg(target_os = "freebsd")]
    pub(crate) use clockscope_core::os::timecounter::number as timecounter_number;
}

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
