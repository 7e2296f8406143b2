//! Every clock of the machine, read by the cheapest right instructions.
//!
//! This crate reads clocks. It prints nothing, starts nothing, reads no configuration and judges no clock; its only
//! dependency is libc. Without the feature `std` it is `no_std` and holds the hardware counters alone.
//!
//! A clock is a type that implements [`Clock`], so that a loop over [`Clock::read`] has that clock's instructions
//! inlined and no dispatch inside. The clocks of a platform are enumerated by handing a [`Visitor`] to
//! [`counter::each`] and [`os::each`]: the visitor is called once with every clock's own type.
//!
//! ```
//! use clockscope::{Clock, Entry, Visitor};
//!
//! struct Names(Vec<String>);
//! impl Visitor for Names {
//!     fn visit<C: Clock + 'static>(&mut self, entry: Entry<C>) {
//!         self.0.push(entry.about.name.to_string());
//!     }
//! }
//!
//! let mut names = Names(Vec::new());
//! clockscope::counter::each(&mut names);
//! clockscope::os::each(&mut names);
//! assert!(names.0.iter().any(|name| name == "rust_instant"));
//! ```

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod clock;
pub mod counter;
#[cfg(feature = "std")]
pub mod os;

pub use clock::{About, Clock, Entry, Errno, Kind, Path, Resolution, Unavailable, Unit, Visitor};
