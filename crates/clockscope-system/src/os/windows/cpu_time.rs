//! Processor time of the thread and the process: in cycles, and as the timer interrupt charges it.

#![allow(unsafe_code, reason = "calls write through pointers")]

use windows_sys::Win32::Foundation::{FILETIME, HANDLE};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes};
use windows_sys::Win32::System::WindowsProgramming::{QueryProcessCycleTime, QueryThreadCycleTime};

use super::interrupt::UNIT_NS;
use crate::clocks::catalog::cataloged;
use crate::{ClockInfo, Entry, Errno, RawClock, Unit, Visitor};

/// Whose time it is.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Thread,
    Process,
}

/// `QueryThreadCycleTime` or `QueryProcessCycleTime`.
#[derive(Clone, Copy, Debug)]
struct Cycles(Owner);

impl RawClock for Cycles {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        // SAFETY: the handles stand for the caller and need no closing; the calls write 64 bits
        // through the pointer, which is borrowed exclusively.
        let is_read = unsafe {
            match self.0 {
                Owner::Thread => QueryThreadCycleTime(GetCurrentThread(), raw),
                Owner::Process => QueryProcessCycleTime(GetCurrentProcess(), raw),
            }
        };
        if is_read != 0 { Ok(()) } else { Err(Errno::last()) }
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

/// `GetThreadTimes` or `GetProcessTimes`: user and kernel time together.
#[derive(Clone, Copy, Debug)]
struct Times(Owner);

impl RawClock for Times {
    /// The kernel's and the user's part, in units of 100 ns.
    type Raw = (u64, u64);

    #[inline(always)]
    fn read(&self, raw: &mut (u64, u64)) -> Result<(), Errno> {
        type Call =
            unsafe extern "system" fn(HANDLE, *mut FILETIME, *mut FILETIME, *mut FILETIME, *mut FILETIME) -> i32;
        let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
        let [created, ended, kernel, user] = &mut times;
        // SAFETY: as above; the call writes four FILETIMEs, each through a pointer of its own.
        let is_read = unsafe {
            let (call, handle): (Call, HANDLE) = match self.0 {
                Owner::Thread => (GetThreadTimes, GetCurrentThread()),
                Owner::Process => (GetProcessTimes, GetCurrentProcess()),
            };
            call(handle, created, ended, kernel, user)
        };
        *raw = (units(kernel), units(user));
        if is_read != 0 { Ok(()) } else { Err(Errno::last()) }
    }

    #[inline(always)]
    fn value(&self, (kernel, user): &(u64, u64)) -> u64 {
        kernel.wrapping_add(*user).wrapping_mul(UNIT_NS)
    }
}

fn units(time: &FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << u32::BITS | u64::from(time.dwLowDateTime)
}

pub(super) fn each(visitor: &mut impl Visitor) {
    for (info, owner) in
        [(cataloged!("thread_cycle_time"), Owner::Thread), (cataloged!("process_cycle_time"), Owner::Process)]
    {
        visitor.visit(Entry { info: ClockInfo { unit: Unit::Counts(None), ..info }, clock: Ok(Cycles(owner)) });
    }
    for (info, owner) in [(cataloged!("thread_times"), Owner::Thread), (cataloged!("process_times"), Owner::Process)] {
        visitor.visit(Entry { info, clock: Ok(Times(owner)) });
    }
}
