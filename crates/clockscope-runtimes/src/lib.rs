//! What the stopwatches of language runtimes and browsers do, on this machine.
//!
//! In each runtime a probe is started, a small program in its language that reads the language's
//! clocks and prints what it read (docs/runtime-probes.md). This crate finds the runtimes, runs the
//! probes within a time limit, ends all that they leave behind, and makes records of what they
//! printed. It reads no clock itself, but the coarse one for time limits.

mod coarse;
mod descendants;
mod folders;
#[cfg(fuzzing)]
pub mod fuzzing;
mod pages;
mod parent_death;
mod probe_line;
mod process;
mod programs;
mod ready;
mod registry;
mod row;
mod stage;
mod substitutions;
mod surprises;
mod text;
mod unmeasured;
mod version;

pub use programs::{Chosen, UnknownRuntime, select};
pub use registry::Runtime;
pub use stage::{Prepared, ProbeRequest, Stage};
pub use surprises::surprises;
