//! The RISC-V real-time counter.
//!
//! Ordering as the RISC-V unprivileged ISA (Zicsr, "CSR Access Ordering") states it: RDTIME is a
//! CSR read, which is not ordered with memory accesses by itself. FENCE takes it for device input
//! (I). So a FENCE with I in its successor set orders it after loads and stores, and one with I in
//! its predecessor set orders it before them. The fences of the memory model are `rw, rw` at most
//! and do not. Nothing orders it after arithmetic whose result nobody needs.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::nominal::NominalFrequencies;
use crate::Unavailable;

/// The name of the kernel's clocksource that is this counter and nothing else.
pub const CLOCKSOURCE: Option<&str> = Some("riscv_clocksource");

/// The platform promises a constant rate (RISC-V unprivileged ISA, Zicntr).
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

/// Reads by RDTIME.
#[inline(always)]
#[must_use]
pub fn unordered() -> u64 {
    let value: u64;
    // SAFETY: Zicntr is part of every profile that runs Linux; the read changes nothing.
    unsafe { core::arch::asm!("rdtime {}", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// Reads by FENCE; RDTIME; FENCE: ordered on both sides.
#[inline(always)]
#[must_use]
pub fn fenced() -> u64 {
    let value: u64;
    // SAFETY: as above; FENCE orders memory and device accesses and writes nothing.
    unsafe {
        core::arch::asm!("fence iorw, iorw", "rdtime {}", "fence iorw, iorw", out(reg) value, options(nostack, preserves_flags))
    };
    value
}

/// Reads by FENCE; RDTIME; a branch to the next instruction: a store after it depends on the
/// reading, and so comes after that (RVWMO, control dependency).
#[inline(always)]
#[must_use]
pub fn after() -> u64 {
    let value: u64;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "fence iorw, iorw",
            "rdtime {0}",
            "beqz {0}, 2f",
            "2:",
            out(reg) value,
            options(nostack, preserves_flags),
        );
    }
    value
}

/// Reads by FENCE; RDTIME. A branch is not enough here: in RISC-V's memory model it orders later
/// stores only.
#[inline(always)]
#[must_use]
pub fn after_branches() -> u64 {
    let value: u64;
    // SAFETY: as above.
    unsafe { core::arch::asm!("fence iorw, iorw", "rdtime {}", out(reg) value, options(nostack, preserves_flags)) };
    value
}
