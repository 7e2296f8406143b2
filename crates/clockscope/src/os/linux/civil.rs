//! Civil time and what the kernel says of its error.

#![allow(unsafe_code, reason = "adjtimex writes through a pointer")]

use super::{keep_errno, last_errno};
use crate::Errno;
use crate::civil::Reading;

/// CLOCK_REALTIME with the kernel's own estimate of its largest error, both of one moment: adjtimex(2), which is asked and
/// changes nothing. A system call, which no disabled counter can make fatal.
///
/// # Errors
/// The call was refused.
pub(crate) fn read() -> Result<Reading, Errno> {
    keep_errno(ask)
}

fn ask() -> Result<Reading, Errno> {
    let mut state = core::mem::MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all-zero is a timex, whose modes then ask for no change; adjtimex fills it.
    let (answer, state) = unsafe { (libc::adjtimex(state.as_mut_ptr()), state.assume_init()) };
    if answer < 0 {
        return Err(last_errno());
    }
    let tick_ns = if state.status & libc::STA_NANO != 0 { 1 } else { 1000 };
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    Ok(Reading {
        unix_ns: i128::from(state.time.tv_sec) * 1_000_000_000 + i128::from(state.time.tv_usec) * i128::from(tick_ns),
        max_error_ns: (state.maxerror as i64).max(0) as u64 * 1000 + tick_ns,
        is_synchronised: answer != libc::TIME_ERROR && state.status & libc::STA_UNSYNC == 0,
        // The kernel's own default is 0: nobody has told it.
        tai_offset_s: (state.tai != 0).then_some(state.tai),
    })
}
