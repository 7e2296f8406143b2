//! The library on every platform: its promises by the system's own clocks, order across threads, and
//! other crates' types.

#![cfg(not(loom))]

mod interop;
mod order;
mod system;
