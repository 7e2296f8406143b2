//! Beginning of every measurement: a pinned thread, clocks that answered when they were tried, a
//! timer, a reference and the timer's rate.

use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::{Contents, Envelope, Figure, RecordedTimer, Run, TimerRate, TimerRecord, Unknown, show_cpus};
use clockscope_system::RawClock;
use clockscope_system::affinity::AffinityError;

use crate::instrument::catalog::Catalog;
use crate::instrument::context::Context;
use crate::instrument::error::MeasureError;
use crate::instrument::pair::Deadline;
use crate::instrument::session::Session;
use crate::instrument::timer::{Timer, TimerCalibration, TimerError};
use crate::platform::failure_reason::{PATIENCE_MS, refused, unreadable};
use crate::platform::{Clocks, Platform, ReferenceClock, Threads};

/// Window of the first calibration, in ns: its bound is then below 100 ppm, well inside what events
/// tolerate.
pub(crate) const FIRST_WINDOW_NS: f64 = 2e6;
/// Window of the first calibration, in ticks of the reference, for a kernel without a fine
/// clocksource (jiffies: 4 ms a tick).
const FIRST_WINDOW_TICKS: f64 = 64.0;

/// Largest lag of a reference behind the timer: a share of the time, and a number of ns besides.
const MAX_LAG_SHARE: f64 = 0.25;
const MAX_LAG_NS: f64 = 20e6;

/// Largest difference between a timer's mean rate and its first one where neither it nor the
/// reference stepped, in ppm: twice what the kernel may steer a reference by.
const STEERED_PPM: f64 = 1000.0;

/// Number of times that a thread that was moved is pinned again before it counts as not pinned:
/// CPUs go offline one at a time, and a system that keeps on reporting another CPU binds nothing.
const MAX_REPINS: usize = 3;

/// Called between rounds with the share of the time that has passed, from 0 to 1. Nothing is being
/// sampled meanwhile.
pub type Progress<'a> = dyn FnMut(f64) + 'a;

/// A measurement that is ready to begin. Dropping it gives the thread its former CPUs back.
pub(crate) struct Setup<'a, P: Platform> {
    pub(crate) session: &'a Session<'a, P>,
    /// The clocks that were asked for, those that did not answer with their reasons.
    pub(crate) catalog: Catalog<P>,
    /// The processor's counter alone.
    pub(crate) counters: Catalog<P>,
    pub(crate) recorded_at: Option<String>,
    pub(crate) bench: Bench<'a, P>,
    /// Begun before the first batch.
    pub(crate) calibration: TimerCalibration<P>,
    binding: CpuBinding<P>,
}

/// Place where the thread measures.
struct CpuBinding<P: Threads> {
    /// The CPU asked for.
    requested: Option<u32>,
    /// The CPU that it is pinned to, and what holds it there; or why it is not.
    pinned: Result<(u32, P::Pinned), Unpinned>,
}

/// Reason why a thread is not pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unpinned {
    Refused(AffinityError),
    UnknownCpu,
    Moved { from: u32, to: u32 },
}

impl Unpinned {
    /// Returns what records have of it.
    fn reason(&self) -> Unknown {
        match *self {
            Self::Refused(ref error) => format!("not pinned: {error}").into(),
            Self::UnknownCpu => "not pinned: the system does not show which CPU the thread runs on".into(),
            Self::Moved { from, to } => format!(
                "not pinned: the thread was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?"
            )
            .into(),
        }
    }
}

/// Clocks that answered when they were tried, and the reasons of those that did not.
struct Answering<P: Platform> {
    catalog: Catalog<P>,
    counters: Catalog<P>,
    recorded_at: Option<String>,
    /// At least one.
    references: Vec<P::Reference>,
}

impl<P: Platform> Answering<P> {
    fn tried(catalog: Catalog<P>, session: &Session<'_, P>) -> Result<Self, MeasureError> {
        Ok(Self {
            catalog: catalog.tried(session)?,
            counters: Catalog::counters(session.platform).tried(session)?,
            recorded_at: session.recorded_at()?,
            references: all_answering(session, session.platform.references())?,
        })
    }
}

/// Time that sampling was to take, and took.
pub(crate) struct Sampling {
    pub(crate) requested_duration_s: Option<f64>,
    pub(crate) requested_reads: Option<u64>,
    pub(crate) duration_s: f64,
    pub(crate) waited_s: Option<f64>,
    pub(crate) interrupted: bool,
}

impl<'a, P: Platform> Setup<'a, P> {
    /// Tries the clocks that it takes.
    pub(crate) fn new(
        session: &'a Session<'a, P>,
        catalog: Catalog<P>,
        cpu: Option<u32>,
    ) -> Result<Self, MeasureError> {
        let binding = CpuBinding::pin(session.platform, cpu)?;
        let answering = Answering::tried(catalog, session)?;
        Self::with(session, answering, binding)
    }

    /// Takes clocks that a test knows to be readable: it has other threads beside it, and cannot
    /// try them.
    #[cfg(test)]
    pub(crate) fn untried(session: &'a Session<'a, P>, catalog: Catalog<P>) -> Result<Self, MeasureError> {
        let platform = session.platform;
        let references = platform.references();
        let answering = Answering { catalog, counters: Catalog::counters(platform), recorded_at: None, references };
        Self::with(session, answering, CpuBinding::pin(platform, None)?)
    }

    fn with(
        session: &'a Session<'a, P>,
        answering: Answering<P>,
        mut binding: CpuBinding<P>,
    ) -> Result<Self, MeasureError> {
        let Answering { catalog, counters, recorded_at, references } = answering;
        let (platform, stop) = (session.platform, session.stop);
        let counter = counter(platform, &counters);
        let (mut calibration, mut first_rate) = calibrated(counter.as_ref(), &references)?;
        // The counters of two CPUs may disagree: a rate that began on one and ended on another is
        // that of neither.
        for _ in 0..MAX_REPINS {
            if binding.lost(platform).is_none() {
                break;
            }
            binding = binding.repinned(platform)?;
            (calibration, first_rate) = calibrated(counter.as_ref(), &references)?;
        }
        if let Some(reason) = binding.lost(platform) {
            binding.pinned = Err(reason);
        }
        let (timer, reference): (Timer<P>, _) = calibration.clocks();
        let facts = RecordedTimer {
            name: timer.name().to_owned(),
            is_counter: matches!(timer, Timer::Counter(_)),
            tick_ns: timer.tick_ns(),
            step: calibration.timer_step(),
            call: calibration.timer_call(),
            origin: timer.now(),
            first_rate,
            mean_rate: None,
            reference: reference.name().to_owned(),
            reference_tick_ns: calibration.reference_step_ns(),
            reference_origin: calibration.reference_began(),
            steering: steering(platform, &reference),
        };
        let seen_timer_step = calibration.seen_timer_step();
        let bench = Bench { platform, timer, reference, facts, seen_timer_step, stop };
        Ok(Self { session, catalog, counters, recorded_at, bench, calibration, binding })
    }

    /// Returns how a run was made whose threads are on these CPUs, for the record.
    pub(crate) fn run_across(&self, sampling: Sampling, cpus: &[u32]) -> Run {
        let cpu = Figure::unknown(format!("a thread on each of CPUs {}", show_cpus(cpus)));
        Run { cpu, ..self.run(sampling) }
    }

    /// The answer to a question that was asked for so long since then: on this thread, or on one on
    /// each of these CPUs.
    pub(crate) fn answer<F: Contents>(
        self,
        (duration_s, since): (f64, &TimerCalibration<P>),
        cpus: Option<&[u32]>,
        found: F,
    ) -> Envelope<F> {
        let sampling = Sampling::of_time(duration_s, since, &self.bench);
        let run = match cpus {
            Some(cpus) => self.run_across(sampling, cpus),
            None => self.run(sampling),
        };
        Envelope::of_run(self.recorded_at, self.session.environment.clone(), run, found)
    }

    /// The CPU that the thread is pinned to.
    pub(crate) fn cpu(&self) -> Option<u32> {
        self.binding.pinned.as_ref().ok().map(|(cpu, _)| *cpu)
    }

    /// The timer's mean rate until now; `None` if it stood still, went back, stepped or changed its
    /// rate, or if the reference did. Batches are far shorter than a run, so such a mean has
    /// nothing to do with what they took.
    fn mean_rate(&self) -> Option<TimerRate> {
        let (mean, first) = (self.calibration.rate().ok()?, self.bench.facts.first_rate);
        let changed_ppm = (mean.ns_per_unit / first.ns_per_unit - 1.0).abs() * 1e6;
        (changed_ppm <= STEERED_PPM + mean.bound_ppm + first.bound_ppm).then_some(mean)
    }

    /// Returns what records need, with the timer's mean rate until now, or its first one where that
    /// is none. Each call compares the clocks anew: figures of one record are by one context.
    pub(crate) fn context(&self) -> Context<'a> {
        let timer = RecordedTimer { mean_rate: self.mean_rate(), ..self.bench.facts.clone() };
        Context { timer, environment: &self.session.environment }
    }

    /// Returns how the run was made, for the record.
    pub(crate) fn run(&self, sampling: Sampling) -> Run {
        self.run_by(sampling, self.context().timer_record())
    }

    /// Returns how the run was made, for the record, with the timer as it was known when the
    /// figures were made.
    pub(crate) fn run_by(&self, sampling: Sampling, timer: TimerRecord) -> Run {
        Run {
            requested_duration_s: sampling.requested_duration_s,
            requested_reads: sampling.requested_reads,
            duration_s: sampling.duration_s,
            waited_s: sampling.waited_s,
            runs: None,
            cpu: self.binding.pinned.as_ref().map(|(cpu, _)| *cpu).map_err(Unpinned::reason).into(),
            timer_period_ns: None,
            timer,
            interrupted: sampling.interrupted,
        }
    }
}

impl Sampling {
    /// The record of a run that was to take `duration_s`.
    pub(crate) fn of_time<P: Platform>(duration_s: f64, since: &TimerCalibration<P>, bench: &Bench<'_, P>) -> Self {
        Self {
            requested_duration_s: Some(duration_s),
            requested_reads: None,
            duration_s: bench.elapsed_ns(since) / 1e9,
            waited_s: None,
            interrupted: bench.is_stopped(),
        }
    }
}

impl<P: Threads> CpuBinding<P> {
    /// Pins to the CPU asked for, or to the current one if that can be done.
    fn pin(platform: &P, cpu: Option<u32>) -> Result<Self, AffinityError> {
        let pinned = match (cpu, platform.current_cpu()) {
            (Some(cpu), _) => Ok((cpu, platform.pin(cpu)?)),
            (None, Some(cpu)) => platform.pin(cpu).map(|pinned| (cpu, pinned)).map_err(Unpinned::Refused),
            (None, None) => Err(Unpinned::UnknownCpu),
        };
        Ok(Self { requested: cpu, pinned })
    }

    /// Returns why the thread is not where it was pinned; `None` if it is, or never was.
    fn lost(&self, platform: &P) -> Option<Unpinned> {
        let (cpu, _) = self.pinned.as_ref().ok()?;
        let now = platform.current_cpu().filter(|now| now != cpu)?;
        Some(Unpinned::Moved { from: *cpu, to: now })
    }

    /// Pins the thread anew.
    fn repinned(self, platform: &P) -> Result<Self, AffinityError> {
        let requested = self.requested;
        // What held the thread gives it its former CPUs back, before it is bound again.
        drop(self);
        Self::pin(platform, requested)
    }
}

/// The first of these that answers. Tried in a child, as clocks are.
pub(crate) fn answering<P: Platform>(
    session: &Session<'_, P>,
    references: Vec<P::Reference>,
) -> Result<P::Reference, MeasureError> {
    all_answering(session, references).map(|mut answering| answering.swap_remove(0))
}

/// Returns those of these that answer, at least one.
fn all_answering<P: Platform>(
    session: &Session<'_, P>,
    references: Vec<P::Reference>,
) -> Result<Vec<P::Reference>, MeasureError> {
    let outcomes = session
        .platform
        .attempt(references.len(), PATIENCE_MS, &mut |index| references[index].read(&mut Default::default()))?;
    let (mut answering, mut refusing) = (Vec::new(), Vec::new());
    for (reference, outcome) in references.into_iter().zip(outcomes) {
        match refused(outcome, session.counter_readable()) {
            None => answering.push(reference),
            Some(reason) => refusing.push(unreadable(reference.name().to_owned(), reason)),
        }
    }
    if answering.is_empty() { Err(TimerError::NoReference(refusing).into()) } else { Ok(answering) }
}

/// Returns a calibration that has begun and its first rate, by the first of these references that
/// works. The timer is the counter, or the reference where the counter stands still: that is a
/// result, and not a timer.
fn calibrated<P: Clocks>(
    counter: Option<&P::Counter>,
    references: &[P::Reference],
) -> Result<(TimerCalibration<P>, TimerRate), TimerError> {
    for reference in references {
        if let Ok(found) = calibrated_with(counter, reference, false) {
            return Ok(found);
        }
    }
    // A kernel without a fine clocksource has none that moves within a millisecond.
    match references.first() {
        Some(reference) => calibrated_with(counter, reference, true),
        None => Err(TimerError::NoReference(Vec::new())),
    }
}

/// Returns a calibration by this reference that has begun, and its first rate: of the counter, or
/// of the reference where the counter stands still.
fn calibrated_with<P: Clocks>(
    counter: Option<&P::Counter>,
    reference: &P::Reference,
    is_patient: bool,
) -> Result<(TimerCalibration<P>, TimerRate), TimerError> {
    match counter.map(|counter| calibrated_by(Timer::Counter(counter.clone()), reference, is_patient)) {
        None | Some(Err(TimerError::Frozen { .. })) => {
            calibrated_by(Timer::Reference(reference.clone()), reference, is_patient)
        }
        Some(found) => found,
    }
}

/// Returns a calibration of this timer by this reference that has begun, and its first rate. Only a
/// patient caller waits for a reference that was not seen to move at the start.
fn calibrated_by<P: Clocks>(
    timer: Timer<P>,
    reference: &P::Reference,
    is_patient: bool,
) -> Result<(TimerCalibration<P>, TimerRate), TimerError> {
    let calibration = TimerCalibration::start(timer, reference.clone()).with_seen_moves();
    if !is_patient && !calibration.moves() {
        return Err(TimerError::ReferenceFrozen(reference.name().to_owned()));
    }
    let first_rate = calibration.rate_after(FIRST_WINDOW_NS.max(FIRST_WINDOW_TICKS * reference.tick_ns()))?;
    Ok((calibration, first_rate))
}

/// The ordered counter if a plain read of the counter succeeded here.
fn counter<P: Platform>(platform: &P, counters: &Catalog<P>) -> Option<P::Counter> {
    let is_readable = counters.entries.iter().any(|row| row.sampler.is_ok());
    platform.ordered_counter().ok().filter(|_| is_readable)
}

/// Returns by what share the kernel states that its steered clocks run faster than this reference;
/// 0 where that is steered as well, and where the kernel does not state it.
fn steering<P: Platform>(platform: &P, reference: &P::Reference) -> f64 {
    let stated_ppm = if reference.is_steered() { None } else { platform.steering_ppm() };
    stated_ppm.map_or(0.0, |ppm| ppm * 1e-6)
}

/// Tools that all clocks are timed and judged with.
pub(crate) struct Bench<'a, P: Platform> {
    pub(crate) platform: &'a P,
    pub(crate) timer: Timer<P>,
    pub(crate) reference: P::Reference,
    /// Facts about both, as known at the start.
    pub(crate) facts: RecordedTimer,
    seen_timer_step: Option<f64>,
    /// Set from outside to end early.
    pub(crate) stop: &'a AtomicBool,
}

impl<P: Platform> Bench<'_, P> {
    /// A calibration that begins now.
    pub(crate) fn calibrate(&self) -> TimerCalibration<P> {
        TimerCalibration::start(self.timer.clone(), self.reference.clone())
    }

    /// The end of `length_ns` that begin now, also where the reference stands still.
    pub(crate) fn deadline(&self, length_ns: u64) -> Deadline<'_, P> {
        let deadline = Deadline::new(self.reference.clone(), length_ns, self.stop);
        match self.timer {
            Timer::Counter(_) => deadline.beside(&self.timer, self.facts.first_rate),
            Timer::Reference(_) => deadline.with_step(self.seen_step_ns()),
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Time since then, in ns: the reference's, or the timer's if the reference has fallen far
    /// behind. A clock that stands still, goes back or refuses must not keep a question going for
    /// ever.
    pub(crate) fn elapsed_ns(&self, since: &TimerCalibration<P>) -> f64 {
        let by_reference = since.elapsed_ns();
        let Timer::Counter(_) = self.timer else { return by_reference };
        let most = by_reference * (1.0 + MAX_LAG_SHARE) + MAX_LAG_NS;
        // Again: one reading alone may be wrong, and the thread may have lost its CPU between the
        // two.
        if self.ns_since(since.began()) <= most || since.elapsed_ns() > by_reference + MAX_LAG_NS {
            return since.elapsed_ns();
        }
        self.ns_since(since.began()).max(since.elapsed_ns())
    }

    /// Returns the step that the timer was seen to take when it was calibrated; `None` if it took
    /// none.
    pub(crate) fn seen_step_ns(&self) -> Option<f64> {
        self.seen_timer_step.map(|step| step * self.facts.first_rate.ns_per_unit)
    }

    /// From then until now.
    pub(crate) fn ns_since(&self, timer: u64) -> f64 {
        self.facts.ns_between(timer, self.timer.now())
    }
}
