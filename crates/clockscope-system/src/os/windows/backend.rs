//! Windows: QueryPerformanceCounter by three paths, the times of the timer interrupt and their
//! precise forms, counts of milliseconds, processor time, and the C runtime's calls.
//!
//! Facts are those of Microsoft's documentation of each function. Functions that older systems lack
//! are resolved by name.

pub(crate) mod console;
mod cpu_time;
pub(crate) mod facts;
mod interrupt;
mod milliseconds;
mod performance;
mod runtime;
mod symbol;
pub(crate) mod timer;

use std::time::{SystemTime, UNIX_EPOCH};

pub use performance::{Reference, references};

use crate::Visitor;

/// Returns seconds since 1970 in UTC; `None` for a clock set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

pub(super) fn each(visitor: &mut impl Visitor) {
    performance::each(visitor);
    interrupt::each(visitor);
    milliseconds::each(visitor);
    cpu_time::each(visitor);
    runtime::each(visitor);
}
