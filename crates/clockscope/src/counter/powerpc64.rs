//! The POWER time base.
//!
//! MFTB reads it (Power ISA, book II, 6.1); ISYNC on both sides orders it.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::{Claims, about_unordered, counter};
use crate::{Entry, Unavailable, Visitor};

counter!(
    /// MFTB
    Timebase,
    unordered
);
counter!(
    /// The same between two barriers: ordered on both sides.
    Ordered,
    fenced
);

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "isync_mftb_isync";

/// The kernel's clocksources that are this counter and nothing else.
pub const CLOCKSOURCES: &[&str] = &["timebase"];

/// The time base runs at a constant rate (Power ISA, book II, 6.1).
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
    visitor.visit(Entry { about: about_unordered("timebase", &["mftb"], None, "MFTB"), clock: Ok(Timebase(())) });
}

/// MFTB.
#[inline(always)]
pub(crate) fn unordered() -> u64 {
    let value: u64;
    // SAFETY: the time base (SPR 268) is readable in user mode on every 64-bit POWER; the read changes nothing.
    unsafe { core::arch::asm!("mfspr {}, 268", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// ISYNC; MFTB; ISYNC.
#[inline(always)]
pub(crate) fn fenced() -> u64 {
    let value: u64;
    // SAFETY: as above; ISYNC only waits.
    unsafe { core::arch::asm!("isync", "mfspr {}, 268", "isync", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// ISYNC; MFTB.
#[inline(always)]
pub(crate) fn after() -> u64 {
    let value: u64;
    // SAFETY: as above.
    unsafe { core::arch::asm!("isync", "mfspr {}, 268", out(reg) value, options(nostack, preserves_flags)) };
    value
}
