//! Number of readings, of so many by two threads, that are smaller than one that was known before
//! they were begun, for each library. Prints `name regressions` lines. Not pinned: each thread runs
//! where it likes.

use std::sync::atomic::{AtomicU64, Ordering};

use clockscope_peers::argument;

/// Counts by `threads` threads that take `reads` readings together.
fn regressions(reads: u64, threads: u64, read: impl Fn() -> u64 + Sync) -> u64 {
    let known = AtomicU64::new(0);
    let one = || {
        let mut regressions = 0;
        for _ in 0..reads / threads {
            let least = known.load(Ordering::Acquire);
            let ns = read();
            regressions += u64::from(ns < least);
            known.store(ns, Ordering::Release);
        }
        regressions
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that counts")).sum()
    })
}

fn main() {
    let (reads, threads) = (argument(1, 100_000_000), argument(2, 2));
    let (quanta, minstant, fastant) = (quanta::Instant::now(), minstant::Instant::now(), fastant::Instant::now());
    let std = std::time::Instant::now();
    // Ours settles in its first milliseconds.
    while clockscope::source() != clockscope::Source::Counter {
        std::hint::black_box(clockscope::now());
    }
    println!("now {}", regressions(reads, threads, || clockscope::now().as_ns()));
    println!("now_unordered {}", regressions(reads, threads, || clockscope::now_unordered().as_ns()));
    println!("std {}", regressions(reads, threads, || std.elapsed().as_nanos() as u64));
    println!("quanta {}", regressions(reads, threads, || quanta.elapsed().as_nanos() as u64));
    println!("minstant {}", regressions(reads, threads, || minstant.elapsed().as_nanos() as u64));
    println!("fastant {}", regressions(reads, threads, || fastant.elapsed().as_nanos() as u64));
}
