//! The word of Windows on itself, and whether it is Wine.

#![allow(unsafe_code, reason = "calls of the system, which write through pointers")]

use clockscope_records::{Figure, Kernel, WindowsFacts};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::QueryPerformanceFrequency;
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;
use windows_sys::Win32::System::Threading::GetActiveProcessorCount;

use super::symbol::failed;
pub(crate) use super::{console, timer};
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
    let size = u32::try_from(size_of::<OSVERSIONINFOW>()).ok()?;
    let mut found = OSVERSIONINFOW { dwOSVersionInfoSize: size, ..OSVERSIONINFOW::default() };
    // SAFETY: fills the structure, whose first field has its size.
    let answer = unsafe { RtlGetVersion(&raw mut found) };
    (answer >= 0).then(|| format!("{}.{}.{}", found.dwMajorVersion, found.dwMinorVersion, found.dwBuildNumber))
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

/// Returns how many counts of QueryPerformanceCounter a second has.
pub(crate) fn performance_counter_hz() -> Option<Figure<u64>> {
    let mut hz = 0;
    // SAFETY: writes 64 bits through the pointer, which is ours.
    let answer = unsafe { QueryPerformanceFrequency(&raw mut hz) };
    Some(Figure::of((answer != 0).then_some(hz.cast_unsigned()), failed("QueryPerformanceFrequency")))
}
