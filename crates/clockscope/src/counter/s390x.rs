//! The s390x time-of-day clock.
//!
//! STCKF stores 64 bits in units of 2^-12 µs (z/Architecture Principles of Operation, chapter 10).
//! It does not serialize. BCR 15,0 does (chapter 5, "CPU Serialization"): all earlier accesses are
//! complete before a later instruction is executed. Stores are seen in the order of the program.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::{Claims, about, about_unordered, counter};
use crate::{Entry, Unavailable, Visitor};

counter!(
    /// STCKF
    Stckf,
    unordered
);
counter!(
    /// BCR; STCKF: after all earlier accesses.
    StckfBcr,
    after
);
counter!(
    /// The same between two barriers: ordered on both sides.
    Ordered,
    fenced
);

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "bcr_stckf_bcr";

/// The kernel's clocksources that are this counter and nothing else.
pub const CLOCKSOURCES: &[&str] = &["tod"];

/// The time-of-day clock runs at a constant rate (Principles of Operation, chapter 4).
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
    visitor.visit(Entry {
        about: about_unordered("stckf", &["tod"], Some(4_096_000_000.0), "STCKF"),
        clock: Ok(Stckf(())),
    });
    visitor.visit(Entry {
        about: about("stckf_bcr", &["bcr_stckf"], Some(4_096_000_000.0), "BCR 15,0; STCKF"),
        clock: Ok(StckfBcr(())),
    });
}

/// STCKF.
#[inline(always)]
pub(crate) fn unordered() -> u64 {
    let mut value: u64 = 0;
    // SAFETY: STCKF writes the eight bytes behind the pointer, which are this function's own, and the condition code,
    // which is not claimed to be preserved.
    unsafe { core::arch::asm!("stckf 0({})", in(reg_addr) &raw mut value, options(nostack)) };
    value
}

/// BCR; STCKF; BCR.
#[inline(always)]
pub(crate) fn fenced() -> u64 {
    let mut value: u64 = 0;
    // SAFETY: as above; BCR 15,0 branches nowhere and only serializes.
    unsafe { core::arch::asm!("bcr 15, 0", "stckf 0({})", "bcr 15, 0", in(reg_addr) &raw mut value, options(nostack)) };
    value
}

#[cfg(all(feature = "std", not(loom)))]
pub(crate) use after as after_branches;

/// BCR; STCKF.
#[inline(always)]
pub(crate) fn after() -> u64 {
    let mut value: u64 = 0;
    // SAFETY: as above.
    unsafe { core::arch::asm!("bcr 15, 0", "stckf 0({})", in(reg_addr) &raw mut value, options(nostack)) };
    value
}
