//! Watches `wall::now()` beside CLOCK_REALTIME while commands set or steer that, and prints what it
//! saw as one JSON object.
//!
//! `wall READINGS [--upkeep] COMMAND...`: runs each command in turn (`sh -c`), and all of them
//! again beside two threads that read `wall::now_monotone()`, as often as it takes until these have
//! made so many readings. Made for emulated machines (machines/wall.sh), where the clock may be
//! set; it runs anywhere.

#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::error::Error;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clockscope::{Upkeep, WallTime, wall};

/// A reading that is further off has not noticed that the clock was set.
const STALE_NS: u64 = 100_000_000;

/// Observations so far.
#[derive(Default)]
struct Seen {
    commands: u64,
    comparisons: u64,
    /// Largest error of readings, in ns, but for those that were stale.
    worst_ns: u64,
    /// Longest time that they were stale in one go, in ns, and since when they are.
    longest_stale_ns: u64,
    stale_since: Option<Instant>,
}

/// Readings of one thread.
#[derive(Default)]
struct Monotone {
    readings: u64,
    regressions: u64,
    ahead_ns: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: wall READINGS [--upkeep] COMMAND...";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [readings, commands @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    let readings: u64 = readings.parse().map_err(|_| usage)?;
    let (upkeep, commands) = match commands {
        [first, commands @ ..] if first == "--upkeep" => (Some(Upkeep::start(Duration::from_secs(10))?), commands),
        commands => (None, commands),
    };
    let before = wall::generation();
    let mut seen = Seen::default();
    seen.watch_during(commands)?;
    let threads = beside(&mut seen, commands, readings)?;
    let sum = |of: fn(&Monotone) -> u64| of(&threads[0]) + of(&threads[1]);
    println!(
        "{{\"commands\": {}, \"comparisons\": {}, \"generations\": {}, \"worst_ns\": {}, \"longest_stale_ns\": {}, \
         \"bound_ns\": {}, \"readings\": {}, \"regressions\": {}, \"ahead_ns\": {}, \"upkeep\": {}, \
         \"source\": \"{:?}\"}}",
        seen.commands,
        seen.comparisons,
        wall::generation() - before,
        seen.worst_ns,
        seen.longest_stale_ns,
        wall::error_bound().map_or(0, |bound| bound.largest.as_nanos()),
        sum(|thread| thread.readings),
        sum(|thread| thread.regressions),
        threads[0].ahead_ns.max(threads[1].ahead_ns),
        upkeep.is_some(),
        clockscope::source(),
    );
    Ok(())
}

/// Watches during the commands beside two threads, until these have made so many readings.
fn beside(seen: &mut Seen, commands: &[String], readings: u64) -> Result<[Monotone; 2], Box<dyn Error>> {
    let (known, made, is_over) = (AtomicI64::new(i64::MIN), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(|| hammer(&known, &made, &is_over)));
        let outcome = loop {
            let outcome = seen.watch_during(commands);
            if outcome.is_err() || made.load(Ordering::Relaxed) >= readings {
                break outcome;
            }
        };
        is_over.store(true, Ordering::Relaxed);
        let threads = threads.map(|thread| thread.join().unwrap_or_default());
        outcome.map(|()| threads)
    })
}

/// Between two commands, and before and after them.
const PAUSE: Duration = Duration::from_millis(500);

impl Seen {
    /// Compares while each command runs, and for a while before and after it.
    fn watch_during(&mut self, commands: &[String]) -> Result<(), Box<dyn Error>> {
        self.watch_for(PAUSE)?;
        for command in commands {
            let mut child = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).spawn()?;
            while child.try_wait()?.is_none() {
                self.watch_for(PAUSE / 100)?;
            }
            if !child.wait()?.success() {
                return Err(format!("`{command}` failed").into());
            }
            self.commands += 1;
            self.watch_for(PAUSE)?;
        }
        Ok(())
    }

    /// Compares readings with CLOCK_REALTIME for so long.
    fn watch_for(&mut self, duration: Duration) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        while start.elapsed() < duration {
            let began = Instant::now();
            let before = unix_ns()?;
            let ours = wall::now();
            let after = unix_ns()?;
            let took_ns = began.elapsed().as_nanos() as i64;
            // Set between two readings of ours: which of both it shows is not known.
            if after < before || after - before > took_ns + STALE_NS as i64 {
                continue;
            }
            self.compare(off_ns(ours, before, after));
        }
        Ok(())
    }

    fn compare(&mut self, off_ns: u64) {
        self.comparisons += 1;
        if off_ns < STALE_NS {
            self.worst_ns = self.worst_ns.max(off_ns);
            self.stale_since = None;
        } else {
            let since = *self.stale_since.get_or_insert_with(Instant::now);
            self.longest_stale_ns = self.longest_stale_ns.max(since.elapsed().as_nanos() as u64);
        }
    }
}

fn off_ns(ours: WallTime, before: i64, after: i64) -> u64 {
    let ours = ours.as_unix_ns();
    before.saturating_sub(ours).max(ours.saturating_sub(after)).max(0) as u64
}

fn unix_ns() -> Result<i64, Box<dyn Error>> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos())?)
}

/// Reads the time that never goes back, and shows it to the other thread.
fn hammer(known: &AtomicI64, made: &AtomicU64, is_over: &AtomicBool) -> Monotone {
    let mut seen = Monotone::default();
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..1000 {
            let least = known.load(Ordering::Acquire);
            let now = wall::now_monotone();
            seen.regressions += u64::from(now.time.as_unix_ns() < least);
            seen.ahead_ns = seen.ahead_ns.max(now.ahead.as_nanos() as u64);
            known.store(now.time.as_unix_ns(), Ordering::Release);
        }
        seen.readings += 1000;
        made.fetch_add(1000, Ordering::Relaxed);
    }
    seen
}
