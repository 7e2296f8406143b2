//! What a clock has shown, as its record.

use clockscope_records::{Baseline, ClockRecord, Cost, Events, Failure, Monotonic, Unknown};
use clockscope_sources::{ClockInfo, Kind, Path, Resolution};
use clockscope_statistics::{Blocks, EventCounts, quantile};

use crate::context::Context;
use crate::platform::{Platform, Yardstick};
use crate::subject::{FEWEST_BATCHES, State, Subject, median_cost};
use crate::unreadable::Unreadable;
use crate::{distribution, tick};

/// Description of the measuring loop without a clock.
pub(crate) fn empty_loop() -> ClockInfo {
    let resolution = Resolution::Unknown("no clock".into());
    let summary = "the measuring loop without a clock";
    ClockInfo::new("empty_loop", Kind::CpuTime, Path::Instruction, resolution, summary)
}

/// The record of one clock.
pub(crate) fn clock<P: Platform>(subject: Subject<P>, context: &Context<'_, P>, baseline: &Baseline) -> ClockRecord {
    let Subject { row, state } = subject;
    let mut unknown = Unknown::new();
    let identity = row.identity(context.environment.clocksource.as_deref(), &mut unknown);
    let ns_per_unit = row.ns_per_unit(context.rate.ns_per_unit);
    let mut record = ClockRecord {
        identity,
        available: state.is_some(),
        reason: row.sampler.as_ref().err().map(ToString::to_string),
        failure: row.sampler.as_ref().err().and_then(Unreadable::failure),
        cost_ns: None,
        ratio_to_fastest: None,
        nominal_resolution_ns: row
            .nominal_resolution_ns(state.is_some().then_some(context.rate.ns_per_unit), &mut unknown),
        observed_resolution_ns: None,
        tick_ns: None,
        tick_evidence: None,
        summary: None,
        monotonic: None,
        events: None,
        unknown,
    };
    if let Some(state) = state {
        fill(&mut record, state, &row.info, ns_per_unit, context, baseline);
    }
    record
}

/// Fills in what was measured.
fn fill<P: Platform>(
    record: &mut ClockRecord,
    state: State,
    info: &ClockInfo,
    ns_per_unit: Option<f64>,
    context: &Context<'_, P>,
    baseline: &Baseline,
) {
    let unknown = &mut record.unknown;
    let mut because = |field: &str, reason: &str| unknown.insert(field.to_owned(), reason.to_owned());
    (record.reason, record.failure) = failure(&state).unzip();
    let State {
        events, differences, tick, judged_outside, reads_per_batch, costs, cost_blocks, dropped, errors, ..
    } = state;
    let batches = costs.seen();
    let counts = [batches, reads_per_batch as u64, dropped];
    record.cost_ns = cost(costs.into_sorted(), &cost_blocks, context, counts);
    match &record.cost_ns {
        None => {
            because("cost_ns", why_no_cost(batches));
        }
        Some(cost) => {
            if cost.ci95.is_none() {
                because("cost_ns.ci95", "fewer than 48 batches: give it more time");
            }
            if cost.p99.is_none() {
                because("cost_ns.p99", "fewer than 100 batches: give it more time");
            }
        }
    }
    record.ratio_to_fastest = record
        .cost_ns
        .as_ref()
        .zip(baseline.fastest_counter.as_ref())
        .map(|(cost, fastest)| cost.median / fastest.cost_ns);
    if record.ratio_to_fastest.is_none() {
        because("ratio_to_fastest", "no counter could be measured to compare with");
    }
    let threshold_ns = record.cost_ns.as_ref().map(|cost| events.threshold_ns(cost.median));
    let (counts, _) = events.finish();
    record.observed_resolution_ns = counts.smallest_step.zip(ns_per_unit).map(|(step, ns)| step as f64 * ns);
    if counts.smallest_step.is_none() {
        because("observed_resolution_ns", "no two successive readings differed by a positive step");
    } else if ns_per_unit.is_none() {
        because("observed_resolution_ns", "it counts core cycles, whose length changes");
    }
    let known = tick::record(tick.tick(), info, ns_per_unit, context);
    record.tick_ns = known.tick_ns;
    record.tick_evidence = Some(known.evidence);
    if let Some(reason) = known.unknown {
        because("tick_ns", &reason);
    }
    record.summary = distribution::summary(differences.summary(), ns_per_unit);
    if record.summary.is_none() {
        because("summary", distribution::why_no_summary(ns_per_unit));
    }
    if counts.reads >= 2 {
        let weak = counts.regression == 0;
        record.monotonic = Some(Monotonic { strict: weak && counts.repeats == 0, weak });
    } else {
        because("monotonic", "fewer than two readings");
    }
    let events = events_record(counts, errors, threshold_ns, info, judged_outside, context);
    explain_events(&events, unknown, info);
    record.events = Some(events);
}

/// The cost by that of batches, in the timer's unit: how many there were, the reads of each, and how many were dropped.
fn cost<P: Platform>(
    sorted: Vec<f64>,
    blocks: &Blocks,
    context: &Context<'_, P>,
    [batches, reads_per_batch, batches_dropped]: [u64; 3],
) -> Option<Cost> {
    let ns = |cost: f64| cost * context.rate.ns_per_unit;
    // The timer shows each batch in whole steps: most of them may be off by half a step, and all alike.
    let hidden = context.timer_step / 2.0 / reads_per_batch as f64;
    let median = median_cost(&sorted)?;
    Some(Cost {
        median: ns(median),
        ci95: blocks.interval(median).map(|[low, high]| [ns((low - hidden).max(0.0)), ns(high + hidden)]),
        between_runs: None,
        rounds: blocks.rounds().iter().map(|level| ns(*level)).collect(),
        min: ns(*sorted.first()?),
        p99: if sorted.len() >= 100 { quantile(&sorted, 0.99).map(ns) } else { None },
        batches,
        reads_per_batch,
        batches_dropped,
    })
}

/// Returns why so many batches show no cost.
fn why_no_cost(batches: u64) -> &'static str {
    match batches {
        0 => "no batch of reads was completed",
        1..FEWEST_BATCHES => "fewer than seven batches were completed: interruptions would count as cost",
        _ => "batches of reads took no time on the timer",
    }
}

/// What went wrong while reading, in one sentence, and what records have of it beside that.
pub(crate) fn failure(state: &State) -> Option<(String, Failure)> {
    let (reading, errno) = state.first_error?;
    let (errors, reads) = (state.errors, state.delivered + state.errors);
    let sentence = format!("{errors} of {reads} reads failed; the first, read {}: {errno}", reading + 1);
    Some((sentence, Failure::DuringRun))
}

pub(crate) fn events_record<P: Platform>(
    counts: EventCounts,
    errors: u64,
    threshold_ns: Option<f64>,
    info: &ClockInfo,
    judged_outside: bool,
    context: &Context<'_, P>,
) -> Events {
    let judged = counts.judged;
    let reference = if judged_outside { context.reference.name() } else { context.timer.name() };
    Events {
        reads: counts.reads,
        errors,
        span_ns: Some(counts.span_ns),
        stuck: counts.stuck,
        stall: counts.stall,
        warp: judged.map(|judged| judged.warp),
        jump: judged.map(|judged| judged.jump),
        gap: judged.map(|judged| judged.gap),
        regression: counts.regression,
        hidden_regression: judged.and_then(|judged| judged.hidden_regression),
        threshold_ns: judged.and(threshold_ns),
        sure_ns: judged.and(counts.sure_ns),
        reference: judged.map(|_| reference.to_owned()),
        reference_shares_hardware: judged.and_then(|_| context.shares_hardware(info, judged_outside)),
    }
}

/// Says why counts are missing.
pub(crate) fn explain_events(events: &Events, unknown: &mut Unknown, info: &ClockInfo) {
    let mut because = |fields: &[&str], reason: &str| {
        for field in fields {
            unknown.insert(format!("events.{field}"), reason.to_owned());
        }
    };
    if events.reference.is_none() {
        let reason = match info.kind {
            Kind::CpuTime => "a CPU-time clock rightly stands still while the thread does not run",
            _ => "it counts work, not time",
        };
        because(
            &[
                "warp",
                "jump",
                "gap",
                "hidden_regression",
                "threshold_ns",
                "sure_ns",
                "reference",
                "reference_shares_hardware",
            ],
            reason,
        );
        return;
    }
    if events.hidden_regression.is_none() {
        because(&["hidden_regression"], "the clock's tick is longer than a batch of reads");
    }
    if events.reference_shares_hardware.is_none() {
        because(&["reference_shares_hardware"], "the kernel's clocksource is not known");
    }
    if events.threshold_ns.is_none() {
        because(&["threshold_ns"], "no batch of reads was completed");
    }
    if events.sure_ns.is_none() {
        because(&["sure_ns"], "its value changed between no two batches of reads");
    }
}
