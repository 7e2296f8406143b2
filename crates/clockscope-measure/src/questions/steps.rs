//! The question *steps*: sequential reads of one clock after another, and all that their
//! differences show.

use clockscope_records::{
    ClockReason, Envelope, Environment, Figure, RecordedBatch, RecordedClock, RecordedTimer, Run, Steps, StepsRecord,
    Unknown, Worst, texts,
};
use clockscope_statistics::Tick;
use clockscope_system::{ClockInfo, Errno};

use crate::instrument::bench::{Bench, Progress, Sampling, Setup};
use crate::instrument::catalog::{Catalog, identity};
use crate::instrument::context::Context;
use crate::instrument::error::MeasureError;
use crate::instrument::measured_clock::{MeasuredClock, MeasuredState, ReadBatch, TickBudget};
use crate::instrument::record;
use crate::instrument::sampler::MAX_BATCH_READS;
use crate::instrument::session::Session;
use crate::instrument::{distribution, tick_record};
use crate::platform::Platform;

/// Readings of a clock that its tick is found from, where there is time for it.
pub(crate) const TICK_READINGS: usize = 1 << 16;
/// Batches that show what a read costs before any is looked at, and their reads.
const WARM_UP: (usize, usize) = (4, 16);

/// Amount to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Number of reads of each clock.
    Reads(u64),
    /// Time in seconds, all clocks together.
    Duration(f64),
}

impl Amount {
    /// The time for each of `clocks` clocks, in ns; infinite where none was asked for.
    fn share_ns(self, clocks: usize) -> f64 {
        if let Self::Duration(seconds) = self { seconds * 1e9 / clocks as f64 } else { f64::INFINITY }
    }
}

/// Intended duration of a batch, in ns: judged against the reference at its ends, it must not be
/// too long.
const BATCH_NS: f64 = 400e3;
/// Most reads in a batch: they fill half of a usual second-level cache.
const MAX_KEPT_READS: usize = 1 << 14;

/// Request for the steps of clocks: what to read, and how.
#[derive(Clone, Debug)]
pub struct StepsRequest {
    /// Amount to read.
    pub amount: Amount,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Reads every clock of the catalog in a loop, one clock after the other. Pins the calling thread
/// meanwhile. Memory does not grow with the number of reads.
///
/// # Errors
/// The CPU cannot be used, no clock answers that others could be measured against, or there is no
/// memory for a batch. Or the process has more than one thread: clocks are first tried in a forked
/// child.
pub fn steps<P: Platform>(
    session: &Session<'_, P>,
    catalog: Catalog<P>,
    request: &StepsRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Steps>, MeasureError> {
    let StepsRequest { amount, cpu } = *request;
    let run = ReadRun::read(session, catalog, cpu, amount, Keep::Nothing, progress)?;
    Ok(run.answer(&session.environment))
}

/// Readings that outlive their batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Nothing,
    /// All. Each clock is then read without any pause, in one batch.
    Everything,
}

/// A run, of which all readings were looked at.
pub(crate) struct ReadRun {
    pub(crate) recorded_at: Option<String>,
    pub(crate) run: Run,
    pub(crate) timer: RecordedTimer,
    pub(crate) clocks: Vec<ReadClock>,
    /// The clocks with their readings, if these are kept.
    pub(crate) recorded: Vec<RecordedClock>,
}

impl ReadRun {
    pub(crate) fn read<P: Platform>(
        session: &Session<'_, P>,
        catalog: Catalog<P>,
        cpu: Option<u32>,
        amount: Amount,
        keep: Keep,
        progress: &mut Progress<'_>,
    ) -> Result<Self, MeasureError> {
        let mut setup = Setup::new(session, catalog, cpu)?;
        let rows = std::mem::take(&mut setup.catalog.entries);
        let bench = &setup.bench;
        let clocksource = session.environment.clocksource.as_deref();
        let readable = rows.iter().filter(|row| row.sampler.is_ok()).count().max(1);
        let share_ns = amount.share_ns(readable);
        let ticks = TickBudget::for_share(share_ns, TICK_READINGS);
        let sampling = bench.calibrate();
        let (mut clocks, mut recorded, mut done) = (Vec::new(), Vec::new(), 0);
        for mut row in rows {
            if bench.is_stopped() && row.sampler.is_ok() {
                row.sampler = Err(ClockReason::NotRead);
            }
            let mut clock = MeasuredClock::new(row, bench, ticks.readings);
            let retained = read(bench, &mut clock, amount, share_ns - ticks.ns, keep, &mut |share| {
                progress((f64::from(done) + share) / readable as f64);
            })?;
            done += u32::from(clock.state.is_some());
            recorded.extend(retained.map(|retained| retained.record(&clock, clocksource)));
            let MeasuredClock { row, state } = clock;
            clocks.push(ReadClock::new(row.info, row.sampler.err().map(Unknown::from), state));
        }
        let sampling = Sampling {
            requested_duration_s: if let Amount::Duration(seconds) = amount { Some(seconds) } else { None },
            requested_reads: if let Amount::Reads(reads) = amount { Some(reads) } else { None },
            duration_s: sampling.elapsed_ns() / 1e9,
            waited_s: None,
            interrupted: bench.is_stopped(),
        };
        let context = setup.context();
        let run = setup.run_by(sampling, context.timer_record());
        Ok(Self { recorded_at: setup.recorded_at, run, timer: context.timer, clocks, recorded })
    }

    /// Returns the answer, on a machine of this environment.
    pub(crate) fn answer(self, environment: &Environment) -> Envelope<Steps> {
        let context = Context { timer: self.timer, environment };
        let clocks = self.clocks.into_iter().map(|clock| clock.record(&context)).collect();
        Envelope::of_run(self.recorded_at, environment.clone(), self.run, Steps { clocks })
    }
}

/// Reads one clock as often as was asked for, or for its share of the time. Returns what is kept.
fn read<P: Platform>(
    bench: &Bench<'_, P>,
    clock: &mut MeasuredClock<P>,
    amount: Amount,
    share_ns: f64,
    keep: Keep,
    progress: &mut Progress<'_>,
) -> Result<Option<RecordedReadings>, MeasureError> {
    let longest = warm_up(bench, clock)?;
    match (amount, keep) {
        (Amount::Reads(reads), Keep::Everything) => return read_and_keep(bench, clock, reads).map(Some),
        _ if clock.state.is_none() => {}
        (Amount::Reads(reads), Keep::Nothing) => {
            let mut left = reads;
            while left > 0 && !bench.is_stopped() {
                let batch = left.min(longest as u64);
                set_batch(clock, batch as usize);
                clock.batch(bench, true);
                left -= batch;
                progress(1.0 - left as f64 / reads as f64);
            }
        }
        (Amount::Duration(_), _) => {
            let start = bench.calibrate();
            set_batch(clock, longest);
            while !bench.is_stopped() && start.elapsed_ns() < share_ns {
                clock.batch(bench, true);
                progress((start.elapsed_ns() / share_ns).min(1.0));
            }
        }
    }
    Ok(None)
}

/// Finds out what a read costs at the moment, which distinguishes gaps from slow reads later, and
/// how long a batch may be.
fn warm_up<P: Platform>(bench: &Bench<'_, P>, clock: &mut MeasuredClock<P>) -> Result<usize, MeasureError> {
    let (batches, reads) = WARM_UP;
    let MeasuredClock { row, state } = clock;
    let (Ok(sampler), Some(state)) = (&mut row.sampler, state) else { return Ok(MAX_BATCH_READS) };
    for _ in 0..batches {
        let sampled = sampler.sample(&bench.timer, None, reads, bench.stop);
        if sampled.error.is_none() {
            state.recent.push(bench.facts.ns_between(sampled.before, sampled.after) / reads as f64);
        }
    }
    let cost_ns = state.recent.median().filter(|cost| *cost > 0.0).unwrap_or(f64::INFINITY);
    let longest = ((BATCH_NS / cost_ns) as usize).clamp(MAX_BATCH_READS, MAX_KEPT_READS);
    sampler.make_room(longest).map_err(|_| MeasureError::Memory(longest as u64))?;
    Ok(longest)
}

/// Readings of a clock, as they are kept.
#[derive(Default)]
struct RecordedReadings {
    warm_up_ns: Vec<f64>,
    batches: Vec<RecordedBatch>,
}

impl RecordedReadings {
    fn record<P: Platform>(self, clock: &MeasuredClock<P>, clocksource: Option<&str>) -> RecordedClock {
        let info = &clock.row.info;
        RecordedClock {
            identity: identity(info, clocksource),
            unit: info.unit,
            resolution: info.resolution.clone(),
            reason: clock.row.failure_reason().cloned().map(Unknown::from),
            warm_up_ns: self.warm_up_ns,
            batches: self.batches,
        }
    }
}

/// Reads without any pause and keeps everything. The room is taken before.
fn read_and_keep<P: Platform>(
    bench: &Bench<'_, P>,
    clock: &mut MeasuredClock<P>,
    reads: u64,
) -> Result<RecordedReadings, MeasureError> {
    let count = usize::try_from(reads).map_err(|_| MeasureError::Memory(reads))?;
    if let Ok(sampler) = &mut clock.row.sampler {
        sampler.make_room(count).map_err(|_| MeasureError::Memory(reads))?;
    }
    set_batch(clock, count);
    let warm_up_ns = clock.state.as_ref().map_or(Vec::new(), |state| state.recent.costs().to_vec());
    let read = clock.read_batch(bench, true);
    let (Some(ReadBatch { sampled, processed_at, .. }), Ok(sampler)) = (read, &mut clock.row.sampler) else {
        return Ok(RecordedReadings::default());
    };
    // The batch has delivered them as numbers already.
    let mut readings = sampler.free();
    readings.truncate(sampled.delivered);
    let batch = RecordedBatch {
        timer: [sampled.before, sampled.after],
        reference_ns: sampled.reference_ns,
        readings,
        error: sampled.error.map(Errno::code),
        processed_at,
    };
    Ok(RecordedReadings { warm_up_ns, batches: vec![batch] })
}

fn set_batch<P: Platform>(clock: &mut MeasuredClock<P>, reads: usize) {
    if let Some(state) = &mut clock.state {
        state.reads_per_batch = reads;
    }
}

/// A clock that was read, or the reason why it was not. Its readings were looked at already, so
/// that those of one clock are in memory at a time, unless they are kept.
pub(crate) struct ReadClock {
    info: ClockInfo,
    reason: Option<Unknown>,
    observed: Option<(MeasuredState, Tick)>,
}

impl ReadClock {
    pub(crate) fn new(info: ClockInfo, reason: Option<Unknown>, state: Option<MeasuredState>) -> Self {
        let observed = state.map(|mut state| {
            let tick = std::mem::take(&mut state.tick).tick();
            (state, tick)
        });
        Self { info, reason, observed }
    }

    fn record(self, context: &Context<'_>) -> StepsRecord {
        let Self { info, reason, observed } = self;
        let ns_per_unit = info.ns_per_unit(context.timer.rate().ns_per_unit);
        let mut record = StepsRecord {
            identity: identity(&info, context.environment.clocksource.as_deref()),
            available: observed.is_some(),
            reason,
            unit_ns: Figure::of(ns_per_unit, texts::NO_LENGTH),
            tick_ns: Figure::default(),
            tick_evidence: None,
            differences: Vec::new(),
            largest: Vec::new(),
            rounded: 0,
            summary: Figure::default(),
            summary_nonzero: Figure::default(),
            modes: Vec::new(),
            histogram: Vec::new(),
            first_readings: Vec::new(),
            events: None,
            worst: Worst::default(),
        };
        if let Some((state, tick)) = observed {
            fill(&mut record, state, tick, &info, context);
        }
        record
    }
}

fn fill(record: &mut StepsRecord, state: MeasuredState, found: Tick, info: &ClockInfo, context: &Context<'_>) {
    let ns_per_unit = record.unit_ns.get();
    record.reason = record::failed_reads(&state).map(Unknown::from);
    let known = tick_record::record(found, info, ns_per_unit, context);
    record.tick_ns = known.tick_ns;
    record.tick_evidence = Some(known.evidence);
    let MeasuredState { events, differences, first, recent, judged_outside, errors, .. } = state;
    record.first_readings = first.iter().map(|reading| reading.wrapping_sub(first[0]) as i64).collect();
    let entries = differences.entries();
    (record.differences, record.largest) = distribution::distinct(&entries, ns_per_unit);
    record.rounded = differences.rounded();
    let all = distribution::summary(differences.summary(), ns_per_unit, texts::NO_DIFFERENCES.into());
    let nonzero = all.clone().and_then(|_| {
        distribution::summary(
            differences.summary_nonzero(),
            ns_per_unit,
            "all differences are 0: the clock did not advance".into(),
        )
    });
    record.summary_nonzero = nonzero.into();
    record.summary = all.into();
    let period = if let Tick::Found(lattice) = found { Some(lattice.period) } else { None };
    record.modes = ns_per_unit.map_or_else(Vec::new, |ns| differences.modes(period, ns));
    record.histogram = distribution::histogram(&entries, ns_per_unit);
    let threshold_ns = recent.median().map(|cost_ns| events.threshold_ns(cost_ns));
    let (events, worst) = events.finish();
    record.worst = worst;
    record.events = Some(record::events_record(events, errors, threshold_ns, info, judged_outside, context));
}
