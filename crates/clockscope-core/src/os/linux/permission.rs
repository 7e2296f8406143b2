//! The kernel's word on the processor's counter. Nothing here reads the counter or a clock, nor
//! allocates.

#![allow(unsafe_code, reason = "prctl, open and read take pointers")]

use super::keep_errno;
use crate::clocksource::{self, ClocksourceName};

const CLOCKSOURCE: &core::ffi::CStr = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Returns true if the counter may be read by this process (prctl(2), PR_GET_TSC); `None` where the
/// kernel does not answer, which it does on x86, and on aarch64 since Linux 6.12.
#[must_use]
pub fn counter_is_permitted() -> Option<bool> {
    keep_errno(permission)
}

fn permission() -> Option<bool> {
    /// The C library hands on four arguments, whatever the request takes.
    const UNUSED: libc::c_ulong = 0;
    let mut permission: libc::c_int = 0;
    // SAFETY: PR_GET_TSC writes one int through the pointer, which is ours.
    let answer = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut permission, UNUSED, UNUSED, UNUSED) };
    (answer == 0).then_some(permission == libc::PR_TSC_ENABLE)
}

/// Returns true if the kernel builds its clocks on the processor's counter and nothing else; `None`
/// where sysfs cannot be read.
#[must_use]
pub fn counter_is_clocksource() -> Option<bool> {
    clocksource().map(|name| clocksource::is_counter(name.as_bytes()))
}

/// The kernel's clocksource; `None` where sysfs cannot be read.
#[must_use]
pub fn clocksource() -> Option<ClocksourceName> {
    keep_errno(read_clocksource)
}

/// Reads the clocksource's name by bare calls: the library's second reading pays for them.
fn read_clocksource() -> Option<ClocksourceName> {
    let mut buffer = [0u8; ClocksourceName::MAX_BYTES];
    // SAFETY: the path is a C string; read writes at most the buffer's length into the buffer; the
    // descriptor is closed by who opened it.
    let length = unsafe {
        let file = libc::open(CLOCKSOURCE.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK);
        if file < 0 {
            return None;
        }
        let length = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        length
    };
    ClocksourceName::new(buffer.get(..usize::try_from(length).ok()?)?)
}
