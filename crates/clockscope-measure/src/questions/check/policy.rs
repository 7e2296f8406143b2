//! Compares the demands of a policy with what was found.

use clockscope_records::{
    ClockDemands, ClockRecord, Demand, DemandTarget, DemandValue, Demanded, EvidenceData, Finding, Policy,
    Trustworthiness, Use, Verdict,
};
use clockscope_system::ClockKind;

use super::counter as counters;
use super::observations::{Observations, at_most_ns, cost_ns, is_counter};
use crate::instrument::catalog::{COUNTER, Catalog, Paths, UnknownClock, spellings};
use crate::instrument::default_clocks;
use crate::instrument::error::{MeasureError, PolicyError};
use crate::platform::Platform;

/// Names of the clocks to judge, each once: those asked for, or the usual ones that there are, and
/// those that the policy names. For civil time, those that show it.
pub(super) fn names<P: Platform>(
    platform: &P,
    policy: &Policy,
    requested: &[String],
    for_use: Option<Use>,
) -> Result<Vec<String>, MeasureError> {
    let catalog = Catalog::new(platform);
    refuse_unanswerable(policy)?;
    let index = |name: &str| -> Result<usize, UnknownClock> {
        let unknown = || UnknownClock { name: name.to_owned(), known: catalog.names() };
        catalog.indices(name, Paths::Libc)?.first().copied().ok_or_else(unknown)
    };
    let mut indices = Vec::new();
    let is_judged = |index: usize| for_use != Some(Use::Civil) || shows_civil_time(&catalog, index);
    if requested.is_empty() {
        let usual = default_clocks::names(&catalog, default_clocks::is_systems);
        indices.extend(usual.iter().filter_map(|name| index(name).ok()).filter(|index| is_judged(*index)));
    }
    for name in requested {
        let found = if name == COUNTER { None } else { Some(index(name)?) };
        if !found.map_or(for_use != Some(Use::Civil), is_judged) {
            return Err(MeasureError::NoCivilTime { name: name.clone() });
        }
        indices.extend(found);
    }
    for name in policy.clocks.keys() {
        let unknown = |unknown| PolicyError::UnknownClock { section: format!("clocks.{name}"), unknown };
        let index = index(name).map_err(unknown)?;
        if catalog.entries[index].info.is_counter() {
            return Err(PolicyError::IsCounter { section: format!("clocks.{name}") }.into());
        }
        indices.push(index);
    }
    indices.sort_unstable();
    indices.dedup();
    Ok(indices.into_iter().map(|index| catalog.entries[index].label()).collect())
}

fn shows_civil_time<P: Platform>(catalog: &Catalog<P>, index: usize) -> bool {
    catalog.entries[index].info.kind == ClockKind::Wall
}

/// Returns true if a verdict is on the clock of this name, alias or path, however it is spelled.
pub(super) fn is_same(seen: &Observations, verdict: &str, name: &str) -> bool {
    spellings(name).any(|name| is_on(seen, verdict, &name))
}

fn is_on(seen: &Observations, verdict: &str, name: &str) -> bool {
    let is_of_counter = |clock: &ClockRecord| is_counter(clock);
    let counters: Vec<&ClockRecord> = seen.counters().collect();
    let is_verdict_on_counter = counters.first().is_some_and(|counter| counter.identity.name == verdict);
    if name == COUNTER {
        return is_verdict_on_counter;
    }
    match seen.clock(name) {
        Some(clock) if is_of_counter(clock) => is_verdict_on_counter,
        Some(clock) => clock.identity.label() == verdict,
        None => verdict == name,
    }
}

/// Refuses limits that are none, and demands that other clocks would answer or that ask for
/// nothing.
fn refuse_unanswerable(policy: &Policy) -> Result<(), PolicyError> {
    if policy.clocksource.as_ref().is_some_and(Vec::is_empty) {
        return Err(PolicyError::NoClocksource);
    }
    let counter = policy.counter.iter().map(|demands| (COUNTER.to_owned(), demands));
    let clocks = policy.clocks.iter().map(|(name, demands)| (format!("clocks.{name}"), demands));
    for (section, demands) in counter.chain(clocks) {
        for (field, limit) in limits(demands) {
            if let Some(limit) = limit.filter(|limit| !limit.is_finite() || *limit < 0.0) {
                return Err(PolicyError::Limit { demand: format!("{section}.{field}"), limit });
            }
        }
        let only = [("max_offset_ns", demands.max_offset_ns.is_some()), ("invariant", demands.invariant.is_some())];
        if let Some((field, _)) = only.iter().find(|(_, is_set)| *is_set && section != COUNTER) {
            return Err(PolicyError::OnlyOfCounter { demand: format!("{section}.{field}") });
        }
        if demands.for_use.is_some() && demands.verdict.is_none() {
            return Err(PolicyError::UseOfNoVerdict { demand: format!("{section}.use") });
        }
    }
    Ok(())
}

fn limits(demands: &ClockDemands) -> [(&'static str, Option<f64>); 4] {
    [
        ("max_cost_ns", demands.max_cost_ns),
        ("max_tick_ns", demands.max_tick_ns),
        ("max_rate_ppm", demands.max_rate_ppm),
        ("max_offset_ns", demands.max_offset_ns),
    ]
}

/// Names of the clocks that a policy speaks of.
pub(super) fn clocks(policy: &Policy) -> Vec<String> {
    policy.counter.iter().map(|_| COUNTER.to_owned()).chain(policy.clocks.keys().cloned()).collect()
}

/// Every demand against what was found, in the order of the policy's fields. A verdict is demanded
/// for the use that the policy states, else for the one that was asked about, else for all.
pub(super) fn compare(policy: &Policy, seen: &Observations, verdicts: &[Verdict], for_use: Option<Use>) -> Vec<Demand> {
    let mut demands = Vec::new();
    if let Some(names) = &policy.clocksource {
        let current = seen.clocksource().map(str::to_owned);
        demands.push(Demand {
            demand: DemandTarget::Clocksource,
            required: DemandValue::Word(names.join(" or ")),
            for_use: None,
            found: current.clone().map(DemandValue::Word),
            met: current.as_ref().map(|current| names.contains(current)),
        });
    }
    let verdict = |name: &str| verdicts.iter().find(|verdict| is_same(seen, &verdict.clock, name));
    if let Some(of_counter) = &policy.counter {
        demands.extend(of(&DemandTarget::Counter, of_counter, verdict(COUNTER), seen, for_use));
    }
    for (name, of_clock) in &policy.clocks {
        let target = |demanded| DemandTarget::Clock(name.clone(), demanded);
        demands.extend(of(&target, of_clock, verdict(name), seen, for_use));
    }
    demands
}

/// The demands on one clock.
fn of(
    target: &dyn Fn(Demanded) -> DemandTarget,
    demands: &ClockDemands,
    verdict: Option<&Verdict>,
    seen: &Observations,
    requested_use: Option<Use>,
) -> Vec<Demand> {
    let figures = verdict.map(|verdict| DemandFigures::from_verdict(verdict, seen)).unwrap_or_default();
    let mut found = Vec::new();
    if let Some(required) = demands.verdict {
        let is_judged = |this: &Use| verdict.is_some_and(|verdict| verdict.uses.of(*this).is_some());
        let for_use = demands.for_use.or(requested_use.filter(is_judged));
        let is = verdict.and_then(|verdict| for_use.map_or(Some(verdict.verdict), |this| verdict.uses.of(this)));
        found.push(Demand {
            demand: target(Demanded::Verdict),
            required: word(required),
            for_use: for_use.filter(|_| verdict.is_some_and(|verdict| verdict.uses.civil.is_some())),
            found: is.map(word),
            met: is.and_then(|is| is_met(is, required)),
        });
    }
    let mut at_most = |demanded: Demanded, most: Option<f64>, range: Option<Range>| {
        let Some(most) = most else { return };
        found.push(Demand {
            demand: target(demanded),
            required: DemandValue::Number(most),
            for_use: None,
            found: range.map(|range| DemandValue::Number(range.figure())),
            met: range.and_then(|range| range.is_at_most(most)),
        });
    };
    at_most(Demanded::MaxCostNs, demands.max_cost_ns, figures.cost_ns);
    at_most(Demanded::MaxTickNs, demands.max_tick_ns, figures.tick_ns);
    at_most(Demanded::MaxRegressions, demands.max_regressions.map(|most| most as f64), figures.regressions);
    at_most(Demanded::MaxRatePpm, demands.max_rate_ppm, figures.rate_ppm);
    at_most(Demanded::MaxOffsetNs, demands.max_offset_ns, figures.offset_ns);
    if let Some(required) = demands.invariant {
        let is = seen.is_invariant;
        let yes_or_no = |is: bool| DemandValue::Word(if is { "yes" } else { "no" }.to_owned());
        found.push(Demand {
            demand: target(Demanded::Invariant),
            required: yes_or_no(required),
            for_use: None,
            found: is.map(yes_or_no),
            met: is.map(|is| is || !required),
        });
    }
    found
}

/// Returns whether a verdict is good enough; `None` for an undecided one, which may become any.
fn is_met(is: Trustworthiness, required: Trustworthiness) -> Option<bool> {
    (is != Trustworthiness::Undecided || required == Trustworthiness::Unfit).then_some(is >= required)
}

fn word(verdict: Trustworthiness) -> DemandValue {
    DemandValue::Word(verdict.as_str().to_owned())
}

/// A figure that lies in between, in absolute terms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    lowest: f64,
    highest: f64,
}

impl Range {
    /// A figure that is known.
    fn exactly(figure: f64) -> Self {
        Self { lowest: figure, highest: figure }
    }

    /// A figure of either sign that is known within a bound.
    fn around(figure: f64, bound: f64) -> Self {
        Self { lowest: (figure.abs() - bound).max(0.0), highest: figure.abs() + bound }
    }

    /// Figure that is shown of it: the largest that it may be, or, where that is unlimited, the
    /// least.
    fn figure(self) -> f64 {
        if self.highest.is_finite() { self.highest } else { self.lowest }
    }

    /// `None` if that is unknown.
    fn is_at_most(self, most: f64) -> Option<bool> {
        if self.highest <= most { Some(true) } else { (self.lowest > most).then_some(false) }
    }
}

/// Figures that can be demanded, as they were found.
#[derive(Clone, Copy, Debug, Default)]
struct DemandFigures {
    cost_ns: Option<Range>,
    tick_ns: Option<Range>,
    regressions: Option<Range>,
    rate_ppm: Option<Range>,
    offset_ns: Option<Range>,
}

impl DemandFigures {
    fn from_verdict(verdict: &Verdict, seen: &Observations) -> Self {
        let clock = seen.clock(&verdict.clock);
        let is_counter = clock.is_some_and(is_counter);
        let cost_ns = if is_counter {
            seen.cheapest_ordered().map(|(_, cost)| cost.median)
        } else {
            seen.clock(&verdict.clock).and_then(cost_ns)
        };
        Self {
            cost_ns: cost_ns.map(Range::exactly),
            tick_ns: clock.and_then(tick_ns),
            regressions: regressions(verdict, seen, is_counter),
            rate_ppm: if is_counter {
                counters::nominal_error_ppm(seen).map(around)
            } else {
                rate_ppm(verdict, seen).map(around)
            },
            offset_ns: offset_ns(seen),
        }
    }
}

fn around((figure, bound): (f64, f64)) -> Range {
    Range::around(figure, bound)
}

/// Returns the step of a clock's readings: found, or anything up to its bound.
fn tick_ns(clock: &ClockRecord) -> Option<Range> {
    let bounded = || at_most_ns(clock).map(|highest| Range { lowest: 0.0, highest });
    clock.tick_ns.get().map(Range::exactly).or_else(bounded)
}

/// Backward steps on one CPU and across CPUs. What was not tested is not zero, unless there is
/// nothing to be tested.
fn regressions(verdict: &Verdict, seen: &Observations, is_counter: bool) -> Option<Range> {
    let known = || verdict.evidence.iter().filter(|evidence| evidence.finding != Finding::Unknown);
    let on_one = known().find_map(|evidence| match &evidence.data {
        EvidenceData::StepsBack(steps) => steps.count,
        _ => None,
    })?;
    let across = known().find_map(|evidence| match &evidence.data {
        EvidenceData::Order(order) if order.shared_with.is_none() => order.regressions,
        _ => None,
    });
    let needs_no_other =
        seen.environment.cpu.online.get() == Some(1) || !seen.is_ordered_across(&verdict.clock, is_counter);
    match across {
        Some(across) => Some(Range::exactly((on_one + across) as f64)),
        None if needs_no_other => Some(Range::exactly(on_one as f64)),
        // There are some, and may be more.
        None if on_one > 0 => Some(Range { lowest: on_one as f64, highest: f64::INFINITY }),
        None => None,
    }
}

fn rate_ppm(verdict: &Verdict, seen: &Observations) -> Option<(f64, f64)> {
    let rates = seen.rates.as_ref().ok()?;
    let rate = rates.clocks.iter().find(|rate| rate.name == verdict.clock)?;
    rate.ppm.get().zip(rate.bound_ppm.get())
}

/// Between which bounds the largest offset lies.
fn offset_ns(seen: &Observations) -> Option<Range> {
    if seen.environment.cpu.online.get() == Some(1) {
        return Some(Range::exactly(0.0));
    }
    // Counters that drift have no offset; what order saw of it is the least.
    let is_drifting =
        seen.offsets.pairs.iter().any(|pair| pair.apart.get() == Some(true) && !pair.offset_ns.is_known());
    let counters = seen.counters().filter_map(|clock| seen.handed_over(&clock.identity.label()));
    let worst = counters
        .filter(|sequence| sequence.ordered)
        .filter_map(|sequence| sequence.worst_ns.get())
        .max_by(f64::total_cmp);
    if is_drifting {
        return worst.map(|lowest| Range { lowest, highest: f64::INFINITY });
    }
    let highest = seen.offsets.within_ns.get()?;
    let least = seen
        .offsets
        .pairs
        .iter()
        .filter_map(|pair| Some((pair.offset_ns.get()?.abs() - pair.bound_ns.get()?).max(0.0)));
    Some(Range { lowest: least.max_by(f64::total_cmp).unwrap_or(0.0), highest })
}
