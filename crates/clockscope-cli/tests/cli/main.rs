//! The command as its users run it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod across;
mod advise;
mod check;
mod command;
mod compare;
mod compare_clocks;
mod faults;
mod field;
mod help;
mod inputs;
mod monitoring;
mod odd_inputs;
mod outputs;
mod packaging;
mod policy;
mod report;
mod runtimes;
mod stamps;
mod stores;
mod support;
mod version;
