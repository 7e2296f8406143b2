//! Readings of many threads: none is smaller than one that was known before it was begun.
//!
//! The counter is this machine's, and the OS clock is slewed by 1000 ppm back and forth; segments
//! last 100 µs, so that the line is renewed ten thousand times a second; and who publishes is
//! delayed at random.
//!
//! 10^8 readings by two threads. `CLOCKSCOPE_ORDER_READS` and `CLOCKSCOPE_ORDER_THREADS` ask for
//! others.

// On riscv64 and powerpc64 qemu-user gives the host's counter, read without order: it would be the
// emulator that is tested. The others have no counter that is known.
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64", target_arch = "s390x")
))]

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clockscope::disciplined::{Counter, Disciplined, OsClock};
use clockscope::{Errno, Source, ticks};
use clockscope_core::counter;
use clockscope_testing::{skip, thread_time};
use serial_test::serial;

use super::counters::{counters_apart_ns, read_counter};

/// Length of a segment in ns.
const WINDOW_NS: u64 = 100_000;

/// The OS clock gains for so long in ns, then loses for as long.
const SLEWED_NS: u64 = 3_000_000;
const SLEW_PPM: u64 = 1000;

/// Time at which the clock was last at work under its lock, and how many changes of the OS clock's
/// rate may have gone unseen: a busy machine may stop all threads for longer than it keeps a rate.
/// The library states that rates change at most every two windows; a faster one may look like a
/// step.
///
/// Kept at the clock's work and not at its looks: what another CPU wrote takes long to load, and a
/// look that takes longer than others is one at a slower clock.
static WORKED: Alone<Work> = Alone(Work { last_ns: AtomicU64::new(u64::MAX), unseen: AtomicU64::new(0) });

struct Work {
    last_ns: AtomicU64,
    unseen: AtomicU64,
}

/// Two looks this far apart, in ns, may have missed a change: up to three pieces of work lie
/// between them.
const MAY_MISS_NS: u64 = SLEWED_NS / 4;

/// A value that shares no cache line with another one.
#[repr(align(128))]
struct Alone<T>(T);

/// This machine's counter.
struct Native;

impl Counter for Native {
    #[inline(always)]
    fn ordered(&self) -> u64 {
        ticks::now()
    }

    #[inline(always)]
    fn unordered(&self) -> u64 {
        ticks::now_unordered()
    }

    fn is_permitted(&self) -> Option<bool> {
        ticks::is_permitted()
    }

    fn is_clocksource(&self) -> Option<bool> {
        // Whatever the kernel says: the test is of the clock.
        Some(true)
    }

    fn is_invariant(&self) -> Option<bool> {
        counter::is_invariant()
    }
}

/// CLOCK_MONOTONIC, slewed back and forth. One in four looks at a line, and publications of one, is
/// followed by a delay of up to 50 µs.
struct Slewed;

impl OsClock for Slewed {
    fn now_ns(&self) -> Result<u64, Errno> {
        let true_ns = monotonic_ns();
        let phase = true_ns % (2 * SLEWED_NS);
        let gained = phase.min(2 * SLEWED_NS - phase);
        Ok(true_ns + gained * SLEW_PPM / 1_000_000)
    }

    fn tick_ns(&self, _: bool) -> u64 {
        2
    }

    fn preemption_point(&self) {
        thread_local!(static STATE: Cell<u64> = const { Cell::new(0x9e37_79b9_7f4a_7c15) });
        let random = STATE.with(|state| {
            let mut x = state.get();
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            state.set(x);
            x
        });
        if random % 4 == 0 {
            let until = monotonic_ns() + random / 4 % 50_000;
            while monotonic_ns() < until {
                std::hint::spin_loop();
            }
        }
        let now_ns = monotonic_ns();
        let since_ns = now_ns.saturating_sub(WORKED.0.last_ns.swap(now_ns, Ordering::Relaxed));
        WORKED.0.unseen.fetch_add(u64::from(since_ns > MAY_MISS_NS), Ordering::Relaxed);
    }
}

/// A second more than since the first call.
fn monotonic_ns() -> u64 {
    static ORIGIN: Alone<OnceLock<Instant>> = Alone(OnceLock::new());
    1_000_000_000 + ORIGIN.0.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

static CLOCK: Disciplined<Native, Slewed> = Disciplined::new(Native, Slewed).with_window_ns(WINDOW_NS);

/// The reading that was last made known.
static KNOWN: Alone<AtomicU64> = Alone(AtomicU64::new(0));

/// Observations of one thread.
#[derive(Default)]
struct Seen {
    regressions: u64,
    worst_ns: u64,
    by_counter: u64,
    /// Number of the regressions that were seen while a line served.
    regressions_by_counter: u64,
}

/// Reads the clock `reads` times, and compares each reading with one that was known before. Reads
/// the counter in between: counters that are apart show it only while the threads are close.
fn read(reads: u64) -> Seen {
    let mut seen = Seen::default();
    for turn in 0..reads {
        let known = KNOWN.0.load(Ordering::Acquire);
        let ns = CLOCK.now().as_ns();
        if ns < known {
            seen.regressions += 1;
            seen.worst_ns = seen.worst_ns.max(known - ns);
            seen.regressions_by_counter += u64::from(CLOCK.source() == Source::Counter);
        }
        KNOWN.0.store(ns, Ordering::Release);
        if turn % 4 == 0 {
            read_counter();
        }
        if turn % 4096 == 0 {
            seen.by_counter += u64::from(CLOCK.source() == Source::Counter);
        }
    }
    seen
}

fn number_from_env(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
#[serial]
fn no_reading_is_smaller_than_one_that_was_known() {
    if ticks::is_permitted() == Some(false) {
        return skip("this process may not read the counter");
    }
    // On a busy machine, or an emulated one, it may take a while until the counter is calibrated.
    let start = thread_time();
    while CLOCK.source() != Source::Counter && thread_time() - start < Duration::from_secs(20) {
        CLOCK.now();
    }
    let threads = number_from_env("CLOCKSCOPE_ORDER_THREADS", 2);
    let reads = number_from_env("CLOCKSCOPE_ORDER_READS", 100_000_000) / threads;
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(move || read(reads))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let regressions: u64 = seen.iter().map(|seen| seen.regressions).sum();
    let by_counter: u64 = seen.iter().map(|seen| seen.by_counter).sum();
    let share = by_counter as f64 / (reads.div_ceil(4096) * threads) as f64;
    // `cargo xtask bench` reads these.
    println!("\nfigure regressions {regressions}\nfigure readings {}\nfigure threads {threads}", reads * threads);
    println!("generation {}, {:.1} % by the counter, {:?}", CLOCK.generation(), share * 100.0, CLOCK.error_bound());
    let worst_ns = seen.iter().map(|seen| seen.worst_ns).max().unwrap_or(0);
    if worst_ns > 0 {
        let apart_ns = counters_apart_ns(worst_ns);
        println!("figure counters_apart_ns {apart_ns}");
        let by_counter: u64 = seen.iter().map(|seen| seen.regressions_by_counter).sum();
        assert!(
            worst_ns <= apart_ns,
            "{regressions} went back, {by_counter} of them by the counter, by {worst_ns} ns at most; the counters are \
             {apart_ns} ns apart"
        );
        skip(&format!("the counters of this machine's CPUs are {apart_ns} ns apart, and so are readings by them"));
    }
    // No change of rate that was seen is a reason to suspect the counter.
    let unseen = WORKED.0.unseen.load(Ordering::Relaxed);
    let (generation, evidence) = (CLOCK.generation(), CLOCK.evidence());
    assert!(generation <= 1 + unseen, "generation {generation}, {unseen} changes unseen: {evidence:?}");
    if unseen > 0 && share <= 0.5 {
        // Each unseen change may end a generation, and the OS clock serves until the next one.
        return skip("this machine stopped all threads so often that the counter served few readings");
    }
    // Otherwise nothing was tested.
    assert!(share > 0.5, "the counter served {share} of the readings: {evidence:?}");
}
