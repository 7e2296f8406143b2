//! The timer interrupt: its period, requests for another one, and how the time of day is steered by
//! it.

#![allow(unsafe_code, reason = "calls of the system, which write through pointers, some resolved by name")]

use core::ffi::CStr;
use core::mem::transmute;
use std::sync::OnceLock;

use clockscope_records::{Figure, TimeAdjustment, Unknown, WindowsFacts};
use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExA};
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAdjustment;
use windows_sys::Win32::System::Threading::{GetActiveProcessorCount, GetActiveProcessorGroupCount};

/// Length of the unit in which the system states periods, in ns.
const UNIT_NS: u64 = 100;

/// Address of a function, whose signature the caller knows.
type Address = unsafe extern "system" fn() -> isize;

/// Looks up a function that not every Windows has. Its library stays loaded.
fn function(library: &'static CStr, name: &'static CStr) -> Option<Address> {
    // SAFETY: a C string; the second argument is reserved. Only the system's folder is searched, so
    // that no library of another is run.
    let library =
        unsafe { LoadLibraryExA(library.as_ptr().cast(), core::ptr::null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
    if library.is_null() {
        return None;
    }
    // SAFETY: the library is loaded and never freed; the name is a C string.
    unsafe { GetProcAddress(library, name.as_ptr().cast()) }
}

/// All facts. A call that is missing or refused leaves its reason.
pub(crate) fn facts() -> WindowsFacts {
    let [longest, shortest, present] = match periods() {
        Ok(units) => units.map(|units| Figure::Known(u64::from(units) * UNIT_NS)),
        Err(reason) => [(); 3].map(|()| Figure::Unknown(reason.clone())),
    };
    WindowsFacts {
        timer_period_ns: present,
        longest_timer_period_ns: longest,
        shortest_timer_period_ns: shortest,
        adjustment: adjustment(),
        precise_adjustment: precise_adjustment(),
        processor_groups: processor_groups(),
    }
}

/// The longest, the shortest and the present period of the timer, in units of 100 ns.
fn periods() -> Result<[u32; 3], Unknown> {
    let [mut longest, mut shortest, mut present] = [0; 3];
    // SAFETY: writes 32 bits through each pointer, which are ours.
    let status = unsafe { NtQueryTimerResolution(&raw mut longest, &raw mut shortest, &raw mut present) };
    if status < 0 {
        return Err(format!("NtQueryTimerResolution: status {:#010x}", status.cast_unsigned()).into());
    }
    Ok([longest, shortest, present])
}

fn adjustment() -> Figure<TimeAdjustment> {
    let ([mut added, mut nominal], mut is_disabled) = ([0; 2], 0);
    // SAFETY: writes 32 bits through each pointer, which are ours.
    let answer = unsafe { GetSystemTimeAdjustment(&raw mut added, &raw mut nominal, &raw mut is_disabled) };
    let found = TimeAdjustment { added: added.into(), nominal: nominal.into(), is_disabled: is_disabled != 0 };
    Figure::of((answer != 0).then_some(found), super::symbol::failed("GetSystemTimeAdjustment"))
}

fn precise_adjustment() -> Figure<TimeAdjustment> {
    type Signature = unsafe extern "system" fn(*mut u64, *mut u64, *mut i32) -> i32;
    let Some(call) = function(c"api-ms-win-core-sysinfo-l1-2-4.dll", c"GetSystemTimeAdjustmentPrecise")
        .or_else(|| function(c"kernelbase.dll", c"GetSystemTimeAdjustmentPrecise"))
    else {
        return Figure::unknown("this Windows has no GetSystemTimeAdjustmentPrecise");
    };
    let ([mut added, mut nominal], mut is_disabled) = ([0; 2], 0);
    // SAFETY: the signature is that of sysinfoapi.h; it writes through each pointer, which are
    // ours.
    let answer =
        unsafe { transmute::<Address, Signature>(call)(&raw mut added, &raw mut nominal, &raw mut is_disabled) };
    let found = TimeAdjustment { added, nominal, is_disabled: is_disabled != 0 };
    Figure::of((answer != 0).then_some(found), super::symbol::failed("GetSystemTimeAdjustmentPrecise"))
}

fn processor_groups() -> Figure<Vec<u32>> {
    // SAFETY: takes nothing; answers 0 if it fails.
    let groups = unsafe { GetActiveProcessorGroupCount() };
    // SAFETY: takes any number; answers 0 if it fails.
    let active = (0..groups).map(|group| unsafe { GetActiveProcessorCount(group) }).collect::<Vec<_>>();
    let is_known = !active.is_empty() && active.iter().all(|processors| *processors > 0);
    Figure::of(is_known.then_some(active), super::symbol::failed("GetActiveProcessorCount"))
}

/// `TIMECAPS` (timeapi.h).
#[derive(Default)]
#[repr(C)]
struct Range {
    least_ms: u32,
    most_ms: u32,
}

/// The library of the multimedia timer.
const WINMM: &CStr = c"winmm.dll";

/// Answer here of a function that is not there: MMSYSERR_NODRIVER (mmsyscom.h).
const MISSING: u32 = 6;

/// Returns the shortest and the longest period that programs can request, in ms.
pub(crate) fn range_ms() -> Result<(u32, u32), u32> {
    type Signature = unsafe extern "system" fn(*mut Range, u32) -> u32;
    let call = function(WINMM, c"timeGetDevCaps").ok_or(MISSING)?;
    let mut range = Range::default();
    // SAFETY: the signature is that of timeapi.h; it writes at most the stated number of bytes
    // through the pointer, which is to a structure of that size.
    match unsafe { transmute::<Address, Signature>(call)(&raw mut range, size_of::<Range>() as u32) } {
        0 => Ok((range.least_ms, range.most_ms)),
        code => Err(code),
    }
}

/// The function that is called at events of the console.
static AT_EVENT: OnceLock<fn(u32)> = OnceLock::new();

/// Requests a period, after a handler was set for events of the console, one of which may end the
/// process.
pub(crate) fn begin(ms: u32, at_event: fn(u32)) -> Result<(), (&'static str, u32)> {
    AT_EVENT.get_or_init(|| at_event);
    // SAFETY: the handler is a function of the program, and stays loaded; it may be set twice.
    if unsafe { SetConsoleCtrlHandler(Some(on_console_event), 1) } == 0 {
        return Err(("SetConsoleCtrlHandler", 0));
    }
    match period(c"timeBeginPeriod", ms) {
        0 => Ok(()),
        code => Err(("timeBeginPeriod", code)),
    }
}

/// Withdraws a request.
pub(crate) fn end(ms: u32) {
    // It fails for a period that was not requested alone.
    let _ = period(c"timeEndPeriod", ms);
}

fn period(name: &'static CStr, ms: u32) -> u32 {
    type Signature = unsafe extern "system" fn(u32) -> u32;
    let Some(call) = function(WINMM, name) else { return MISSING };
    // SAFETY: the signature is that of timeapi.h, for both calls; they take any number.
    unsafe { transmute::<Address, Signature>(call)(ms) }
}

/// Runs in a thread of the system's. The next handler gets the event as well.
unsafe extern "system" fn on_console_event(event: u32) -> i32 {
    if let Some(at_event) = AT_EVENT.get() {
        at_event(event);
    }
    0
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use windows_sys::Win32::System::Console::CTRL_CLOSE_EVENT;

    use super::*;

    /// The handler that Windows calls when the window is closed.
    #[test]
    fn the_handler_hands_events_on() {
        static SEEN: AtomicU32 = AtomicU32::new(0);
        AT_EVENT.get_or_init(|| |event| SEEN.store(event + 1, Ordering::SeqCst));
        // SAFETY: the handler takes any number, and calls what was set above.
        let is_taken = unsafe { on_console_event(CTRL_CLOSE_EVENT) };
        assert_eq!((is_taken, SEEN.load(Ordering::SeqCst)), (0, CTRL_CLOSE_EVENT + 1));
    }
}
