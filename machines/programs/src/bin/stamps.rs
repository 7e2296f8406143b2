//! Takes stamps while commands steer CLOCK_MONOTONIC, converts them at the end, and prints how far
//! they were off as one JSON object.
//!
//! `stamps PERIOD_MS COMMAND...`: runs each command in turn (`sh -c`), and renews the history so
//! often. Made for emulated machines (machines/slew.sh), where the clock may be steered; it runs
//! anywhere.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it reports to whoever runs it")]

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clockscope::disciplined::{Counter, Disciplined};
use clockscope::history::History;
use clockscope_core::counter;
use clockscope_core::os::Timeline;

/// Stamps are taken while a command runs, and for so long after it.
const PAUSE: Duration = Duration::from_millis(500);

/// The counter, which emulated processors do not call invariant: `stamps::counter()` refuses it.
struct Emulated;

impl Counter for Emulated {
    fn ordered(&self) -> u64 {
        counter::after_branches()
    }

    fn is_permitted(&self) -> Option<bool> {
        Some(true)
    }

    fn is_clocksource(&self) -> Option<bool> {
        Some(true)
    }

    fn is_invariant(&self) -> Option<bool> {
        Some(true)
    }
}

/// The history that all stamps are converted by.
static HISTORY: History<2000> = History::new();

/// A stamp between two readings of CLOCK_MONOTONIC, in ns.
struct Taken {
    before: u64,
    stamp: u64,
    after: u64,
}

/// What takes them, and renews the history.
struct Taker {
    os: Timeline,
    clock: Disciplined<Emulated, Timeline>,
    period: Duration,
    renewed: Instant,
    taken: Vec<Taken>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: stamps PERIOD_MS COMMAND...";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [period, commands @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    let period = Duration::from_millis(period.parse().map_err(|_| usage)?);
    let clock = Disciplined::new(Emulated, Timeline::new());
    let mut taker = Taker { os: Timeline::new(), clock, period, renewed: Instant::now(), taken: Vec::new() };
    taker.renew();
    for command in commands {
        let mut child = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).spawn()?;
        while child.try_wait()?.is_none() {
            taker.take()?;
        }
        if !child.wait()?.success() {
            return Err(format!("`{command}` failed").into());
        }
        let ended = Instant::now();
        while ended.elapsed() < PAUSE {
            taker.take()?;
        }
    }
    taker.renew();
    taker.report();
    Ok(())
}

impl Taker {
    fn take(&mut self) -> Result<(), Box<dyn Error>> {
        let before = self.os.now_ns()?;
        let stamp = counter::after();
        self.taken.push(Taken { before, stamp, after: self.os.now_ns()? });
        if self.renewed.elapsed() >= self.period {
            self.renew();
        }
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }

    fn renew(&mut self) {
        if let Err(reason) = HISTORY.renew(&self.clock) {
            eprintln!("{reason:?}");
        }
        self.renewed = Instant::now();
    }

    /// Converts all, and prints what is certain of their errors.
    fn report(&self) {
        let (mut unconverted, mut outside, mut worst_ns) = (0u64, 0u64, 0);
        let mut bounds_ns = Vec::new();
        for Taken { before, stamp, after } in &self.taken {
            let piece = HISTORY.find(*stamp).ok();
            let Some((ns, bound_ns)) = piece.and_then(|piece| Some((piece.time_of(*stamp)?, piece.error_ns()))) else {
                unconverted += 1;
                continue;
            };
            let error_ns = before.saturating_sub(ns).max(ns.saturating_sub(*after));
            worst_ns = worst_ns.max(error_ns);
            outside += u64::from(error_ns > bound_ns);
            bounds_ns.push(bound_ns);
        }
        bounds_ns.sort_unstable();
        println!(
            "{{\"stamps\": {}, \"unconverted\": {unconverted}, \"outside_bound\": {outside}, \"worst_ns\": {worst_ns}, \
             \"bound_median_ns\": {}, \"bound_ns\": {}}}",
            self.taken.len(),
            bounds_ns.get(bounds_ns.len() / 2).copied().unwrap_or_default(),
            bounds_ns.last().copied().unwrap_or_default(),
        );
    }
}
