//! Records runs of *steps*, and computes their answers again.
//!
//! The answer is a function of the batches that were read, of the timer that they are timed by, and
//! of a few facts. A recording holds these: the same code takes a batch from a clock or from a
//! recording.

mod fault;

use clockscope_records::{
    Envelope, RecordedBatch, RecordedClock, RecordedRun, RecordedTimer, Recording, Resolution, Steps, Unit,
};
use clockscope_system::{ClockInfo, Errno};

use crate::instrument::bench::Progress;
use crate::instrument::catalog::Catalog;
use crate::instrument::error::MeasureError;
use crate::instrument::measured_clock::MeasuredState;
use crate::instrument::sampler::Sampled;
use crate::instrument::session::Session;
use crate::platform::Platform;
use crate::questions::steps::{Amount, Keep, ReadClock, ReadRun, TICK_READINGS};
use fault::{FREQUENCIES_HZ, MAX_CLOCKS, MAX_STEP_NS};
pub use fault::{RecordingFault, ReplayError};

/// Amount to read and record.
#[derive(Clone, Copy, Debug)]
pub struct RecordRequest {
    /// Reads of each clock, without a pause.
    pub reads: u64,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Answers *steps* as [`steps`](crate::steps()) does, and keeps every reading and what it takes to
/// compute the answer again. Each clock is read without any pause. Readings take 8 bytes each, and
/// those of a clock up to 24 while it is read.
///
/// # Errors
/// Those of [`steps`](crate::steps()), or the readings do not fit into memory.
pub fn record<P: Platform>(
    session: &Session<'_, P>,
    catalog: Catalog<P>,
    request: RecordRequest,
    progress: &mut Progress<'_>,
) -> Result<(Envelope<Steps>, RecordedRun), MeasureError> {
    let RecordRequest { reads, cpu } = request;
    let mut run = ReadRun::read(session, catalog, cpu, Amount::Reads(reads), Keep::Everything, progress)?;
    let recorded = RecordedRun {
        environment: session.environment.clone(),
        recorded_at: run.recorded_at.clone(),
        run: run.run.clone(),
        timer: run.timer.clone(),
        clocks: std::mem::take(&mut run.recorded),
    };
    Ok((run.answer(&session.environment), recorded))
}

/// Returns the answer of the run that a recording was made of. Reads no clock.
///
/// Memory and time are bounded by the size of the recording.
///
/// # Errors
/// The recording is damaged.
pub fn replay(recording: Recording) -> Result<Envelope<Steps>, ReplayError> {
    let is_intact = recording.is_intact();
    let run = recording.recorded;
    let recorded_by = run.environment.program.version.clone();
    let answer = if is_intact { answer(run) } else { Err(RecordingFault::Checksum) };
    answer.map_err(|fault| ReplayError { fault, recorded_by })
}

fn answer(run: RecordedRun) -> Result<Envelope<Steps>, RecordingFault> {
    let RecordedRun { environment, recorded_at, run, timer, clocks } = run;
    if clocks.len() > MAX_CLOCKS {
        return Err(RecordingFault::TooMany { count: clocks.len() });
    }
    check_timer(&timer)?;
    let identities: Vec<_> = clocks.iter().map(|clock| clock.identity.clone()).collect();
    let clocks = clocks.into_iter().map(|clock| read_clock(clock, &timer)).collect::<Result<_, _>>()?;
    let read = ReadRun { recorded_at, run, timer, clocks, recorded: Vec::new() };
    let mut answer = read.answer(&environment);
    // A catalog knows aliases and descriptions by static texts alone.
    for (clock, identity) in answer.found.clocks.iter_mut().zip(identities) {
        // A recording has no reason why this is unknown: it is found again.
        let counter_based = std::mem::replace(&mut clock.identity, identity).counter_based;
        clock.identity.counter_based = counter_based;
    }
    Ok(answer)
}

/// Takes the batches of a recorded clock as they were taken when it was read.
fn read_clock(clock: RecordedClock, timer: &RecordedTimer) -> Result<ReadClock, RecordingFault> {
    let info = info(&clock)?;
    let RecordedClock { identity, reason, warm_up_ns, batches, .. } = clock;
    if batches.iter().any(|batch| batch.readings.is_empty() && batch.error.is_none()) {
        return Err(RecordingFault::EmptyBatch { clock: identity.label() });
    }
    let state = reason.is_none().then(|| {
        let mut state = MeasuredState::new(&info, timer, TICK_READINGS);
        warm_up_ns.into_iter().for_each(|cost_ns| state.recent.push(cost_ns));
        batches.iter().for_each(|batch| take(&mut state, batch, timer));
        state
    });
    Ok(ReadClock::new(info, reason, state))
}

fn take(state: &mut MeasuredState, batch: &RecordedBatch, timer: &RecordedTimer) {
    let [before, after] = batch.timer;
    let sampled = Sampled {
        before,
        after,
        reference_ns: batch.reference_ns,
        delivered: batch.readings.len(),
        passes: 1,
        error: batch.error.map(Errno::new),
    };
    state.take(&sampled, &batch.readings, timer, true);
    state.pause(&sampled, batch.processed_at, timer);
}

/// Returns the description of a recorded clock, but for its aliases and its text.
fn info(clock: &RecordedClock) -> Result<ClockInfo, RecordingFault> {
    let identity = &clock.identity;
    if let Resolution::Nanoseconds(ns) = clock.resolution {
        check_length(ns)?;
    }
    if let Unit::Counts(Some(hz)) = clock.unit {
        check_frequency(hz)?;
    }
    let resolution = clock.resolution.clone();
    let info = ClockInfo::new(identity.name.clone(), identity.kind, identity.path, resolution, "");
    Ok(ClockInfo {
        unit: clock.unit,
        basis: identity.basis,
        is_ordered: identity.is_ordered,
        is_coarse: identity.is_coarse,
        is_steered: identity.is_steered,
        counts_suspend: identity.counts_suspend,
        is_device: identity.is_device,
        is_usual: identity.is_usual,
        is_wrapper: identity.is_wrapper,
        ..info
    })
}

fn check_timer(timer: &RecordedTimer) -> Result<(), RecordingFault> {
    [timer.tick_ns, timer.reference_tick_ns].into_iter().try_for_each(check_length)?;
    for rate in std::iter::once(timer.first_rate).chain(timer.mean_rate) {
        check_frequency(1e9 / rate.ns_per_unit)?;
        if rate.bound_ppm < 0.0 {
            return Err(RecordingFault::Bound { ppm: rate.bound_ppm });
        }
    }
    Ok(())
}

/// Checks a step or resolution, in ns.
fn check_length(ns: f64) -> Result<(), RecordingFault> {
    if (0.0..=MAX_STEP_NS).contains(&ns) { Ok(()) } else { Err(RecordingFault::Step { ns }) }
}

fn check_frequency(hz: f64) -> Result<(), RecordingFault> {
    let [lowest, highest] = FREQUENCIES_HZ;
    if (lowest..=highest).contains(&hz) { Ok(()) } else { Err(RecordingFault::Frequency { hz }) }
}
