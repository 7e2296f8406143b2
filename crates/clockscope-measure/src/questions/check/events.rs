//! Events between readings, as evidence on any clock.

use clockscope_records::checks::{self, RateChange, ReferenceProblem, Suspect};
use clockscope_records::{
    ClockRecord, CpuLimit, Events, EvidenceData, Finding, PairsReason, RateRecord, Sequence, Unknown, texts,
};

use super::evidence::{Severity, WeighedEvidence};
use super::observations::Observations;
use crate::instrument::error::MeasureError;
use crate::platform::failure_reason::observed_ns;
use crate::questions::across::order;
use crate::questions::rate::base_name;

/// Fewer readings than this do not show that a clock never goes back.
const MIN_READINGS: u64 = 1000;

/// Steps of which a clock that shows none is frozen: chance alone hides them once in a hundred
/// million.
const MIN_STEPS: f64 = 20.0;
/// The longest step that a clock is known to take, in ns: whole seconds.
const MAX_STEP_NS: f64 = 1e9;

/// Events of several records of one clock together.
fn all<'a>(clocks: &[&'a ClockRecord]) -> Vec<&'a Events> {
    clocks.iter().filter_map(|clock| clock.events.as_ref()).collect()
}

fn reads(events: &[&Events]) -> u64 {
    events.iter().map(|events| events.reads).sum()
}

/// The sum of a count that may be unknown; of those that are known, if any is.
fn sum(counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.flatten().reduce(|one, other| one + other)
}

/// Reason why a count is unknown: its own, or that of a whole clock.
fn reason(clocks: &[&ClockRecord], own: impl Fn(&Events) -> Option<&Unknown>) -> Option<Unknown> {
    clocks.iter().find_map(|clock| match clock.events.as_ref().and_then(&own) {
        Some(reason) => Some(reason.clone()),
        None => clock.reason.clone(),
    })
}

/// Check that no reading was smaller than the one before it, on one CPU.
pub(super) fn steps_back(clocks: &[&ClockRecord], suspect: Suspect, severity: Severity) -> WeighedEvidence {
    let events = all(clocks);
    let readings = reads(&events);
    let count = (readings > 0).then(|| events.iter().map(|events| events.regression).sum());
    let reason = if count.is_none() { reason(clocks, |_| None) } else { None };
    let finding = match count {
        None => Finding::Unknown,
        Some(0) if readings < MIN_READINGS => Finding::Unknown,
        Some(count) => against_if(count > 0),
    };
    WeighedEvidence::new(checks::StepsBack { count, readings, suspect, reason }, finding, severity)
}

/// Check that the clock advanced by no more, and by no less, than a second clock did meanwhile. The
/// second clock may be in doubt.
pub(super) fn jumps(
    clocks: &[&ClockRecord],
    reference_problem: Option<ReferenceProblem>,
    suspect: Suspect,
    severity: Severity,
) -> WeighedEvidence {
    let events = all(clocks);
    let readings = reads(&events);
    let reference = events.iter().find_map(|events| events.reference.known().cloned());
    let reference_shares_hardware = events.iter().find_map(|events| events.reference_shares_hardware.get());
    let mut check = checks::Jumps {
        ahead: sum(events.iter().map(|events| events.jump.get())),
        behind: None,
        readings,
        reference,
        suspect,
        reference_problem: None,
        reference_shares_hardware,
        reason: None,
    };
    let Some(jumps) = check.ahead else {
        check.reason = reason(clocks, |events| events.jump.reason());
        return WeighedEvidence::new(check, Finding::Unknown, severity);
    };
    // What a coarse clock loses within a batch of reads is unknown.
    check.behind = sum(events.iter().map(|events| events.hidden_regression.get()));
    let has_jumped = jumps + check.behind.unwrap_or(0) > 0;
    if has_jumped {
        check.reference_problem = reference_problem;
    }
    let finding = if check.reference_problem.is_some() { Finding::Unknown } else { against_if(has_jumped) };
    WeighedEvidence::new(check, finding, severity)
}

/// Check for jumps of a clock that was compared with the counter alone: a single jump may be the
/// counter's, whose readings may be off for microseconds, and only limits the clock. One that comes
/// again, or shows in its rate against another clock, is its own.
pub(super) fn jumps_against_counter(
    clock: &ClockRecord,
    reference_problem: Option<ReferenceProblem>,
    suspect: Suspect,
    severity: Severity,
) -> WeighedEvidence {
    let mut found = jumps(&[clock], reference_problem, suspect, severity);
    if let EvidenceData::Jumps(jumps) = &mut found.data
        && found.finding == Finding::Against
        && jumps.ahead.unwrap_or(0) + jumps.behind.unwrap_or(0) == 1
    {
        jumps.reference_problem = Some(ReferenceProblem::SeenOnce);
        found.severity = severity.min(Severity::Limits);
    }
    found
}

/// For how long a clock that never changed was looked at, in ns; `None` for one that did, or was
/// not read.
fn unchanged_ns(clock: &ClockRecord) -> Option<f64> {
    let events = clock.events.as_ref().filter(|events| events.reads > 0 && !clock.observed_resolution_ns.is_known())?;
    // The span may be unknown.
    let read_ns = events.reads as f64 * clock.cost_ns.known().map_or(0.0, |cost| cost.median);
    Some(events.span_ns.get().unwrap_or(read_ns))
}

/// Returns true if a clock that did not change for so long has stopped: its nominal step is far
/// shorter, and no clock that is known hides a longer step than [`MAX_STEP_NS`].
fn is_frozen(clock: &ClockRecord, unchanged_ns: f64) -> bool {
    unchanged_ns >= (MIN_STEPS * clock.nominal_resolution_ns.get().unwrap_or(0.0)).max(MAX_STEP_NS)
}

/// For how long a clock that had stepped before did not step any more when it was to be compared,
/// in ns.
fn stopped_ns(seen: &Observations, clock: &ClockRecord) -> Option<f64> {
    let (step_ns, label) = (clock.observed_resolution_ns.get()?, clock.identity.label());
    let unchanged_ns = match &seen.rates {
        Ok(_) => seen.rate(&label)?.unchanged_ns.get(),
        // Every path reads one clock.
        Err(MeasureError::Reference(refused)) if base_name(&refused.clock) == base_name(&label) => {
            observed_ns(&refused.reason)
        }
        Err(_) => None,
    };
    unchanged_ns.filter(|ns| *ns >= MIN_STEPS * step_ns)
}

/// Check that it did not stand still for longer than its tick explains.
pub(super) fn stalls(seen: &Observations, clocks: &[&ClockRecord], severity: Severity) -> WeighedEvidence {
    let events = all(clocks);
    if reads(&events) == 0 {
        let check = checks::Stuck { runs: None, unchanged_ns: None, reason: reason(clocks, |_| None) };
        return WeighedEvidence::new(check, Finding::Unknown, severity);
    }
    let stopped_ns = clocks.iter().filter_map(|clock| stopped_ns(seen, clock)).max_by(f64::total_cmp);
    let (mut unchanged, mut frozen, mut has_paused) = (Vec::new(), Vec::new(), false);
    for clock in clocks {
        match unchanged_ns(clock) {
            Some(ns) if is_frozen(clock, ns) => frozen.push(ns),
            Some(ns) => unchanged.push(ns),
            // A clock that changed otherwise was paused.
            None => has_paused |= clock.events.as_ref().is_some_and(|events| events.stuck > 0),
        }
    }
    let frozen_ns = frozen.into_iter().max_by(f64::total_cmp).or(stopped_ns);
    let (unchanged_ns, finding) = match (frozen_ns, unchanged.into_iter().max_by(f64::total_cmp)) {
        (Some(ns), _) => (Some(ns), Finding::Against),
        (None, Some(ns)) if !has_paused => (Some(ns), Finding::Unknown),
        _ => (None, against_if(has_paused)),
    };
    let runs = Some(events.iter().map(|events| events.stuck).sum());
    WeighedEvidence::new(checks::Stuck { runs, unchanged_ns, reason: None }, finding, severity)
}

/// Check that readings that were handed from CPU to CPU did not go back. Only of clocks whose reads
/// are ordered.
pub(super) fn order(
    seen: &Observations,
    sequences: &[&Sequence],
    suspect: Suspect,
    severity: Severity,
) -> WeighedEvidence {
    let ordered: Vec<&&Sequence> = sequences.iter().filter(|sequence| sequence.ordered).collect();
    let handoffs: u64 = ordered.iter().map(|sequence| sequence.handoffs).sum();
    let regressions = sum(ordered.iter().map(|sequence| sequence.regressions.get())).filter(|_| handoffs > 0);
    // Reads that fail on one CPU after others succeeded there.
    let mut reasons = ordered.iter().filter_map(|sequence| sequence.reason.as_ref());
    let ended = reasons.find(|reason| matches!(reason, Unknown::Clock(reason) if reason.is_during_run()));
    let (reason, finding) = match (regressions, &seen.order.untestable, one_cpu(seen)) {
        (None, _, Some(reason)) => (Some(reason.into()), Finding::For),
        (None, Some(reason), None) => (Some(reason.clone()), Finding::Unknown),
        (None, None, None) => {
            let lost = seen.order.lost.first();
            (Some(lost.map_or_else(|| texts::NO_HANDOFF.into(), |lost| lost.reason.clone())), Finding::Unknown)
        }
        (Some(0), ..) if handoffs < order::MIN_HANDOFFS => {
            (Some(PairsReason::FewHandoffs { handoffs }.into()), Finding::Unknown)
        }
        (Some(0), ..) if ended.is_some() => (ended.cloned(), Finding::Unknown),
        (Some(count), ..) => (None, against_if(count > 0)),
    };
    let worst_ns = ordered.iter().filter_map(|sequence| sequence.worst_ns.get()).max_by(f64::total_cmp);
    let pairs = seen.order.pairs_checked;
    let check = checks::Order { regressions, handoffs, pairs, shared_with: None, worst_ns, suspect, reason };
    WeighedEvidence::new(check, finding, severity)
}

/// Returns that no CPU can disagree with another, on a machine that has one.
pub(super) fn one_cpu(seen: &Observations) -> Option<PairsReason> {
    let cpu = seen.order.cpus.first().copied().unwrap_or_default();
    let one_cpu = PairsReason::OneCpu { cpu, limit: Some(CpuLimit::Machine) };
    if seen.environment.cpu.online.get() == Some(1) { Some(one_cpu) } else { None }
}

/// Reason why a clock's rate is unknown.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoRate<'a> {
    /// The clock that it was compared with is in doubt.
    Reference(ReferenceProblem),
    /// Nothing could be compared, for this reason.
    Failed(&'a MeasureError),
    /// The clock was not compared.
    NotCompared,
}

/// Check of a rate that was not compared.
pub(super) fn no_rate(why: NoRate<'_>, suspect: Suspect, severity: Severity) -> WeighedEvidence {
    let (reference_problem, reason) = match why {
        NoRate::Reference(reference_problem) => (Some(reference_problem), None),
        NoRate::Failed(error) => (None, Some(error.no_rate().into())),
        NoRate::NotCompared => (None, None),
    };
    let check = checks::ConstantRate {
        reference: None,
        brackets: 0,
        seconds: None,
        change: None,
        suspect,
        reference_problem,
        reference_shares_hardware: None,
        reason,
    };
    WeighedEvidence::new(check, Finding::Unknown, severity)
}

/// Check that one rate explains all that was seen against another clock.
pub(super) fn constancy(
    rate: &RateRecord,
    reference_shares_hardware: Option<bool>,
    suspect: Suspect,
    severity: Severity,
) -> WeighedEvidence {
    let change = match (rate.step.known(), rate.changed.known()) {
        (Some(step), _) => Some(RateChange::Step { at_s: step.at_s, step_ns: step.ns }),
        (None, Some(changed)) => Some(RateChange::Once { from_s: changed.from_s, until_s: changed.until_s }),
        (None, None) => (rate.constant.get() == Some(false)).then_some(RateChange::Unexplained),
    };
    let is_known = rate.constant.is_known() || rate.step.is_known();
    let reason = rate.constant.reason().filter(|_| !is_known).cloned();
    let is_against = rate.step.is_known() || rate.constant.get() == Some(false);
    let check = checks::ConstantRate {
        reference: Some(rate.reference.clone()),
        brackets: rate.brackets_used,
        seconds: rate.seconds.get(),
        change: change.filter(|_| is_known),
        suspect,
        reference_problem: None,
        reference_shares_hardware,
        reason,
    };
    WeighedEvidence::new(check, if is_known { against_if(is_against) } else { Finding::Unknown }, severity)
}

/// Judges a figure by a limit: it is against the clock if it is certainly outside, for it if it is
/// certainly inside.
pub(super) fn within(figure: f64, bound: f64, limit: f64) -> Finding {
    if figure.abs() - bound <= limit && figure.abs() + bound > limit {
        return Finding::Unknown;
    }
    against_if(figure.abs() > limit)
}

pub(super) fn against_if(is_against: bool) -> Finding {
    if is_against { Finding::Against } else { Finding::For }
}
