//! Measures the stopwatches of language runtimes and browsers on this machine.
//!
//! In each runtime the crate starts a probe: a small program in its language that reads the
//! language's clocks and prints the readings. The crate finds the runtimes, runs the probes within
//! a time limit, ends all that they leave behind, and makes records of their output. It reads no
//! clock itself except the coarse one, for time limits.

mod coarse;
#[cfg(unix)]
mod descendants;
#[cfg_attr(unix, path = "folder_permissions/unix.rs")]
#[cfg_attr(windows, path = "folder_permissions/windows.rs")]
mod folder_permissions;
mod folders;
#[cfg(fuzzing)]
pub mod fuzzing;
mod operating_system;
mod pages;
mod parent_death;
mod probe_line;
mod probe_moved_by;
mod probe_runner;
mod probe_setup;
mod process;
mod programs;
mod registry;
mod row;
mod runtime_version;
mod substitutions;
mod surprises;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod text;
mod unmeasured;

pub use probe_runner::{Prepared, ProbeRequest, ProbeRunner};
pub use programs::{Chosen, UnknownRuntime, select};
pub use registry::Runtime;
pub use surprises::surprises;
