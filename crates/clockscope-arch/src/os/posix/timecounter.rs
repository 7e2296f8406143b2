//! What FreeBSD says of its timecounters (timecounters(4)).

#![allow(unsafe_code, reason = "sysctlbyname writes through a pointer")]

use super::keep_errno;
use crate::counter;

/// Longest name of a timecounter.
const LONGEST: usize = 64;

/// Returns the name of the timecounter that the kernel's clocks are made of; `None` where it does
/// not show it.
#[must_use]
pub fn clocksource() -> Option<String> {
    let mut name = [0_u8; LONGEST];
    let mut length = LONGEST;
    let ask = || {
        // SAFETY: writes at most `length` bytes into the buffer, which is as long, and then the
        // name's length into `length`.
        unsafe {
            let key = c"kern.timecounter.hardware";
            libc::sysctlbyname(key.as_ptr(), name.as_mut_ptr().cast(), &raw mut length, core::ptr::null(), 0)
        }
    };
    if keep_errno(ask) != 0 {
        return None;
    }
    let name = name.get(..length)?.split(|byte| *byte == 0).next()?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// Returns whether the kernel's clocks are made of the processor's counter. It chooses the
/// timecounter of the highest quality, and gives the TSC a negative one where it is not
/// synchronized or not invariant (sys/x86/x86/tsc.c).
#[must_use]
pub fn counter_is_accepted() -> Option<bool> {
    clocksource().map(|name| counter::EXISTS && is_counter(&name))
}

/// "TSC" and "TSC-low", which is the TSC shifted; "ARM MPCore Timecounter"
/// (sys/arm/arm/generic_timer.c) reads CNTVCT.
fn is_counter(name: &str) -> bool {
    let names: &[&str] = if cfg!(target_arch = "aarch64") { &["ARM MPCore Timecounter"] } else { &["TSC", "TSC-low"] };
    names.contains(&name)
}
