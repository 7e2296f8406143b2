//! A fast clock with an error bound and the evidence for it.
//!
//! [`now`] and [`now_unordered`] take timestamps that cost little more than a read of the
//! processor's counter, on the timeline of CLOCK_MONOTONIC. [`error_bound`] returns their error,
//! [`evidence`] the reasons to trust them. They work from the first call on and need no setup,
//! thread or configuration. They serve the operating system's clock wherever the counter cannot be
//! trusted.
//!
//! ```
//! let start = clockscope::now();
//! let sum: u64 = (0..1000).sum();
//! println!("{sum} took {:?}; the clock is {:?}", start.elapsed(), clockscope::source());
//! ```
//!
//! - [`Stopwatch`] adds up intervals, and [`Upkeep`] keeps a recent time for the cheapest reads.
//! - [`Instant`] is a moment, [`AtomicInstant`] one that threads share.
//! - [`wall`] has the time of day at the cost of a timestamp, [`bounded`] an interval that contains
//!   the true time; [`utc_now`] and [`tai_now`] ask the kernel and time daemons.
//! - [`boot`] has the time with suspends counted, at the same cost.
//! - [`ticks`] reads the bare counter, and [`Conversion`] converts its readings to time.
//! - [`Clock`] is the trait for code that takes any clock, [`FakeClock`] the clock that tests set.
//!
//! # When something else is better
//!
//! - A program that reads the time less often than every fifteen microseconds gains little: it gets
//!   CLOCK_MONOTONIC, as from std.
//! - NTP steers the timeline, as it does CLOCK_MONOTONIC. Use CLOCK_MONOTONIC_RAW where that
//!   matters. It stops during a suspend: [`boot`] does not.
//! - Use [`ticks::start`] and [`ticks::stop`] to time a few instructions.
//! - On systems other than Linux, the library serves the system's monotonic clock, at little more
//!   than its cost. [`admit_counter`] may change that.
//!
//! # Semantic versioning
//!
//! Everything on these pages follows semantic versioning. The hidden module `disciplined`, by which
//! tests bring clocks of their own, does not, nor does the crate `clockscope-core`, on
//! which this one is built.
//!
//! # Without std
//!
//! Without the feature `std` the crate is `no_std`. It then has the bare counter ([`ticks`]) and
//! the types of moments, such as [`Instant`], and depends on these two crates alone. With `std` it
//! needs libc on Unix systems, and what other features name.

#![cfg_attr(not(feature = "std"), no_std)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(clockscope_models))))]

#[cfg(feature = "std")]
extern crate alloc;

mod instant;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "powerpc64",
    target_arch = "s390x"
))]
pub mod ticks;
mod timespec;

#[cfg(feature = "std")]
mod clock;
#[cfg(feature = "std")]
mod conversion;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod disciplined;
#[cfg(feature = "std")]
mod evidence;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod history;
#[cfg(feature = "std")]
mod lattice;
#[cfg(feature = "std")]
mod tick_length;
mod wall_time;

// Loom checks the protocol in `disciplined`; its atomics make no statics, so there is no clock of
// the process then.
#[cfg(all(feature = "std", not(clockscope_models)))]
pub mod boot;
#[cfg(all(feature = "std", not(clockscope_models)))]
pub mod bounded;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod interval;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod leap;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod native;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod process;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod revalidation;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod shared_page;
#[cfg(all(feature = "std", not(clockscope_models)))]
pub mod stamps;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod std_instant;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod stopwatch;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod upkeep;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod utc;
#[cfg(all(feature = "std", not(clockscope_models)))]
pub mod wall;
#[cfg(all(feature = "std", not(clockscope_models)))]
mod wall_bounds;

/// Error number of a call of the system.
pub use clockscope_core::Errno;
pub use instant::{AtomicInstant, Instant};
pub use wall_time::{NotRfc3339, OutOfRange, WallTime};

#[cfg(all(feature = "std", not(clockscope_models)))]
#[doc(inline)]
pub use disciplined::layout;
#[cfg(all(feature = "std", not(clockscope_models)))]
pub use {
    clockscope_core::kernel_clock::Leap,
    clockscope_core::{Basis, WallState},
    interval::Interval,
    process::{
        ProcessClock, admit_counter, calibrate_blocking, conversion, demotion, error_bound, evidence, frequency,
        generation, is_high_resolution, now, now_after_stores, now_unordered, page, prepare, recheck, resolution,
        source, survive_disabled_counter, timeline_offset, try_now,
    },
    revalidation::{Revalidation, revalidate},
    shared_page::SharedPage,
    std_instant::NotOneTimeline,
    stopwatch::Stopwatch,
    upkeep::{Recent, Upkeep},
    utc::{tai_now, utc_now},
    wall::Anchor,
    wall_bounds::Unbounded,
};
/// Entry point that fuzz/ feeds.
#[cfg(all(fuzzing, feature = "chrony"))]
#[doc(hidden)]
pub fn fuzz_chronyd_reply(reply: &[u8]) {
    utc::fuzz_chronyd_reply(reply);
}
/// Entry point that fuzz/ feeds.
#[cfg(all(fuzzing, feature = "clockbound", target_os = "linux"))]
#[doc(hidden)]
pub fn fuzz_clockbound_segment(bytes: &[u8]) {
    utc::fuzz_clockbound_segment(bytes);
}
#[cfg(feature = "std")]
pub use {
    clock::{Clock, FakeClock},
    conversion::{Conversion, Uncalibrated},
    evidence::{Demotion, ErrorBound, Evidence, Finding, Frequency, Source, Value},
};

/// Tests the example of the README.
#[cfg(all(doctest, feature = "std", not(clockscope_models)))]
#[doc = include_str!("../README.md")]
struct Readme;
