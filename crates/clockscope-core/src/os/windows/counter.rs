//! The word of Windows on the processor's counter.

#![allow(unsafe_code, reason = "the page that the kernel shares with each process is at a fixed address")]

/// `QpcBypassEnabled` of KUSER_SHARED_DATA (ntddk.h), which is mapped at 0x7FFE0000 in every
/// process.
const BYPASS: *const u8 = 0x7FFE_03C6 as *const u8;

/// QueryPerformanceCounter reads the counter without entering the kernel.
const ENABLED: u8 = 1;

/// It scales the counter by a page of the hypervisor, which is then the clock.
const BY_HYPERVISOR: u8 = 2;

/// Returns whether the system makes QueryPerformanceCounter of the counter: only then does it take
/// the counters of all processors for synchronized.
#[must_use]
pub fn counter_is_accepted() -> Option<bool> {
    // SAFETY: the page is mapped for the life of the process, readable, and holds this byte since
    // Windows 8.1 (Rust's std needs Windows 10).
    let flags = unsafe { BYPASS.read_volatile() };
    Some(flags & (ENABLED | BY_HYPERVISOR) == ENABLED)
}
