//! Functions that not every Windows has, by their names, and the reason of one that failed.

#![allow(unsafe_code, reason = "a library is loaded, and a function of it looked up, by C strings")]

use core::ffi::CStr;

use clockscope_records::Unknown;
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExA};

use crate::Unavailable;

/// Address of a function, whose signature the caller knows.
pub(super) type Address = unsafe extern "system" fn() -> isize;

/// Looks a function up in the first of these libraries that has it. They stay loaded.
///
/// # Errors
/// None of them is there, or has it.
pub(super) fn function(libraries: &[&'static CStr], name: &'static CStr) -> Result<Address, Unavailable> {
    let found = libraries.iter().find_map(|library| {
        let (file, system) = (library.as_ptr().cast(), LOAD_LIBRARY_SEARCH_SYSTEM32);
        // SAFETY: a C string; the second argument is reserved. Only the system's folder is
        // searched, so that no library of another is run.
        let library = unsafe { LoadLibraryExA(file, core::ptr::null_mut(), system) };
        if library.is_null() {
            return None;
        }
        // SAFETY: the library is loaded and never freed; the name is a C string.
        unsafe { GetProcAddress(library, name.as_ptr().cast()) }
    });
    found.ok_or_else(|| Unavailable::Missing(format!("this Windows has no {}", name.to_string_lossy()).into()))
}

/// The reason of what a call that failed would have shown.
pub(crate) fn failed(call: &str) -> Unknown {
    format!("{call} failed").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GetSystemTimePreciseAsFileTime before Windows 8, for example.
    #[test]
    fn a_function_that_a_system_lacks_is_a_reason() {
        let found =
            |libraries: &[&'static CStr], name| function(libraries, name).map(drop).map_err(|error| error.to_string());
        assert_eq!(found(&[c"kernel32.dll"], c"GetTickCount64"), Ok(()));
        assert_eq!(found(&[c"no-such-library.dll", c"kernel32.dll"], c"GetTickCount64"), Ok(()));
        for libraries in [&[c"kernel32.dll"] as &[&CStr], &[c"no-such-library.dll"], &[]] {
            let reason = found(libraries, c"GetSundial").unwrap_err();
            assert!(reason.contains("this Windows has no GetSundial"), "{reason}");
        }
    }
}
