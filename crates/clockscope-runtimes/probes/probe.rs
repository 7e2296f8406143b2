//! A probe of clockscope: how Rust's stopwatches read (probes/README.md of clockscope-runtimes).
//!
//!     rustc --edition 2021 -O -o probe probe.rs && ./probe MILLISECONDS

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::{Duration, Instant, SystemTime};

const READS: usize = 1000;
const MIN_BATCHES: usize = 6;
const MAX_DURATIONS: usize = 10_000;
const MAX_STEPS: usize = 20_000;
const MAX_WARM_UP: Duration = Duration::from_millis(250);

trait Clock: Copy {
    const API: &'static str;
    const BUILT_ON: &'static str;

    fn now() -> Self;
    /// Nanoseconds since another reading, below 0 where the clock went backwards.
    fn since(self, earlier: Self) -> i128;
}

impl Clock for Instant {
    const API: &'static str = "Instant::now";
    const BUILT_ON: &'static str = if cfg!(windows) { "QueryPerformanceCounter" } else { "CLOCK_MONOTONIC" };

    #[inline(always)]
    fn now() -> Self {
        Instant::now()
    }

    fn since(self, earlier: Self) -> i128 {
        // `duration_since` would make 0 of what is below it.
        match self.checked_duration_since(earlier) {
            Some(forward) => forward.as_nanos() as i128,
            None => -(earlier.duration_since(self).as_nanos() as i128),
        }
    }
}

impl Clock for SystemTime {
    const API: &'static str = "SystemTime::now";
    const BUILT_ON: &'static str = if cfg!(windows) { "GetSystemTimePreciseAsFileTime" } else { "CLOCK_REALTIME" };

    #[inline(always)]
    fn now() -> Self {
        SystemTime::now()
    }

    fn since(self, earlier: Self) -> i128 {
        match self.duration_since(earlier) {
            Ok(forward) => forward.as_nanos() as i128,
            Err(backward) => -(backward.duration().as_nanos() as i128),
        }
    }
}

/// One batch, and how long it took.
fn batch<C: Clock>(readings: &mut [C]) -> Duration {
    let start = Instant::now();
    for reading in readings {
        *reading = C::now();
    }
    start.elapsed()
}

fn joined<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

fn measure<C: Clock>(duration: Duration) {
    let mut readings = vec![C::now(); READS];
    let mut batch_ns = Vec::with_capacity(MAX_DURATIONS);
    let mut steps = Vec::with_capacity(MAX_STEPS);
    let mut differences = BTreeMap::<i128, u64>::new();
    let mut last = None;
    let mut batches = 0;

    let start = Instant::now();
    loop {
        batch(&mut readings);
        if start.elapsed() >= MAX_WARM_UP.min(duration / 4) {
            break;
        }
    }

    let start = Instant::now();
    while batches < MIN_BATCHES || start.elapsed() < duration {
        let took = batch(&mut readings);
        if batch_ns.len() < MAX_DURATIONS {
            batch_ns.push(took.as_nanos());
        }
        batches += 1;
        let to_first = last.map(|last| readings[0].since(last));
        let within = readings.windows(2).map(|pair| pair[1].since(pair[0]));
        for difference in within.clone() {
            *differences.entry(difference).or_insert(0) += 1;
        }
        let room = MAX_STEPS - steps.len();
        steps.extend(to_first.into_iter().chain(within).filter(|&step| step != 0).take(room));
        last = readings.last().copied();
    }

    println!(
        "{{\"clockscope_probe\":1,\"api\":\"{}\",\"built_on\":\"{}\",\
         \"moved_by\":{{\"windows\":\"performance_counter\",\"others\":\"clocksource\"}},\
         \"documented_coarse\":false,\"units_per_second\":1000000000,\"nominal_hz\":1000000000,\
         \"batch_reads\":{READS},\"batches\":{batches},\"batch_ns\":[{}],\"differences\":[{}],\"steps\":[{}]}}",
        C::API,
        C::BUILT_ON,
        joined(batch_ns),
        joined(differences.iter().map(|(difference, count)| format!("[{difference},{count}]"))),
        joined(steps),
    );
}

fn main() {
    let argument = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(milliseconds @ 1..=60_000) = argument else {
        eprintln!("usage: probe MILLISECONDS (1 to 60000)");
        std::process::exit(2);
    };
    let duration = Duration::from_millis(milliseconds);
    measure::<Instant>(duration);
    measure::<SystemTime>(duration);
}
