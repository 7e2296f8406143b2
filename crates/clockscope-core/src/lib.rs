//! Reads the counter of each architecture, and makes the few calls of each operating system that a
//! timestamp needs.
//!
//! **Internal to clockscope: no stability is promised.** Programs use `clockscope`, which is
//! built on this crate.
//!
//! - [`atomic`]: atomics of 64 bits on every processor.
//! - [`brackets`]: bounds of rates and offsets, from comparisons of two clocks.
//! - [`chrony`]: what chronyd states of the clock that it keeps.
//! - [`ClockKind`], [`ReadPath`], [`ClockBasis`], [`Finding`], [`WallState`]: what clocks are, by
//!   one name everywhere.
//! - [`counter`]: one file per architecture. Its modules need no operating system.
//! - [`clocksource`]: facts about the clocksources of a kernel.
//! - [`evidence`]: texts that the library and the instrument share.
//! - [`os`]: one folder per system, all with the same items. Only with the feature `std`, without
//!   which the crate is `no_std`.
//!
//! ```
//! use clockscope_core::counter;
//!
//! if counter::has_counter().is_ok() {
//!     let start = counter::unordered();
//!     assert!(counter::unordered().wrapping_sub(start) < 1 << 63);
//! }
//! ```

#![cfg_attr(not(any(test, feature = "std")), no_std)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "std")]
extern crate alloc;

pub mod atomic;
pub mod brackets;
#[cfg(feature = "std")]
pub mod chrony;
mod clock;
pub mod clocksource;
pub mod counter;
mod error;
pub mod evidence;
#[cfg(feature = "std")]
pub mod kernel_clock;
#[cfg(feature = "std")]
pub mod os;
#[cfg(feature = "std")]
mod pause;
#[cfg(feature = "std")]
mod wakeup;
mod wall_state;

pub use clock::{ClockBasis, ClockKind, Finding, ReadPath};
pub use error::{Errno, Unavailable};
#[cfg(feature = "std")]
pub use pause::pause;
pub use wall_state::{Basis, WallState};
