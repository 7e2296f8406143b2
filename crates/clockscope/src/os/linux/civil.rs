//! Civil time and what the kernel says of its error.

#![allow(unsafe_code, reason = "clock_adjtime writes through a pointer")]

use super::last_errno;
use super::posix::{ByLibc, Timespec};
use crate::civil::Reading;
use crate::{Errno, RawClock};

/// CLOCK_REALTIME with the kernel's own estimate of its largest error (adjtimex(2), which is asked and changes nothing).
///
/// # Errors
/// One of the two calls was refused.
pub(crate) fn read() -> Result<Reading, Errno> {
    let mut state = core::mem::MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all-zero is a timex, whose modes then ask for no change; adjtimex fills it.
    let (answer, state) = unsafe { (libc::adjtimex(state.as_mut_ptr()), state.assume_init()) };
    if answer < 0 {
        return Err(last_errno());
    }
    let mut now = Timespec::default();
    ByLibc::new(libc::CLOCK_REALTIME).read(&mut now)?;
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    Ok(Reading {
        unix_ns: i128::from(now.seconds()) * 1_000_000_000 + i128::from(now.nanoseconds() % 1_000_000_000),
        max_error_ns: (state.maxerror as i64).max(0) as u64 * 1000,
        is_synchronised: answer != libc::TIME_ERROR && state.status & libc::STA_UNSYNC == 0,
        // The kernel's own default is 0: nobody has told it.
        tai_offset_s: (state.tai != 0).then_some(state.tai),
    })
}
