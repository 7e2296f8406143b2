//! QueryPerformanceCounter by three paths, and the auxiliary counter.

#![allow(unsafe_code, reason = "calls write through pointers, and three are resolved by name")]

use core::mem::transmute;

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

use super::symbol::{Address, function};
use crate::clocks::catalog::cataloged;
use crate::{ClockInfo, Entry, Errno, RawClock, ReadPath, Resolution, Unavailable, Unit, Visitor};

/// `QueryPerformanceCounter` of kernel32, as programs call it.
#[derive(Clone, Copy, Debug)]
struct ByLibrary;

/// `RtlQueryPerformanceCounter` of ntdll: what the former calls. It enters the kernel only where
/// the counter cannot be read in user mode.
#[derive(Clone, Copy, Debug)]
struct ByUser(unsafe extern "system" fn(*mut i64) -> i32);

/// `NtQueryPerformanceCounter` of ntdll: the system call.
#[derive(Clone, Copy, Debug)]
struct BySyscall(unsafe extern "system" fn(*mut i64, *mut i64) -> i32);

impl RawClock for ByLibrary {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        // SAFETY: writes 64 bits through the pointer, which is borrowed exclusively for the call.
        if unsafe { QueryPerformanceCounter(raw) } != 0 { Ok(()) } else { Err(Errno::last()) }
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.cast_unsigned()
    }
}

impl RawClock for ByUser {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        // SAFETY: as above; the signature is that of ntdll (phnt, ntrtl.h).
        if unsafe { (self.0)(raw) } != 0 { Ok(()) } else { Err(Errno::UNSUPPORTED) }
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.cast_unsigned()
    }
}

impl RawClock for BySyscall {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        // SAFETY: as above; the frequency, for which the second pointer is, is optional (phnt,
        // ntexapi.h).
        if unsafe { (self.0)(raw, core::ptr::null_mut()) } >= 0 { Ok(()) } else { Err(Errno::UNSUPPORTED) }
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.cast_unsigned()
    }
}

/// `ConvertPerformanceCounterToAuxiliaryCounter` of the present count: a second hardware counter,
/// where the machine has one (Windows 10 1709).
#[derive(Clone, Copy, Debug)]
struct Auxiliary(unsafe extern "system" fn(u64, *mut u64, *mut u64) -> i32);

impl RawClock for Auxiliary {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        let mut counts = 0;
        ByLibrary.read(&mut counts)?;
        // SAFETY: as above; the error of the conversion, for which the third pointer is, is
        // optional.
        let answer = unsafe { (self.0)(counts.cast_unsigned(), raw, core::ptr::null_mut()) };
        if answer >= 0 { Ok(()) } else { Err(Errno::new(answer)) }
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

/// Returns how many counts of QueryPerformanceCounter a second has.
fn frequency() -> Result<u64, Unavailable> {
    let mut hz = 0;
    // SAFETY: writes 64 bits through the pointer, which is ours.
    if unsafe { QueryPerformanceFrequency(&raw mut hz) } == 0 {
        return Err(Unavailable::Call("QueryPerformanceFrequency".into(), Errno::last()));
    }
    nonzero_frequency(hz.cast_unsigned())
}

/// A frequency that can be divided by.
fn nonzero_frequency(hz: u64) -> Result<u64, Unavailable> {
    if hz == 0 { Err(Unavailable::Missing("the system states a frequency of 0".into())) } else { Ok(hz) }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    let hz = frequency();
    visitor.visit(Entry { info: info(ReadPath::SystemLibrary, &hz, QPC), clock: hz.clone().map(|_| ByLibrary) });
    visitor.visit(Entry { info: info(ReadPath::User, &hz, RTL), clock: hz.clone().and_then(|_| by_user()) });
    visitor.visit(Entry { info: info(ReadPath::Syscall, &hz, NT), clock: hz.and_then(|_| by_syscall()) });
    auxiliary(visitor);
}

const QPC: &str = "QueryPerformanceCounter()";
const RTL: &str = "RtlQueryPerformanceCounter(), what QueryPerformanceCounter() calls";
const NT: &str = "NtQueryPerformanceCounter(), the system call";

fn info(path: ReadPath, hz: &Result<u64, Unavailable>, description: &'static str) -> ClockInfo {
    let resolution = resolution(hz, "QueryPerformanceFrequency");
    ClockInfo { path, unit: unit(hz), resolution, description, ..cataloged!("query_performance_counter") }
}

/// One count; or why its length is unknown.
fn resolution(hz: &Result<u64, Unavailable>, call: &str) -> Resolution {
    match hz {
        Ok(hz) => Resolution::Nanoseconds(1e9 / *hz as f64),
        Err(reason) => Resolution::Unknown(format!("{call}: {reason}").into()),
    }
}

fn unit(hz: &Result<u64, Unavailable>) -> Unit {
    Unit::Counts(hz.as_ref().ok().map(|hz| *hz as f64))
}

fn by_user() -> Result<ByUser, Unavailable> {
    let found = function(&[c"ntdll.dll"], c"RtlQueryPerformanceCounter")?;
    // SAFETY: the signature is that of phnt, ntrtl.h.
    Ok(ByUser(unsafe { transmute::<Address, unsafe extern "system" fn(*mut i64) -> i32>(found) }))
}

fn by_syscall() -> Result<BySyscall, Unavailable> {
    let found = function(&[c"ntdll.dll"], c"NtQueryPerformanceCounter")?;
    // SAFETY: the signature is that of phnt, ntexapi.h.
    Ok(BySyscall(unsafe { transmute::<Address, unsafe extern "system" fn(*mut i64, *mut i64) -> i32>(found) }))
}

fn auxiliary(visitor: &mut impl Visitor) {
    let hz = auxiliary_frequency();
    let resolution = resolution(&hz, "QueryAuxiliaryCounterFrequency");
    let info = ClockInfo { unit: unit(&hz), resolution, ..cataloged!("auxiliary_counter") };
    let clock = hz.and_then(|_| function(REALTIME, c"ConvertPerformanceCounterToAuxiliaryCounter")).map(|found| {
        type Signature = unsafe extern "system" fn(u64, *mut u64, *mut u64) -> i32;
        // SAFETY: the signature is that of realtimeapiset.h.
        Auxiliary(unsafe { transmute::<Address, Signature>(found) })
    });
    visitor.visit(Entry { info, clock });
}

/// Libraries that have the functions of realtimeapiset.h.
pub(super) const REALTIME: &[&core::ffi::CStr] =
    &[c"kernelbase.dll", c"api-ms-win-core-realtime-l1-1-1.dll", c"api-ms-win-core-realtime-l1-1-2.dll"];

/// Returns how many counts of the auxiliary counter a second has.
fn auxiliary_frequency() -> Result<u64, Unavailable> {
    let found = function(REALTIME, c"QueryAuxiliaryCounterFrequency")?;
    let mut hz = 0;
    // SAFETY: the signature is that of realtimeapiset.h; it writes 64 bits through the pointer.
    let answer = unsafe { transmute::<Address, unsafe extern "system" fn(*mut u64) -> i32>(found)(&raw mut hz) };
    if answer < 0 {
        return Err(Unavailable::Missing("this machine has no auxiliary counter".into()));
    }
    nonzero_frequency(hz)
}

/// QueryPerformanceCounter in ns, which others are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    hz: u64,
    call: ReferenceCall,
}

#[derive(Clone, Copy, Debug)]
enum ReferenceCall {
    Library(ByLibrary),
    Syscall(BySyscall),
}

/// Returns the references, the best first: the system call, which shares least with the paths that
/// programs take. There is none where the system states no frequency.
#[must_use]
pub fn references() -> Vec<Reference> {
    let Ok(hz) = frequency() else { return Vec::new() };
    let by_syscall = by_syscall().ok().map(ReferenceCall::Syscall);
    let calls = by_syscall.into_iter().chain([ReferenceCall::Library(ByLibrary)]);
    calls.map(|call| Reference { hz, call }).collect()
}

impl Reference {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.call {
            ReferenceCall::Library(_) => "query_performance_counter",
            ReferenceCall::Syscall(_) => "query_performance_counter:syscall",
        }
    }

    /// Returns true if a time daemon may steer it.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        false
    }

    /// Returns by which path it is read.
    #[must_use]
    pub fn path(&self) -> ReadPath {
        match self.call {
            ReferenceCall::Library(_) => ReadPath::SystemLibrary,
            ReferenceCall::Syscall(_) => ReadPath::Syscall,
        }
    }

    /// Returns its tick in ns: one count.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        1e9 / self.hz as f64
    }
}

impl RawClock for Reference {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        match self.call {
            ReferenceCall::Library(clock) => clock.read(raw),
            ReferenceCall::Syscall(clock) => clock.read(raw),
        }
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        nanoseconds(*raw, self.hz)
    }
}

/// Counts in ns, rounded down: exact, since the product has 128 bits. 64 bits would hold 31 minutes
/// of counts at 10 MHz.
fn nanoseconds(counts: i64, hz: u64) -> u64 {
    (i128::from(counts) * 1_000_000_000).div_euclid(i128::from(hz)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_ns_without_an_overflow() {
        assert_eq!(nanoseconds(3_579_545, 3_579_545), 1_000_000_000);
        // A hundred years at 10 MHz.
        assert_eq!(nanoseconds(100 * 365 * 86_400 * 10_000_000, 10_000_000), 100 * 365 * 86_400 * 1_000_000_000);
        assert_eq!(nanoseconds(1, 14_318_180), 69);
        // A count that went back below zero is a negative difference.
        assert_eq!(nanoseconds(-1, 10_000_000).wrapping_sub(nanoseconds(0, 10_000_000)) as i64, -100);
    }

    #[test]
    fn a_frequency_of_0_is_no_clock() {
        assert!(nonzero_frequency(0).unwrap_err().to_string().contains("frequency of 0"));
        assert_eq!(nonzero_frequency(10_000_000), Ok(10_000_000));
    }
}
