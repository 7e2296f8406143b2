//! System time and interrupt time: moved by the timer interrupt, or precise.

#![allow(unsafe_code, reason = "calls write through pointers, and some are resolved by name")]

use core::ffi::CStr;
use core::mem::transmute;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAsFileTime;
use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

use super::performance::REALTIME;
use super::symbol::{Address, function};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Unavailable, Visitor};

/// Length of the unit in which Windows counts most times, in ns.
pub(super) const UNIT_NS: u64 = 100;

/// From the beginning of 1601, where FILETIME begins, to that of 1970, in units of 100 ns.
const UNIX_EPOCH: u64 = 116_444_736_000_000_000;

/// A call that writes the time of day as a FILETIME.
#[derive(Clone, Copy, Debug)]
struct SystemTime(unsafe extern "system" fn(*mut FILETIME));

/// A reading of it: the low and the high half.
type Halves = (u32, u32);

impl RawClock for SystemTime {
    type Raw = Halves;

    #[inline(always)]
    fn read(&self, raw: &mut Halves) -> Result<(), Errno> {
        let mut now = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
        // SAFETY: writes one FILETIME through the pointer, which is ours.
        unsafe { (self.0)(&raw mut now) };
        *raw = (now.dwLowDateTime, now.dwHighDateTime);
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &Halves) -> u64 {
        unix_ns(*raw)
    }
}

/// Returns a FILETIME in ns since 1970; the two's complement before then.
fn unix_ns((low, high): Halves) -> u64 {
    (u64::from(high) << u32::BITS | u64::from(low)).wrapping_sub(UNIX_EPOCH).wrapping_mul(UNIT_NS)
}

/// A call that writes interrupt time, and cannot fail.
#[derive(Clone, Copy, Debug)]
struct InterruptTime(unsafe extern "system" fn(*mut u64));

impl RawClock for InterruptTime {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        // SAFETY: writes 64 bits through the pointer, which is borrowed exclusively for the call.
        unsafe { (self.0)(raw) };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        raw.wrapping_mul(UNIT_NS)
    }
}

/// `QueryUnbiasedInterruptTime`, which is older than the others and may fail.
#[derive(Clone, Copy, Debug)]
struct UnbiasedInterruptTime;

impl RawClock for UnbiasedInterruptTime {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        // SAFETY: as above.
        if unsafe { QueryUnbiasedInterruptTime(raw) } != 0 { Ok(()) } else { Err(Errno::last()) }
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        raw.wrapping_mul(UNIT_NS)
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry { info: cataloged!("system_time"), clock: Ok(SystemTime(GetSystemTimeAsFileTime)) });
    visitor.visit(Entry {
        info: cataloged!("system_time_precise"),
        clock: function(&[c"kernel32.dll"], c"GetSystemTimePreciseAsFileTime").map(|found| {
            // SAFETY: the signature is that of sysinfoapi.h.
            SystemTime(unsafe { transmute::<Address, unsafe extern "system" fn(*mut FILETIME)>(found) })
        }),
    });
    visitor.visit(Entry { info: cataloged!("interrupt_time"), clock: by_name(c"QueryInterruptTime") });
    visitor.visit(Entry { info: cataloged!("interrupt_time_precise"), clock: by_name(c"QueryInterruptTimePrecise") });
    visitor.visit(Entry { info: cataloged!("unbiased_interrupt_time"), clock: Ok(UnbiasedInterruptTime) });
    visitor.visit(Entry {
        info: cataloged!("unbiased_interrupt_time_precise"),
        clock: by_name(c"QueryUnbiasedInterruptTimePrecise"),
    });
}

fn by_name(name: &'static CStr) -> Result<InterruptTime, Unavailable> {
    let found = function(REALTIME, name)?;
    // SAFETY: the signature is that of realtimeapiset.h, the same for the three that are named
    // above.
    Ok(InterruptTime(unsafe { transmute::<Address, unsafe extern "system" fn(*mut u64)>(found) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filetime_is_time_of_day() {
        let halves = |units: u64| (units as u32, (units >> u32::BITS) as u32);
        assert_eq!(unix_ns(halves(UNIX_EPOCH)), 0);
        assert_eq!(unix_ns(halves(UNIX_EPOCH + 17_000_000_000_000_000)), 1_700_000_000_000_000_000);
        assert_eq!(unix_ns(halves(UNIX_EPOCH - 1)) as i64, -100);
    }
}
