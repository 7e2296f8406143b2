//! The time of day on Android, whose apps may not ask for the kernel's error.

use super::posix::{ByLibc, Timespec};
use crate::Errno;
use crate::kernel_clock::KernelClockState;

/// Returns CLOCK_REALTIME, of which nobody states an error.
///
/// # Errors
/// The call was refused.
pub fn read() -> Result<KernelClockState, Errno> {
    let mut now = Timespec::default();
    super::keep_errno(|| ByLibc::new(libc::CLOCK_REALTIME).read(&mut now))?;
    Ok(KernelClockState::unsynchronized(now.nanoseconds().into()))
}
