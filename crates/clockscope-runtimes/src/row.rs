//! What a probe's readings show, as a record.

use std::collections::BTreeMap;

use clockscope_records::{Cost, Figure, ReadingsReason, RuntimeRecord, Strength, TickEvidence, TickReason};
use clockscope_statistics::{Blocks, NoTick, Tick, TickCollector, Weight, quantile};

use crate::probe_line::ProbeReadings;

const NS: f64 = 1e9;
const COARSE: ReadingsReason = ReadingsReason::CoarseRuntimeTimer;
/// Batches that a 99th percentile needs.
const FOR_P99: usize = 100;

/// Fills in what an API's readings show; `clocksource` is the kernel's.
pub(crate) fn fill(record: &mut RuntimeRecord, readings: &ProbeReadings, clocksource: Option<&str>) {
    let ns_per_unit = NS / readings.units_per_second as f64;
    record.available = true;
    record.api = Some(readings.api.clone());
    record.clocksource = Figure::of(clocksource.map(str::to_owned), ReadingsReason::ClocksourceHidden);
    record.built_on = Some(readings.built_on.clone());
    record.hardware_timer =
        Figure::of(HardwareTimer::of(&readings.built_on).name(clocksource), ReadingsReason::ClocksourceHidden);
    record.nominal_resolution_ns =
        Figure::of(readings.nominal_hz.map(|hz| NS / hz as f64), ReadingsReason::NoNominalInApi);
    record.cost = Figure::of(cost(readings), COARSE);
    record.cost_ns = Figure::of(record.cost.known().map(|cost| cost.median), COARSE);
    distances(record, readings, ns_per_unit);
    tick(record, readings);
}

/// What moves a clock of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HardwareTimer<'a> {
    /// The kernel's clocksource.
    Clocksource,
    /// The timer tick.
    TimerTick,
    /// The scheduler's account.
    Scheduler,
    /// What the API is built on is not a clock of Linux: it has this name.
    Other(&'a str),
}

/// The clocks of Linux by their names (clock_gettime(2)).
const CLOCKS: [(&str, HardwareTimer<'static>); 11] = [
    ("CLOCK_REALTIME", HardwareTimer::Clocksource),
    ("CLOCK_REALTIME_ALARM", HardwareTimer::Clocksource),
    ("CLOCK_MONOTONIC", HardwareTimer::Clocksource),
    ("CLOCK_MONOTONIC_RAW", HardwareTimer::Clocksource),
    ("CLOCK_BOOTTIME", HardwareTimer::Clocksource),
    ("CLOCK_BOOTTIME_ALARM", HardwareTimer::Clocksource),
    ("CLOCK_TAI", HardwareTimer::Clocksource),
    ("CLOCK_REALTIME_COARSE", HardwareTimer::TimerTick),
    ("CLOCK_MONOTONIC_COARSE", HardwareTimer::TimerTick),
    ("CLOCK_PROCESS_CPUTIME_ID", HardwareTimer::Scheduler),
    ("CLOCK_THREAD_CPUTIME_ID", HardwareTimer::Scheduler),
];

impl<'a> HardwareTimer<'a> {
    /// Returns what moves the clock that an API is built on: its name, and after a comma what the
    /// runtime makes of it.
    fn of(built_on: &'a str) -> Self {
        let name = built_on.split_once(',').map_or(built_on, |(name, _)| name);
        CLOCKS.iter().find(|(known, _)| *known == name).map_or(Self::Other(built_on), |(_, timer)| *timer)
    }

    /// Names it; `None` if it is a clocksource that is not known.
    fn name(self, clocksource: Option<&str>) -> Option<String> {
        match self {
            Self::Clocksource => clocksource.map(str::to_owned),
            Self::TimerTick => Some("timer tick".to_owned()),
            Self::Scheduler => Some("scheduler".to_owned()),
            Self::Other(name) => Some(name.to_owned()),
        }
    }
}

/// The cost of a read: each batch divided by its reads.
fn cost(readings: &ProbeReadings) -> Option<Cost> {
    let mut costs: Vec<f64> = readings.batch_ns.iter().map(|ns| *ns as f64 / readings.batch_reads as f64).collect();
    let mut blocks = Blocks::default();
    costs.iter().for_each(|cost| blocks.push(*cost));
    costs.sort_by(f64::total_cmp);
    // A timer that is coarser than a batch shows 0, which is no cost.
    let median = quantile(&costs, 0.5).filter(|median| *median > 0.0)?;
    Some(Cost {
        median,
        ci95: Figure::of(blocks.interval(median), ReadingsReason::FewBatches { fewest: 48 }),
        rounds: blocks.rounds().to_vec(),
        between_runs: None,
        min: *costs.first()?,
        p99: Figure::of(
            if costs.len() >= FOR_P99 { quantile(&costs, 0.99) } else { None },
            ReadingsReason::FewBatches { fewest: FOR_P99 as u64 },
        ),
        batches: costs.len() as u64,
        reads_per_batch: readings.batch_reads,
        batches_dropped: 0,
    })
}

/// How far readings are apart.
fn distances(record: &mut RuntimeRecord, readings: &ProbeReadings, ns_per_unit: f64) {
    let ns = |units: i64| units as f64 * ns_per_unit;
    let count = |wanted: fn(i64) -> bool| -> u64 {
        readings.differences.iter().filter(|(units, _)| wanted(*units)).map(|(_, count)| count).sum()
    };
    let all = count(|_| true);
    record.reads = Some(readings.reads());
    record.zeros_percent = Figure::Known(count(|units| units == 0) as f64 / all.max(1) as f64 * 100.0);
    record.regressions = Figure::Known(count(|units| units < 0) + back_between_batches(readings));
    // A coarse clock may never have stepped within a batch.
    let within = readings.differences.iter().map(|(units, _)| *units);
    let smallest = within.chain(readings.steps.iter().copied()).filter(|units| *units > 0).min();
    record.observed_resolution_ns = Figure::of(smallest.map(ns), ReadingsReason::NoForwardStep);
    let largest = readings.differences.last().map(|(units, _)| *units).filter(|units| *units > 0);
    record.largest_step_ns = Figure::of(largest.map(ns), ReadingsReason::NoForwardStepInBatch);
}

/// Steps back that were not seen within batches, so that they were from one to the next: as far as
/// the first steps show.
fn back_between_batches(readings: &ProbeReadings) -> u64 {
    let mut back: BTreeMap<i64, u64> = BTreeMap::new();
    for step in readings.steps.iter().filter(|step| **step < 0) {
        *back.entry(*step).or_default() += 1;
    }
    for (units, count) in &readings.differences {
        back.entry(*units).and_modify(|seen| *seen = seen.saturating_sub(*count));
    }
    back.values().sum()
}

/// The tick, looked for in ns where the API's unit is so many of them: a unit of 100 ns is a tick
/// of at least 100 ns.
fn tick(record: &mut RuntimeRecord, readings: &ProbeReadings) {
    let nanoseconds = NS as u64;
    let scale = match nanoseconds % readings.units_per_second {
        0 => nanoseconds / readings.units_per_second,
        _ => 1,
    };
    let ns_per_unit = NS / readings.units_per_second as f64 / scale as f64;
    let (strength, steps, at_most_ns, lattice) = match found(readings, scale) {
        Tick::Found(lattice) => {
            let strength = match lattice.weight() {
                Weight::Strong => Strength::Strong,
                Weight::Fair => Strength::Fair,
                Weight::Weak => Strength::Weak,
            };
            (strength, lattice.steps, None, Ok(lattice))
        }
        Tick::AtMost { units, steps } => {
            let most_ns = units * ns_per_unit;
            (Strength::None, steps, Some(most_ns), Err(TickReason::TooFineForApi { at_most_ns: most_ns }))
        }
        Tick::Unknown(reason) => (Strength::None, 0, None, Err(no_tick(reason))),
    };
    record.tick_ns = lattice.clone().map(|lattice| lattice.period * ns_per_unit).into();
    let lattice = lattice.ok();
    record.tick_evidence = Some(TickEvidence {
        strength,
        steps,
        at_most_ns,
        frequency_hz: record.tick_ns.get().map(|ns| NS / ns),
        error_ppm: lattice.map(|lattice| lattice.error * 1e6),
        spread_ns: lattice.map(|lattice| lattice.spread * ns_per_unit),
        agreement: lattice.map(|lattice| lattice.agreement),
        exact_tick: None,
        prose: None,
        recognized: None,
    });
}

/// Returns what records have for a tick that is not found.
const fn no_tick(why: NoTick) -> TickReason {
    match why {
        NoTick::TooFewSteps => TickReason::FewSteps,
        NoTick::TooFewReadings => TickReason::FewDifferences,
        NoTick::ConstantCost => TickReason::ConstantCost,
        NoTick::Ambiguous => TickReason::SeveralTicks,
        NoTick::TooSlow => TickReason::SlowReads,
        NoTick::RateChanged => TickReason::RateChanged,
        NoTick::StepsBack => TickReason::StepsBack,
        NoTick::NoLattice => TickReason::NoLattice,
    }
}

/// What the steps show, in units that are `scale` times finer.
fn found(readings: &ProbeReadings, scale: u64) -> Tick {
    let mut collector = TickCollector::new(readings.steps.len() + 1);
    let mut reading = 0u64;
    collector.push(&[reading]);
    for step in &readings.steps {
        reading = reading.wrapping_add((*step as u64).wrapping_mul(scale));
        collector.push(&[reading]);
    }
    // Repeats were left out; there were as many for each step as everywhere.
    let zeros = readings.differences.iter().find(|(units, _)| *units == 0).map_or(0, |(_, count)| *count);
    let others: u64 = readings.differences.iter().map(|(_, count)| *count).sum::<u64>() - zeros;
    let repeats = zeros as f64 * readings.steps.len() as f64 / others.max(1) as f64;
    collector.repeated(repeats as u64);
    collector.tick()
}

/// Whatever readings a line holds, a record of them has no figure that is not a number (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(readings: &ProbeReadings) {
    let mut record = RuntimeRecord::default();
    fill(&mut record, readings, Some("tsc"));
    let figures = [record.cost_ns, record.observed_resolution_ns, record.tick_ns, record.largest_step_ns];
    assert!(figures.iter().filter_map(Figure::get).all(f64::is_finite), "{figures:?}");
}

#[cfg(test)]
mod tests;
