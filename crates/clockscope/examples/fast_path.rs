//! One reading each way in a function of its own, whose machine code
//! `cargo xtask test --only fast-path` looks at.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::hint::black_box;

use clockscope::stamps::{Stamp, Stamps};

/// The ordered reading.
#[inline(never)]
pub fn fast_path_now() -> i64 {
    clockscope::now().as_signed_ns()
}

/// The bare one.
#[inline(never)]
pub fn fast_path_now_unordered() -> i64 {
    clockscope::now_unordered().as_signed_ns()
}

/// The time of day, ordered.
#[inline(never)]
pub fn fast_path_wall_now() -> i64 {
    clockscope::wall::now().as_unix_ns()
}

/// And bare.
#[inline(never)]
pub fn fast_path_wall_now_unordered() -> i64 {
    clockscope::wall::now_unordered().as_unix_ns()
}

/// The time that counts suspends, ordered.
#[inline(never)]
pub fn fast_path_boot_now() -> i64 {
    clockscope::boot::now().as_signed_ns()
}

/// The end of the interval in which the true time lies.
#[inline(never)]
pub fn fast_path_bounded_now() -> i64 {
    clockscope::bounded::now().latest.as_unix_ns()
}

/// Two bare ones, and the duration between them.
#[inline(never)]
pub fn fast_path_duration_unordered() -> std::time::Duration {
    let start = clockscope::now_unordered();
    clockscope::now_unordered().saturating_duration_since(start)
}

/// Not one of ours: what the check must find fault with.
#[inline(never)]
pub fn slow_path_std() -> u64 {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    ORIGIN.get_or_init(std::time::Instant::now).elapsed().as_secs()
}

/// A branch, and one read of the counter.
#[inline(never)]
pub fn fast_path_stamp_unordered(stamps: Stamps) -> Stamp {
    stamps.now_unordered()
}

fn main() {
    println!("{} {} {}", black_box(fast_path_now()), black_box(fast_path_now_unordered()), black_box(slow_path_std()));
    let wall = [fast_path_wall_now(), fast_path_wall_now_unordered(), fast_path_bounded_now()];
    println!("{}", black_box(fast_path_boot_now()));
    println!("{:?} {:?}", black_box(wall), black_box(fast_path_duration_unordered()));
    println!("{:?}", clockscope::stamps::counter().map(|stamps| black_box(fast_path_stamp_unordered(stamps))));
}
