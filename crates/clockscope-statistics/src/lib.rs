//! Computes quantiles with confidence intervals, the differences and events between successive
//! readings of a clock, the clock's tick, offsets between clocks, rates and their stability, and
//! what differs between two samples.
//!
//! This crate reads no clock and does no input or output; the same numbers always give the same
//! answer.

mod after_work;
mod blocks;
mod differences;
mod events;
mod octave;
mod quantile;
mod rate;
mod reservoir;
mod stability;
mod tick;
mod two_samples;

pub use after_work::after_work;
pub use blocks::MedianBlocks;
pub use differences::{Difference, Differences, summary};
pub use events::{Batch, EventCounter, Judge, STALL_MAX, WARP_NS};
pub use octave::{OCTAVE_EIGHTHS, OctaveBins, cost_histogram};
pub use quantile::{median, median_interval, next_interval, quantile};
pub use rate::{BracketNs, Constancy, MeasuredRate, even_phases, rate, rate_bounds};
pub use reservoir::Reservoir;
pub use stability::{allan_deviation, maximum_time_interval_error};
pub use tick::{Elapsed, Lattice, MIN_PERIOD_UNITS, Tick, TickCollector, Weight, tick};
pub use two_samples::{ratio_bounds, ratio_range, shift_bounds};
