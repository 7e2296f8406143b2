//! Cost of a reading where the counter may not be used and the OS clock is served, beside
//! clock_gettime itself, in one thread and in two at once: both in turn, batch by batch, the median
//! over the batches. Prints `name ns` lines.

use std::sync::Barrier;

use clockscope::disciplined::{Counter, Disciplined, OsClock};
use clockscope::{Errno, ticks};
use clockscope_peers::{argument, conversion, monotonic_ns, quantile, timed};

const READS: u64 = 2000;

/// A counter that the kernel does not trust.
struct Refused;

impl Counter for Refused {
    fn ordered(&self) -> u64 {
        ticks::now()
    }
    fn is_permitted(&self) -> Option<bool> {
        Some(true)
    }
    fn is_clocksource(&self) -> Option<bool> {
        Some(false)
    }
    fn is_invariant(&self) -> Option<bool> {
        Some(true)
    }
}

struct Monotonic;

impl OsClock for Monotonic {
    #[inline(always)]
    fn now_ns(&self) -> Result<u64, Errno> {
        Ok(monotonic_ns())
    }
    fn tick_ns(&self, _: bool) -> u64 {
        1
    }
}

static CLOCK: Disciplined<Refused, Monotonic> = Disciplined::new(Refused, Monotonic);

/// Medians of ours and of clock_gettime in one of `threads` threads that do the same at once.
fn costs(threads: usize, rounds: u64) -> [f64; 2] {
    let conversion = conversion();
    let barrier = Barrier::new(threads);
    let one = || {
        let mut costs = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (costs, read) in
                costs.iter_mut().zip([(|| timed(READS, || CLOCK.now())) as fn() -> u64, || timed(READS, monotonic_ns)])
            {
                barrier.wait();
                costs.push(conversion.ns(read()) as f64 / READS as f64);
            }
        }
        costs.map(|mut costs| quantile(&mut costs, 0.5))
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let costs = one();
        for other in others {
            other.join().expect("a thread that reads clocks");
        }
        costs
    })
}

fn main() {
    let rounds = argument(1, 1000);
    for threads in [1, 2] {
        let [ours, theirs] = costs(threads, rounds);
        println!("ours_{threads} {ours}");
        println!("clock_gettime_{threads} {theirs}");
    }
}
