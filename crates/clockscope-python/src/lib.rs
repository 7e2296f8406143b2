//! The extension module of the Python package clockscope, `clockscope._native`.
//!
//! It holds what needs the library: timestamps, their error bound, the evidence, and the search for
//! a clock's tick; and tables for Arrow, which outlive the interpreter. Everything else of the
//! package is Python (`python/clockscope`). Questions that fork, pin threads or try fatal reads are
//! not asked in the interpreter's process: the package runs the command for them.
//!
//! [`exports`], `stamp_exports` and `objects` are all that touches Python's objects; `answers`,
//! `arrow`, `stamps` and `timed_work` compute what they hand over.

mod answers;
mod arrow;
pub mod exports;
mod objects;
mod stamp_exports;
mod stamps;
mod timed_work;
