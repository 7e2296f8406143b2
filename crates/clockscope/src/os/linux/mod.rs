//! Linux: POSIX clocks by three paths, the C library's older calls, devices, and the performance counter.

mod devices;
mod legacy;
mod perf;
mod posix;
mod syscall;
mod vdso;

use crate::{Clock, Errno, Visitor};

/// Name of [`Reference`].
pub const REFERENCE_NAME: &str = "monotonic_raw:syscall";

/// CLOCK_MONOTONIC_RAW by a system call of our own: neither the C library nor the vDSO takes part, and nobody steers it.
pub type Reference = posix::BySyscall;

/// The reference, once it has answered.
///
/// # Errors
/// The system call's error number, where a filter denies it.
pub fn reference() -> Result<Reference, Errno> {
    let reference = posix::BySyscall::new(libc::CLOCK_MONOTONIC_RAW);
    reference.read(&mut Default::default()).map(|()| reference)
}

/// Seconds since 1970 in UTC, by a system call; `None` where it is denied or the clock is set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    let wall = posix::BySyscall::new(libc::CLOCK_REALTIME);
    let mut now = Default::default();
    wall.read(&mut now).ok()?;
    u64::try_from(now.seconds()).ok()
}

pub(super) fn each(visitor: &mut impl Visitor) {
    posix::each(visitor);
    legacy::each(visitor);
    devices::each(visitor);
    perf::each(visitor);
}

/// The error that the C library's last call on this thread left.
#[cold]
fn last_errno() -> Errno {
    Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}
