//! The brackets of the disciplined clock: the OS clock read between two reads of the counter. All
//! that is ever known of one clock by another.

use clockscope_core::brackets::{Bracket, Ticks, narrowest};

use super::Counter;
use crate::Errno;

/// Takes up to `tries` brackets, fewer if one is no wider than `enough` ticks, and returns the
/// narrowest.
///
/// # Errors
/// The OS clock refused.
pub(super) fn take_narrowest(
    counter: &impl Counter,
    os_ns: impl Fn() -> Result<u64, Errno>,
    tries: u32,
    enough: u64,
) -> Result<Bracket, Errno> {
    narrowest(|| take(counter, &os_ns), Bracket::width, tries, enough)
}

/// Takes one. Where no branch precedes it, the first reading may be taken early, and the bracket is
/// wider. The last one is not: the OS clock ends with a branch that depends on its own reading (the
/// vDSO's loop on the sequence number, or a system call's return), and readings of one counter by
/// one thread are in the program's order.
fn take(counter: &impl Counter, os_ns: impl Fn() -> Result<u64, Errno>) -> Result<Bracket, Errno> {
    let before = counter.before_os();
    let inner = os_ns()?;
    Ok(Bracket { before, inner, after: counter.ordered() })
}

/// Returns the ticks of both clocks: the counter moves by what it counts, the OS clock by what was
/// found when it was asked.
pub(super) fn both_ticks(os_tick_ns: u64) -> Ticks {
    Ticks { outer: 1.0, inner: os_tick_ns as f64 }
}
