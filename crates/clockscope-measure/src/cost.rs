//! The question *cost*, and in the same pass the events between readings: every reading that is paid for is looked at.
//!
//! Batches of all clocks are interleaved, so that a drift of the machine's speed hits all alike. A batch is timed as a
//! whole, and its readings are judged after it.

mod record;

use std::sync::atomic::{AtomicBool, Ordering};

use clockscope::os::{self, Reference};
use clockscope::{Errno, Kind, Path, RawClock, counter};
use clockscope_machine::affinity::{self, AffinityError, Pinned};
use clockscope_machine::trial;
use clockscope_records::{Environment, Measurement, Run, SCHEMA_VERSION, Unknown};
use clockscope_statistics::{Batch, EventCounter, Judge, Reservoir, quantile};

use crate::advice;
use crate::catalogue::{Catalogue, PATIENCE_MS, Row, refusal};
use crate::facts::recorded_at;
use crate::sampler::{EmptyLoop, LONGEST, Probe, Sampled, Sampler};
use crate::timer::{Calibration, Rate, Timer, TimerError};

/// What a batch should take, in ns: 20 µs, less what an unusually slow one may take longer.
const BATCH_NS: f64 = 19_000.0;
/// Window of the first calibration, in ns: its bound is then below 100 ppm, well inside what events tolerate.
const FIRST_WINDOW_NS: f64 = 2e6;
/// The same in ticks of the reference, for a kernel without a fine clocksource (jiffies: 4 ms a tick).
const FIRST_WINDOW_TICKS: f64 = 64.0;
/// Batch costs that are kept of a clock; more are represented by an even sample of them.
const KEPT: usize = 4096;
/// Time between two batches that counts as a gap, in ns. What is done there takes microseconds.
const BETWEEN_BATCHES_NS: f64 = 1e6;
/// Batches whose median is taken as what a read costs at the moment.
const RECENT: usize = 31;

/// What to measure, and how.
#[derive(Debug)]
pub struct Request<'a> {
    /// Facts about the machine, which go into the record.
    pub environment: Environment,
    /// Time for sampling, in seconds, all clocks together. At least one round is made.
    pub duration_s: f64,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
    /// Set from outside to end early: what was measured until then is reported.
    pub stop: &'a AtomicBool,
}

/// Told between rounds how much of the time has passed, from 0 to 1. Nothing is being sampled meanwhile.
pub type Progress<'a> = dyn FnMut(f64) + 'a;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The CPU asked for cannot be measured on.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// Nothing can be timed.
    #[error(transparent)]
    Timer(#[from] TimerError),
}

/// Measures every clock of the catalogue. Pins the calling thread meanwhile. To be called while the process has one
/// thread, since clocks are first tried in a child process.
///
/// # Errors
/// The CPU cannot be used, or no clock answers that others could be measured against.
pub fn measure(
    catalogue: Catalogue,
    request: Request<'_>,
    progress: &mut Progress<'_>,
) -> Result<Measurement, MeasureError> {
    let Request { environment, duration_s, cpu, stop } = request;
    let (pinned, cpu_unknown) = pin(cpu)?;
    let catalogue = catalogue.tried(environment.counter_readable);
    let recorded_at = recorded_at(environment.counter_readable);
    let reference = reference(environment.counter_readable)?;
    let counters = Catalogue::counters().tried(environment.counter_readable);
    let timer = timer(&counters, reference);
    let calibration = Calibration::start(timer, reference);
    let first_rate = calibration.rate_after(FIRST_WINDOW_NS.max(FIRST_WINDOW_TICKS * reference.tick_ns()))?;

    let bench = Bench { timer, reference, first_rate, origin: timer.now() };
    let mut subjects: Vec<Subject> = catalogue.entries.into_iter().map(|row| Subject::new(row, &bench)).collect();
    let mut beside = Beside::new(&subjects, counters, &bench);
    let sampling = Calibration::start(timer, reference);
    bench.rounds(&mut subjects, &mut beside, &sampling, duration_s * 1e9, stop, progress);
    let sampled_s = sampling.elapsed_ns() / 1e9;
    let rate = calibration.rate()?;

    let baseline = beside.baseline(&subjects, rate);
    let context = record::Context { rate, timer, reference, environment: &environment, baseline: &baseline };
    let clocks: Vec<_> = subjects.into_iter().map(|subject| record::clock(subject, &context)).collect();
    let mut unknown = Unknown::new();
    if let Some(reason) = cpu_unknown {
        unknown.insert("cpu".to_owned(), reason);
    }
    let run = Run {
        duration_asked_s: duration_s,
        duration_s: sampled_s,
        cpu: pinned.as_ref().map(Pinned::cpu),
        timer: context.timer_record(),
        interrupted: stop.load(Ordering::Relaxed),
        unknown,
    };
    let advice = advice::advise(&clocks, &environment);
    Ok(Measurement { schema_version: SCHEMA_VERSION, recorded_at, environment, run, baseline, clocks, advice })
}

/// Pins to the CPU asked for, or to the current one if that can be done: the reason why not is told beside.
fn pin(cpu: Option<u32>) -> Result<(Option<Pinned>, Option<String>), AffinityError> {
    match cpu {
        Some(cpu) => affinity::pin(cpu).map(|pinned| (Some(pinned), None)),
        None => Ok(match affinity::current_cpu().map(affinity::pin) {
            Some(Ok(pinned)) => (Some(pinned), None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, Some("the system does not tell which CPU the thread runs on".to_owned())),
        }),
    }
}

/// The best reference that answers. Tried in a child, as clocks are.
fn reference(counter_readable: Option<bool>) -> Result<Reference, TimerError> {
    let references = os::references();
    let outcomes = trial::attempt(references.len(), PATIENCE_MS, &mut |index| {
        references[index].read(&mut Default::default()).map_err(|errno| errno.to_string())
    });
    let mut reasons = Vec::new();
    for (reference, outcome) in references.into_iter().zip(outcomes) {
        match refusal(outcome, counter_readable) {
            None => return Ok(reference),
            Some(reason) => reasons.push(format!("{}: {reason}", reference.name())),
        }
    }
    Err(TimerError::NoReference(reasons.join("; ")))
}

/// The ordered counter if a plain read of the counter succeeded here, else the reference.
fn timer(counters: &Catalogue, reference: Reference) -> Timer {
    let readable = counters.entries.iter().any(|row| row.sampler.is_ok());
    match counter::ordered() {
        Ok(counter) if readable => Timer::Counter(counter),
        _ => Timer::Reference(reference),
    }
}

/// The processor's own counter, in whatever reading sequence.
fn is_counter(row: &Row) -> bool {
    row.about.kind == Kind::Counter && row.about.path == Path::Instruction
}

/// One clock under measurement.
struct Subject {
    row: Row,
    state: Option<State>,
}

/// What a clock that can be read has shown so far.
struct State {
    events: EventCounter,
    /// `true` for the processor's counter, which is judged against the reference instead of against itself.
    judged_outside: bool,
    reads_per_batch: usize,
    costs: Reservoir,
    recent: Recent,
    dropped: u64,
    errors: u64,
    /// The first failure: after how many readings, and its number.
    first_error: Option<(u64, Errno)>,
    delivered: u64,
}

impl Subject {
    fn new(row: Row, bench: &Bench) -> Self {
        let state = row.sampler.is_ok().then(|| State::new(&row, bench));
        Self { row, state }
    }
}

impl State {
    fn new(row: &Row, bench: &Bench) -> Self {
        let rate = bench.first_rate;
        let scale = row.ns_per_unit(rate.ns_per_unit);
        let follows = scale.is_some() && matches!(row.about.kind, Kind::Counter | Kind::Monotonic | Kind::Wall);
        let judged_outside = is_counter(row) && follows;
        // The counter, as a reference, ticks finely; the rate is as uncertain as the calibration either way.
        let by_counter = !judged_outside && matches!(bench.timer, Timer::Counter(_));
        let tick_ns = if by_counter { 0.0 } else { bench.reference.tick_ns() };
        let judge =
            if follows { Judge::Reference { tick_ns, rate_error: rate.bound_ppm * 1e-6 } } else { Judge::Nobody };
        let nominal = row.nominal_resolution_ns(Some(rate.ns_per_unit), &mut Unknown::new()).unwrap_or(0.0);
        Self {
            events: EventCounter::new(scale.unwrap_or(1.0), nominal, judge, LONGEST),
            judged_outside,
            reads_per_batch: 1,
            costs: Reservoir::new(KEPT),
            recent: Recent::default(),
            dropped: 0,
            errors: 0,
            first_error: None,
            delivered: 0,
        }
    }

    fn count_error(&mut self, delivered: usize, error: Errno) {
        self.errors += 1;
        self.dropped += 1;
        self.first_error.get_or_insert((self.delivered + delivered as u64, error));
    }
}

/// The costs of the last batches: what a read costs at the moment, for telling a gap from a slow machine.
#[derive(Clone, Debug, Default)]
struct Recent {
    costs: [f64; RECENT],
    count: usize,
}

impl Recent {
    fn push(&mut self, cost: f64) {
        self.costs[self.count % RECENT] = cost;
        self.count += 1;
    }

    /// Their median; `None` before there are a few.
    fn median(&self) -> Option<f64> {
        let mut sorted = self.costs;
        let filled = &mut sorted[..self.count.min(RECENT)];
        (filled.len() >= 3).then(|| *filled.select_nth_unstable_by(self.count.min(RECENT) / 2, f64::total_cmp).1)
    }
}

/// What all clocks are timed and judged with.
struct Bench {
    timer: Timer,
    reference: Reference,
    first_rate: Rate,
    /// Timer value that all times are told from.
    origin: u64,
}

impl Bench {
    /// Finds how many reads fill a batch, then goes round all clocks, a batch each, until the time is over.
    fn rounds(
        &self,
        subjects: &mut [Subject],
        beside: &mut Beside,
        sampling: &Calibration,
        duration_ns: f64,
        stop: &AtomicBool,
        progress: &mut Progress<'_>,
    ) {
        // Twice: a clock that calibrates itself in its first milliseconds shows only then what it costs.
        for _ in 0..2 {
            for subject in subjects.iter_mut().chain(beside.subjects()) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                self.fit(subject);
            }
        }
        loop {
            for subject in subjects.iter_mut().chain(beside.subjects()) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                self.batch(subject, true);
            }
            let elapsed_ns = sampling.elapsed_ns();
            if elapsed_ns >= duration_ns {
                return;
            }
            progress(elapsed_ns / duration_ns);
        }
    }

    /// Doubles the reads of a batch until it is half as long as it should be, then sets their number.
    fn fit(&self, subject: &mut Subject) {
        if let Some(state) = &mut subject.state {
            state.reads_per_batch = 1;
        }
        loop {
            // The shortest of three: the first is cold, and any may be interrupted.
            let taken_ns = (0..3).filter_map(|_| self.batch(subject, false)).min_by(f64::total_cmp);
            let (Some(taken_ns), Some(state)) = (taken_ns, &mut subject.state) else { return };
            let reads = state.reads_per_batch;
            if taken_ns >= BATCH_NS / 2.0 || reads == LONGEST {
                let cost_ns = taken_ns / reads as f64;
                // A timer too coarse to show any time gives an infinite number, of which the longest batch is made.
                state.reads_per_batch = ((BATCH_NS / cost_ns) as usize).clamp(1, LONGEST);
                return;
            }
            state.reads_per_batch = (reads * 2).min(LONGEST);
        }
    }

    /// Samples one batch and looks at every reading of it. Tells how long it took, in ns, if it was delivered whole.
    /// Its cost is kept if `keep`.
    fn batch(&self, subject: &mut Subject, keep: bool) -> Option<f64> {
        let (Ok(sampler), Some(state)) = (&mut subject.row.sampler, &mut subject.state) else { return None };
        let outer = state.judged_outside.then_some(&self.reference);
        let sampled = sampler.sample(&self.timer, outer, state.reads_per_batch);
        let (before_ns, after_ns) = self.bounds(&sampled);
        let cost_ns = state.recent.median();
        state.events.batch(Batch { values: sampler.values(sampled.delivered), before_ns, after_ns, cost_ns });
        if let Some(error) = sampled.error {
            state.count_error(sampled.delivered, error);
            state.delivered += sampled.delivered as u64;
            return None;
        }
        state.delivered += sampled.delivered as u64;
        let ticks = sampled.after.wrapping_sub(sampled.before) as i64 as f64;
        let taken_ns = ticks * self.first_rate.ns_per_unit;
        if keep {
            state.costs.push(ticks / sampled.delivered as f64);
            state.recent.push(taken_ns / sampled.delivered as f64);
        }
        if self.ns_since(sampled.after) > BETWEEN_BATCHES_NS {
            state.events.gap_between_batches();
        }
        Some(taken_ns)
    }

    /// The reference around a batch, in ns since some origin.
    fn bounds(&self, sampled: &Sampled) -> (f64, f64) {
        match sampled.reference_ns {
            Some((before, after)) => (before as i64 as f64, after as i64 as f64),
            None => (self.ns(sampled.before), self.ns(sampled.after)),
        }
    }

    fn ns(&self, timer: u64) -> f64 {
        timer.wrapping_sub(self.origin) as i64 as f64 * self.first_rate.ns_per_unit
    }

    fn ns_since(&self, timer: u64) -> f64 {
        self.timer.now().wrapping_sub(timer) as i64 as f64 * self.first_rate.ns_per_unit
    }
}

/// What is measured beside the clocks that were asked for, to compare their costs with.
struct Beside {
    empty_loop: Subject,
    /// The cheapest counter, where none was asked for.
    counter: Option<Subject>,
}

impl Beside {
    fn new(subjects: &[Subject], counters: Catalogue, bench: &Bench) -> Self {
        let empty =
            Row { about: record::empty_loop(), sampler: Ok(Box::new(Probe::new(EmptyLoop)) as Box<dyn Sampler>) };
        let has_counter = subjects.iter().any(|subject| is_counter(&subject.row) && subject.state.is_some());
        // The plain sequence comes first on every architecture, and it is the cheapest.
        let counter = counters.entries.into_iter().find(|row| !has_counter && row.sampler.is_ok());
        Self { empty_loop: Subject::new(empty, bench), counter: counter.map(|row| Subject::new(row, bench)) }
    }

    fn subjects(&mut self) -> impl Iterator<Item = &mut Subject> {
        std::iter::once(&mut self.empty_loop).chain(&mut self.counter)
    }

    fn baseline(&self, subjects: &[Subject], rate: Rate) -> clockscope_records::Baseline {
        let counters = subjects.iter().chain(&self.counter).filter(|subject| is_counter(&subject.row));
        let fastest = counters
            .filter_map(|subject| Some((subject.row.about.name.to_string(), subject.median_cost_ns(rate)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        clockscope_records::Baseline {
            empty_loop_ns: self.empty_loop.median_cost_ns(rate),
            fastest_counter: fastest.map(|(name, cost_ns)| clockscope_records::FastestCounter { name, cost_ns }),
        }
    }
}

impl Subject {
    fn median_cost_ns(&self, rate: Rate) -> Option<f64> {
        let mut kept = self.state.as_ref()?.costs.kept().to_vec();
        kept.sort_by(f64::total_cmp);
        quantile(&kept, 0.5).filter(|cost| *cost > 0.0).map(|cost| cost * rate.ns_per_unit)
    }
}
