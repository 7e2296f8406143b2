//! Measures the stopwatches of language runtimes and browsers on this machine.
//!
//! In each runtime the crate starts a probe: a small program in its language that reads the
//! language's clocks and prints the readings. The crate finds the runtimes, runs the probes within
//! a time limit, ends all that they leave behind, and makes records of their output. It reads no
//! clock itself except the coarse one, for time limits.

mod coarse;
#[cfg(unix)]
mod descendants;
mod folders;
#[cfg(fuzzing)]
pub mod fuzzing;
mod operating_system;
mod pages;
mod parent_death;
#[cfg_attr(unix, path = "places/unix.rs")]
#[cfg_attr(windows, path = "places/windows.rs")]
mod places;
mod probe_line;
mod process;
mod programs;
mod ready;
mod registry;
mod row;
mod runtime_version;
mod stage;
mod stated_mover;
mod substitutions;
mod surprises;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod text;
mod unmeasured;

pub use programs::{Chosen, UnknownRuntime, select};
pub use registry::Runtime;
pub use stage::{Prepared, ProbeRequest, Stage};
pub use surprises::surprises;
