//! What Windows says of itself, and whether it is Wine.

#![allow(unsafe_code, reason = "calls of the system, which write through pointers")]

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;
use windows_sys::Win32::System::Threading::GetActiveProcessorCount;

/// All groups of processors (winnt.h).
const ALL_PROCESSOR_GROUPS: u16 = 0xFFFF;

/// Major and minor version and the build, such as 10.0.22631: those of the system, whatever a
/// manifest says that the program knows.
pub(crate) fn version() -> Option<String> {
    let size = u32::try_from(size_of::<OSVERSIONINFOW>()).ok()?;
    let mut found = OSVERSIONINFOW { dwOSVersionInfoSize: size, ..OSVERSIONINFOW::default() };
    // SAFETY: fills the structure, whose first field has its size.
    let answer = unsafe { RtlGetVersion(&raw mut found) };
    (answer >= 0).then(|| format!("{}.{}.{}", found.dwMajorVersion, found.dwMinorVersion, found.dwBuildNumber))
}

/// How many processors are active, in all groups.
pub(crate) fn processors() -> Option<u32> {
    // SAFETY: takes any number; answers 0 if it fails.
    Some(unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) }).filter(|count| *count > 0)
}

/// Whether the system is Wine, which has a function that Windows lacks.
pub(crate) fn is_wine() -> bool {
    // SAFETY: C strings; the library is loaded in every process, and the function is not called.
    unsafe {
        let ntdll = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        !ntdll.is_null() && GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast()).is_some()
    }
}
