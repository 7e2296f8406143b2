//! Parts that the tests of several crates share. Nothing but a test depends on this crate.
//!
//! A test that needs something of its machine (two CPUs, a right, enough time on a CPU) asks for it
//! here. If the machine does not grant it, the test is skipped: with the reason, and counted by
//! `cargo xtask test`.

#![cfg(unix)]
#![allow(clippy::missing_panics_doc, reason = "a test may panic")]

// Apple's systems bind no thread to a CPU.
#[cfg(not(target_vendor = "apple"))]
mod cpus;
mod documents;
mod granted;
mod rigs;
mod skip;

#[cfg(not(target_vendor = "apple"))]
pub use cpus::{Hog, allowed_cpus, move_threads, on_cpu, two_cpus};
pub use documents::{DocumentedCommand, documented_commands, project};
pub use granted::{
    Granted, demand, granted, granted_beside, granted_so_far, signal, thread_time, until, until_it_catches,
    until_it_ran, with_default,
};
pub use rigs::{TRAP_FAULTS, rig};
pub use rustix::process::Signal;
pub use skip::skip;
