//! What every measurement begins with: a pinned thread, clocks that answered when they were tried, a timer, a reference
//! and the timer's rate.

use std::sync::atomic::{AtomicBool, Ordering};

use clockscope::os::{self, Reference};
use clockscope::{RawClock, counter};
use clockscope_machine::affinity::{self, AffinityError, Pinned};
use clockscope_machine::trial;
use clockscope_records::{Answer, Environment, Run, Unknown};

use crate::catalogue::{Catalogue, PATIENCE_MS, refusal};
use crate::context::Context;
use crate::error::MeasureError;
use crate::facts::recorded_at;
use crate::sampler::Sampled;
use crate::timer::{Calibration, Rate, Timer, TimerError};

/// Window of the first calibration, in ns: its bound is then below 100 ppm, well inside what events tolerate.
const FIRST_WINDOW_NS: f64 = 2e6;
/// The same in ticks of the reference, for a kernel without a fine clocksource (jiffies: 4 ms a tick).
const FIRST_WINDOW_TICKS: f64 = 64.0;

/// Told between rounds how much of the time has passed, from 0 to 1. Nothing is being sampled meanwhile.
pub type Progress<'a> = dyn FnMut(f64) + 'a;

/// A measurement that is ready to begin. Dropping it gives the thread its former CPUs back.
pub(crate) struct Setup<'a> {
    /// The clocks that were asked for, those that did not answer with their reasons.
    pub(crate) catalogue: Catalogue,
    /// The processor's counter alone.
    pub(crate) counters: Catalogue,
    pub(crate) recorded_at: Option<String>,
    pub(crate) bench: Bench<'a>,
    /// Under way since before the first batch.
    pub(crate) calibration: Calibration,
    pinned: Option<Pinned>,
    cpu_unknown: Option<String>,
}

/// What answered when it was tried, and the reasons of what did not.
struct Answering {
    catalogue: Catalogue,
    counters: Catalogue,
    recorded_at: Option<String>,
    reference: Reference,
}

impl Answering {
    fn tried(catalogue: Catalogue, counter_readable: Option<bool>) -> Result<Self, MeasureError> {
        Ok(Self {
            catalogue: catalogue.tried(counter_readable)?,
            counters: Catalogue::counters().tried(counter_readable)?,
            recorded_at: recorded_at(counter_readable)?,
            reference: answering(os::references(), counter_readable)?,
        })
    }
}

/// How long sampling was to take, and took.
pub(crate) struct Sampling {
    pub(crate) duration_asked_s: Option<f64>,
    pub(crate) reads_asked: Option<u64>,
    pub(crate) duration_s: f64,
    pub(crate) interrupted: bool,
}

impl<'a> Setup<'a> {
    /// Tries the clocks that it takes.
    pub(crate) fn new(
        catalogue: Catalogue,
        environment: &Environment,
        cpu: Option<u32>,
        stop: &'a AtomicBool,
    ) -> Result<Self, MeasureError> {
        let (pinned, cpu_unknown) = pin(cpu)?;
        let answering = Answering::tried(catalogue, environment.counter_readable)?;
        Self::with(answering, (pinned, cpu_unknown), stop)
    }

    /// The same of clocks that a test knows to be readable: it has other threads beside it, and cannot try them.
    #[cfg(test)]
    pub(crate) fn untried(catalogue: Catalogue, stop: &'a AtomicBool) -> Result<Self, MeasureError> {
        let reference =
            os::references().into_iter().next().ok_or(TimerError::NoReference("there is none".to_owned()))?;
        let answering = Answering { catalogue, counters: Catalogue::counters(), recorded_at: None, reference };
        Self::with(answering, pin(None)?, stop)
    }

    fn with(
        answering: Answering,
        (pinned, cpu_unknown): (Option<Pinned>, Option<String>),
        stop: &'a AtomicBool,
    ) -> Result<Self, MeasureError> {
        let Answering { catalogue, counters, recorded_at, reference } = answering;
        // A counter that stands still is a result, and no timer.
        let (timer, calibration, first_rate) = calibrated(timer(&counters, reference), reference)
            .or_else(|_| calibrated(Timer::Reference(reference), reference))?;
        let bench = Bench { timer, reference, first_rate, origin: timer.now(), stop };
        Ok(Self { catalogue, counters, recorded_at, bench, calibration, pinned, cpu_unknown })
    }

    /// The same for a run whose threads are on many CPUs.
    pub(crate) fn run_across(
        &self,
        sampling: Sampling,
        cpus: &[u32],
        environment: &Environment,
    ) -> Result<Run, MeasureError> {
        let mut run = self.run(sampling, self.context(environment).timer_record());
        run.cpu = None;
        run.unknown.insert("cpu".to_owned(), format!("a thread on each of CPUs {}", affinity::show_cpus(cpus)));
        Ok(run)
    }

    /// The answer to a question that was asked for so long since then: on this thread, or on one on each of these CPUs.
    pub(crate) fn answer<F>(
        self,
        (asked_s, since): (f64, &Calibration),
        cpus: Option<&[u32]>,
        environment: Environment,
        found: F,
    ) -> Result<Answer<F>, MeasureError> {
        let sampling = Sampling::of_time(asked_s, since, &self.bench);
        let run = match cpus {
            Some(cpus) => self.run_across(sampling, cpus, &environment)?,
            None => self.run(sampling, self.context(&environment).timer_record()),
        };
        Ok(Answer::new(self.recorded_at, environment, run, found))
    }

    /// The CPU that the thread is pinned to.
    pub(crate) fn cpu(&self) -> Option<u32> {
        self.pinned.as_ref().map(Pinned::cpu)
    }

    /// What records need, with the timer's rate until now; with its first one, if it went back since then.
    pub(crate) fn context<'e>(&self, environment: &'e Environment) -> Context<'e> {
        let rate = self.calibration.rate().unwrap_or(self.bench.first_rate);
        Context { rate, timer: self.bench.timer, reference: self.bench.reference, environment }
    }

    /// How the run was made, for the record.
    pub(crate) fn run(&self, sampling: Sampling, timer: clockscope_records::Timer) -> Run {
        let mut unknown = Unknown::new();
        if let Some(reason) = &self.cpu_unknown {
            unknown.insert("cpu".to_owned(), reason.clone());
        }
        if self.calibration.rate().is_err() {
            let reason = "it stood still or went back under way: this is its frequency at the start";
            unknown.insert("timer.frequency_hz".to_owned(), reason.to_owned());
        }
        Run {
            duration_asked_s: sampling.duration_asked_s,
            reads_asked: sampling.reads_asked,
            duration_s: sampling.duration_s,
            runs: None,
            cpu: self.cpu(),
            timer,
            interrupted: sampling.interrupted,
            unknown,
        }
    }
}

impl Sampling {
    /// Of a run that was to take so long.
    pub(crate) fn of_time(asked_s: f64, since: &Calibration, bench: &Bench<'_>) -> Self {
        Self {
            duration_asked_s: Some(asked_s),
            reads_asked: None,
            duration_s: since.elapsed_ns() / 1e9,
            interrupted: bench.is_stopped(),
        }
    }
}

/// Pins to the CPU asked for, or to the current one if that can be done: the reason why not is told beside.
fn pin(cpu: Option<u32>) -> Result<(Option<Pinned>, Option<String>), AffinityError> {
    match cpu {
        Some(cpu) => affinity::pin(cpu).map(|pinned| (Some(pinned), None)),
        None => Ok(match affinity::current_cpu().map(affinity::pin) {
            Some(Ok(pinned)) => (Some(pinned), None),
            Some(Err(error)) => (None, Some(format!("not pinned: {error}"))),
            None => (None, Some("not pinned: the system does not tell which CPU the thread runs on".to_owned())),
        }),
    }
}

/// The first of these that answers. Tried in a child, as clocks are.
pub(crate) fn answering(references: Vec<Reference>, counter_readable: Option<bool>) -> Result<Reference, MeasureError> {
    let outcomes = trial::attempt(references.len(), PATIENCE_MS, &mut |index| {
        references[index].read(&mut Default::default()).map_err(|errno| errno.to_string())
    })?;
    let mut reasons = Vec::new();
    for (reference, outcome) in references.into_iter().zip(outcomes) {
        match refusal(outcome, counter_readable) {
            None => return Ok(reference),
            Some(reason) => reasons.push(format!("{}: {reason}", reference.name())),
        }
    }
    Err(TimerError::NoReference(reasons.join("; ")).into())
}

/// A timer, its calibration under way, and its first rate.
fn calibrated(timer: Timer, reference: Reference) -> Result<(Timer, Calibration, Rate), TimerError> {
    let calibration = Calibration::start(timer, reference);
    let first_rate = calibration.rate_after(FIRST_WINDOW_NS.max(FIRST_WINDOW_TICKS * reference.tick_ns()))?;
    Ok((timer, calibration, first_rate))
}

/// The ordered counter if a plain read of the counter succeeded here, else the reference.
fn timer(counters: &Catalogue, reference: Reference) -> Timer {
    let readable = counters.entries.iter().any(|row| row.sampler.is_ok());
    match counter::ordered() {
        Ok(counter) if readable => Timer::Counter(counter),
        _ => Timer::Reference(reference),
    }
}

/// What all clocks are timed and judged with.
pub(crate) struct Bench<'a> {
    pub(crate) timer: Timer,
    pub(crate) reference: Reference,
    pub(crate) first_rate: Rate,
    /// Timer value that all times are told from.
    pub(crate) origin: u64,
    /// Set from outside to end early.
    pub(crate) stop: &'a AtomicBool,
}

impl Bench<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The reference around a batch, in ns since some origin.
    pub(crate) fn bounds(&self, sampled: &Sampled) -> (f64, f64) {
        match sampled.reference_ns {
            Some((before, after)) => (before as i64 as f64, after as i64 as f64),
            None => (self.ns(sampled.before), self.ns(sampled.after)),
        }
    }

    fn ns(&self, timer: u64) -> f64 {
        timer.wrapping_sub(self.origin) as i64 as f64 * self.first_rate.ns_per_unit
    }

    /// From then until now.
    pub(crate) fn ns_since(&self, timer: u64) -> f64 {
        self.timer.now().wrapping_sub(timer) as i64 as f64 * self.first_rate.ns_per_unit
    }
}
