//! Counts of milliseconds since the machine started, which the timer interrupt moves.

#![allow(unsafe_code, reason = "calls of the system")]

use core::mem::transmute;

use windows_sys::Win32::System::SystemInformation::{GetTickCount, GetTickCount64};

use super::symbol::{Address, function};
use crate::{ClockInfo, ClockKind, Entry, Errno, RawClock, ReadPath, Resolution, Visitor};

const MILLISECOND_NS: u64 = 1_000_000;

/// A count of 32 bits: `GetTickCount`, or `timeGetTime` of winmm, which is loaded for it.
#[derive(Clone, Copy, Debug)]
struct Count32(unsafe extern "system" fn() -> u32);

/// `GetTickCount64`.
#[derive(Clone, Copy, Debug)]
struct TickCount64;

impl RawClock for Count32 {
    type Raw = u32;

    #[inline(always)]
    fn read(&self, raw: &mut u32) -> Result<(), Errno> {
        // SAFETY: takes nothing; the signature is that of sysinfoapi.h and timeapi.h.
        *raw = unsafe { (self.0)() };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u32) -> u64 {
        u64::from(*raw) * MILLISECOND_NS
    }
}

impl RawClock for TickCount64 {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        // SAFETY: takes nothing.
        *raw = unsafe { GetTickCount64() };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        raw.wrapping_mul(MILLISECOND_NS)
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry {
        info: info("tick_count", "GetTickCount(), begins anew after 49.7 days"),
        clock: Ok(Count32(GetTickCount)),
    });
    visitor.visit(Entry { info: info("tick_count64", "GetTickCount64()"), clock: Ok(TickCount64) });
    visitor.visit(Entry {
        info: info("time_get_time", "timeGetTime(), begins anew after 49.7 days"),
        clock: function(&[c"winmm.dll"], c"timeGetTime").map(|found| {
            // SAFETY: the signature is that of timeapi.h.
            Count32(unsafe { transmute::<Address, unsafe extern "system" fn() -> u32>(found) })
        }),
    });
}

fn info(name: &'static str, summary: &'static str) -> ClockInfo {
    let resolution = Resolution::Nanoseconds(MILLISECOND_NS as f64);
    let info = ClockInfo::new(name, ClockKind::Monotonic, ReadPath::SystemLibrary, resolution, summary);
    ClockInfo { is_coarse: true, is_wrapper: true, is_steered: false, counts_suspend: true, ..info }
}
