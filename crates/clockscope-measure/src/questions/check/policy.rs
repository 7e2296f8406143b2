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
/// those that the policy names. For the time of day, those that show it.
pub(super) fn names<P: Platform>(
    platform: &P,
    policy: &Policy,
    requested: &[String],
    for_use: Option<Use>,
) -> Result<Vec<String>, MeasureError> {
    let catalog = Catalog::new(platform);
    refuse_unanswerable(policy)?;
    let is_time_of_day_only = for_use == Some(Use::TimeOfDay);
    let mut indices = Vec::new();
    if requested.is_empty() {
        let usual = default_clocks::names(&catalog, default_clocks::is_systems);
        indices.extend(usual.iter().filter_map(|name| index(&catalog, name).ok()));
        indices.retain(|index| !is_time_of_day_only || shows_time_of_day(&catalog, *index));
    }
    for name in requested {
        let found = if name == COUNTER { None } else { Some(index(&catalog, name)?) };
        if is_time_of_day_only && !found.is_some_and(|index| shows_time_of_day(&catalog, index)) {
            return Err(MeasureError::NoTimeOfDay { name: name.clone() });
        }
        indices.extend(found);
    }
    for name in policy.clocks.keys() {
        let section = format!("clocks.{name}");
        // A policy is for many machines, on which a call of a language may read different clocks.
        let found =
            if catalog.behind_call(name).is_some() { Err(catalog.unknown(name)) } else { index(&catalog, name) };
        match found {
            Ok(index) if catalog.entries[index].info.is_counter() => {
                return Err(PolicyError::IsCounter { section }.into());
            }
            Ok(index) => indices.push(index),
            Err(unknown) => return Err(PolicyError::UnknownClock { section, unknown }.into()),
        }
    }
    indices.sort_unstable();
    indices.dedup();
    Ok(indices.into_iter().map(|index| catalog.entries[index].label()).collect())
}

/// Returns the index of the clock that a name stands for.
fn index<P: Platform>(catalog: &Catalog<P>, name: &str) -> Result<usize, UnknownClock> {
    match catalog.indices(name, Paths::Libc)?.first() {
        Some(index) => Ok(*index),
        None => Err(catalog.unknown(name)),
    }
}

fn shows_time_of_day<P: Platform>(catalog: &Catalog<P>, index: usize) -> bool {
    catalog.entries[index].info.kind == ClockKind::Wall
}

/// Returns true if a verdict is on the clock of this name, alias or path, however it is spelled.
pub(super) fn is_same(seen: &Observations, verdict: &str, name: &str) -> bool {
    spellings(name).any(|name| is_on(seen, verdict, &name))
}

fn is_on(seen: &Observations, verdict: &str, name: &str) -> bool {
    let is_verdict_on_counter = seen.counters().next().is_some_and(|counter| counter.identity.name == verdict);
    if name == COUNTER {
        return is_verdict_on_counter;
    }
    match seen.clock(name) {
        Some(clock) if is_counter(clock) => is_verdict_on_counter,
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
        for (demanded, limit) in limits(demands) {
            if !limit.is_finite() || limit < 0.0 {
                return Err(PolicyError::Limit { demand: format!("{section}.{}", demanded.key()), limit });
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

/// Returns the limits that are demanded, in the order of the policy's fields.
fn limits(demands: &ClockDemands) -> impl Iterator<Item = (Demanded, f64)> {
    let limits = [
        (Demanded::MaxCostNs, demands.max_cost_ns),
        (Demanded::MaxTickNs, demands.max_tick_ns),
        (Demanded::MaxRegressions, demands.max_regressions.map(|limit| limit as f64)),
        (Demanded::MaxRatePpm, demands.max_rate_ppm),
        (Demanded::MaxOffsetNs, demands.max_offset_ns),
    ];
    limits.into_iter().filter_map(|(demanded, limit)| Some((demanded, limit?)))
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
    let counter = policy.counter.iter().map(|demands| (None, demands));
    let clocks = policy.clocks.iter().map(|(name, demands)| (Some(name.as_str()), demands));
    for (clock, clock_demands) in counter.chain(clocks) {
        let name = clock.unwrap_or(COUNTER);
        let verdict = verdicts.iter().find(|verdict| is_same(seen, &verdict.clock, name));
        demands.extend(compare_clock(clock, clock_demands, verdict, seen, for_use));
    }
    demands
}

/// The demands on a clock of this name, or on the counter.
fn compare_clock(
    name: Option<&str>,
    demands: &ClockDemands,
    verdict: Option<&Verdict>,
    seen: &Observations,
    requested_use: Option<Use>,
) -> Vec<Demand> {
    let uses = verdict.map(|verdict| verdict.uses).unwrap_or_default();
    let mut found = Vec::new();
    if let Some(required) = demands.verdict {
        let for_use = demands.for_use.or(requested_use.filter(|this| uses.of(*this).is_some()));
        let is = match for_use {
            Some(this) => uses.of(this),
            None => verdict.map(|verdict| verdict.verdict),
        };
        found.push(Demand {
            demand: target(name, Demanded::Verdict),
            required: word(required),
            for_use: if uses.time_of_day.is_some() { for_use } else { None },
            found: is.map(word),
            met: is.and_then(|is| is_met(is, required)),
        });
    }
    for (demanded, limit) in limits(demands) {
        let range = verdict.and_then(|verdict| figure(demanded, verdict, seen));
        found.push(Demand {
            demand: target(name, demanded),
            required: DemandValue::Number(limit),
            for_use: None,
            found: range.map(|range| DemandValue::Number(range.figure())),
            met: range.and_then(|range| range.is_at_most(limit)),
        });
    }
    if let Some(required) = demands.invariant {
        found.push(Demand {
            demand: target(name, Demanded::Invariant),
            required: yes_or_no(required),
            for_use: None,
            found: seen.is_invariant.map(yes_or_no),
            met: seen.is_invariant.map(|is| is || !required),
        });
    }
    found
}

fn target(name: Option<&str>, demanded: Demanded) -> DemandTarget {
    match name {
        Some(name) => DemandTarget::Clock(name.to_owned(), demanded),
        None => DemandTarget::Counter(demanded),
    }
}

fn yes_or_no(is: bool) -> DemandValue {
    DemandValue::Word(if is { "yes" } else { "no" }.to_owned())
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
    fn around((figure, bound): (f64, f64)) -> Self {
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

/// Returns a figure that can be demanded, as it was found.
fn figure(demanded: Demanded, verdict: &Verdict, seen: &Observations) -> Option<Range> {
    let clock = seen.clock(&verdict.clock);
    let is_counter = clock.is_some_and(is_counter);
    match demanded {
        Demanded::MaxCostNs if is_counter => Some(Range::exactly(seen.cheapest_ordered()?.1.median)),
        Demanded::MaxCostNs => clock.and_then(cost_ns).map(Range::exactly),
        Demanded::MaxTickNs => clock.and_then(tick_ns),
        Demanded::MaxRegressions => regressions(verdict, seen, is_counter),
        Demanded::MaxRatePpm if is_counter => counters::nominal_error_ppm(seen).map(Range::around),
        Demanded::MaxRatePpm => {
            let rate = seen.rate(&verdict.clock)?;
            rate.ppm.get().zip(rate.bound_ppm.get()).map(Range::around)
        }
        Demanded::MaxOffsetNs => offset_ns(seen),
        Demanded::Verdict | Demanded::Invariant => None,
    }
}

/// Returns the step of a clock's readings: found, or anything up to its bound.
fn tick_ns(clock: &ClockRecord) -> Option<Range> {
    match clock.tick_ns.get() {
        Some(ns) => Some(Range::exactly(ns)),
        None => Some(Range { lowest: 0.0, highest: at_most_ns(clock)? }),
    }
}

/// Backward steps on one CPU and across CPUs. What was not tested is not zero, unless there is
/// nothing to be tested.
fn regressions(verdict: &Verdict, seen: &Observations, is_counter: bool) -> Option<Range> {
    let (mut on_one, mut across) = (None, None);
    for evidence in verdict.evidence.iter().filter(|evidence| evidence.finding != Finding::Unknown) {
        match &evidence.data {
            EvidenceData::StepsBack(steps) => on_one = on_one.or(steps.count),
            EvidenceData::Order(order) if order.shared_with.is_none() => across = across.or(order.regressions),
            _ => {}
        }
    }
    let on_one = on_one?;
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

/// Between which bounds the largest offset lies.
fn offset_ns(seen: &Observations) -> Option<Range> {
    if seen.environment.cpu.online.get() == Some(1) {
        return Some(Range::exactly(0.0));
    }
    // Counters that drift have no offset; what order saw of it is the least.
    let is_drifting =
        seen.offsets.pairs.iter().any(|pair| pair.apart.get() == Some(true) && !pair.offset_ns.is_known());
    let counters = seen.counters().filter_map(|clock| seen.handed_over(&clock.identity.label()));
    let ordered = counters.filter(|sequence| sequence.ordered);
    let worst = ordered.filter_map(|sequence| sequence.worst_ns.get()).max_by(f64::total_cmp);
    if is_drifting {
        return worst.map(|lowest| Range { lowest, highest: f64::INFINITY });
    }
    let highest = seen.offsets.within_ns.get()?;
    let pairs = seen.offsets.pairs.iter();
    let least = pairs.filter_map(|pair| Some((pair.offset_ns.get()?.abs() - pair.bound_ns.get()?).max(0.0)));
    Some(Range { lowest: least.max_by(f64::total_cmp).unwrap_or(0.0), highest })
}
