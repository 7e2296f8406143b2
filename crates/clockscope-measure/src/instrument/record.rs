//! Record of what a clock has shown.

use clockscope_records::{
    Baseline, ClockReason, ClockRecord, Cost, Events, Figure, Monotonic, ReadingsReason, Unknown, texts,
};
use clockscope_statistics::{MedianBlocks, cost_histogram, quantile};
use clockscope_system::failure::system_error;
use clockscope_system::{ClockInfo, ClockKind, ReadPath, Resolution};

use crate::instrument::catalog::identity;
use crate::instrument::context::Context;
use crate::instrument::measured_clock::{MIN_COST_BATCHES, MeasuredClock, MeasuredState, median_cost};
use crate::instrument::{distribution, tick_record};
use crate::platform::Platform;

/// Description of the measuring loop without a clock.
pub(crate) fn empty_loop() -> ClockInfo {
    let resolution = Resolution::Unknown("no clock".into());
    let description = "the measuring loop without a clock";
    ClockInfo::new("empty_loop", ClockKind::CpuTime, ReadPath::Instruction, resolution, description)
}

/// The record of one clock.
pub(crate) fn clock<P: Platform>(
    measured_clock: MeasuredClock<P>,
    context: &Context<'_>,
    baseline: &Baseline,
) -> ClockRecord {
    let MeasuredClock { row, state } = measured_clock;
    let ns_per_unit = row.info.ns_per_unit(context.timer.rate().ns_per_unit);
    let mut record = ClockRecord {
        identity: identity(&row.info, context.environment.clocksource.as_deref()),
        available: state.is_some(),
        reason: row.failure_reason().cloned().map(Unknown::from),
        cost_ns: Figure::default(),
        ratio_to_fastest: Figure::default(),
        nominal_resolution_ns: row
            .info
            .nominal_resolution_ns(state.is_some().then_some(context.timer.rate().ns_per_unit)),
        observed_resolution_ns: Figure::default(),
        tick_ns: Figure::default(),
        tick_evidence: None,
        after_work: Figure::unknown(texts::NOT_AFTER_WORK),
        summary: Figure::default(),
        monotonic: Figure::default(),
        events: None,
    };
    if let Some(state) = state {
        fill(&mut record, state, &row.info, ns_per_unit, context, baseline);
    }
    record
}

/// Fills in what was measured.
fn fill(
    record: &mut ClockRecord,
    state: MeasuredState,
    info: &ClockInfo,
    ns_per_unit: Option<f64>,
    context: &Context<'_>,
    baseline: &Baseline,
) {
    record.reason = failed_reads(&state).map(Unknown::from);
    let MeasuredState {
        events,
        differences,
        tick,
        judged_outside,
        reads_per_batch,
        costs,
        cost_blocks,
        dropped,
        errors,
        ..
    } = state;
    let batches = costs.seen();
    let counts = [batches, reads_per_batch as u64, dropped];
    record.cost_ns = Figure::of(cost(costs.into_sorted(), &cost_blocks, context, counts), why_no_cost(batches));
    let both = record.cost_ns.known().zip(baseline.fastest_counter.as_ref());
    let ratio = both.map(|(cost, fastest)| cost.median / fastest.cost_ns);
    record.ratio_to_fastest = Figure::of(ratio, "no counter could be measured to compare with");
    let threshold_ns = record.cost_ns.known().map(|cost| events.threshold_ns(cost.median));
    let smallest = events.smallest_step().ok_or(texts::NO_FORWARD_STEP);
    let has_repeats = events.repeats() > 0;
    let (events, _) = events.finish();
    record.observed_resolution_ns =
        smallest.and_then(|step| ns_per_unit.map(|ns| step as f64 * ns).ok_or(texts::NO_LENGTH)).into();
    let known = tick_record::record(tick.tick(), info, ns_per_unit, context);
    record.tick_ns = known.tick_ns;
    record.tick_evidence = Some(known.evidence);
    record.summary = distribution::summary(differences.summary(), ns_per_unit, texts::NO_DIFFERENCES.into()).into();
    let weak = events.regression == 0;
    let monotonic = Monotonic { strict: weak && !has_repeats, weak };
    record.monotonic = Figure::of((events.reads >= 2).then_some(monotonic), "fewer than two readings");
    record.events = Some(events_record(events, errors, threshold_ns, info, judged_outside, context));
}

/// The cost by that of batches, in the timer's unit: how many there were, the reads of each, and
/// how many were dropped.
fn cost(
    sorted: Vec<f64>,
    blocks: &MedianBlocks,
    context: &Context<'_>,
    [batches, reads_per_batch, batches_dropped]: [u64; 3],
) -> Option<Cost> {
    let unit_ns = context.timer.rate().ns_per_unit;
    // The timer shows each batch in whole steps: most of them may be off by half a step, and all
    // alike.
    let hidden = context.timer.step / 2.0 / reads_per_batch as f64;
    // A timer that is a system call counts as a part of each batch: once, for what follows its
    // reading at the start and what precedes the one at the end.
    let timers = context.timer.call / reads_per_batch as f64;
    let median = median_cost(&sorted)?;
    Some(Cost {
        median: median * unit_ns,
        ci95: Figure::of(
            blocks
                .interval(median)
                .map(|[low, high]| [(low - hidden - timers).max(0.0) * unit_ns, (high + hidden) * unit_ns]),
            ReadingsReason::FewBatches { fewest: 48 },
        ),
        between_runs: None,
        rounds: blocks.rounds().iter().map(|level| level * unit_ns).collect(),
        min: sorted.first()? * unit_ns,
        p99: Figure::of(
            if sorted.len() >= 100 { quantile(&sorted, 0.99).map(|cost| cost * unit_ns) } else { None },
            ReadingsReason::FewBatches { fewest: 100 },
        ),
        histogram: cost_histogram(&sorted.iter().map(|cost| cost * unit_ns).collect::<Vec<_>>()),
        batches,
        reads_per_batch,
        batches_dropped,
    })
}

/// Returns why this number of batches shows no cost.
fn why_no_cost(batches: u64) -> Unknown {
    match batches {
        0 => texts::NO_BATCH.into(),
        1..MIN_COST_BATCHES => ReadingsReason::NoCost { fewest: MIN_COST_BATCHES }.into(),
        _ => "batches of reads took no time on the timer".into(),
    }
}

/// Returns which reads failed, as records have it; `None` if none did.
pub(crate) fn failed_reads(state: &MeasuredState) -> Option<ClockReason> {
    let (index, errno) = state.first_error?;
    let (errors, reads) = (state.errors, state.delivered + state.errors);
    Some(ClockReason::SomeReadsFailed { errors, reads, first: index + 1, error: system_error(errno) })
}

/// Adds what the counter of the events does not know: failed reads, the threshold and the
/// reference.
pub(crate) fn events_record(
    events: Events,
    errors: u64,
    threshold_ns: Option<f64>,
    info: &ClockInfo,
    judged_outside: bool,
    context: &Context<'_>,
) -> Events {
    let judged = events.jump.clone().result();
    let reference = if judged_outside { &context.timer.reference } else { &context.timer.name };
    let shares_hardware = context.shares_hardware(info, judged_outside);
    Events {
        errors,
        threshold_ns: judged.clone().and(threshold_ns.ok_or(texts::NO_BATCH.into())).into(),
        reference: judged.clone().map(|_| reference.clone()).into(),
        reference_shares_hardware: judged
            .and(shares_hardware.ok_or("the kernel's clocksource is not known".into()))
            .into(),
        ..events
    }
}
