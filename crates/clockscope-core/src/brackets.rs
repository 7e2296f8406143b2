//! Compares two clocks by brackets: one clock is read between two readings of the other.
//!
//! The library and the instrument share this arithmetic. It reads no clock, and needs no operating
//! system.
//!
//! - [`Bracket`]: one comparison, and [`narrowest`] of several.
//! - [`RateBounds`]: every mean rate that two brackets allow.
//! - [`OffsetBounds`]: every constant offset that all brackets allow.
//!
//! A reading is a counter's value, which wraps at 2^64. A float has 53 bits: a counter of 3 GHz has
//! more after 35 days. So only differences of readings become floats.
//!
//! ```
//! use clockscope_core::brackets::{Bracket, Ticks};
//!
//! // A counter of 2.5 GHz that wraps, and a clock in ns.
//! let first = Bracket { before: u64::MAX - 100, inner: 7_000, after: u64::MAX };
//! let second = Bracket { before: 2_499_899, inner: 1_007_000, after: 2_499_999 };
//! let rate = second.rate_since(&first, Ticks { outer: 1.0, inner: 1.0 }).unwrap();
//! assert!(rate.low <= 0.4 && 0.4 <= rate.high && rate.relative() < 50e-6);
//! ```

mod bracket;
mod offset;
mod rate;

pub use bracket::{Bracket, Ticks, narrowest};
pub use offset::{Offset, OffsetBounds};
pub use rate::RateBounds;
