//! The RISC-V real-time counter.
//!
//! Ordering as the RISC-V unprivileged ISA (Zicsr, "CSR Access Ordering") states it: RDTIME is a
//! CSR read, which is not ordered with memory accesses by itself. FENCE takes it for device input
//! (I). So a FENCE with I in its successor set orders it after loads and stores, and one with I in
//! its predecessor set orders it before them. The fences of the memory model are `rw, rw` at most
//! and do not. Nothing orders it after arithmetic whose result nobody needs.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::{Claims, about, about_unordered, counter};
use crate::{Entry, Unavailable, Visitor};

counter!(
    /// RDTIME
    Rdtime,
    unordered
);
counter!(
    /// FENCE; RDTIME: after all earlier accesses, and before later stores.
    RdtimeFence,
    after
);
counter!(
    /// The same between two barriers: ordered on both sides.
    Ordered,
    fenced
);

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "fence_rdtime_fence";

/// The kernel's clocksources that are this counter and nothing else.
pub const CLOCKSOURCES: &[&str] = &["riscv_clocksource"];

/// The platform promises a constant rate (RISC-V unprivileged ISA, Zicntr).
#[must_use]
pub fn is_invariant() -> Option<bool> {
    Some(true)
}

/// No register states the frequency.
#[must_use]
pub fn claims() -> Claims {
    Claims::default()
}

/// The sequence that batches are timed with.
///
/// # Errors
/// None on this architecture.
pub fn ordered() -> Result<Ordered, Unavailable> {
    Ok(Ordered(()))
}

/// Hands every reading sequence to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry { about: about_unordered("rdtime", &[], None, "RDTIME"), clock: Ok(Rdtime(())) });
    visitor.visit(Entry {
        about: about("rdtime_fence", &["fence_rdtime"], None, "FENCE; RDTIME"),
        clock: Ok(RdtimeFence(())),
    });
}

/// RDTIME.
#[inline(always)]
pub(crate) fn unordered() -> u64 {
    let value: u64;
    // SAFETY: Zicntr is part of every profile that runs Linux; the read changes nothing.
    unsafe { core::arch::asm!("rdtime {}", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// FENCE; RDTIME; FENCE.
#[inline(always)]
pub(crate) fn fenced() -> u64 {
    let value: u64;
    // SAFETY: as above; FENCE orders memory and device accesses and writes nothing.
    unsafe {
        core::arch::asm!("fence iorw, iorw", "rdtime {}", "fence iorw, iorw", out(reg) value, options(nostack, preserves_flags))
    };
    value
}

/// FENCE; RDTIME; a branch to the next instruction: a store after it depends on the reading, and so
/// comes after that (RVWMO, control dependency).
#[inline(always)]
pub(crate) fn after() -> u64 {
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

/// FENCE; RDTIME. A branch is not enough here: in RISC-V's memory model it orders later stores
/// only.
#[cfg(all(feature = "std", not(loom)))]
#[inline(always)]
pub(crate) fn after_branches() -> u64 {
    let value: u64;
    // SAFETY: as above.
    unsafe { core::arch::asm!("fence iorw, iorw", "rdtime {}", out(reg) value, options(nostack, preserves_flags)) };
    value
}
