//! mach_absolute_time, and the wall clock.

#![allow(unsafe_code, reason = "calls of the system, two of which write through a pointer")]

use mach2::mach_time::{mach_absolute_time, mach_continuous_time, mach_timebase_info, mach_timebase_info_data_t};

use super::super::ratio::Ratio;
use crate::Errno;

static UNIT: Ratio = Ratio::new();

/// Reads mach_absolute_time in ns since the machine started, sleep left out. All processes see the
/// same. The system takes care of its order: the bare counter has inversions across cores on some
/// of its processors.
#[inline(always)]
pub(in super::super) fn monotonic_ns() -> Result<u64, Errno> {
    // SAFETY: takes nothing.
    let counts = unsafe { mach_absolute_time() };
    UNIT.ns(counts, unit).ok_or(Errno::UNSUPPORTED)
}

/// One count in ns: 1/1 on Intel's processors, 125/3 on Apple's; `None` where the system states
/// none.
#[cold]
fn unit() -> Option<(u64, u64)> {
    let mut unit = mach_timebase_info_data_t { numer: 0, denom: 0 };
    // SAFETY: writes one fraction through the pointer, which is ours.
    let answer = unsafe { mach_timebase_info(&raw mut unit) };
    (answer == 0 && unit.numer > 0 && unit.denom > 0).then_some((unit.numer.into(), unit.denom.into()))
}

/// One count, rounded up.
pub(in super::super) fn nominal_tick_ns() -> u64 {
    unit().map_or(1, |(numerator, denominator)| numerator.div_ceil(denominator))
}

/// Reads CLOCK_REALTIME, whose unit is a microsecond here.
#[inline(always)]
pub(in super::super) fn wall_ns() -> Result<i64, Errno> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec through the pointer, which is ours.
    match unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) } {
        0 => Ok(now.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec)),
        _ => Err(Errno::last()),
    }
}

/// Reads mach_continuous_time, which goes on while the machine sleeps, in ns.
#[inline(always)]
pub(in super::super) fn boot_ns() -> Result<i64, Errno> {
    // SAFETY: takes nothing.
    let counts = unsafe { mach_continuous_time() };
    UNIT.ns(counts, unit).map(|ns| ns as i64).ok_or(Errno::UNSUPPORTED)
}

/// Lead of mach_continuous_time, which goes on while the machine sleeps.
pub(in super::super) fn suspended_ns() -> Option<u64> {
    // SAFETY: take nothing.
    let (counts, all) = unsafe { (mach_absolute_time(), mach_continuous_time()) };
    UNIT.ns(all.checked_sub(counts)?, unit)
}
