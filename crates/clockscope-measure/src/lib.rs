//! The questions that clockscope asks of clocks, one module each; answers are records.
//!
//! This crate renders nothing and prints nothing. While a batch is being sampled nothing draws, allocates or locks.
//! Nothing here reads time through the C library except the clocks that are being measured.

mod advice;
mod catalogue;
mod cost;
mod facts;
mod sampler;
mod timer;

pub use catalogue::{Catalogue, Paths, UnknownClock};
pub use cost::{MeasureError, Progress, Request, measure};
pub use facts::{info, list};
pub use timer::TimerError;
