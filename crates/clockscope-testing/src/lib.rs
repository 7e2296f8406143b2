//! Parts that the tests of several crates share. Nothing but a test depends on this crate.
//!
//! - [`simulation`]: machines whose true time is known.
//! - All else, on Unix: rigs that break clocks, and what the machine grants. A test that needs
//!   something of its machine (two CPUs, a right, enough time on a CPU) asks for it here. If the
//!   machine does not grant it, the test is skipped: with the reason, and counted by `cargo xtask
//!   test`.
//!
//! It knows nothing of the clocks' users: each crate's tests adapt it to their own traits.
//!
//! # Write a test
//!
//! A test passes whatever else the machine does:
//!
//! - Assertions that other programs can spoil are in `demand`. It repeats the question with four
//!   times the duration, then skips it. Assertions that no load excuses (order, no false
//!   accusation) stay outside.
//! - A test waits for what a process did (`until_it_ran`, `until_it_catches`, `thread_time`), never
//!   for time to pass.
//! - `with_default` starts a child with a signal's default action. Otherwise the child ignores what
//!   the test ignores, such as SIGHUP under nohup.
//! - `skip` ends a test that the machine does not permit. No test returns early without it.
//! - `allowed_cpus`, `two_cpus`, `on_cpu` and `Hog` name CPUs: a cpuset may lack CPU 0.
//! - Tests of real clocks are `#[serial]`: they run alone. One that needs a quiet machine or more
//!   tools is marked `#[ignore = "reason"]`.

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
