//! One fast clock that can be defended.
//!
//! [`now`] and [`now_unordered`] are timestamps at the cost of the processor's counter, on the
//! timeline of CLOCK_MONOTONIC, with an error bound ([`error_bound`]) and the evidence for it
//! ([`evidence`]). They work from the first call on, need no set-up, no thread and no
//! configuration, and fall back to the operating system's clock wherever the counter cannot be
//! trusted. docs/library.md explains the design, docs/when-not-to-use.md says when something else
//! is better.
//!
//! ```
//! let start = clockscope::now();
//! let sum: u64 = (0..1000).sum();
//! println!("{sum} took {:?}; the clock is {:?}", start.elapsed(), clockscope::source());
//! ```
//!
//! Beside it: [`Stopwatch`], [`FakeClock`] for tests, [`AtomicInstant`], [`Upkeep`] for a time that
//! is nearly now, [`wall`] for civil time at the cost of a timestamp, [`bounded`] for the interval
//! in which the true time lies, [`utc_now`] and [`tai_now`] by what daemons answer, and [`ticks`],
//! the bare counter, with its [`Conversion`].
//!
//! # What is promised
//!
//! Everything on these pages follows semantic versioning. The hidden module `disciplined`, by which
//! tests bring clocks of their own, does not: any release may change it. Nor do the crates
//! `clockscope-arch` and `clockscope-brackets`, which this one is made of.
//!
//! # Without std
//!
//! Without the feature `std` the crate is `no_std` and holds the bare counter ([`ticks`]) and the
//! types of moments, such as [`Instant`], and depends on nothing but these two crates. With `std`
//! it needs libc on Unix systems, and nothing else but what other features name.

#![cfg_attr(not(feature = "std"), no_std)]

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
mod lattice;
mod wall_time;

// Loom checks the protocol in `disciplined`; its atomics make no statics, so there is no clock of
// the process then.
#[cfg(all(feature = "std", not(loom)))]
pub mod bounded;
#[cfg(all(feature = "std", not(loom)))]
mod civil;
#[cfg(all(feature = "std", not(loom)))]
mod claims;
#[cfg(all(feature = "std", not(loom)))]
mod leap;
#[cfg(all(feature = "std", not(loom)))]
mod process;
#[cfg(all(feature = "std", not(loom)))]
mod revalidation;
#[cfg(all(feature = "std", not(loom)))]
mod std_instant;
#[cfg(all(feature = "std", not(loom)))]
mod stopwatch;
#[cfg(all(feature = "std", not(loom)))]
mod upkeep;
#[cfg(all(feature = "std", not(loom)))]
pub mod wall;

/// Error number of a call of the system.
pub use clockscope_arch::Errno;
pub use instant::{AtomicInstant, Instant};
pub use wall_time::{NotRfc3339, OutOfRange, WallTime};

#[cfg(all(feature = "std", not(loom)))]
#[doc(inline)]
pub use disciplined::layout;
#[cfg(all(feature = "std", not(loom)))]
pub use {
    civil::{tai_now, utc_now},
    claims::claim::{Basis, Bounded, Unbounded, Worth},
    clockscope_arch::civil::Leap,
    process::{
        ProcessClock, admit_counter, calibrate_blocking, conversion, error_bound, evidence, frequency, generation,
        is_high_resolution, now, now_unordered, page, prepare, recheck, resolution, source, survive_disabled_counter,
        timeline_offset, try_now,
    },
    revalidation::{Revalidation, revalidate},
    std_instant::NotOneTimeline,
    stopwatch::Stopwatch,
    upkeep::{Recent, Upkeep},
    wall::Anchor,
};
/// What fuzz/ feeds.
#[cfg(all(fuzzing, feature = "chrony"))]
#[doc(hidden)]
pub fn fuzz_chronyd_reply(reply: &[u8]) {
    civil::fuzz_chronyd_reply(reply);
}
/// What fuzz/ feeds.
#[cfg(all(fuzzing, feature = "clockbound", target_os = "linux"))]
#[doc(hidden)]
pub fn fuzz_clockbound_segment(bytes: &[u8]) {
    civil::fuzz_clockbound_segment(bytes);
}
#[cfg(feature = "std")]
pub use {
    clock::{Clock, FakeClock},
    conversion::{Conversion, Uncalibrated},
    evidence::{ErrorBound, Evidence, Finding, Frequency, Source, Value},
};

/// Tests the example of the README.
#[cfg(all(doctest, feature = "std", not(loom)))]
#[doc = include_str!("../README.md")]
struct Readme;
