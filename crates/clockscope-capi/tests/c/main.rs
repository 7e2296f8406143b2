//! The C library as C and C++ compile it, load it and install it.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod examples;
mod install;
mod lives;
mod matrix;
mod one_page;
mod programs;
mod stamps;
mod ticks;
mod toolchain;
mod wall;
mod wine;
