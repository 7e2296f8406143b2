//! CLOCK_MONOTONIC and CLOCK_REALTIME by the C library. The numbers are the libc crate's: 4 is
//! CLOCK_MONOTONIC on FreeBSD, and a thread's CPU time on OpenBSD.

#![allow(unsafe_code, reason = "the calls write through a pointer")]

use crate::Errno;

const SECOND: i64 = 1_000_000_000;

/// Reads CLOCK_MONOTONIC, in ns. All processes of the machine see the same; on WASI, all of the
/// host's that it gives one clock.
#[inline(always)]
pub(in super::super) fn monotonic_ns() -> Result<u64, Errno> {
    read(libc::CLOCK_MONOTONIC).map(|ns| ns as u64)
}

/// Reads CLOCK_REALTIME, in ns since the Unix epoch.
#[inline(always)]
pub(in super::super) fn wall_ns() -> Result<i64, Errno> {
    read(libc::CLOCK_REALTIME)
}

/// Reads CLOCK_BOOTTIME, in ns, where the system's manual says that it goes on while the machine
/// sleeps.
#[cfg(target_os = "openbsd")]
#[inline(always)]
pub(in super::super) fn boot_ns() -> Result<i64, Errno> {
    read(libc::CLOCK_BOOTTIME)
}

/// Returns that no such clock is known: whether CLOCK_MONOTONIC goes on while the machine sleeps
/// differs.
#[cfg(not(target_os = "openbsd"))]
#[inline(always)]
pub(in super::super) fn boot_ns() -> Result<i64, Errno> {
    Err(Errno::UNSUPPORTED)
}

#[inline(always)]
fn read(clock: libc::clockid_t) -> Result<i64, Errno> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec through the pointer, which is ours.
    match unsafe { libc::clock_gettime(clock, &raw mut now) } {
        0 => Ok(ns(&now)),
        _ => Err(Errno::last()),
    }
}

/// Tick that clock_getres states; 1 where it states nothing.
pub(in super::super) fn nominal_tick_ns() -> u64 {
    let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as above.
    let is_known = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &raw mut tick) } == 0;
    u64::try_from(ns(&tick)).ok().filter(|ns| is_known && *ns > 0).unwrap_or(1)
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "32 bits wide on some systems")]
fn ns(time: &libc::timespec) -> i64 {
    (time.tv_sec as i64).wrapping_mul(SECOND).wrapping_add(time.tv_nsec as i64)
}

/// Returns `None`: whether the clock goes on while the machine sleeps differs, and nothing shows
/// for how long it slept.
pub(in super::super) fn suspended_ns() -> Option<u64> {
    None
}
