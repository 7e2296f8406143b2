//! Counts of milliseconds since the machine started, which the timer interrupt moves.

#![allow(unsafe_code, reason = "calls of the system")]

use core::mem::transmute;

use windows_sys::Win32::System::SystemInformation::{GetTickCount, GetTickCount64};

use super::symbol::{Address, function};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

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
    visitor.visit(Entry { info: cataloged!("tick_count"), clock: Ok(Count32(GetTickCount)) });
    visitor.visit(Entry { info: cataloged!("tick_count64"), clock: Ok(TickCount64) });
    visitor.visit(Entry {
        info: cataloged!("time_get_time"),
        clock: function(&[c"winmm.dll"], c"timeGetTime").map(|found| {
            // SAFETY: the signature is that of timeapi.h.
            Count32(unsafe { transmute::<Address, unsafe extern "system" fn() -> u32>(found) })
        }),
    });
}
