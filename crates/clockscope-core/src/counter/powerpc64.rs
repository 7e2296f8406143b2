//! The POWER time base.
//!
//! MFTB reads it (Power ISA, book II, 6.1). Ordering as book II, 4.6 states it:
//!
//! - ISYNC waits until all earlier instructions have completed and starts no later one before. It
//!   may complete before the storage accesses of earlier instructions are performed, loads among
//!   them. It does wait for a branch that depends on a load: `cmp; bc; isync` is how a lock is
//!   acquired.
//! - SYNC waits for the accesses, too, and starts no later instruction before it completes. It also
//!   waits until stores are seen by all processors: no barrier that orders MFTB waits for loads
//!   only.
//! - No memory barrier orders MFTB before later accesses. A store waits for a branch that depends
//!   on the reading.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::nominal::NominalFrequencies;
use crate::Unavailable;

/// The name of the kernel's clocksource that is this counter and nothing else.
pub const CLOCKSOURCE: Option<&str> = Some("timebase");

/// The time base runs at a constant rate (Power ISA, book II, 6.1).
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

/// Reads by MFTB.
#[inline(always)]
#[must_use]
pub fn unordered() -> u64 {
    let value: u64;
    // SAFETY: the time base (SPR 268) is readable in user mode on every 64-bit POWER; the read
    // changes nothing.
    unsafe { core::arch::asm!("mfspr {}, 268", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// Reads by SYNC; MFTB; ISYNC: ordered on both sides.
#[inline(always)]
#[must_use]
pub fn fenced() -> u64 {
    let value: u64;
    // SAFETY: as above; SYNC and ISYNC only wait.
    unsafe { core::arch::asm!("sync", "mfspr {}, 268", "isync", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// Reads by SYNC; MFTB; a branch to the next instruction, for which later stores wait.
#[inline(always)]
#[must_use]
pub fn after() -> u64 {
    let value: u64;
    // SAFETY: as above; the comparison writes CR7, which is declared as overwritten.
    unsafe {
        core::arch::asm!(
            "sync",
            "mfspr {0}, 268",
            "cmpd 7, {0}, {0}",
            "bne- 7, 2f",
            "2:",
            out(reg) value,
            out("cr7") _,
            options(nostack, preserves_flags),
        );
    }
    value
}

/// Reads by ISYNC; MFTB: after every load that an earlier branch depends on.
#[inline(always)]
#[must_use]
pub fn after_branches() -> u64 {
    let value: u64;
    // SAFETY: as above.
    unsafe { core::arch::asm!("isync", "mfspr {}, 268", out(reg) value, options(nostack, preserves_flags)) };
    value
}
