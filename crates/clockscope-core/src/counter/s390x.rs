//! The s390x time-of-day clock.
//!
//! STCKF stores 64 bits in units of 2^-12 µs (z/Architecture Principles of Operation, chapter 10).
//! It does not serialize. BCR 15,0 does (chapter 5, "CPU Serialization"): all earlier accesses are
//! complete before a later instruction is executed. Stores are seen in the order of the program.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::nominal::NominalFrequencies;
use crate::Unavailable;

/// The name of the kernel's clocksource that is this counter and nothing else.
pub const CLOCKSOURCE: Option<&str> = Some("tod");

/// The time-of-day clock runs at a constant rate (Principles of Operation, chapter 4).
#[must_use]
pub fn is_invariant() -> Option<bool> {
    Some(true)
}

/// No register states the frequency.
#[must_use]
pub fn nominal_frequencies() -> NominalFrequencies {
    NominalFrequencies::default()
}

/// Checks that this processor has the counter.
///
/// # Errors
/// None on this architecture.
pub fn has_counter() -> Result<(), Unavailable> {
    Ok(())
}

/// Reads by STCKF.
#[inline(always)]
#[must_use]
pub fn unordered() -> u64 {
    let mut value: u64 = 0;
    // SAFETY: STCKF writes the eight bytes behind the pointer, which are this function's own, and
    // the condition code, which is not claimed to be preserved.
    unsafe { core::arch::asm!("stckf 0({})", in(reg_addr) &raw mut value, options(nostack)) };
    value
}

/// Reads by BCR; STCKF; BCR: ordered on both sides.
#[inline(always)]
#[must_use]
pub fn fenced() -> u64 {
    let mut value: u64 = 0;
    // SAFETY: as above; BCR 15,0 branches nowhere and only serializes.
    unsafe { core::arch::asm!("bcr 15, 0", "stckf 0({})", "bcr 15, 0", in(reg_addr) &raw mut value, options(nostack)) };
    value
}

pub use after as after_branches;

/// Reads by BCR; STCKF: after all earlier accesses.
#[inline(always)]
#[must_use]
pub fn after() -> u64 {
    let mut value: u64 = 0;
    // SAFETY: as above.
    unsafe { core::arch::asm!("bcr 15, 0", "stckf 0({})", in(reg_addr) &raw mut value, options(nostack)) };
    value
}
