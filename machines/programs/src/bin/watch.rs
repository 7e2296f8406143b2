//! Watches `clockscope::now()` for so many seconds, on a thread for each of up to four CPUs, and
//! prints what it saw as one JSON object.
//!
//! Every reading is compared with the largest that any thread had made known before it, and with
//! CLOCK_MONOTONIC, read by a system call right before and right after it. It is made for machines
//! whose clocks are broken: it reads no other clock, and ends whatever they do.

#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::sync::atomic::{AtomicU64, Ordering};

use clockscope::{Errno, Source};
use clockscope_core::os::{self, Timeline};

const MOST_THREADS: usize = 4;

/// After so many readings the frequency is asked for, which has the counter used.
const READS_BEFORE: u64 = 8;

/// Number of looks at where the time comes from.
const SAMPLES: usize = 101;

/// So many readings of a clock that stands still are enough: nobody waits for ever.
const STUCK: u64 = 10_000_000;

/// Observations of one thread, or of all of them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) reads: u64,
    /// Readings below one that was known before.
    pub(crate) regressions: u64,
    /// Those below one of this very thread.
    pub(crate) own_regressions: u64,
    /// Largest distance from the interval of CLOCK_MONOTONIC around the reading, in ns.
    pub(crate) outside_ns: u64,
    /// The longest time from one reading to the next on one thread, in ns.
    pub(crate) pause_ns: u64,
    /// Regressions and distance of this generation alone.
    pub(crate) generation: u64,
    pub(crate) last_regressions: u64,
    pub(crate) last_outside_ns: u64,
    pub(crate) seconds: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: watch SECONDS";
    let seconds: f64 = std::env::args().nth(1).ok_or(usage)?.parse().map_err(|_| usage)?;
    let reference = reference();
    let source_first = {
        let _first = clockscope::now();
        clockscope::source()
    };
    let seen = watch(&reference, seconds)?;
    // Compares once more, and so finds a counter that stands still.
    let bound_ns = clockscope::error_bound().map(|bound| bound.largest.as_nanos());
    let outcome = clockscope::evidence().into_iter().find(|evidence| evidence.name == "outcome");
    let demotion = outcome.as_ref().and_then(|outcome| match &outcome.value {
        Some(clockscope::Value::Word(word)) => Some(word.clone()),
        _ => None,
    });
    let json = [
        ("reads", seen.reads.to_string()),
        ("regressions", seen.regressions.to_string()),
        ("own_regressions", seen.own_regressions.to_string()),
        ("last_regressions", seen.last_regressions.to_string()),
        ("outside_ns", seen.outside_ns.to_string()),
        ("pause_ns", seen.pause_ns.to_string()),
        ("last_outside_ns", seen.last_outside_ns.to_string()),
        ("bound_ns", bound_ns.map_or("null".into(), |ns| ns.to_string())),
        ("source_first", format!("\"{source_first:?}\"")),
        ("source_last", format!("\"{:?}\"", source())),
        ("generation", clockscope::generation().to_string()),
        ("demotion", demotion.map_or("null".into(), |word| format!("{word:?}"))),
        ("outcome", outcome.map_or("null".into(), |outcome| format!("{:?}", outcome.seen))),
        ("seconds", format!("{:.3}", seen.seconds)),
    ];
    println!("{{{}}}", json.map(|(key, value)| format!("\"{key}\": {value}")).join(", "));
    Ok(())
}

/// CLOCK_MONOTONIC by the system call: the only clock that can be read where the counter is
/// disabled. Another one on systems that are not Linux.
pub(crate) fn reference() -> Timeline {
    let reference = Timeline::new();
    reference.counter_is_disabled();
    reference
}

/// Source of the time when the counter was asked for, in most looks: the machine may stop between
/// the question and a look, for longer than what the question has published lasts.
pub(crate) fn source() -> Source {
    let mut other = None;
    let mut by_counter = 0;
    for _ in 0..SAMPLES {
        let _frequency = clockscope::frequency();
        match clockscope::source() {
            Source::Counter => by_counter += 1,
            source => other = Some(source),
        }
    }
    other.filter(|_| by_counter <= SAMPLES / 2).unwrap_or(Source::Counter)
}

/// All threads' sum, or largest.
pub(crate) fn watch(reference: &Timeline, seconds: f64) -> Result<Seen, Errno> {
    let cpus = os::allowed_cpus().unwrap_or_else(|_| vec![0]);
    let known = AtomicU64::new(0);
    let threads = std::thread::scope(|scope| {
        let start = |cpu: &u32| {
            let cpu = *cpu;
            let known = &known;
            scope.spawn(move || {
                // Where it cannot be bound the thread runs anywhere, and sees as much.
                let _bound = os::set_allowed_cpus(&[cpu]);
                watch_here(reference, known, seconds)
            })
        };
        let threads: Vec<_> = cpus.iter().take(MOST_THREADS).map(start).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(Errno::UNSUPPORTED)))
            .collect::<Result<Vec<Seen>, Errno>>()
    })?;
    Ok(threads.into_iter().reduce(together).unwrap_or_default())
}

/// Reads until the time is over.
fn watch_here(reference: &Timeline, known: &AtomicU64, seconds: f64) -> Result<Seen, Errno> {
    let mut seen = Seen::default();
    let (mut own, mut unchanged, mut former) = (0, 0, 0);
    let start = reference.now_ns()?;
    let mut last = start;
    loop {
        let generation = clockscope::generation();
        let least = known.load(Ordering::Acquire);
        let before = reference.now_ns()?;
        let now = clockscope::now().as_ns();
        let after = reference.now_ns()?;
        known.fetch_max(now, Ordering::Release);
        // Where each reading takes long, they are too rare for the counter to be used.
        if seen.reads % READS_BEFORE == 0 {
            let _frequency = clockscope::frequency();
        }
        if generation != seen.generation {
            (seen.generation, seen.last_regressions, seen.last_outside_ns) = (generation, 0, 0);
        }
        let is_regression = u64::from(now < least);
        let outside_ns = before.saturating_sub(now).max(now.saturating_sub(after));
        seen.reads += 1;
        seen.pause_ns = seen.pause_ns.max(after.saturating_sub(last));
        last = after;
        seen.regressions += is_regression;
        seen.own_regressions += u64::from(now < own);
        seen.outside_ns = seen.outside_ns.max(outside_ns);
        // Not those in which a generation ended.
        if generation == clockscope::generation() {
            seen.last_regressions += is_regression;
            seen.last_outside_ns = seen.last_outside_ns.max(outside_ns);
        }
        own = now;
        seen.seconds = after.saturating_sub(start) as f64 / 1e9;
        unchanged = if after == former { unchanged + 1 } else { 0 };
        former = after;
        if seen.seconds >= seconds || unchanged > STUCK {
            seen.pause_ns = seen.pause_ns.max(reference.now_ns()?.saturating_sub(last));
            return Ok(seen);
        }
    }
}

fn together(a: Seen, b: Seen) -> Seen {
    // A thread that missed the last generation has nothing to say of it.
    let last = |seen: &Seen, value: u64| if seen.generation == a.generation.max(b.generation) { value } else { 0 };
    Seen {
        reads: a.reads + b.reads,
        regressions: a.regressions + b.regressions,
        own_regressions: a.own_regressions + b.own_regressions,
        outside_ns: a.outside_ns.max(b.outside_ns),
        pause_ns: a.pause_ns.max(b.pause_ns),
        generation: a.generation.max(b.generation),
        last_regressions: last(&a, a.last_regressions) + last(&b, b.last_regressions),
        last_outside_ns: last(&a, a.last_outside_ns).max(last(&b, b.last_outside_ns)),
        seconds: a.seconds.max(b.seconds),
    }
}
