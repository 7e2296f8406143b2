//! Distance of our time from an OS clock whose rate changes by so many ppm, and changes back.
//! Prints `name ns` lines.

use std::sync::atomic::{AtomicU64, Ordering};

use clockscope::disciplined::{Counter, Disciplined, OsClock};
use clockscope::{Errno, Source, ticks};
use clockscope_peers::{argument, monotonic_ns};

struct Native;

impl Counter for Native {
    fn ordered(&self) -> u64 {
        ticks::now()
    }
    fn is_permitted(&self) -> Option<bool> {
        ticks::is_permitted()
    }
    fn is_clocksource(&self) -> Option<bool> {
        Some(true)
    }
    fn is_invariant(&self) -> Option<bool> {
        clockscope_core::counter::is_invariant()
    }
}

/// CLOCK_MONOTONIC, which gains so many ppm from some moment to another.
struct Slewed {
    ppm: u64,
    from: AtomicU64,
    until: AtomicU64,
}

impl Slewed {
    fn ns(&self) -> u64 {
        let now = monotonic_ns();
        let (from, until) = (self.from.load(Ordering::Relaxed), self.until.load(Ordering::Relaxed));
        now + now.min(until).saturating_sub(from) * self.ppm / 1_000_000
    }
}

impl OsClock for Slewed {
    fn now_ns(&self) -> Result<u64, Errno> {
        Ok(self.ns())
    }
    fn tick_ns(&self, _: bool) -> u64 {
        2
    }
}

fn main() {
    let os = Slewed { ppm: argument(1, 500), from: AtomicU64::new(u64::MAX), until: AtomicU64::new(u64::MAX) };
    let clock = Disciplined::new(Native, &os);
    let worst = |duration_ns: u64| {
        let start = monotonic_ns();
        let mut worst = 0;
        while monotonic_ns() - start < duration_ns {
            let before = os.ns();
            let ours = clock.now().as_ns();
            let after = os.ns();
            worst = worst.max(before.saturating_sub(ours).max(ours.saturating_sub(after)));
        }
        worst
    };
    while clock.source() != Source::Counter {
        clock.now();
    }
    println!("before {}", worst(1_000_000_000));
    os.from.store(monotonic_ns(), Ordering::Relaxed);
    println!("slewed {}", worst(2_000_000_000));
    os.until.store(monotonic_ns(), Ordering::Relaxed);
    println!("back {}", worst(2_000_000_000));
    println!("generation {}", clock.generation());
}
