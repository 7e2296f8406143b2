//! The word of Windows on itself, and whether it is Wine.

#![allow(unsafe_code, reason = "calls of the system, which write through pointers")]

use clockscope_records::{Figure, Kernel, Unknown, WindowsFacts};
use windows_sys::Wdk::System::SystemInformation::NtQuerySystemInformation;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::QueryPerformanceFrequency;
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;
use windows_sys::Win32::System::Threading::GetActiveProcessorCount;

use super::symbol::failed;
pub(crate) use super::{console, timer};
use crate::counter_facts::{self, CounterFacts, PerformanceCounterInformation};
pub(crate) use crate::os::unsupported::{
    Sleeper, adjtimex, kernel_log, ptp, switches, timecounter_number, timecounters, timer_slack_ns, vdso,
};

/// All groups of processors (winnt.h).
const ALL_PROCESSOR_GROUPS: u16 = 0xFFFF;

/// The system's names.
pub(crate) fn kernel() -> Kernel {
    Kernel {
        name: Figure::Known("Windows".to_owned()),
        release: Figure::of(version(), failed("RtlGetVersion")),
        version: Figure::unknown("Windows states no text of its build"),
    }
}

/// The system's facts about its timer and processors.
pub(crate) fn windows() -> Option<WindowsFacts> {
    Some(super::timer::facts())
}

/// Major and minor version and the build, such as 10.0.22631: those of the system, whatever a
/// manifest says that the program knows.
fn version() -> Option<String> {
    numbers().map(|[major, minor, build]| format!("{major}.{minor}.{build}"))
}

/// Major and minor version and the build, as numbers.
fn numbers() -> Option<[u32; 3]> {
    let size = u32::try_from(size_of::<OSVERSIONINFOW>()).ok()?;
    let mut found = OSVERSIONINFOW { dwOSVersionInfoSize: size, ..OSVERSIONINFOW::default() };
    // SAFETY: fills the structure, whose first field has its size.
    let answer = unsafe { RtlGetVersion(&raw mut found) };
    (answer >= 0).then_some([found.dwMajorVersion, found.dwMinorVersion, found.dwBuildNumber])
}

/// Number of processors that are active, in all groups.
pub(crate) fn online_cpus() -> Figure<u32> {
    // SAFETY: takes any number; answers 0 if it fails.
    let count = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    Figure::of((count > 0).then_some(count), failed("GetActiveProcessorCount"))
}

/// Returns true if the system is Wine, which has a function that Windows lacks.
pub(crate) fn is_wine() -> bool {
    // SAFETY: C strings; the library is loaded in every process, and the function is not called.
    unsafe {
        let ntdll = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        !ntdll.is_null() && GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

/// Facts that the system shows of QueryPerformanceCounter. A part that it denies has the reason.
pub(crate) fn performance_counter() -> Option<CounterFacts> {
    let bypass = bypass();
    let part = |index: usize| Figure::from(bypass.clone().map(|bytes| bytes[index]));
    Some(CounterFacts {
        frequency_hz: frequency(),
        bypass_flags: part(0),
        bypass_shift: part(1),
        enters_kernel: enters_kernel(),
    })
}

/// Returns how many counts a second has.
fn frequency() -> Figure<u64> {
    let mut hz = 0;
    // SAFETY: writes 64 bits through the pointer, which is ours.
    let answer = unsafe { QueryPerformanceFrequency(&raw mut hz) };
    Figure::of((answer != 0).then_some(hz.cast_unsigned()), failed("QueryPerformanceFrequency"))
}

/// The bytes QpcBypassEnabled and QpcShift in the page that the kernel shares with all processes
/// (ntddk.h, KUSER_SHARED_DATA). Windows 8 introduced them: before, another field was there.
const BYPASS: *const [u8; 2] = 0x7FFE_03C6 as *const [u8; 2];

/// Reads these bytes.
fn bypass() -> Result<[u8; 2], Unknown> {
    counter_facts::has_bypass(numbers())?;
    // SAFETY: the page is mapped at this address in every process of every Windows on every
    // processor, readable and never freed; the field exists since 6.2. The kernel may write to it,
    // so it is read as volatile, and bytes have every value.
    Ok(unsafe { BYPASS.read_volatile() })
}

/// SystemQueryPerformanceCounterInformation (phnt, ntexapi.h).
const PERFORMANCE_COUNTER_INFORMATION: i32 = 124;

/// Returns true if a read enters the kernel.
fn enters_kernel() -> Figure<bool> {
    let mut found = PerformanceCounterInformation { version: 1, ..PerformanceCounterInformation::default() };
    // SAFETY: writes at most the stated number of bytes through the pointer, which is to a
    // structure of that size; the length that it wrote is optional.
    let status = unsafe {
        NtQuerySystemInformation(
            PERFORMANCE_COUNTER_INFORMATION,
            (&raw mut found).cast(),
            size_of::<PerformanceCounterInformation>() as u32,
            core::ptr::null_mut(),
        )
    };
    found.enters_kernel(status)
}
