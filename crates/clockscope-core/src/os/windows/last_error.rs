//! The calling thread's last error, which a reading must leave as it was.

#![allow(unsafe_code, reason = "calls of the system")]

use windows_sys::Win32::Foundation::{GetLastError, SetLastError};

/// Does some work, and puts back what the last error was before it.
pub fn keep_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: takes nothing.
    let before = unsafe { GetLastError() };
    let result = work();
    // SAFETY: takes any number.
    unsafe { SetLastError(before) };
    result
}
