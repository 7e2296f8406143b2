//! Watches `wall::now()` beside CLOCK_REALTIME while that is set and steered, and prints what it saw as one JSON object.
//!
//! `wall SECONDS [upkeep]`: for half of the time alone, then beside two threads that read `wall::now_monotone()`. Made for
//! emulated machines (machines/wall.sh), where the clock may be set; it runs anywhere.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clockscope::{Upkeep, WallTime, wall};

/// A reading that is further off has not noticed that the clock was set.
const STALE_NS: u64 = 100_000_000;

/// What was seen.
#[derive(Default)]
struct Seen {
    comparisons: u64,
    /// How far readings were off, in ns, but for those that were stale.
    worst_ns: u64,
    /// How long they were stale in one go, in ns, and how many comparisons that were.
    longest_stale_ns: u64,
    most_stale: u64,
    /// How often CLOCK_REALTIME was set by more than what is stale.
    sets: u64,
}

/// Readings of one thread.
#[derive(Default)]
struct Monotone {
    readings: u64,
    regressions: u64,
    ahead_ns: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: wall SECONDS [upkeep]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds: f64 = arguments.first().and_then(|text| text.parse().ok()).ok_or(usage)?;
    let upkeep = match arguments.get(1).map(String::as_str) {
        None => None,
        Some("upkeep") => Some(Upkeep::start(Duration::from_secs(10))?),
        Some(_) => return Err(usage.into()),
    };
    let half = Duration::from_secs_f64(seconds / 2.0);
    let before = wall::generation();
    let alone = watch(half)?;
    let (known, is_over) = (AtomicI64::new(i64::MIN), AtomicBool::new(false));
    let (beside, threads) = std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(|| hammer(&known, &is_over)));
        let beside = watch(half);
        is_over.store(true, Ordering::Relaxed);
        (beside, threads.map(|thread| thread.join().unwrap_or_default()))
    });
    let beside = beside?;
    let sum = |of: fn(&Monotone) -> u64| of(&threads[0]) + of(&threads[1]);
    println!(
        "{{\"comparisons\": {}, \"sets\": {}, \"generations\": {}, \"worst_ns\": {}, \"longest_stale_ns\": {}, \
         \"most_stale\": {}, \"bound_ns\": {}, \"readings\": {}, \"regressions\": {}, \"ahead_ns\": {}, \
         \"upkeep\": {}, \"source\": \"{:?}\"}}",
        alone.comparisons + beside.comparisons,
        alone.sets + beside.sets,
        wall::generation() - before,
        alone.worst_ns.max(beside.worst_ns),
        alone.longest_stale_ns.max(beside.longest_stale_ns),
        alone.most_stale.max(beside.most_stale),
        wall::error_bound().map_or(0, |bound| bound.largest.as_nanos()),
        sum(|thread| thread.readings),
        sum(|thread| thread.regressions),
        threads[0].ahead_ns.max(threads[1].ahead_ns),
        upkeep.is_some(),
        clockscope::source(),
    );
    Ok(())
}

/// Compares readings with CLOCK_REALTIME for so long.
fn watch(duration: Duration) -> Result<Seen, Box<dyn Error>> {
    let mut seen = Seen::default();
    let start = Instant::now();
    // The first moment of a row of stale readings, and how many they are.
    let mut stale: Option<(Instant, u64)> = None;
    let mut last = unix_ns()?;
    while start.elapsed() < duration {
        let before = unix_ns()?;
        let ours = wall::now();
        let after = unix_ns()?;
        // Set between two readings of ours: which of both it shows is not known.
        let is_set =
            after < before || after - before > STALE_NS as i64 || before < last || before - last > 30 * STALE_NS as i64;
        seen.sets += u64::from(is_set);
        last = after;
        if is_set {
            continue;
        }
        seen.comparisons += 1;
        let off = off_ns(ours, before, after);
        if off < STALE_NS {
            seen.worst_ns = seen.worst_ns.max(off);
            stale = None;
        } else {
            let (since, times) = stale.unwrap_or_else(|| (Instant::now(), 0));
            stale = Some((since, times + 1));
            seen.longest_stale_ns = seen.longest_stale_ns.max(since.elapsed().as_nanos() as u64);
            seen.most_stale = seen.most_stale.max(times + 1);
        }
    }
    Ok(seen)
}

fn off_ns(ours: WallTime, before: i64, after: i64) -> u64 {
    let ours = ours.as_unix_ns();
    before.saturating_sub(ours).max(ours.saturating_sub(after)).max(0) as u64
}

fn unix_ns() -> Result<i64, Box<dyn Error>> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos())?)
}

/// Reads the time that never goes back, and tells the other thread.
fn hammer(known: &AtomicI64, is_over: &AtomicBool) -> Monotone {
    let mut seen = Monotone::default();
    while !is_over.load(Ordering::Relaxed) {
        let least = known.load(Ordering::Acquire);
        let now = wall::now_monotone();
        seen.readings += 1;
        seen.regressions += u64::from(now.time.as_unix_ns() < least);
        seen.ahead_ns = seen.ahead_ns.max(now.ahead.as_nanos() as u64);
        known.store(now.time.as_unix_ns(), Ordering::Release);
    }
    seen
}
