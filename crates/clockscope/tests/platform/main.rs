//! The library on every platform: its promises by the system's own clocks, order across threads,
//! and other crates' types.

#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod interop;
mod order;
mod system;
