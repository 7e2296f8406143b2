//! The question *steps*: sequential reads of one clock after another, and all that their
//! differences show.

use clockscope_records::{Envelope, Failure, Figure, Steps, StepsRecord, Worst, WorstRecord, texts};
use clockscope_statistics::{EventKind, Tick, WorstEvents};
use clockscope_system::ClockInfo;

use crate::bench::{Bench, Progress, Sampling, Setup};
use crate::catalog::Catalog;
use crate::context::Context;
use crate::error::MeasureError;
use crate::failure_reason::FailureReason;
use crate::measured_clock::{MeasuredClock, MeasuredState, TickBudget};
use crate::platform::Platform;
use crate::record;
use crate::sampler::LONGEST;
use crate::session::Session;
use crate::{distribution, tick_record};

/// Readings of a clock that its tick is found from, where there is time for it.
const TICK_READINGS: usize = 1 << 16;
/// Batches that show what a read costs before any is looked at, and their reads.
const WARM_UP: (usize, usize) = (4, 16);

/// Amount to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many reads of each clock.
    Reads(u64),
    /// For so many seconds, all clocks together.
    Duration(f64),
}

impl Amount {
    /// The time for each of so many clocks, in ns; infinite where none was asked for.
    fn share_ns(self, clocks: usize) -> f64 {
        if let Self::Duration(seconds) = self { seconds * 1e9 / clocks as f64 } else { f64::INFINITY }
    }
}

/// Intended duration of a batch, in ns: judged against the reference at its ends, it must not be
/// too long.
const BATCH_NS: f64 = 400e3;
/// Most reads in a batch: they fill half of a usual second-level cache.
const MOST_PER_BATCH: usize = 1 << 14;

/// Request for the steps of clocks: what to read, and how.
#[derive(Clone, Debug)]
pub struct StepsRequest {
    /// Amount to read.
    pub amount: Amount,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
    /// True to keep every reading: each clock is then read without any pause, as often as
    /// [`Amount::Reads`] says.
    pub keep: bool,
}

/// All readings of a clock.
#[derive(Clone, Debug, PartialEq)]
pub struct RawReadings {
    /// Its name, with the path where that is not the usual one.
    pub clock: String,
    /// The readings, in the clock's unit.
    pub values: Vec<u64>,
    /// Length of that unit, in ns; `None` where it has no fixed length.
    pub ns_per_unit: Option<f64>,
}

/// Reads every clock of the catalog in a loop, one clock after the other. Pins the calling thread
/// meanwhile. Memory does not grow with the number of reads unless they are kept; those of a clock
/// take 8 bytes each then, and up to 24 while it is read.
///
/// # Errors
/// The CPU cannot be used, no clock answers that others could be measured against, or the readings
/// to keep do not fit into memory. Or the process has more than one thread: clocks are first tried
/// in a forked child.
pub fn steps<P: Platform>(
    session: &Session<'_, P>,
    catalog: Catalog<P>,
    request: &StepsRequest,
    progress: &mut Progress<'_>,
) -> Result<(Envelope<Steps>, Vec<RawReadings>), MeasureError> {
    let StepsRequest { amount, cpu, keep } = *request;
    let mut setup = Setup::new(session, catalog, cpu)?;
    let rows = std::mem::take(&mut setup.catalog.entries);
    let bench = &setup.bench;
    let clocks = rows.iter().filter(|row| row.sampler.is_ok()).count().max(1);
    let share_ns = amount.share_ns(clocks);
    let ticks = TickBudget::of(share_ns, TICK_READINGS);
    let sampling = bench.calibrate();
    let (mut measured_clocks, mut kept, mut done) = (Vec::new(), Vec::new(), 0);
    for row in rows {
        let mut measured_clock = MeasuredClock::new(row, bench, ticks.readings);
        if bench.is_stopped() && measured_clock.row.sampler.is_ok() {
            measured_clock.row.sampler =
                Err(FailureReason::new(Failure::Interrupted, "not read: the run was interrupted before its turn"));
            measured_clock.state = None;
        }
        if measured_clock.state.is_some() {
            let mut part = |share: f64| progress((f64::from(done) + share) / clocks as f64);
            kept.extend(read(bench, &mut measured_clock, amount, share_ns - ticks.ns, keep, &mut part)?);
            done += 1;
        }
        measured_clocks.push(Digest::of(measured_clock));
    }
    let sampling = Sampling {
        duration_asked_s: if let Amount::Duration(seconds) = amount { Some(seconds) } else { None },
        reads_asked: if let Amount::Reads(reads) = amount { Some(reads) } else { None },
        duration_s: sampling.elapsed_ns() / 1e9,
        interrupted: bench.is_stopped(),
    };
    let context = setup.context();
    let clocks = measured_clocks.into_iter().map(|measured_clock| measured_clock.record(&context)).collect();
    let run = setup.run_by(sampling, context.timer_record());
    Ok((Envelope::of_run(setup.recorded_at, session.environment.clone(), run, Steps { clocks }), kept))
}

/// Reads one clock as often as was asked for, or for its share of the time. Returns what is kept.
fn read<P: Platform>(
    bench: &Bench<'_, P>,
    measured_clock: &mut MeasuredClock<P>,
    amount: Amount,
    share_ns: f64,
    keep: bool,
    progress: &mut Progress<'_>,
) -> Result<Option<RawReadings>, MeasureError> {
    let longest = warm_up(bench, measured_clock)?;
    match amount {
        Amount::Reads(reads) if keep => return read_and_keep(bench, measured_clock, reads).map(Some),
        Amount::Reads(reads) => {
            let mut left = reads;
            while left > 0 && !bench.is_stopped() {
                let batch = left.min(longest as u64);
                set_batch(measured_clock, batch as usize);
                measured_clock.batch(bench, true);
                left -= batch;
                progress(1.0 - left as f64 / reads as f64);
            }
        }
        Amount::Duration(_) => {
            let start = bench.calibrate();
            set_batch(measured_clock, longest);
            while !bench.is_stopped() && start.elapsed_ns() < share_ns {
                measured_clock.batch(bench, true);
                progress((start.elapsed_ns() / share_ns).min(1.0));
            }
        }
    }
    Ok(None)
}

/// Finds out what a read costs at the moment, which distinguishes gaps from slow reads later, and
/// how long a batch may be.
fn warm_up<P: Platform>(bench: &Bench<'_, P>, measured_clock: &mut MeasuredClock<P>) -> Result<usize, MeasureError> {
    let (batches, reads) = WARM_UP;
    let MeasuredClock { row, state } = measured_clock;
    let (Ok(sampler), Some(state)) = (&mut row.sampler, state) else { return Ok(LONGEST) };
    for _ in 0..batches {
        let sampled = sampler.sample(&bench.timer, None, reads, bench.stop);
        if sampled.error.is_none() {
            let ticks = sampled.after.wrapping_sub(sampled.before) as i64 as f64;
            state.recent.push(ticks * bench.first_rate.ns_per_unit / reads as f64);
        }
    }
    let cost_ns = state.recent.median().filter(|cost| *cost > 0.0).unwrap_or(f64::INFINITY);
    let longest = ((BATCH_NS / cost_ns) as usize).clamp(LONGEST, MOST_PER_BATCH);
    sampler.make_room(longest).map_err(|_| MeasureError::Memory(longest as u64))?;
    Ok(longest)
}

/// Reads without any pause and keeps everything. The room is taken before.
fn read_and_keep<P: Platform>(
    bench: &Bench<'_, P>,
    measured_clock: &mut MeasuredClock<P>,
    reads: u64,
) -> Result<RawReadings, MeasureError> {
    let no_memory = || MeasureError::Memory(reads);
    let count = usize::try_from(reads).map_err(|_| no_memory())?;
    if let Ok(sampler) = &mut measured_clock.row.sampler {
        sampler.make_room(count).map_err(|_| no_memory())?;
    }
    set_batch(measured_clock, count);
    measured_clock.batch(bench, true);
    let MeasuredClock { row, state } = measured_clock;
    // The batch has delivered them as numbers already.
    let mut values = row.sampler.as_mut().map(|sampler| sampler.free()).unwrap_or_default();
    values.truncate(state.as_ref().map_or(0, |state| state.delivered as usize));
    let ns_per_unit = row.ns_per_unit(bench.first_rate.ns_per_unit);
    Ok(RawReadings { clock: row.label(), values, ns_per_unit })
}

fn set_batch<P: Platform>(measured_clock: &mut MeasuredClock<P>, reads: usize) {
    if let Some(state) = &mut measured_clock.state {
        state.reads_per_batch = reads;
    }
}

/// A clock that was read. Its readings were looked at already, so that those of one clock are in
/// memory at a time.
struct Digest<P: Platform> {
    measured_clock: MeasuredClock<P>,
    tick: Option<Tick>,
}

impl<P: Platform> Digest<P> {
    fn of(mut measured_clock: MeasuredClock<P>) -> Self {
        let tick = measured_clock.state.as_mut().map(|state| std::mem::take(&mut state.tick).tick());
        if let Ok(sampler) = &mut measured_clock.row.sampler {
            sampler.free();
        }
        Self { measured_clock, tick }
    }

    fn record(self, context: &Context<'_, P>) -> StepsRecord {
        let MeasuredClock { row, state } = self.measured_clock;
        let ns_per_unit = row.ns_per_unit(context.rate.ns_per_unit);
        let mut record = StepsRecord {
            identity: row.identity(context.environment.clocksource.as_deref()),
            available: state.is_some(),
            reason: row.failure_reason().map(|failure_reason| failure_reason.reason.clone()),
            failure: row.failure_reason().map(|failure_reason| failure_reason.failure),
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
        if let (Some(state), Some(tick)) = (state, self.tick) {
            fill(&mut record, state, tick, &row.info, context);
        }
        record
    }
}

fn fill<P: Platform>(
    record: &mut StepsRecord,
    state: MeasuredState,
    found: Tick,
    info: &ClockInfo,
    context: &Context<'_, P>,
) {
    let ns_per_unit = record.unit_ns.get();
    (record.reason, record.failure) = record::failed_reads(&state).unzip();
    let known = tick_record::record(found, info, ns_per_unit, context);
    record.tick_ns = known.tick_ns;
    record.tick_evidence = Some(known.evidence);
    let MeasuredState { events, differences, first, recent, judged_outside, errors, .. } = state;
    record.first_readings = first.iter().map(|reading| reading.wrapping_sub(first[0]) as i64).collect();
    let entries = differences.entries();
    (record.differences, record.largest) = distribution::distinct(&entries, ns_per_unit);
    record.rounded = differences.rounded();
    let all = distribution::summary(differences.summary(), ns_per_unit, texts::NO_DIFFERENCES.into());
    let nonzero = |_| {
        distribution::summary(
            differences.summary_nonzero(),
            ns_per_unit,
            "all differences are 0: the clock did not advance".into(),
        )
    };
    record.summary_nonzero = all.clone().and_then(nonzero).into();
    record.summary = all.into();
    let period = if let Tick::Found(lattice) = found { Some(lattice.period) } else { None };
    record.modes = distribution::modes(&differences.modes(period), ns_per_unit);
    record.histogram = distribution::histogram(&entries, ns_per_unit);
    let threshold_ns = recent.median().map(|cost_ns| events.threshold_ns(cost_ns));
    let (counts, worst) = events.finish();
    record.worst = worst_records(&worst);
    record.events = Some(record::events_record(counts, errors, threshold_ns, info, judged_outside, context));
}

fn worst_records(worst: &WorstEvents) -> Worst {
    let of = |kind: EventKind| -> Vec<WorstRecord> {
        let counted = matches!(kind, EventKind::Stuck | EventKind::Stall);
        let events = worst.of(kind).iter();
        events
            .map(|event| WorstRecord {
                at_s: event.at_ns / 1e9,
                size_ns: (!counted).then_some(event.size),
                repeats: counted.then_some(event.size as u64),
            })
            .collect()
    };
    Worst {
        stuck: of(EventKind::Stuck),
        stall: of(EventKind::Stall),
        warp: of(EventKind::Warp),
        jump: of(EventKind::Jump),
        gap: of(EventKind::Gap),
        regression: of(EventKind::Regression),
        hidden_regression: of(EventKind::HiddenRegression),
    }
}
