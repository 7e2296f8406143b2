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

/// Reads of a batch of what is expensive. All batches together take less than a line's window: the
/// same one would renew it each time otherwise, and would be shown as dearer.
const FEW_READS: u64 = 5;

/// Returns the ticks that its reads took.
type Batch = fn() -> u64;

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

/// Name, batch, and its number of reads.
const KINDS: &[(&str, Batch, u64)] = &[
    ("rdtsc", || timed(READS, ticks::now_unordered), READS),
    ("converted_rdtsc", || timed(READS, converted), READS),
    ("now_unordered", || timed(READS, clockscope::now_unordered), READS),
    ("quanta", || timed(READS, quanta::Instant::now), READS),
    ("minstant", || timed(READS, minstant::Instant::now), READS),
    ("fastant", || timed(READS, fastant::Instant::now), READS),
    ("rdtscp", || timed(READS, rdtscp), READS),
    ("lfence_rdtsc", || timed(READS, ticks::now), READS),
    ("now", || timed(READS, clockscope::now), READS),
    ("std", || timed(READS, std::time::Instant::now), READS),
    ("wall_now", || timed(READS, clockscope::wall::now), READS),
    ("wall_now_unordered", || timed(READS, clockscope::wall::now_unordered), READS),
    ("wall_now_monotone", || timed(READS, clockscope::wall::now_monotone), READS),
    ("boot_now", || timed(READS, clockscope::boot::now), READS),
    ("bounded_now", || timed(READS, clockscope::bounded::now), READS),
    ("system_time", || timed(READS, std::time::SystemTime::now), READS),
    (
        "minstant_anchor",
        || {
            static ANCHOR: LazyLock<minstant::Anchor> = LazyLock::new(minstant::Anchor::new);
            let anchor = &*ANCHOR;
            timed(READS, || minstant::Instant::now().as_unix_nanos(anchor))
        },
        READS,
    ),
    ("chrono", || timed(READS, chrono::Utc::now), READS),
    ("jiff", || timed(READS, jiff::Timestamp::now), READS),
    (
        "serialized_rdtsc",
        || {
            timed(READS, || {
                black_box(ticks::now_unordered());
                fence();
            })
        },
        READS,
    ),
    (
        "serialized_now_unordered",
        || {
            timed(READS, || {
                black_box(clockscope::now_unordered());
                fence();
            })
        },
        READS,
    ),
    (
        "serialized_converted_rdtsc",
        || {
            timed(READS, || {
                black_box(converted());
                fence();
            })
        },
        READS,
    ),
    (
        "duration_converted_rdtsc",
        || {
            timed(READS, || {
                let start = converted();
                Duration::from_nanos(converted().wrapping_sub(start))
            })
        },
        READS,
    ),
    (
        "duration_now_unordered",
        || {
            timed(READS, || {
                let start = clockscope::now_unordered();
                clockscope::now_unordered() - start
            })
        },
        READS,
    ),
    ("duration_now", || timed(READS, || clockscope::now().elapsed()), READS),
    (
        "duration_quanta",
        || {
            timed(READS, || {
                let start = quanta::Instant::now();
                quanta::Instant::now() - start
            })
        },
        READS,
    ),
    (
        "duration_minstant",
        || {
            timed(READS, || {
                let start = minstant::Instant::now();
                minstant::Instant::now() - start
            })
        },
        READS,
    ),
    (
        "duration_fastant",
        || {
            timed(READS, || {
                let start = fastant::Instant::now();
                fastant::Instant::now() - start
            })
        },
        READS,
    ),
    (
        "duration_std",
        || {
            timed(READS, || {
                let start = std::time::Instant::now();
                std::time::Instant::now() - start
            })
        },
        READS,
    ),
    ("wall_generation", || timed(FEW_READS, clockscope::wall::generation), FEW_READS),
    ("wall_error_bound", || timed(FEW_READS, clockscope::wall::error_bound), FEW_READS),
    (
        "to_wall",
        || {
            let moment = clockscope::now();
            timed(READS, || black_box(moment).to_wall())
        },
        READS,
    ),
    ("anchor_now", || timed(FEW_READS, clockscope::Anchor::now), FEW_READS),
    (
        "anchor_to_wall",
        || {
            let (anchor, moment) = (clockscope::Anchor::now().expect("a wall clock"), clockscope::now());
            timed(READS, || black_box(anchor).to_wall(black_box(moment)))
        },
        READS,
    ),
    (
        "elapsed_unordered",
        || {
            let start = clockscope::now();
            timed(READS, || black_box(start).elapsed_unordered())
        },
        READS,
    ),
    (
        "try_from_std",
        || {
            let moment = std::time::Instant::now();
            timed(FEW_READS, || clockscope::Instant::try_from(black_box(moment)))
        },
        FEW_READS,
    ),
    (
        "std_try_from",
        || {
            let moment = clockscope::now();
            timed(FEW_READS, || std::time::Instant::try_from(black_box(moment)))
        },
        FEW_READS,
    ),
];

fn main() {
    let rounds = argument(1, 4000) as usize;
    let conversion = conversion();
    SCALE.store(conversion.ns(1 << 32), Ordering::Relaxed);
    let mut costs = vec![Vec::with_capacity(rounds); KINDS.len()];
    // An extra fifth comes first, in which every library settles.
    for round in 0..rounds + rounds / 5 {
        for ((_, batch, reads), costs) in KINDS.iter().zip(&mut costs) {
            let ticks = batch();
            if round >= rounds / 5 {
                costs.push(conversion.ns(ticks * 1000) as f64 / 1000.0 / *reads as f64);
            }
        }
    }
    for ((name, ..), costs) in KINDS.iter().zip(&mut costs) {
        println!("{name} {:.3}", quantile(costs, 0.5));
    }
}
