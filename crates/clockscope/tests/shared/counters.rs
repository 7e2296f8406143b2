//! Offsets between the counters of this machine's CPUs, for tests of order that found a reading
//! that went back: where the counter itself goes back, so do readings by it.
//!
//! A guest on AMD Zen 3 had two CPUs that were 17 counts apart, 7 ns, which showed while the
//! hypervisor ran both on one core: only there is a reading handed over in less time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clockscope_core::counter;

/// The count that was last made known, and the most counts that one was below that.
static KNOWN: AtomicU64 = AtomicU64::new(0);
static MAX_BEHIND_COUNTS: AtomicU64 = AtomicU64::new(0);

/// One ordered reading of the counter, which is no smaller than any that was known before it was
/// begun, or is counted.
pub(crate) fn read_counter() {
    let known = KNOWN.load(Ordering::Acquire);
    let count = counter::after();
    if count < known {
        MAX_BEHIND_COUNTS.fetch_max(known - count, Ordering::Relaxed);
    }
    KNOWN.store(count, Ordering::Release);
}

/// Returns the largest known offset between the CPUs' counters, in ns: the most that the counter
/// went back when threads handed readings of it over. Looks for 20 s, or until an offset of `ns`
/// was seen.
pub(crate) fn counters_apart_ns(ns: u64) -> u64 {
    const MAX_SEARCH: Duration = Duration::from_secs(20);
    let hz = clockscope::calibrate_blocking(Duration::from_millis(10)).map_or(1e9, |found| found.frequency().hz);
    let apart_ns = || (MAX_BEHIND_COUNTS.load(Ordering::Relaxed) as f64 / hz * 1e9).ceil() as u64;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while apart_ns() < ns && start.elapsed() < MAX_SEARCH {
                    (0..100_000).for_each(|_| read_counter());
                }
            });
        }
    });
    apart_ns()
}
