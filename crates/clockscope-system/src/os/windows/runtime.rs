//! The C runtime's calls, resolved by name: the Universal C Runtime's, or the older msvcrt's.

#![allow(unsafe_code, reason = "calls write through pointers and are resolved by name")]

use core::ffi::CStr;
use core::mem::transmute;

use super::symbol::{Address, function};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// The runtimes, the newer one first.
const RUNTIMES: &[&CStr] = &[c"ucrtbase.dll", c"msvcrt.dll"];

/// `clock`: wall time since the process began, in units of 1/CLOCKS_PER_SEC, which is 1 ms there.
#[derive(Clone, Copy, Debug)]
struct Clock(unsafe extern "C" fn() -> i32);

impl RawClock for Clock {
    type Raw = i32;

    #[inline(always)]
    fn read(&self, raw: &mut i32) -> Result<(), Errno> {
        // SAFETY: takes nothing.
        *raw = unsafe { (self.0)() };
        if *raw == -1 { Err(Errno::UNSUPPORTED) } else { Ok(()) }
    }

    #[inline(always)]
    fn value(&self, raw: &i32) -> u64 {
        i64::from(*raw).wrapping_mul(1_000_000).cast_unsigned()
    }
}

/// `time`, in seconds.
#[derive(Clone, Copy, Debug)]
struct Time(unsafe extern "C" fn(*mut i64) -> i64);

impl RawClock for Time {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        // SAFETY: a null pointer asks for the returned value alone.
        *raw = unsafe { (self.0)(core::ptr::null_mut()) };
        if *raw == -1 { Err(Errno::UNSUPPORTED) } else { Ok(()) }
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.wrapping_mul(1_000_000_000).cast_unsigned()
    }
}

/// `struct __timeb64`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Timeb {
    time: i64,
    millitm: u16,
    timezone: i16,
    dstflag: i16,
}

/// `ftime`.
#[derive(Clone, Copy, Debug)]
struct Ftime(unsafe extern "C" fn(*mut Timeb));

impl RawClock for Ftime {
    type Raw = Timeb;

    #[inline(always)]
    fn read(&self, raw: &mut Timeb) -> Result<(), Errno> {
        // SAFETY: writes one structure through the pointer, which is borrowed exclusively.
        unsafe { (self.0)(raw) };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &Timeb) -> u64 {
        raw.time.wrapping_mul(1000).wrapping_add(raw.millitm.into()).wrapping_mul(1_000_000).cast_unsigned()
    }
}

/// `struct _timespec64`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i32,
}

/// C11's `timespec_get`, which msvcrt lacks.
#[derive(Clone, Copy, Debug)]
struct TimespecGet(unsafe extern "C" fn(*mut Timespec, i32) -> i32);

/// TIME_UTC (C11, 7.27).
const TIME_UTC: i32 = 1;

impl RawClock for TimespecGet {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: writes one structure through the pointer, which is borrowed exclusively.
        if unsafe { (self.0)(raw, TIME_UTC) } == TIME_UTC { Ok(()) } else { Err(Errno::UNSUPPORTED) }
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.seconds.wrapping_mul(1_000_000_000).wrapping_add(raw.nanoseconds.into()).cast_unsigned()
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry {
        info: cataloged!("clock"),
        // SAFETY: the signature is that of time.h; `long` has 32 bits.
        clock: function(RUNTIMES, c"clock")
            .map(|found| Clock(unsafe { transmute::<Address, unsafe extern "C" fn() -> i32>(found) })),
    });
    visitor.visit(Entry {
        info: cataloged!("time"),
        // SAFETY: the signature is that of time.h, of 64 bits.
        clock: function(RUNTIMES, c"_time64")
            .map(|found| Time(unsafe { transmute::<Address, unsafe extern "C" fn(*mut i64) -> i64>(found) })),
    });
    visitor.visit(Entry {
        info: cataloged!("ftime"),
        // SAFETY: the signature is that of sys/timeb.h, of 64 bits.
        clock: function(RUNTIMES, c"_ftime64")
            .map(|found| Ftime(unsafe { transmute::<Address, unsafe extern "C" fn(*mut Timeb)>(found) })),
    });
    visitor.visit(Entry {
        info: cataloged!("timespec_get"),
        // SAFETY: the signature is that of time.h, of 64 bits.
        clock: function(RUNTIMES, c"_timespec64_get").map(|found| {
            TimespecGet(unsafe { transmute::<Address, unsafe extern "C" fn(*mut Timespec, i32) -> i32>(found) })
        }),
    });
}
