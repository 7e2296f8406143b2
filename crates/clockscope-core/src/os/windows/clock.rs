//! QueryPerformanceCounter, and the precise system time.

#![allow(unsafe_code, reason = "both calls write through a pointer")]

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::GetSystemTimePreciseAsFileTime;

use super::super::ratio::Ratio;
use crate::Errno;

const SECOND: u64 = 1_000_000_000;

/// From the beginning of 1601, where FILETIME begins, to that of 1970, in units of 100 ns.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

static UNIT: Ratio = Ratio::new();

/// Reads QueryPerformanceCounter, in ns since the machine started. It never fails since Windows XP,
/// and all processes see the same.
#[inline(always)]
pub(in super::super) fn monotonic_ns() -> Result<u64, Errno> {
    let mut counts = 0;
    // SAFETY: writes 64 bits through the pointer, which is ours.
    let is_read = unsafe { QueryPerformanceCounter(&raw mut counts) } != 0;
    if !is_read {
        return Err(Errno::UNSUPPORTED);
    }
    UNIT.ns(counts as u64, unit).ok_or(Errno::UNSUPPORTED)
}

/// One count in ns; `None` where the system states no frequency.
#[cold]
fn unit() -> Option<(u64, u64)> {
    let mut hz = 0;
    // SAFETY: as above.
    let is_read = unsafe { QueryPerformanceFrequency(&raw mut hz) } != 0;
    let hz = u64::try_from(hz).ok().filter(|hz| is_read && *hz > 0)?;
    Some((SECOND, hz))
}

/// One count, rounded up.
pub(in super::super) fn nominal_tick_ns() -> u64 {
    unit().map_or(1, |(second, hz)| second.div_ceil(hz))
}

/// Reads the precise system time, whose unit is 100 ns.
#[inline(always)]
pub(in super::super) fn wall_ns() -> Result<i64, Errno> {
    let mut now = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: writes one FILETIME through the pointer, which is ours.
    unsafe { GetSystemTimePreciseAsFileTime(&raw mut now) };
    let since_1601 = (u64::from(now.dwHighDateTime) << u32::BITS | u64::from(now.dwLowDateTime)) as i64;
    Ok((since_1601 - UNIX_EPOCH).wrapping_mul(100))
}

/// Reads QueryPerformanceCounter, which goes on while the machine sleeps.
#[inline(always)]
pub(in super::super) fn boot_ns() -> Result<i64, Errno> {
    monotonic_ns().map(|ns| ns as i64)
}

/// Returns `None`: QueryPerformanceCounter goes on while the machine sleeps.
pub(in super::super) fn suspended_ns() -> Option<u64> {
    None
}
