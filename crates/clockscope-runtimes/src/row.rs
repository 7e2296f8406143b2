//! The record of what a probe's readings show.

use std::collections::BTreeMap;

use clockscope_records::{
    Cost, Figure, MovedBy, ReadingsReason, RuntimeRecord, Strength, TickEvidence, TickReason, texts,
};
use clockscope_statistics::{MedianBlocks, Tick, TickCollector, Weight, cost_histogram, quantile};

use crate::operating_system::System;
use crate::probe_line::ProbeReadings;

const NS: f64 = 1e9;
/// Batches that a 99th percentile needs.
const FOR_P99: usize = 100;

/// Fills in what an API's readings show; `clocksource` is the kernel's.
pub(crate) fn fill(record: &mut RuntimeRecord, readings: &ProbeReadings, clocksource: Option<&str>) {
    fill_on(System::HERE, record, readings, clocksource);
}

/// Fills in what an API's readings show that were taken on `system`; `clocksource` is the kernel's.
fn fill_on(system: System, record: &mut RuntimeRecord, readings: &ProbeReadings, clocksource: Option<&str>) {
    let moved_by = readings.moved_by.and_then(|declared| declared.on(system));
    let ns_per_unit = readings.ns_per_unit();
    record.available = true;
    record.api = Some(readings.api.clone());
    record.clocksource = Figure::of(clocksource.map(str::to_owned), texts::CLOCKSOURCE_HIDDEN);
    record.built_on = Some(readings.built_on.clone());
    record.moved_by = Figure::of(moved_by, texts::NOT_REPORTED_BY_PROBE);
    record.documented_coarse = Figure::of(readings.documented_coarse, texts::NOT_REPORTED_BY_PROBE);
    record.hardware_timer = hardware_timer(moved_by, &readings.built_on, clocksource);
    record.nominal_resolution_ns = Figure::of(readings.nominal_hz.map(|hz| NS / hz as f64), texts::NO_NOMINAL_IN_API);
    record.cost = Figure::of(cost(readings), texts::COARSE_RUNTIME_TIMER);
    record.cost_ns = Figure::of(record.cost.known().map(|cost| cost.median), texts::COARSE_RUNTIME_TIMER);
    distances(record, readings, ns_per_unit);
    tick(record, readings);
}

/// Names what moves a clock.
fn hardware_timer(moved_by: Option<MovedBy>, built_on: &str, clocksource: Option<&str>) -> Figure<String> {
    match moved_by {
        Some(MovedBy::Clocksource) => Figure::of(clocksource.map(str::to_owned), texts::CLOCKSOURCE_HIDDEN),
        Some(MovedBy::PerformanceCounter) => Figure::Known("QueryPerformanceCounter".to_owned()),
        Some(MovedBy::TimerTick) => Figure::Known("timer tick".to_owned()),
        Some(MovedBy::Scheduler) => Figure::Known("scheduler".to_owned()),
        Some(MovedBy::Other) => Figure::Known(built_on.to_owned()),
        None => Figure::unknown(texts::NOT_REPORTED_BY_PROBE),
    }
}

/// The cost of a read: each batch divided by its reads.
fn cost(readings: &ProbeReadings) -> Option<Cost> {
    let mut costs: Vec<f64> = readings.batch_ns.iter().map(|ns| *ns as f64 / readings.batch_reads as f64).collect();
    let mut blocks = MedianBlocks::default();
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
        histogram: cost_histogram(&costs),
        batches: costs.len() as u64,
        reads_per_batch: readings.batch_reads,
        batches_dropped: 0,
    })
}

/// Fills in the distances between readings.
fn distances(record: &mut RuntimeRecord, readings: &ProbeReadings, ns_per_unit: f64) {
    let (mut all, mut zeros, mut back) = (0_u64, 0_u64, 0_u64);
    for (units, count) in &readings.differences {
        all += count;
        match *units {
            ..0 => back += count,
            0 => zeros += count,
            1.. => {}
        }
    }
    record.reads = Some(readings.reads());
    record.zeros_percent = Figure::Known(zeros as f64 / all.max(1) as f64 * 100.0);
    record.regressions = Figure::Known(back + back_between_batches(readings));
    // A coarse clock may never have stepped within a batch.
    let within = readings.differences.iter().map(|(units, _)| *units);
    let smallest = within.chain(readings.steps.iter().copied()).filter(|units| *units > 0).min();
    let smallest_ns = smallest.map(|units| units as f64 * ns_per_unit);
    record.observed_resolution_ns = Figure::of(smallest_ns, texts::NO_FORWARD_STEP);
    let largest = readings.differences.last().map(|(units, _)| *units).filter(|units| *units > 0);
    let largest_ns = largest.map(|units| units as f64 * ns_per_unit);
    record.largest_step_ns =
        Figure::of(largest_ns, "it never stepped forward within a batch of reads: give it more time");
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

/// The tick, looked for in ns where the API's unit is a whole number of ns: a unit of 100 ns is a
/// tick of at least 100 ns.
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
        Tick::Unknown(reason) => (Strength::None, 0, None, Err(reason)),
    };
    record.tick_ns = lattice.map(|lattice| lattice.period * ns_per_unit).into();
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
        recognized: None,
    });
}

/// Finds the tick of the steps, in units that are `scale` times finer.
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
    assert_eq!(
        (record.moved_by.get(), record.documented_coarse.get()),
        (readings.moved_by.and_then(|declared| declared.on(System::HERE)), readings.documented_coarse)
    );
    let figures = [record.cost_ns, record.observed_resolution_ns, record.tick_ns, record.largest_step_ns];
    assert!(figures.iter().filter_map(Figure::get).all(f64::is_finite), "{figures:?}");
}

#[cfg(test)]
mod tests;
