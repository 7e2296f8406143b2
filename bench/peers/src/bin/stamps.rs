//! Cost, conversion and error of stamps, beside the counter and other libraries in one run. Prints
//! `name value` lines.
//!
//! Arguments: the seconds over which stamps are kept before their conversion (1), and the ms
//! between renewals of the history (1000, 0 for none).
//!
//! An error is what is certain: the distance of a time from the interval of two readings of
//! CLOCK_MONOTONIC around it.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use clockscope::stamps::{self, Stamp, StampError, Stamps};
use clockscope::{Conversion, Instant, ticks};
use clockscope_peers::{argument, conversion, monotonic_ns, quantile, timed};

/// Reads of a batch, and batches of a kind.
const READS: u64 = 200;
const ROUNDS: usize = 4000;
/// Stamps that are converted, and how often.
const STAMPS: usize = 1_000_000;
const PASSES: usize = 9;
/// Pause between two rows.
const PAUSE: Duration = Duration::from_millis(1);

/// Ticks that a batch took.
type Batch = fn(Stamps) -> u64;

/// Each cost is printed as ns and relative to the first.
const KINDS: &[(&str, Batch)] = &[
    ("rdtsc", |_| timed(READS, ticks::now_unordered)),
    ("stamps_now_unordered", |stamps| timed(READS, || stamps.now_unordered())),
    ("lfence_rdtsc", |_| timed(READS, ticks::now)),
    ("stamps_now", |stamps| timed(READS, || stamps.now())),
    ("now_unordered", |_| timed(READS, clockscope::now_unordered)),
    ("quanta_raw", |_| {
        static CLOCK: LazyLock<quanta::Clock> = LazyLock::new(quanta::Clock::new);
        let clock = &*CLOCK;
        timed(READS, || clock.raw())
    }),
    ("quanta", |_| timed(READS, quanta::Instant::now)),
    ("minstant", |_| timed(READS, minstant::Instant::now)),
    ("fastant", |_| timed(READS, fastant::Instant::now)),
    ("std", |_| timed(READS, std::time::Instant::now)),
];

/// A stamp and the peers' instants. A reading of CLOCK_MONOTONIC, in ns, precedes and follows each.
struct Row {
    bounds: [u64; 5],
    stamp: Stamp,
    minstant: minstant::Instant,
    fastant: fastant::Instant,
    quanta: quanta::Instant,
}

impl Row {
    /// Takes one. The peers' counter reads are unordered, so they may be early by some ns.
    #[inline(never)]
    fn take(stamps: Stamps) -> Self {
        let start = monotonic_ns();
        let stamp = stamps.now();
        let stamped = monotonic_ns();
        let minstant = minstant::Instant::now();
        let second = monotonic_ns();
        let fastant = fastant::Instant::now();
        let third = monotonic_ns();
        let quanta = quanta::Instant::now();
        Self { bounds: [start, stamped, second, third, monotonic_ns()], stamp, minstant, fastant, quanta }
    }

    /// Distance of a time from the readings around place `index`, in ns.
    fn outside(&self, index: usize, time_ns: u64) -> u64 {
        let [before, after] = [self.bounds[index], self.bounds[index + 1]];
        before.saturating_sub(time_ns).max(time_ns.saturating_sub(after))
    }
}

/// Returns an instant of a peer and CLOCK_MONOTONIC then, in ns: the narrowest of many comparisons.
fn origin<T>(now: fn() -> T) -> (T, u64) {
    let compare = |_| {
        let before = monotonic_ns();
        let theirs = now();
        let after = monotonic_ns();
        (after - before, (theirs, before.midpoint(after)))
    };
    (0..1000).map(compare).min_by_key(|(width, _)| *width).expect("a comparison").1
}

/// Prints a peer's largest distance, at place `index` of the rows.
fn print_error<T>(name: &str, rows: &[Row], index: usize, origin: &(T, u64), since: fn(&Row, &T) -> Duration) {
    let outside = |row: &Row| row.outside(index, origin.1 + since(row, &origin.0).as_nanos() as u64);
    println!("{name}_error_ns {}", rows.iter().map(outside).max().unwrap_or_default());
}

/// Takes rows for so long, and renews the history after each period.
fn take_rows(stamps: Stamps, duration: Duration, period_ns: u64) -> Vec<Row> {
    let end = monotonic_ns() + duration.as_nanos() as u64;
    let mut next = if period_ns == 0 { u64::MAX } else { monotonic_ns() + period_ns };
    let mut failed = 0u64;
    let mut rows = Vec::with_capacity(duration.div_duration_f64(PAUSE) as usize + 1);
    while monotonic_ns() < end {
        if monotonic_ns() >= next {
            failed += u64::from(stamps::renew().is_err());
            next += period_ns;
        }
        // The first one warms the caches up.
        black_box(Row::take(stamps));
        rows.push(Row::take(stamps));
        std::thread::sleep(PAUSE);
    }
    println!("stamps_renewals_failed {failed}");
    rows
}

/// Converts the rows' stamps and prints their errors and bounds.
fn print_errors(stamps: Stamps, rows: &[Row]) {
    let (mut worst, mut outside_bound, mut refused) = (0, 0u64, None);
    let mut bounds = Vec::with_capacity(rows.len());
    for row in rows {
        let converted = stamps.instant(row.stamp).and_then(|time| Ok((time, stamps.error_bound(row.stamp)?)));
        let Ok((time, bound)) = converted.inspect_err(|reason| refused = Some(*reason)) else { continue };
        let (error_ns, bound_ns) = (row.outside(0, time.as_ns()), bound.as_nanos() as u64);
        worst = worst.max(error_ns);
        outside_bound += u64::from(error_ns > bound_ns);
        bounds.push(bound_ns as f64);
    }
    if let Some(reason) = refused {
        eprintln!("{reason}");
    }
    println!("stamps {}\nstamps_unconverted {}\nstamps_error_ns {worst}", rows.len(), rows.len() - bounds.len());
    if !bounds.is_empty() {
        println!("stamps_bound_ns_median {}", quantile(&mut bounds, 0.5));
        println!("stamps_bound_ns_max {}", quantile(&mut bounds, 1.0));
    }
    println!("stamps_outside_bound {outside_bound}");
}

/// Stamps at equal distances from the first to the last one.
fn spread(first: Stamp, last: Stamp) -> Vec<Stamp> {
    let counts = u128::from(last.count().wrapping_sub(first.count()));
    let at = |index| (counts * index as u128 / (STAMPS - 1) as u128) as u64;
    (0..STAMPS).map(|index| Stamp::from_count(first.count().wrapping_add(at(index)))).collect()
}

/// The same in random order, the same one each time.
fn shuffled(mut stamps: Vec<Stamp>) -> Vec<Stamp> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for index in (1..stamps.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        stamps.swap(index, (state % (index as u64 + 1)) as usize);
    }
    stamps
}

/// Uses all times, so that none is left out.
fn sum(times: impl Iterator<Item = Result<Instant, StampError>>) -> u64 {
    times.fold(0, |sum: u64, time| sum.wrapping_add(time.map_or(0, Instant::as_ns)))
}

/// Prints what the conversion of a stamp costs, in ns.
fn print_conversions(stamps: Stamps, conversion: &Conversion, sorted: Vec<Stamp>) {
    if let Some(header) = sorted.first().and_then(|first| stamps.header(*first).ok()) {
        println!("pieces {}", header.to_string().matches("\npiece ").count());
    }
    let random = shuffled(sorted.clone());
    let batch = |list: &[Stamp]| timed(1, || sum(stamps.instants(list.iter().copied())));
    let single = |list: &[Stamp]| timed(1, || sum(list.iter().map(|stamp| stamps.instant(*stamp))));
    let mut costs: [Vec<f64>; 4] = Default::default();
    for _ in 0..PASSES {
        let ticks = [batch(&sorted), batch(&random), single(&sorted), single(&random)];
        for (costs, ticks) in costs.iter_mut().zip(ticks) {
            costs.push(conversion.ns(ticks) as f64 / STAMPS as f64);
        }
    }
    let names = ["instants_sorted", "instants_random", "instant_sorted", "instant_random"];
    for (name, costs) in names.iter().zip(&mut costs) {
        println!("{name} {:.3}", quantile(costs, 0.5));
    }
}

/// Prints the medians of the batches' costs, and of the costs relative to the first kind's.
fn print_costs(stamps: Stamps, conversion: &Conversion) {
    let mut costs = vec![(Vec::new(), Vec::new()); KINDS.len()];
    // The first fifth lets every library settle.
    for round in 0..ROUNDS + ROUNDS / 5 {
        let ticks: Vec<u64> = KINDS.iter().map(|(_, batch)| batch(stamps)).collect();
        for ((ns, ratios), batch) in costs.iter_mut().zip(&ticks).filter(|_| round >= ROUNDS / 5) {
            ns.push(conversion.ns(batch * 1000) as f64 / 1000.0 / READS as f64);
            ratios.push(*batch as f64 / ticks[0] as f64);
        }
    }
    for ((name, _), (ns, ratios)) in KINDS.iter().zip(&mut costs) {
        println!("{name} {:.3}\n{name}_ratio {:.3}", quantile(ns, 0.5), quantile(ratios, 0.5));
    }
}

fn main() -> ExitCode {
    let (duration, period_ns) = (Duration::from_secs(argument(1, 1)), argument(2, 1000) * 1_000_000);
    // Their calibrations come before the first of their readings.
    black_box((minstant::Instant::now(), fastant::Instant::now(), quanta::Instant::now()));
    let Ok(stamps) = stamps::counter().inspect_err(|refused| eprintln!("{refused}")) else {
        return ExitCode::FAILURE;
    };
    let (minstant, fastant) = (origin(minstant::Instant::now), origin(fastant::Instant::now));
    let quanta = origin(quanta::Instant::now);
    let rows = take_rows(stamps, duration, period_ns);
    print_errors(stamps, &rows);
    print_error("minstant", &rows, 1, &minstant, |row, start| row.minstant.duration_since(*start));
    print_error("fastant", &rows, 2, &fastant, |row, start| row.fastant.duration_since(*start));
    print_error("quanta", &rows, 3, &quanta, |row, start| row.quanta.duration_since(*start));
    if let [first, .., last] = rows.as_slice() {
        let conversion = conversion();
        print_conversions(stamps, &conversion, spread(first.stamp, last.stamp));
        print_costs(stamps, &conversion);
    }
    ExitCode::SUCCESS
}
