//! Distance of each library's time from CLOCK_MONOTONIC over so many seconds, and whether our own
//! bound was ever exceeded. Prints `name value` lines, times in ns.
//!
//! An error is what is certain: the distance of a reading from the interval of two of
//! CLOCK_MONOTONIC around it.

use clockscope_peers::{argument, monotonic_ns};

/// Ours is compared all the time, the others and the bound as often as this, in ns.
const EVERY_NS: u64 = 1_000_000;

/// The distance of `time` from CLOCK_MONOTONIC that is certain, in ns.
fn error_of(time: impl FnOnce() -> u64) -> u64 {
    let before = monotonic_ns();
    let theirs = time();
    let after = monotonic_ns();
    before.saturating_sub(theirs).max(theirs.saturating_sub(after))
}

struct Peer {
    name: &'static str,
    /// Its time since it was made, in ns.
    elapsed: Box<dyn Fn() -> u64>,
    /// CLOCK_MONOTONIC when it was made.
    origin: u64,
    worst: u64,
}

impl Peer {
    /// Its origin is the narrowest of many comparisons.
    fn new(name: &'static str, elapsed: impl Fn() -> u64 + 'static) -> Self {
        let one = || {
            let before = monotonic_ns();
            let theirs = elapsed();
            let after = monotonic_ns();
            (after - before, before.midpoint(after) - theirs)
        };
        let (_, origin) = (0..1000).map(|_| one()).min().unwrap_or_default();
        Self { name, elapsed: Box::new(elapsed), origin, worst: 0 }
    }

    fn compare(&mut self) {
        self.worst = self.worst.max(error_of(|| self.origin + (self.elapsed)()));
    }
}

fn main() {
    let duration_ns = argument(1, 60) * 1_000_000_000;
    let (quanta, minstant, fastant) = (quanta::Instant::now(), minstant::Instant::now(), fastant::Instant::now());
    let mut peers = [
        Peer::new("quanta", move || quanta.elapsed().as_nanos() as u64),
        Peer::new("minstant", move || minstant.elapsed().as_nanos() as u64),
        Peer::new("fastant", move || fastant.elapsed().as_nanos() as u64),
    ];
    let start = monotonic_ns();
    let (mut next, mut comparisons, mut worst, mut exceeded, mut largest) = (start, 0u64, 0, 0u64, 0);
    // Of all comparisons since the bound was last asked for.
    let mut recent = 0;
    let mut generation = clockscope::generation();
    let mut bounds_now = Vec::new();
    while monotonic_ns() - start < duration_ns {
        let error = error_of(|| clockscope::now().as_ns());
        (comparisons, worst, recent) = (comparisons + 1, worst.max(error), recent.max(error));
        if monotonic_ns() >= next {
            next += EVERY_NS;
            peers.iter_mut().for_each(Peer::compare);
            let stated = clockscope::error_bound();
            bounds_now.extend(stated.as_ref().map(|bound| bound.now.as_nanos() as u64));
            let bound = stated.map_or(0, |bound| bound.largest.as_nanos() as u64);
            largest = largest.max(bound);
            // The bound is that of a generation.
            if std::mem::replace(&mut generation, clockscope::generation()) == clockscope::generation() {
                exceeded += u64::from(recent > bound);
            }
            recent = 0;
        }
    }
    bounds_now.sort_unstable();
    let bound_now = bounds_now.get(bounds_now.len() * 99 / 100).copied().unwrap_or_default();
    println!("bound_now {bound_now}");
    println!("comparisons {comparisons}\ngeneration {generation}\nerror {worst}\nbound {largest}\nexceeded {exceeded}");
    for peer in peers {
        println!("{} {}", peer.name, peer.worst);
    }
}
