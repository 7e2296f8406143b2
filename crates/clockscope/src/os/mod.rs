//! The operating system's clocks, one backend a system, all with the same items:
//!
//! - `each(visitor)`: every clock of the system;
//! - `Reference` and `references()`: clocks that others are judged against, the best first;
//! - `unix_seconds()`: civil time for stamping a record;
//! - what the system says about the counter, its frequency, and the CPUs; and, for the library's own clock, its timeline, civil time with
//!   its error, and what has to be done about forks and a counter that is disabled under way.
//!
//! Clocks of Rust's standard library are the same everywhere and live in `rust.rs`.

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux/mod.rs")]
#[cfg_attr(not(any(target_os = "linux", target_os = "android")), path = "absent.rs")]
mod backend;
mod rust;

pub(crate) use backend::{
    ClockSet, Timeline, Woken, call_in_child, civil, keep_errno, survive_disabled_counter, wipe_on_fork,
};
pub use backend::{
    Reference, allowed_cpus, clocksource, counter_is_clocksource, counter_is_permitted, current_cpu, perf_frequency,
    references, set_allowed_cpus, unix_seconds,
};
/// What fuzz/ feeds.
#[cfg(all(fuzzing, any(target_os = "linux", target_os = "android")))]
#[doc(hidden)]
pub fn fuzz_vdso_image(image: &[u8]) {
    backend::vdso::fuzz(image);
}
pub use rust::{RustInstant, RustSystemTime};

use crate::Visitor;

/// Hands every clock of the operating system and of Rust's standard library to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    backend::each(visitor);
    rust::each(visitor);
}
