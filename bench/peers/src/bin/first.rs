//! The first reading of a process: ours, or with the argument `std` that of std. Prints its ticks
//! and a tick's length in ns.

use std::hint::black_box;

use clockscope::ticks;
use clockscope_peers::{conversion, timed};

fn main() {
    let is_std = std::env::args().nth(1).is_some_and(|which| which == "std");
    // The code around the reading is warm, as in a program that has done something before.
    black_box((timed(3, ticks::now_unordered), black_box(is_std)));
    let first = if is_std { timed(1, std::time::Instant::now) } else { timed(1, clockscope::now) };
    println!("{}", conversion().ns(first));
}
