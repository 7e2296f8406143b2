//! The operating system's clocks, one backend a system, all with the same items:
//!
//! - `each(visitor)`: every clock of the system;
//! - `Reference` and `references()`: clocks that others are judged against, the best first;
//! - `unix_seconds()`: the time of day for stamping a record;
//! - `facts`: what the system shows beside its clocks. What it lacks comes from `unsupported`, by
//!   name.
//!
//! Clocks of Rust's standard library are the same everywhere and live in `rust.rs`.

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "os/linux/backend.rs")]
#[cfg_attr(windows, path = "os/windows/backend.rs")]
#[cfg_attr(
    any(
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_os = "solaris"
    ),
    path = "os/unix/backend.rs"
)]
#[cfg_attr(
    not(any(
        target_os = "linux",
        target_os = "android",
        windows,
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_os = "solaris"
    )),
    path = "os/unsupported/backend.rs"
)]
mod backend;
mod rust;
pub(crate) mod sleep_call;
#[path = "os/unsupported/facts.rs"]
pub(crate) mod unsupported;

pub(crate) use backend::facts;
pub use backend::{Reference, references, unix_seconds};
pub use rust::{RustInstant, RustSystemTime};

use crate::Visitor;

/// Hands every clock of the operating system and of Rust's standard library to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    backend::each(visitor);
    rust::each(visitor);
}
