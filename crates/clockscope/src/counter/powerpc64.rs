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

use super::{Claims, about, about_unordered, counter};
use crate::{Entry, Unavailable, Visitor};

counter!(
    /// MFTB
    Timebase,
    unordered
);
counter!(
    /// ISYNC; MFTB: after every load that an earlier branch depends on.
    TimebaseIsync,
    after_branches
);
counter!(
    /// SYNC; MFTB: after all earlier accesses, and before later stores.
    TimebaseSync,
    after
);
counter!(
    /// SYNC; MFTB; ISYNC: ordered on both sides.
    Ordered,
    fenced
);

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "sync_mftb_isync";

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
    visitor.visit(Entry {
        about: about("timebase_isync", &["isync_mftb"], None, "ISYNC; MFTB"),
        clock: Ok(TimebaseIsync(())),
    });
    visitor.visit(Entry {
        about: about("timebase_sync", &["sync_mftb"], None, "SYNC; MFTB"),
        clock: Ok(TimebaseSync(())),
    });
}

/// MFTB.
#[inline(always)]
pub(crate) fn unordered() -> u64 {
    let value: u64;
    // SAFETY: the time base (SPR 268) is readable in user mode on every 64-bit POWER; the read changes nothing.
    unsafe { core::arch::asm!("mfspr {}, 268", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// SYNC; MFTB; ISYNC.
#[inline(always)]
pub(crate) fn fenced() -> u64 {
    let value: u64;
    // SAFETY: as above; SYNC and ISYNC only wait.
    unsafe { core::arch::asm!("sync", "mfspr {}, 268", "isync", out(reg) value, options(nostack, preserves_flags)) };
    value
}

/// SYNC; MFTB; a branch to the next instruction, for which later stores wait.
#[inline(always)]
pub(crate) fn after() -> u64 {
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

/// ISYNC; MFTB.
#[inline(always)]
pub(crate) fn after_branches() -> u64 {
    let value: u64;
    // SAFETY: as above.
    unsafe { core::arch::asm!("isync", "mfspr {}, 268", out(reg) value, options(nostack, preserves_flags)) };
    value
}
