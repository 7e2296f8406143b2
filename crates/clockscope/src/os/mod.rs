//! The operating system's clocks, one backend a system, all with the same items:
//!
//! - `each(visitor)`: every clock of the system;
//! - `Reference` and `reference()`: a clock that shares no code path with the C library or the vDSO, for judging others;
//! - `REFERENCE_NAME`: its name;
//! - `unix_seconds()`: civil time for stamping a record, by a path that cannot trap.
//!
//! Clocks of Rust's standard library are the same everywhere and live in `rust.rs`.

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux/mod.rs")]
#[cfg_attr(not(any(target_os = "linux", target_os = "android")), path = "absent.rs")]
mod backend;
mod rust;

pub use backend::{REFERENCE_NAME, Reference, reference, unix_seconds};
pub use rust::{RustInstant, RustSystemTime};

use crate::Visitor;

/// Hands every clock of the operating system and of Rust's standard library to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    backend::each(visitor);
    rust::each(visitor);
}
