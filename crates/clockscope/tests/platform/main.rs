//! The library on every platform: its promises by the system's own clocks, order across threads
//! and after stores, and other crates' types.

#![cfg(not(clockscope_models))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64", target_arch = "s390x")
))]
#[path = "../shared/counters.rs"]
mod counters;
mod interop;
mod order;
mod stores;
mod system;
