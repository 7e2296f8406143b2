//! Cost of a read: all kinds in turn, batch by batch, the median over the batches. Prints `name ns`
//! lines.

use std::hint::black_box;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clockscope::ticks;
use clockscope_peers::{argument, conversion, quantile, timed};

/// Reads of a batch.
const READS: u64 = 200;

/// Reads of a batch of what is expensive. All batches together take less than the window of a line,
/// or else every renewal would fall into the same batch.
const FEW_READS: u64 = 5;

/// Returns the ticks that so many reads took.
type Batch = fn(u64) -> u64;

fn fence() {
    // SAFETY: every x86-64 has SSE2.
    unsafe { std::arch::x86_64::_mm_lfence() }
}

fn rdtscp() -> u64 {
    let mut id = 0;
    // SAFETY: the machines that are compared have it.
    unsafe { std::arch::x86_64::__rdtscp(&raw mut id) }
}

/// The tick that the bare conversion begins at.
static BASE: AtomicU64 = AtomicU64::new(0);
/// The ns a tick, times 2^32.
static SCALE: AtomicU64 = AtomicU64::new(1 << 32);

/// The counter in ns: what no library that converts can do without.
#[inline(always)]
fn converted() -> u64 {
    // SAFETY: every x86-64 has it, and the kernels of the machines that are compared permit it.
    let ticks = unsafe { std::arch::x86_64::_rdtsc() }.wrapping_sub(BASE.load(Ordering::Relaxed));
    ((u128::from(ticks) * u128::from(SCALE.load(Ordering::Relaxed))) >> 32) as u64
}

/// Name, number of reads of a batch, and the batch.
const KINDS: &[(&str, u64, Batch)] = &[
    ("rdtsc", READS, |reads| timed(reads, ticks::now_unordered)),
    ("converted_rdtsc", READS, |reads| timed(reads, converted)),
    ("now_unordered", READS, |reads| timed(reads, clockscope::now_unordered)),
    ("quanta", READS, |reads| timed(reads, quanta::Instant::now)),
    ("minstant", READS, |reads| timed(reads, minstant::Instant::now)),
    ("fastant", READS, |reads| timed(reads, fastant::Instant::now)),
    ("rdtscp", READS, |reads| timed(reads, rdtscp)),
    ("lfence_rdtsc", READS, |reads| timed(reads, ticks::now)),
    ("now", READS, |reads| timed(reads, clockscope::now)),
    ("std", READS, |reads| timed(reads, std::time::Instant::now)),
    ("wall_now", READS, |reads| timed(reads, clockscope::wall::now)),
    ("wall_now_unordered", READS, |reads| timed(reads, clockscope::wall::now_unordered)),
    ("wall_now_monotone", READS, |reads| timed(reads, clockscope::wall::now_monotone)),
    ("boot_now", READS, |reads| timed(reads, clockscope::boot::now)),
    ("bounded_now", READS, |reads| timed(reads, clockscope::bounded::now)),
    ("system_time", READS, |reads| timed(reads, std::time::SystemTime::now)),
    ("minstant_anchor", READS, |reads| {
        static ANCHOR: LazyLock<minstant::Anchor> = LazyLock::new(minstant::Anchor::new);
        let anchor = &*ANCHOR;
        timed(reads, || minstant::Instant::now().as_unix_nanos(anchor))
    }),
    ("chrono", READS, |reads| timed(reads, chrono::Utc::now)),
    ("jiff", READS, |reads| timed(reads, jiff::Timestamp::now)),
    ("serialized_rdtsc", READS, |reads| {
        timed(reads, || {
            black_box(ticks::now_unordered());
            fence();
        })
    }),
    ("serialized_now_unordered", READS, |reads| {
        timed(reads, || {
            black_box(clockscope::now_unordered());
            fence();
        })
    }),
    ("serialized_converted_rdtsc", READS, |reads| {
        timed(reads, || {
            black_box(converted());
            fence();
        })
    }),
    ("duration_converted_rdtsc", READS, |reads| {
        timed(reads, || {
            let start = converted();
            Duration::from_nanos(converted().wrapping_sub(start))
        })
    }),
    ("duration_now_unordered", READS, |reads| {
        timed(reads, || {
            let start = clockscope::now_unordered();
            clockscope::now_unordered() - start
        })
    }),
    ("duration_now", READS, |reads| timed(reads, || clockscope::now().elapsed())),
    ("duration_quanta", READS, |reads| {
        timed(reads, || {
            let start = quanta::Instant::now();
            quanta::Instant::now() - start
        })
    }),
    ("duration_minstant", READS, |reads| {
        timed(reads, || {
            let start = minstant::Instant::now();
            minstant::Instant::now() - start
        })
    }),
    ("duration_fastant", READS, |reads| {
        timed(reads, || {
            let start = fastant::Instant::now();
            fastant::Instant::now() - start
        })
    }),
    ("duration_std", READS, |reads| {
        timed(reads, || {
            let start = std::time::Instant::now();
            std::time::Instant::now() - start
        })
    }),
    ("wall_generation", FEW_READS, |reads| timed(reads, clockscope::wall::generation)),
    ("wall_error_bound", FEW_READS, |reads| timed(reads, clockscope::wall::error_bound)),
    ("to_wall", READS, |reads| {
        let moment = clockscope::now();
        timed(reads, || black_box(moment).to_wall())
    }),
    ("anchor_now", FEW_READS, |reads| timed(reads, clockscope::Anchor::now)),
    ("anchor_to_wall", READS, |reads| {
        let (anchor, moment) = (clockscope::Anchor::now().expect("a wall clock"), clockscope::now());
        timed(reads, || black_box(anchor).to_wall(black_box(moment)))
    }),
    ("elapsed_unordered", READS, |reads| {
        let start = clockscope::now();
        timed(reads, || black_box(start).elapsed_unordered())
    }),
    ("try_from_std", FEW_READS, |reads| {
        let moment = std::time::Instant::now();
        timed(reads, || clockscope::Instant::try_from(black_box(moment)))
    }),
    ("std_try_from", FEW_READS, |reads| {
        let moment = clockscope::now();
        timed(reads, || std::time::Instant::try_from(black_box(moment)))
    }),
];

fn main() {
    let rounds = argument(1, 4000) as usize;
    let conversion = conversion();
    SCALE.store(conversion.ns(1 << 32), Ordering::Relaxed);
    let mut costs = vec![Vec::with_capacity(rounds); KINDS.len()];
    // An extra fifth comes first, in which every library settles.
    for round in 0..rounds + rounds / 5 {
        for ((_, reads, batch), costs) in KINDS.iter().zip(&mut costs) {
            let ticks = batch(*reads);
            if round >= rounds / 5 {
                costs.push(conversion.ns(ticks * 1000) as f64 / 1000.0 / *reads as f64);
            }
        }
    }
    for ((name, ..), costs) in KINDS.iter().zip(&mut costs) {
        println!("{name} {:.3}", quantile(costs, 0.5));
    }
}
