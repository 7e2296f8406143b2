//! Every clock of a machine, as a type that a loop can read.
//!
//! The instrument measures clocks as types that implement [`RawClock`], so that a loop over
//! [`RawClock::read`] has that clock's instructions inlined and no dispatch inside. The clocks of a
//! platform are enumerated by handing a [`Visitor`] to [`counter::each`], [`os::each`] and
//! [`library::each`]: the visitor is called once with every clock's own type.
//!
//! ```
//! use clockscope_sources::{Entry, RawClock, Visitor};
//!
//! struct Names(Vec<String>);
//! impl Visitor for Names {
//!     fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>) {
//!         self.0.push(entry.info.name.to_string());
//!     }
//! }
//!
//! let mut names = Names(Vec::new());
//! clockscope_sources::counter::each(&mut names);
//! clockscope_sources::os::each(&mut names);
//! assert!(names.0.iter().any(|name| name == "rust_instant"));
//! ```
//!
//! Programs that need timestamps use `clockscope` instead.

pub mod catalog;
pub mod counter;
pub mod library;
mod narrow;
pub mod os;
mod raw;
mod system;
#[cfg(any(target_vendor = "apple", test))]
mod timebase;

pub use clockscope_core::{ClockBasis, ClockKind, ReadPath};
/// Reason why a clock cannot be read.
pub use clockscope_core::{Errno, Unavailable};
pub use narrow::Unwrapped;
pub use raw::{ClockInfo, Entry, RawClock, Resolution, Unit, Visitor};
