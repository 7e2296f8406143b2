//! What happened between readings, as evidence on any clock.

pub(super) use clockscope_records::units::time;

use clockscope::{Evidence, Finding};
use clockscope_records::{ClockRecord, Events, RateRecord, Sequence};

use super::case::Gravity;
use super::seen::{LONGER, Seen, TWO_CPUS};
use crate::rate::base_name;

/// Fewer hand-overs than this say nothing.
const FEW_HANDOVERS: u64 = 1000;

/// A clock that shows none of so many steps is frozen: chance alone hides them once in a hundred million.
const STEPS_TO_SEE: f64 = 20.0;
/// The longest step that a clock is known to take, in ns: whole seconds.
const LONGEST_STEP_NS: f64 = 1e9;

/// Who says so.
const READS: &str = "successive readings";
const HANDOVERS: &str = "hand-overs";
const BRACKETS: &str = "brackets";

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

/// Why a count is unknown.
fn reason(clocks: &[&ClockRecord], field: &str) -> String {
    let known = clocks.iter().find_map(|clock| clock.unknown.get(field).or(clock.reason.as_ref()));
    known.map_or_else(|| "nothing was read".to_owned(), Clone::clone)
}

/// Whether a reading was smaller than the one before it, on one CPU.
pub(super) fn steps_back(clocks: &[&ClockRecord], advice: &'static str, gravity: Gravity) -> (Evidence, Gravity) {
    let events = all(clocks);
    let name = "steps back on one CPU";
    if reads(&events) == 0 {
        return (Evidence::new(name, Finding::Unknown, reason(clocks, "events")).by(READS), gravity);
    }
    let count: u64 = events.iter().map(|events| events.regression).sum();
    let seen = format!("{count} of {} readings were smaller than the one before", reads(&events));
    (against_if(count > 0, name, seen, advice).figure(count as f64, "").by(READS), gravity)
}

/// Whether the clock advanced by more, or by less, than a second clock did meanwhile. That one may be in doubt.
pub(super) fn jumps(
    clocks: &[&ClockRecord],
    doubt: Option<&str>,
    advice: &'static str,
    gravity: Gravity,
) -> (Evidence, Gravity) {
    let events = all(clocks);
    let name = "jumps";
    let (jumps, losses) =
        (sum(events.iter().map(|events| events.jump)), sum(events.iter().map(|events| events.hidden_regression)));
    let Some(jumps) = jumps else {
        return (Evidence::new(name, Finding::Unknown, reason(clocks, "events.jump")).by(READS), gravity);
    };
    // What a coarse clock loses within a batch of reads cannot be told.
    let behind = losses.map_or_else(String::new, |losses| format!(" and {losses} behind it"));
    let losses = losses.unwrap_or(0);
    let reference = events.iter().find_map(|events| events.reference.as_deref()).unwrap_or("another clock");
    let seen = format!("{jumps} steps ahead of {reference}{behind} in {} readings", reads(&events));
    let evidence = match doubt.filter(|_| jumps + losses > 0) {
        Some(doubt) => Evidence::new(name, Finding::Unknown, format!("{seen}; {doubt}")),
        None => against_if(jumps + losses > 0, name, seen, advice),
    };
    (evidence.figure((jumps + losses) as f64, "").by(READS), gravity)
}

/// For how long a clock that never changed was looked at, in ns; `None` for one that did, or was not read.
fn unchanged_ns(clock: &ClockRecord) -> Option<f64> {
    let events = clock.events.as_ref().filter(|events| events.reads > 0 && clock.observed_resolution_ns.is_none())?;
    // Older records do not tell the span.
    let read_ns = events.reads as f64 * clock.cost_ns.as_ref().map_or(0.0, |cost| cost.median);
    Some(events.span_ns.unwrap_or(read_ns))
}

/// Whether a clock that did not change for so long has stopped: it claims to step far more often, and no clock that is known
/// hides a longer step than [`LONGEST_STEP_NS`].
fn is_frozen(clock: &ClockRecord, unchanged_ns: f64) -> bool {
    unchanged_ns >= (STEPS_TO_SEE * clock.nominal_resolution_ns.unwrap_or(0.0)).max(LONGEST_STEP_NS)
}

/// For how long a clock that had stepped before did not step any more when it was to be compared, in ns.
fn stopped_ns(seen: &Seen, clock: &ClockRecord) -> Option<f64> {
    let (step_ns, label) = (clock.observed_resolution_ns?, clock.identity.label());
    let stood_still_ns = match (&seen.still, &seen.rates) {
        // Every path reads one clock.
        (Some((reference, ns)), _) => (base_name(reference) == base_name(&label)).then_some(*ns),
        (None, Ok(rates)) => rates.clocks.iter().find(|rate| rate.name == label)?.stood_still_ns,
        (None, Err(_)) => None,
    };
    stood_still_ns.filter(|ns| *ns >= STEPS_TO_SEE * step_ns)
}

/// Whether it stood still. Clocks that the timer tick moves do, by design.
pub(super) fn standing(seen: &Seen, clocks: &[&ClockRecord], may_rest: bool, gravity: Gravity) -> (Evidence, Gravity) {
    let events = all(clocks);
    let name = "standing still";
    if reads(&events) == 0 {
        return (Evidence::new(name, Finding::Unknown, reason(clocks, "events")).by(READS), gravity);
    }
    let fails: u64 = events.iter().map(|events| events.fail).sum();
    let unchanged = || clocks.iter().filter_map(|clock| Some((clock, unchanged_ns(clock)?)));
    let stopped_ns = clocks.iter().filter_map(|clock| stopped_ns(seen, clock)).max_by(f64::total_cmp);
    let frozen_ns = unchanged().filter(|(clock, ns)| is_frozen(clock, *ns)).map(|(_, ns)| ns).max_by(f64::total_cmp);
    // A clock that changed otherwise rested.
    let rested = |clock: &&ClockRecord| {
        unchanged_ns(clock).is_none() && clock.events.as_ref().is_some_and(|events| events.fail > 0)
    };
    let has_rested = !may_rest && clocks.iter().any(rested);
    let advice = "do not wait by this clock: it may never reach the time waited for";
    let frozen_ns = frozen_ns.or(stopped_ns);
    let (is_against, seen) = match (frozen_ns, unchanged().map(|(_, ns)| ns).max_by(f64::total_cmp)) {
        (Some(ns), _) => (true, format!("it showed one value for {}", time(ns))),
        (None, Some(ns)) if !has_rested => {
            let seen = format!("it showed one value for {}: its step may be as long", time(ns));
            return (Evidence::new(name, Finding::Unknown, seen).by(READS).advise(LONGER), gravity);
        }
        _ => (has_rested, format!("{fails} runs of 200 or more readings showed one value")),
    };
    (against_if(is_against, name, seen, advice).figure(fails as f64, "").by(READS), gravity)
}

/// Whether readings that were handed from CPU to CPU went back. Only of clocks whose reads are ordered.
pub(super) fn order(
    seen: &Seen,
    sequences: &[&Sequence],
    advice: &'static str,
    gravity: Gravity,
) -> (Evidence, Gravity) {
    let name = "order across CPUs";
    let ordered: Vec<&&Sequence> = sequences.iter().filter(|sequence| sequence.ordered).collect();
    let handoffs: u64 = ordered.iter().map(|sequence| sequence.handoffs).sum();
    let Some(back) = sum(ordered.iter().map(|sequence| sequence.regressions)).filter(|_| handoffs > 0) else {
        if seen.environment.cpu.online == Some(1) {
            let seen = "there is one CPU, so that no other can disagree";
            return (Evidence::new(name, Finding::For, seen).by("the system"), gravity);
        }
        let lost = seen.order.lost.first().map(|lost| lost.reason.as_str());
        let why = seen.order.untestable.as_deref().or(lost).unwrap_or("nothing was handed over").to_owned();
        let advice = if seen.order.untestable.is_some() { TWO_CPUS } else { LONGER };
        return (Evidence::new(name, Finding::Unknown, why).by(HANDOVERS).advise(advice), gravity);
    };
    if back == 0 && handoffs < FEW_HANDOVERS {
        let why = format!("{handoffs} hand-overs are too few");
        return (Evidence::new(name, Finding::Unknown, why).by(HANDOVERS).advise(LONGER), gravity);
    }
    let worst = ordered.iter().filter_map(|sequence| sequence.worst_ns).max_by(f64::total_cmp);
    let far = worst.map_or_else(String::new, |ns| format!(", by up to {}", time(ns)));
    let pairs = seen.order.pairs_tested;
    let plural = if pairs == 1 { "" } else { "s" };
    let seen = format!("{back} of {handoffs} readings went back between {pairs} pair{plural} of CPUs{far}");
    (against_if(back > 0, name, seen, advice).figure(back as f64, "").by(HANDOVERS), gravity)
}

/// Whether one rate explains all that was seen against another clock.
pub(super) fn constancy(
    rate: Result<&RateRecord, &str>,
    advice: &'static str,
    gravity: Gravity,
) -> (Evidence, Gravity) {
    let name = "constant rate";
    let rate = match rate {
        Ok(rate) if rate.constant.is_some() || rate.step.is_some() => rate,
        Ok(rate) => {
            let why = rate.unknown.get("constant").or(rate.reason.as_ref()).cloned();
            let why = why.unwrap_or_else(|| "it was not compared".to_owned());
            return (Evidence::new(name, Finding::Unknown, why).by(BRACKETS), gravity);
        }
        Err(why) => return (Evidence::new(name, Finding::Unknown, why.to_owned()).by(BRACKETS), gravity),
    };
    let (over, against) = (rate.seconds.unwrap_or(0.0), &rate.reference);
    let seen = match (&rate.step, &rate.changed) {
        (Some(step), _) => format!("it stepped by at least {} against {against} at {:.3} s", time(step.ns), step.at_s),
        (None, Some(changed)) => {
            format!("its rate against {against} changed between {:.3} s and {:.3} s", changed.from_s, changed.until_s)
        }
        (None, None) if rate.constant == Some(false) => format!("no rate explains what was seen against {against}"),
        (None, None) => {
            format!("one rate explains {} brackets by {against} in {over:.1} s", rate.brackets_kept)
        }
    };
    let evidence = against_if(rate.step.is_some() || rate.constant == Some(false), name, seen, advice);
    let evidence = match &rate.step {
        Some(step) => evidence.figure(step.ns, "ns"),
        None => evidence,
    };
    (evidence.by(BRACKETS), gravity)
}

/// Evidence on a figure that has to be within a limit: against the clock if it is certainly outside, for it if it is certainly
/// inside.
pub(super) fn within(
    figure: f64,
    bound: f64,
    limit: f64,
    name: &'static str,
    seen: String,
    advice: &'static str,
) -> Evidence {
    if figure.abs() - bound <= limit && figure.abs() + bound > limit {
        return Evidence::new(name, Finding::Unknown, seen).advise(LONGER);
    }
    against_if(figure.abs() > limit, name, seen, advice)
}

/// Evidence that speaks against the clock if `is_against`, and then bears the advice.
pub(super) fn against_if(is_against: bool, name: &'static str, seen: String, advice: &'static str) -> Evidence {
    if is_against {
        Evidence::new(name, Finding::Against, seen).advise(advice)
    } else {
        Evidence::new(name, Finding::For, seen)
    }
}
