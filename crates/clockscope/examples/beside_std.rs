//! Prints what `now()` costs as a multiple of `std::time::Instant::now()`: 1.05 is 5 % more. Both
//! are read in turns, so that other programs slow down both.

#![allow(clippy::print_stdout, reason = "an example")]

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Readings that are timed as one: enough for clocks that step by a microsecond.
const BATCH: u32 = 5_000;

/// Turns. The median ignores those that were interrupted.
const TURNS: usize = 201;

fn main() {
    clockscope::prepare();
    // The first turns find out what the library serves.
    (0..10).for_each(|_| _ = turn());
    let mut ratios: Vec<f64> = (0..TURNS).map(|_| turn()).collect();
    ratios.sort_by(f64::total_cmp);
    println!("{:.3}", ratios[TURNS / 2]);
}

/// The cost of the library's clock over that of std's. Half of std's readings come before and half
/// after, so that a machine that becomes slower favors neither.
fn turn() -> f64 {
    let before = timed(Instant::now);
    let ours = timed(clockscope::now) + timed(clockscope::now);
    let after = timed(Instant::now);
    ours.as_secs_f64() / (before + after).as_secs_f64()
}

fn timed<T>(read: impl Fn() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..BATCH {
        black_box(read());
    }
    start.elapsed()
}
