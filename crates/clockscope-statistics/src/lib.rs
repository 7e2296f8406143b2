//! Slices in, numbers out: quantiles with confidence intervals, bounded samples, and the events between readings.
//!
//! This crate reads no clock and does no input or output; the same numbers always give the same answer.

mod events;
mod quantile;
mod reservoir;
mod tick;

pub use events::{Batch, EventCounter, EventCounts, Judge, Judged, STALL_MAX, WARP_NS};
pub use quantile::{median_interval, quantile};
pub use reservoir::Reservoir;
pub use tick::{Lattice, NoTick, Tick, TickCollector, tick};
