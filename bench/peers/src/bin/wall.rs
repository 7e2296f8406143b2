//! Distance of the time of day from CLOCK_REALTIME over so many seconds, and whether its bound was
//! ever exceeded. Prints `name value` lines, times in ns.
//!
//! An error is what is certain: the distance of a reading from the interval of two of
//! CLOCK_REALTIME around it.

use clockscope::wall;
use clockscope_peers::{argument, monotonic_ns, realtime_ns};

/// The bound is asked for as often as this, in ns.
const EVERY_NS: u64 = 1_000_000;

fn error() -> u64 {
    let before = realtime_ns();
    let ours = wall::now().as_unix_ns() as u64;
    let after = realtime_ns();
    before.saturating_sub(ours).max(ours.saturating_sub(after))
}

fn main() {
    let duration_ns = argument(1, 60) * 1_000_000_000;
    let start = monotonic_ns();
    let (mut next, mut comparisons, mut worst, mut exceeded, mut largest, mut recent) = (start, 0u64, 0, 0u64, 0, 0);
    let generation = wall::generation();
    while monotonic_ns() - start < duration_ns {
        let error = error();
        (comparisons, worst, recent) = (comparisons + 1, worst.max(error), recent.max(error));
        if monotonic_ns() >= next {
            next += EVERY_NS;
            let bound = wall::error_bound().map_or(0, |bound| bound.largest.as_nanos() as u64);
            largest = largest.max(bound);
            exceeded += u64::from(recent > bound);
            recent = 0;
        }
    }
    println!("comparisons {comparisons}\nerror {worst}\nbound {largest}\nexceeded {exceeded}");
    println!("generations {}", wall::generation() - generation);
}
