//! The question *gaps*: what time threads lose. A thread per CPU does nothing but read the timer;
//! where two reads are further apart than they should be, it asks the system what it has counted
//! meanwhile.

mod cause;
mod watch;

use clockscope_records::{Cause, CpuGaps, Envelope, Figure, Gaps, Unknown, WorstGap, texts};
use clockscope_statistics::{median, quantile};
use clockscope_system::account;

use crate::instrument::bench::{Bench, Progress, Sampling, Setup};
use crate::instrument::catalog::Catalog;
use crate::instrument::error::MeasureError;
use crate::instrument::pair::Deadline;
use crate::instrument::session::Session;
use crate::instrument::stall_limit;
use crate::instrument::timer::Timer;
use crate::platform::{Clocks, Platform};
use crate::questions::across::team::on_each;
use watch::{GapThresholds, MAX_WORST_GAPS, Watch, WatchSources};

/// Shortest pause, in ns, that may have been an interrupt: after it the account is renewed, so that
/// a later gap is not explained by what was counted before.
const MIN_PAUSE_NS: f64 = 1e3;
/// Turns of the loop from which the length of one follows.
const TURNS: usize = 1 << 10;
/// Number of them that make a run, of which the mean is taken.
const TURNS_OF_RUN: usize = 1 << 5;
/// Shortest gap, in turns of the loop: a slow timer must not be taken for a lost thread.
const MIN_TURNS: f64 = 4.0;
/// Shortest gap, in steps of the timer: a coarse one must not be taken for a lost thread, either.
const MIN_STEPS: f64 = 2.0;
/// Length of a part of the run, in ns: the time between two signs of progress.
const PART_NS: f64 = 250e6;

/// Request for a search for gaps: what to look for, and how.
#[derive(Clone, Debug)]
pub struct GapsRequest {
    /// Shortest time between two reads that counts, in seconds. Where the loop itself takes long,
    /// it is four turns of it.
    pub threshold_s: f64,
    /// Time for which to look, in seconds.
    pub duration_s: f64,
    /// CPUs to look on, all at once; `None` for the current one.
    pub cpus: Option<Vec<u32>>,
}

/// Looks for gaps. The CPUs are fully busy meanwhile. Memory does not grow with the number of gaps.
///
/// # Errors
/// A CPU that was asked for cannot be used, or no clock answers that measures time.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn gaps<P: Platform>(
    session: &Session<'_, P>,
    request: &GapsRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Gaps>, MeasureError> {
    let GapsRequest { threshold_s, duration_s, ref cpus } = *request;
    let platform = session.platform;
    let cpus = cpus.as_ref().map(|cpus| crate::questions::across::cpus(platform, Some(cpus))).transpose()?;
    let setup = Setup::new(session, Catalog::counters(platform), None)?;
    let bench = &setup.bench;
    let (loop_counts, step) = turn(&bench.timer);
    let least_counts = (loop_counts * MIN_TURNS).max(MIN_STEPS * step.max(bench.timer.tick_ns()));
    let requested_counts = threshold_s * 1e9 / bench.facts.first_rate.ns_per_unit;
    let limits = GapThresholds {
        threshold: requested_counts.max(least_counts) as u64,
        pause: (MIN_PAUSE_NS / bench.facts.first_rate.ns_per_unit).max(least_counts) as u64,
        stall_turns: stall_limit::turns(loop_counts * bench.facts.first_rate.ns_per_unit, bench.seen_step_ns()),
    };
    let sampling = bench.calibrate();
    let mut watches = match &cpus {
        Some(cpus) => cpus.iter().map(|cpu| Watch::new(Some(*cpu), limits)).collect(),
        None => vec![Watch::new(setup.cpu(), limits)],
    };
    // In parts, so that the user sees progress. A thread is started anew for each: what is between
    // them is not watched, and not counted.
    loop {
        let left_ns = duration_s * 1e9 - bench.elapsed_ns(&sampling);
        // Where the timer stands still there is nothing to be seen any more, nor how late it is.
        if left_ns <= 0.0 || bench.is_stopped() || watches.iter().any(|watch| watch.failure.is_some()) {
            break;
        }
        watch_part(bench, &mut watches, cpus.is_some(), left_ns.min(PART_NS));
        progress((bench.elapsed_ns(&sampling) / (duration_s * 1e9)).min(1.0));
    }
    let sampling = Sampling::of_time(duration_s, &sampling, bench);
    let run = match cpus {
        Some(cpus) => setup.run_across(sampling, &cpus),
        None => setup.run(sampling),
    };
    let unit_ns = 1e9 / run.timer.frequency_hz;
    let threshold_ns = if requested_counts >= least_counts { threshold_s * 1e9 } else { least_counts * unit_ns };
    let found = record(watches, threshold_ns, loop_counts * unit_ns, unit_ns);
    Ok(Envelope::of_run(setup.recorded_at, session.environment.clone(), run, found))
}

/// A thread's sight of the machine.
struct Real<'a, P: Platform> {
    bench: &'a Bench<'a, P>,
    /// The CPU that it is bound to.
    cpu: Option<u32>,
    deadline: Deadline<'a, P>,
}

impl<'a, P: Platform> Real<'a, P> {
    /// For a search of `length` counts.
    fn new(bench: &'a Bench<'a, P>, cpu: Option<u32>, length: u64) -> Self {
        let length_ns = (length as f64 * bench.facts.first_rate.ns_per_unit) as u64;
        Self { bench, cpu, deadline: Deadline::new(bench.reference.clone(), length_ns, bench.stop) }
    }
}

impl<P: Platform> WatchSources for Real<'_, P> {
    fn now(&mut self) -> u64 {
        self.bench.timer.now()
    }

    fn thread(&mut self) -> account::ThreadAccount {
        self.bench.platform.thread_account()
    }

    fn cpu(&mut self) -> account::CpuAccount {
        let platform = self.bench.platform;
        platform.cpu_account(self.cpu.or_else(|| platform.current_cpu()).unwrap_or(0))
    }

    fn is_over(&mut self) -> bool {
        // At each look, so that all of them take the same time.
        self.deadline.hurry();
        self.deadline.is_over()
    }

    fn ns(&self, counts: u64) -> f64 {
        counts as f64 * self.bench.facts.first_rate.ns_per_unit
    }
}

/// Looks on all CPUs for some time, on threads that are bound there, or on this one.
fn watch_part<P: Platform>(bench: &Bench<'_, P>, watches: &mut [Watch], bound: bool, length_ns: f64) {
    let length = (length_ns / bench.facts.first_rate.ns_per_unit) as u64;
    if !bound {
        watches
            .iter_mut()
            .for_each(|watch| watch.watch(&mut Real::new(bench, watch.cpu, length), bench.facts.origin, length));
        return;
    }
    let cpus: Vec<u32> = watches.iter().filter_map(|watch| watch.cpu).collect();
    let slots: Vec<_> = watches.iter_mut().map(|watch| (watch.cpu, std::sync::Mutex::new(watch))).collect();
    let ended = on_each(bench.platform, &cpus, |cpu| {
        let slot = slots.iter().find(|(of, _)| *of == Some(cpu));
        if let Some(Ok(mut watch)) = slot.map(|(_, watch)| watch.lock()) {
            watch.watch(&mut Real::new(bench, Some(cpu), length), bench.facts.origin, length);
        }
    });
    for ((_, slot), ended) in slots.into_iter().zip(ended) {
        if let (Ok(watch), Err(error)) = (slot.into_inner(), ended) {
            watch.failure.get_or_insert(error.into());
        }
    }
}

/// Returns what a turn of the loop takes, and the smallest step that the timer shows, both in
/// counts. A turn may be shorter than a step, so it is measured over runs of turns: the median of
/// their means.
fn turn<P: Clocks>(timer: &Timer<P>) -> (f64, f64) {
    let readings: Vec<u64> = (0..=TURNS).map(|_| timer.now()).collect();
    let pairs = readings.windows(2);
    let turns: Vec<f64> = pairs.map(|pair| (pair[1].wrapping_sub(pair[0]) as i64).max(0) as f64).collect();
    let step = turns.iter().copied().filter(|turn| *turn > 0.0).min_by(f64::total_cmp);
    let means = turns.chunks(TURNS_OF_RUN).map(|run| run.iter().sum::<f64>() / run.len() as f64);
    (median(means).unwrap_or(0.0), step.unwrap_or(0.0))
}

fn record(watches: Vec<Watch>, threshold_ns: f64, loop_ns: f64, unit_ns: f64) -> Gaps {
    let mut worst: Vec<WorstGap> = watches
        .iter()
        .flat_map(|watch| {
            watch.worst.iter().map(|gap| WorstGap {
                at_s: gap.at as f64 * unit_ns / 1e9,
                cpu: watch.cpu,
                ns: gap.length as f64 * unit_ns,
                cause: gap.cause,
                counted: Some(gap.counted.clone()),
            })
        })
        .collect();
    worst.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    worst.truncate(MAX_WORST_GAPS);
    Gaps {
        threshold_ns,
        loop_ns: Figure::Known(loop_ns),
        gaps: watches.into_iter().map(|watch| of_cpu(watch, unit_ns)).collect(),
        worst,
    }
}

fn of_cpu(watch: Watch, unit_ns: f64) -> CpuGaps {
    let whole = (watch.observed + watch.unobserved) as f64;
    let lengths = watch.lengths.into_sorted();
    let unseen = if watch.observed > 0 { texts::NO_GAP } else { texts::NO_READINGS };
    let [p50_ns, p90_ns, p99_ns, p999_ns] =
        [(0.5, 1), (0.9, 1), (0.99, 100), (0.999, 1000)].map(|(q, fewest)| match watch.count {
            0 => Figure::unknown(unseen),
            count if count < fewest => Figure::unknown(format!("fewer than {fewest} gaps")),
            _ => Figure::of(quantile(&lengths, q).map(|counts| counts * unit_ns), unseen),
        });
    let mut causes: Vec<Cause> = watch
        .causes
        .iter()
        .map(|(cause, count, total, longest)| Cause {
            cause: *cause,
            count: *count,
            total_ns: *total as f64 * unit_ns,
            max_ns: *longest as f64 * unit_ns,
        })
        .collect();
    causes.sort_by(|a, b| b.total_ns.total_cmp(&a.total_ns));
    let [per_second, lost_percent] = [watch.count as f64 * 1e9 / unit_ns, watch.lost as f64 * 100.0]
        .map(|value| Figure::of((watch.observed > 0).then(|| value / whole), unseen));
    CpuGaps {
        cpu: Figure::of(watch.cpu, "the thread could not be pinned"),
        seconds: watch.observed as f64 * unit_ns / 1e9,
        unwatched_seconds: watch.unobserved as f64 * unit_ns / 1e9,
        count: watch.count,
        per_second,
        p50_ns,
        p90_ns,
        p99_ns,
        p999_ns,
        // The sample may have let go of it.
        max_ns: Figure::of(watch.worst.first().map(|gap| gap.length as f64 * unit_ns), unseen),
        lost_ns: watch.lost as f64 * unit_ns,
        lost_percent,
        causes,
        steal_ns: Figure::of(
            watch.steal_ns.map(|ns| ns as f64),
            "the kernel does not count it, or nothing was measured",
        ),
        reason: watch.failure.map(Unknown::from),
    }
}

#[cfg(test)]
mod tests {
    use super::watch::Gap;
    use super::*;
    use clockscope_records::{CauseKind, GapCounts};

    const LIMITS: GapThresholds = GapThresholds { threshold: 100, pause: 100, stall_turns: 1 << 20 };

    fn gap(length: u64, cause: CauseKind) -> Gap {
        Gap { at: 0, length, cause, counted: GapCounts::default() }
    }

    #[test]
    fn gaps_add_up() {
        let mut watch = Watch::new(Some(7), LIMITS);
        for length in 1..=2000 {
            let cause = if length % 10 == 0 { CauseKind::Softirq } else { CauseKind::Interrupt };
            watch.take(gap(length * 100, cause));
        }
        watch.observed = 900_000_000;
        watch.unobserved = 100_000_000;
        let found = record(vec![watch], 50.0, 10.0, 0.5);
        let of_cpu = &found.gaps[0];
        assert_eq!((of_cpu.count, of_cpu.seconds, of_cpu.max_ns.clone()), (2000, 0.45, Figure::Known(100_000.0)));
        assert_eq!(of_cpu.per_second.get(), Some(4000.0));
        assert_eq!(of_cpu.lost_ns, 100_050_000.0);
        assert!((of_cpu.lost_percent.get().unwrap() - 20.01).abs() < 1e-9);
        for (found, expected) in [(&of_cpu.p50_ns, 50_025.0), (&of_cpu.p99_ns, 99_000.0), (&of_cpu.p999_ns, 99_900.0)] {
            assert!((found.get().unwrap() - expected).abs() < 60.0, "{found:?} {expected}");
        }
        assert_eq!(
            of_cpu.causes.iter().map(|cause| (cause.cause, cause.count)).collect::<Vec<_>>(),
            [(CauseKind::Interrupt, 1800), (CauseKind::Softirq, 200)]
        );
        let longest: Vec<f64> = found.worst.iter().map(|gap| gap.ns).collect();
        assert_eq!(longest, (0..10).map(|n| f64::from(2000 - n) * 50.0).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_not_seen_is_not_zero() {
        let found = of_cpu(Watch::new(None, LIMITS), 1.0);
        assert_eq!(found.count, 0);
        for figure in [found.p50_ns, found.max_ns, found.lost_percent] {
            assert_eq!(figure, Figure::unknown(texts::NO_READINGS));
        }
        let mut quiet = Watch::new(Some(0), LIMITS);
        quiet.observed = 1000;
        let found = of_cpu(quiet, 1.0);
        assert_eq!((found.per_second.get(), found.lost_percent.get()), (Some(0.0), Some(0.0)));
        assert_eq!(found.p99_ns, Figure::unknown(texts::NO_GAP));
    }
}
