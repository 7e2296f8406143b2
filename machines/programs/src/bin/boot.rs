//! Watches `boot::now()` beside CLOCK_BOOTTIME while commands suspend the machine, and prints what
//! it saw as one JSON object.
//!
//! `boot COMMAND...`: runs each command in turn (`sh -c`). Made for an emulated machine
//! (machines/suspend.sh); it runs anywhere.

#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clockscope::boot::{self, BootInstant};
use clockscope_core::os::Timeline;

/// A reading that is further off has not noticed a suspend.
const STALE_NS: u64 = 100_000_000;

/// Readings between two comparisons.
const READINGS: u32 = 20;

/// Before the first command, and after each.
const PAUSE: Duration = Duration::from_millis(500);

/// Observations so far.
#[derive(Default)]
struct Seen {
    comparisons: u64,
    regressions: u64,
    last: BootInstant,
    /// Largest error of readings, in ns, but for those that were stale.
    worst_ns: u64,
    /// Longest time that they were stale in one go, in ns of CLOCK_MONOTONIC, and since when they
    /// are.
    longest_stale_ns: u64,
    stale_since: Option<Instant>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let commands: Vec<String> = std::env::args().skip(1).collect();
    let (start, boot_start) = (clockscope::now(), boot::now());
    let mut seen = Seen::default();
    seen.watch_for(PAUSE)?;
    for command in &commands {
        let mut child = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).spawn()?;
        while child.try_wait()?.is_none() {
            seen.watch_for(PAUSE / 100)?;
        }
        if !child.wait()?.success() {
            return Err(format!("`{command}` failed").into());
        }
        seen.watch_for(PAUSE)?;
    }
    // A line of the counter lasts a millisecond, and the questions below take longer here.
    let source = clockscope::source();
    let (slept, elapsed) = (boot_start.elapsed(), start.elapsed());
    println!(
        "{{\"commands\": {}, \"comparisons\": {}, \"regressions\": {}, \"worst_ns\": {}, \"longest_stale_ns\": {}, \
         \"bound_ns\": {}, \"suspended_ns\": {}, \"counts_suspends\": {}, \"source\": \"{:?}\", \"demotion\": \"{:?}\"}}",
        commands.len(),
        seen.comparisons,
        seen.regressions,
        seen.worst_ns,
        seen.longest_stale_ns,
        boot::error_bound().map_or(0, |bound| bound.largest.as_nanos()),
        slept.saturating_sub(elapsed).as_nanos(),
        boot::counts_suspends(),
        source,
        clockscope::demotion(),
    );
    Ok(())
}

impl Seen {
    /// Compares readings with CLOCK_BOOTTIME for so long.
    fn watch_for(&mut self, duration: Duration) -> Result<(), Box<dyn Error>> {
        let (start, timeline) = (Instant::now(), Timeline::new());
        while start.elapsed() < duration {
            // The counter is for callers who read often.
            (0..READINGS).for_each(|_| _ = self.read());
            let before = BootInstant::from_signed_ns(timeline.boot_ns()?);
            let ours = self.read();
            let after = BootInstant::from_signed_ns(timeline.boot_ns()?);
            self.compare(before.ns_since(ours).max(ours.ns_since(after)));
        }
        Ok(())
    }

    fn read(&mut self) -> BootInstant {
        let ours = boot::now();
        self.regressions += u64::from(ours < self.last);
        self.last = ours;
        ours
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
