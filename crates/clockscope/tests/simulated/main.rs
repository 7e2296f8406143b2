//! The library's clock in simulated worlds: everything that counters, OS clocks and other threads
//! can do to it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod adversary;
mod boot;
mod bounded;
mod daemons;
mod evidence;
mod migrations;
mod os_clock;
mod owners;
mod scripts;
mod stamps;
mod wall;
mod world;
mod worlds;
