//! Every clock of a machine, as a type that a loop can read.
//!
//! The instrument measures clocks as types that implement [`RawClock`](crate::RawClock), so that a
//! loop over [`RawClock::read`](crate::RawClock::read) has that clock's instructions inlined and no
//! dispatch inside. The clocks of a platform are enumerated by handing a
//! [`Visitor`](crate::Visitor) to [`counter::each`], [`os::each`](crate::os::each) and
//! [`library::each`]: the visitor is called once with every clock's own type.
//!
//! ```
//! use clockscope_system::{Entry, RawClock, Visitor};
//!
//! struct Names(Vec<String>);
//! impl Visitor for Names {
//!     fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>) {
//!         self.0.push(entry.info.name.to_string());
//!     }
//! }
//!
//! let mut names = Names(Vec::new());
//! clockscope_system::clocks::counter::each(&mut names);
//! clockscope_system::os::each(&mut names);
//! assert!(names.0.iter().any(|name| name == "rust_instant"));
//! ```

pub mod catalog;
pub mod counter;
pub(crate) mod interface;
pub mod library;
pub(crate) mod narrow;
pub(crate) mod raw;
pub(crate) mod system;
#[cfg(any(target_vendor = "apple", test))]
pub(crate) mod timebase;
