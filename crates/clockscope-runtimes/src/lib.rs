//! Measures the stopwatches of language runtimes and browsers on this machine.
//!
//! In each runtime the crate starts a probe: a small program in its language that reads the
//! language's clocks and prints the readings. The crate finds the runtimes, runs the probes within
//! a time limit, ends all that they leave behind, and makes records of their output. It reads no
//! clock itself except the coarse one, for time limits.
//!
//! A row of `registry` has the names of a runtime's programs, and the commands that build and run
//! its probe. The probe is a file of the crate's `probes/`, embedded. [`ProbeRunner`] prepares all
//! runtimes before any clocksource is switched, and then measures one after the other:
//!
//! 1. `programs` finds the program, and `runtime_version` reads its version.
//! 2. `probe_setup` builds the probe into the cache (`folders`), if what it is made of has changed.
//! 3. `process` runs it within a time limit, with its two pipes, in a temporary folder of its own.
//!    A browser gets a file that leads to `pages` instead, and posts its readings: everybody could
//!    read an address among its arguments.
//! 4. The probe prints a line of JSON for each API. `probe_line` refuses one whose counts do not
//!    add up.
//! 5. `row` makes a record of it with the statistics of the machine's clocks: median and interval
//!    of the cost, and the tick.
//! 6. [`surprises()`] compares the rows of one clocksource with each other.
//!
//! A failure is a row with a reason, and does not affect other runtimes. The command's
//! `--clocksource` repeats this with each clocksource
//! (`clockscope_measure::with_each_clocksource`).

mod coarse;
#[cfg(unix)]
mod descendants;
#[cfg_attr(unix, path = "folder_permissions/unix.rs")]
#[cfg_attr(windows, path = "folder_permissions/windows.rs")]
mod folder_permissions;
mod folders;
#[cfg(fuzzing)]
pub mod fuzzing;
mod language;
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
mod shortened;
mod substitutions;
mod surprises;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod unmeasured;

pub use probe_runner::{Prepared, ProbeRequest, ProbeRunner};
pub use programs::{Chosen, UnknownRuntime, names, select};
pub use registry::Runtime;
pub use surprises::surprises;
