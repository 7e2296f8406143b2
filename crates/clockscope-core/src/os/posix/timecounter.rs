//! Statements of FreeBSD, NetBSD and OpenBSD on their timecounters (timecounters(4), kern_tc.c).

#![allow(unsafe_code, reason = "sysctlbyname writes through a pointer")]

#[cfg(not(target_os = "openbsd"))]
use core::ffi::CStr;

use super::keep_errno;
use crate::clocksource::ClocksourceName;
#[cfg(target_os = "freebsd")]
use crate::counter;

/// Longest text that is read.
const MAX_TEXT_BYTES: usize = 4096;

/// Key of what the kernel is asked for.
#[cfg(not(target_os = "openbsd"))]
type Key<'a> = &'a CStr;
#[cfg(not(target_os = "openbsd"))]
const HARDWARE: Key<'_> = c"kern.timecounter.hardware";
#[cfg(not(target_os = "openbsd"))]
const AVAILABLE: Key<'_> = c"kern.timecounter.choice";

/// Key of what OpenBSD's kernel is asked for: numbers (sys/sysctl.h, KERN_TIMECOUNTER_HARDWARE and
/// KERN_TIMECOUNTER_CHOICE).
#[cfg(target_os = "openbsd")]
type Key<'a> = &'a [libc::c_int];
#[cfg(target_os = "openbsd")]
const HARDWARE: Key<'_> = &[libc::CTL_KERN, libc::KERN_TIMECOUNTER, 3];
#[cfg(target_os = "openbsd")]
const AVAILABLE: Key<'_> = &[libc::CTL_KERN, libc::KERN_TIMECOUNTER, 4];

/// Returns the name of the timecounter that the kernel's clocks are made of; `None` where it does
/// not show it.
#[must_use]
pub fn clocksource() -> Option<ClocksourceName> {
    text(HARDWARE).and_then(|name| ClocksourceName::new(name.as_bytes()))
}

/// Returns all timecounters with their qualities, in the kernel's form: FreeBSD's is `TSC-low(1000)
/// HPET(950)`, as OpenBSD's, and NetBSD's `TSC(q=3000, f=2400000000 Hz)`.
#[must_use]
pub fn available() -> Option<String> {
    text(AVAILABLE)
}

/// Returns a number that FreeBSD shows of a timecounter: `frequency` or `mask`.
#[cfg(target_os = "freebsd")]
#[must_use]
pub fn number(timecounter: &str, fact: &str) -> Option<u64> {
    let key = std::ffi::CString::new(format!("kern.timecounter.tc.{timecounter}.{fact}")).ok()?;
    let mut bytes = [0; 8];
    // Frequencies have 64 bits, masks 32.
    match read(&key, &mut bytes)? {
        4 => bytes.first_chunk().map(|half| u32::from_ne_bytes(*half).into()),
        8 => Some(u64::from_ne_bytes(bytes)),
        _ => None,
    }
}

/// A text, up to its first byte of 0.
fn text(key: Key<'_>) -> Option<String> {
    let mut bytes = vec![0; MAX_TEXT_BYTES];
    let length = read(key, &mut bytes)?;
    let text = bytes.get(..length)?.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Reads what a key has; returns how many bytes.
fn read(key: Key<'_>, bytes: &mut [u8]) -> Option<usize> {
    let mut length = bytes.len();
    let (to, from) = (bytes.as_mut_ptr().cast(), core::ptr::null::<libc::c_void>());
    let answer = keep_errno(|| {
        // SAFETY: writes at most `length` bytes into the buffer, which is as long, and then the
        // content's length into `length`; the key is a C string, and nothing is set.
        #[cfg(not(target_os = "openbsd"))]
        unsafe {
            libc::sysctlbyname(key.as_ptr(), to, &raw mut length, from, 0)
        }
        // SAFETY: the same; the key has as many numbers as is stated, and they are only read.
        #[cfg(target_os = "openbsd")]
        unsafe {
            libc::sysctl(key.as_ptr(), key.len() as u32, to, &raw mut length, from.cast_mut(), 0)
        }
    });
    (answer == 0).then_some(length)
}

/// Returns whether the kernel's clocks are made of the processor's counter. It chooses the
/// timecounter of the highest quality, and gives the TSC a negative one where it is not
/// synchronized or not invariant (sys/x86/x86/tsc.c).
#[cfg(target_os = "freebsd")]
#[must_use]
pub fn counter_is_accepted() -> Option<bool> {
    clocksource().map(|name| counter::EXISTS && is_counter(name.as_str()))
}

/// "TSC" and "TSC-low", which is the TSC shifted; "ARM MPCore Timecounter"
/// (sys/arm/arm/generic_timer.c) reads CNTVCT.
#[cfg(target_os = "freebsd")]
fn is_counter(name: &str) -> bool {
    let names: &[&str] = if cfg!(target_arch = "aarch64") { &["ARM MPCore Timecounter"] } else { &["TSC", "TSC-low"] };
    names.contains(&name)
}
