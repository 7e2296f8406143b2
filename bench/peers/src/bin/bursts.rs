//! Two threads that read in bursts, a millisecond apart: how far readings are from CLOCK_MONOTONIC,
//! and what the library says of that. Prints `name value` lines.

use std::time::Duration;

use clockscope_peers::{argument, monotonic_ns};

/// Readings of a burst.
const READINGS: u32 = 50;

/// The worst error of a burst, in ns.
fn burst() -> u64 {
    let one = |_| {
        let before = monotonic_ns();
        let ours = clockscope::now().as_ns();
        let after = monotonic_ns();
        before.saturating_sub(ours).max(ours.saturating_sub(after))
    };
    (0..READINGS).map(one).max().unwrap_or_default()
}

/// The worst error of each burst until then, in ns.
fn read(until_ns: u64) -> Vec<u64> {
    let mut worst = Vec::new();
    while monotonic_ns() < until_ns {
        worst.push(burst());
        std::thread::sleep(Duration::from_millis(1));
    }
    worst
}

fn main() {
    let until_ns = monotonic_ns() + argument(1, 20) * 1_000_000_000;
    let bursts: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(move || read(until_ns))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread that reads clocks")).collect()
    });
    // Asked once, because a question compares the clocks, too.
    let bound_ns = clockscope::error_bound().map_or(0, |bound| bound.largest.as_nanos() as u64);
    println!("bursts {}", bursts.len());
    println!("worst {}", bursts.iter().max().unwrap_or(&0));
    println!("bound {bound_ns}");
    println!("outside {}", bursts.iter().filter(|worst_ns| **worst_ns > bound_ns).count());
    println!("generation {}", clockscope::generation());
}
