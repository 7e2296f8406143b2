//! Parts that the tests of several crates share. Nothing but a test depends on this crate.
//!
//! - [`simulation`]: machines whose true time is known.
//! - All else, on Unix: rigs that break clocks, and what the machine grants. A test that needs
//!   something of its machine (two CPUs, a right, enough time on a CPU) asks for it here. If the
//!   machine does not grant it, the test is skipped: with the reason, and counted by `cargo xtask
//!   test`.
//!
//! It knows nothing of the clocks' users: each crate's tests adapt it to their own traits.

#![allow(clippy::missing_panics_doc, reason = "a test may panic")]

mod cases;
// Apple's systems bind no thread to a CPU.
#[cfg(all(unix, not(target_vendor = "apple")))]
mod cpus;
#[cfg(unix)]
mod documents;
#[cfg(unix)]
mod granted;
#[cfg(unix)]
mod rigs;
mod schema;
#[cfg(not(target_family = "wasm"))]
pub mod simulation;
#[cfg(unix)]
mod skip;

pub use cases::cases;
#[cfg(all(unix, not(target_vendor = "apple")))]
pub use cpus::{Hog, allowed_cpus, move_threads, on_cpu, two_cpus};
#[cfg(unix)]
pub use documents::{DocumentedCommand, documented_commands, project};
#[cfg(unix)]
pub use granted::{
    Granted, demand, granted, granted_beside, granted_so_far, signal, thread_time, until, until_it_catches,
    until_it_ran, with_default,
};
#[cfg(unix)]
pub use rigs::{TRAP_FAULTS, rig};
#[cfg(unix)]
pub use rustix::process::Signal;
pub use schema::{Schema, pointer_below};
#[cfg(unix)]
pub use skip::skip;
