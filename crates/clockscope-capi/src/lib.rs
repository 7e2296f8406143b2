//! The C interface of clockscope.
//!
//! C and C++ programs use it by `include/clockscope.h` and the headers beside it, which describe
//! every function. Rust programs use the crate [`clockscope`] itself. A Rust program that
//! contains this crate, and C code that is linked into it, share one clock: their readings are on
//! one timeline and in order.
//!
//! The functions of [`exports`] check their arguments and hand over to safe code. No panic leaves
//! them: a question returns [`CallFailure::Panicked`], and a reading, which has nothing to return,
//! ends the process.

mod advice;
mod answers;
pub mod exports;
mod item;

pub use advice::Advice;
pub use answers::{BoundNs, CallFailure, FrequencyRange};
pub use item::{EvidenceItem, Visit};
