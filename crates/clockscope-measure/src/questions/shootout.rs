//! Two clocks by four metrics: resolution, accuracy, cost, reliability. What is measured is what
//! *check* is based on.

mod agreement;

use std::cmp::Ordering;

use clockscope_records::{
    ClockRecord, Emulator, Envelope, Events, EvidenceKind, Figure, Finding, Metric, MetricKind, RateReason, Shootout,
    Trustworthiness, Unknown, UnreadableClock, Use, Verdict, Winner, texts,
};
use clockscope_system::ReadPath;

use crate::instrument::bench::{Progress, Setup};
use crate::instrument::catalog::{COUNTER, Catalog, Paths, UnknownClock};
use crate::instrument::default_clocks::{self, ReferenceKind};
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::platform::Platform;
use crate::questions::check::{self, Observations, at_most_ns};
use crate::questions::{across, rate};

/// Costs and steps that differ by less than this share are the same.
const MAX_EQUAL_SHARE: f64 = 0.02;
/// Checks that have a metric of their own.
const COMPARED: [EvidenceKind; 2] = [EvidenceKind::Resolution, EvidenceKind::Cost];
/// The share of an interval that a difference in cost may have without mattering.
const MAX_NEGLIGIBLE_SHARE: f64 = 0.01;

/// Request for a shootout: what to compare, and how.
#[derive(Clone, Debug)]
pub struct ShootoutRequest {
    /// One clock; `None`, or "counter", for the counter's first ordered sequence.
    pub a: Option<String>,
    /// The other; `None` for the system's monotonic clock.
    pub b: Option<String>,
    /// Time for everything, in seconds.
    pub duration_s: f64,
    /// CPU to measure on, where one is enough; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Compares two clocks, by what was found if it is ended early; the rest is unknown. Pins the
/// calling thread meanwhile.
///
/// # Errors
/// No such clock, twice the same, a CPU that cannot be used, or no clock that measures time.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn shootout<P: Platform>(
    session: &Session<'_, P>,
    request: &ShootoutRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Shootout>, MeasureError> {
    let ShootoutRequest { a, b, duration_s, cpu } = request;
    let platform = session.platform;
    let names = [label(platform, Some(a.as_deref().unwrap_or(COUNTER)))?, label(platform, b.as_deref())?];
    if names[0] == names[1] {
        return Err(MeasureError::SameClock { name: names[0].clone() });
    }
    let cpus = across::cpus(platform, None).unwrap_or_default();
    let mut setup = Setup::new(session, check::measured(platform, &names)?, *cpu)?;
    let sampling = setup.bench.calibrate();
    let seen = check::observe(&mut setup, &names, cpus, *duration_s, progress)?;
    let mut found = compare(&seen, &names);
    found.agreement = agreement::find(&setup, &names, *duration_s)?;
    Ok(Envelope { environment: seen.environment, ..setup.answer((*duration_s, &sampling), None, found) })
}

/// Returns the clock's name as records have it. Without a name, or where "counter" is asked for and
/// there is none, that of the clock by which programs usually measure intervals; Rust's where the
/// system has none.
fn label<P: Platform>(platform: &P, name: Option<&str>) -> Result<String, MeasureError> {
    let catalog = Catalog::new(platform);
    let counter = rate::ordered_counter(&Catalog::counters(platform));
    let name = if name == Some(COUNTER) { counter.as_deref() } else { name };
    let Some(name) = name else {
        let stopwatch = default_clocks::stopwatch_by(&catalog, ReadPath::is_usual);
        let stands_for_it = default_clocks::references(&catalog, &[ReferenceKind::Std]).into_iter().next();
        return stopwatch.or(stands_for_it).ok_or(MeasureError::NoReference);
    };
    let index = catalog.indices(name, Paths::Libc)?.first().copied();
    let index = index.ok_or_else(|| UnknownClock { name: name.to_owned(), known: catalog.names() })?;
    Ok(catalog.entries[index].label())
}

/// The metrics, and what follows from them.
fn compare(seen: &Observations, names: &[String; 2]) -> Shootout {
    let cost = cost(seen, names);
    let [a, b] = names.clone();
    Shootout {
        a,
        b,
        agreement: Vec::new(),
        unreadable: unreadable(seen, names),
        negligible_beyond_us: negligible_beyond_us(&cost),
        metrics: vec![resolution(seen, names), accuracy(seen, names), cost, reliability(seen, names)],
    }
}

/// A figure, and its bound where that is known.
#[derive(Clone, Copy)]
struct BoundedFigure {
    value: f64,
    bound: Option<f64>,
}

/// The figures of two clocks, or why they are unknown.
type TwoFigures = [Result<BoundedFigure, Unknown>; 2];

/// Makes a metric of two figures of which the smaller is better: by more than their errors.
fn metric(metric: MetricKind, figures: TwoFigures) -> Metric {
    let winner = winner(&figures).into();
    let [a_bound, b_bound] = figures.each_ref().map(|found| found.as_ref().ok().and_then(|found| found.bound));
    let [a, b] = figures.map(|found| found.map(|found| found.value).into());
    Metric { metric, a, b, a_bound, b_bound, winner }
}

/// The winner, or the first reason why a figure is unknown.
fn winner([a, b]: &TwoFigures) -> Result<Winner, Unknown> {
    Ok(better(a.clone()?, b.clone()?))
}

/// The better of two figures: the smaller, by more than their errors.
fn better(a: BoundedFigure, b: BoundedFigure) -> Winner {
    let error = a.bound.unwrap_or(0.0) + b.bound.unwrap_or(0.0);
    match (b.value - a.value).abs() <= error {
        true => Winner::Tie,
        false if a.value < b.value => Winner::A,
        false => Winner::B,
    }
}

/// The clock's record, or why it has no figures.
fn read<'a>(seen: &'a Observations, name: &str) -> Result<&'a ClockRecord, Unknown> {
    let clock = seen.clock(name).ok_or(texts::NOT_MEASURED)?;
    if clock.available {
        return Ok(clock);
    }
    Err(clock.reason.clone().unwrap_or(texts::NOT_MEASURED.into()))
}

fn resolution(seen: &Observations, names: &[String; 2]) -> Metric {
    let ticks: TwoFigures = names.each_ref().map(|name| {
        let value = read(seen, name)?.tick_ns.clone().result()?;
        Ok(BoundedFigure { value, bound: Some(value * MAX_EQUAL_SHARE / 2.0) })
    });
    let mut found = metric(MetricKind::Resolution, ticks);
    let at_most = names.each_ref().map(|name| seen.clock(name).and_then(at_most_ns));
    // A bound is not a figure: the tick may be far shorter. But a tick beyond the bound is longer.
    let winner = match (is_longer(found.b.get(), at_most[0]), is_longer(found.a.get(), at_most[1])) {
        (true, _) => Winner::A,
        (_, true) => Winner::B,
        _ => return found,
    };
    found.winner = Figure::Known(winner);
    found
}

fn is_longer(ns: Option<f64>, bound: Option<f64>) -> bool {
    ns.zip(bound).is_some_and(|(ns, bound)| ns * (1.0 - MAX_EQUAL_SHARE) > bound)
}

/// Error of a duration that is measured with it against the reference's, for its rate. A counter is
/// as good as its calibration. Neither wins: the reference itself may be wrong.
fn accuracy(seen: &Observations, names: &[String; 2]) -> Metric {
    let reference = seen.rates.as_ref().ok().map(|rates| rates.reference.clone());
    let mut found = metric(MetricKind::Accuracy { reference }, names.each_ref().map(|name| rate_error_ppm(seen, name)));
    if found.winner.get().is_some_and(|winner| winner != Winner::Tie) {
        found.winner = Figure::unknown("they differ, and no clock here shows which of them is right");
    }
    found
}

fn rate_error_ppm(seen: &Observations, name: &str) -> Result<BoundedFigure, Unknown> {
    read(seen, name)?;
    let rates = seen.rates.as_ref().map_err(MeasureError::no_rate)?;
    if rates.reference == name {
        return Err("it is the reference itself".into());
    }
    let own = rates.clocks.iter().find(|rate| rate.name == name);
    // All sequences read one counter: where this one was not compared, the ordered one was.
    let is_counter = seen.clock(name).is_some_and(check::is_counter);
    let mut of_counter = rates.clocks.iter().filter(|rate| seen.clock(&rate.name).is_some_and(check::is_counter));
    let rate = match own {
        None if is_counter => of_counter.next(),
        own => own,
    };
    let rate = rate.ok_or("it was not compared with another clock")?;
    // A comparison that succeeded may have a reason, too: what limits it.
    let why = rate.reason.clone().filter(|reason| *reason != RateReason::Ticked.into());
    let [bound, ppm] =
        [&rate.bound_ppm, &rate.ppm].map(|figure| figure.clone().result().map_err(|own| why.clone().unwrap_or(own)));
    let bound = bound?;
    let value = if is_counter { 0.0 } else { ppm?.abs() };
    Ok(BoundedFigure { value, bound: Some(bound) })
}

fn cost(seen: &Observations, names: &[String; 2]) -> Metric {
    let costs: TwoFigures = names.each_ref().map(|name| {
        let cost = read(seen, name)?.cost_ns.clone().result()?;
        // Without an interval, the cheapest of the few batches shows how far they are apart.
        let [low, high] = cost.ci95.get().unwrap_or([cost.min, cost.median]);
        let spread = (high - cost.median).max(cost.median - low);
        Ok(BoundedFigure { value: cost.median, bound: Some(spread.max(cost.median * MAX_EQUAL_SHARE / 2.0)) })
    });
    let mut found = metric(MetricKind::Cost, costs);
    let emulators = &seen.environment.emulation;
    if !emulators.is_empty() {
        found.winner =
            Figure::unknown(format!("these are the costs of {}, not of the machine", Emulator::names(emulators)));
    }
    found
}

/// Readings that were wrong. Where that is as many, the verdicts decide.
fn reliability(seen: &Observations, names: &[String; 2]) -> Metric {
    let figures: TwoFigures = names.each_ref().map(|name| {
        let events = read(seen, name)?.events.as_ref().ok_or(texts::NO_EVENTS)?;
        let across = match seen.handed_over(name) {
            Some(sequence) if sequence.available => sequence.regressions.clone().result()?,
            // Of one thread alone: CPU time, cycles.
            _ => 0,
        };
        let ahead = if is_misjudged(seen, name, events) { 0 } else { judged(events) };
        Ok(BoundedFigure { value: (events.errors + events.regression + ahead + across) as f64, bound: None })
    });
    let is_tie = winner(&figures) == Ok(Winner::Tie);
    let trusted_more = is_tie.then(|| trusted_more(seen, names)).flatten();
    let unordered = names.iter().filter(|name| is_excused(seen, name)).cloned().collect();
    let name = trusted_more.map(|winner| names[usize::from(winner == Winner::B)].clone());
    let mut found = metric(MetricKind::Reliability { unordered, trusted_more: name }, figures);
    if let Some(winner) = trusted_more {
        found.winner = Figure::Known(winner);
    }
    found
}

/// Jumps and losses of time, which another clock shows.
fn judged(events: &Events) -> u64 {
    events.jump.get().unwrap_or(0) + events.hidden_regression.get().unwrap_or(0)
}

/// Returns true if a clock was judged by a counter that was wrong itself, or shows a single jump by
/// one: between two clocks that does not show whose it was.
fn is_misjudged(seen: &Observations, name: &str, events: &Events) -> bool {
    let counters = seen.clocks.iter().filter(|clock| check::is_counter(clock));
    let mut of_counters = counters.filter_map(|clock| clock.events.as_ref());
    let is_counter_wrong = of_counters.any(|events| events.regression + judged(events) > 0);
    let is_own = seen.clock(name).is_some_and(check::is_counter);
    seen.by_counter && !is_own && (judged(events) == 1 || is_counter_wrong)
}

/// Returns true if the clock went back between threads without a fault of its own: its reads are
/// not ordered.
fn is_excused(seen: &Observations, name: &str) -> bool {
    seen.handed_over(name)
        .is_some_and(|sequence| !sequence.ordered && sequence.regressions.get().is_some_and(|count| count > 0))
}

/// The clock that `check` trusts more, if both could be judged.
fn trusted_more(seen: &Observations, names: &[String; 2]) -> Option<Winner> {
    let [a, b] = names.each_ref().map(|name| verdict(seen, name));
    match a?.cmp(&b?) {
        Ordering::Greater => Some(Winner::A),
        Ordering::Less => Some(Winner::B),
        Ordering::Equal => None,
    }
}

/// Returns the verdict of `check` on a clock for intervals, without what other metrics compare.
/// `None` where nothing else is against the clock, and a test has no result.
fn verdict(seen: &Observations, name: &str) -> Option<Trustworthiness> {
    let verdicts: Vec<Verdict> = check::verdicts(seen, &[name.to_owned()], Some(Use::Interval));
    let is_counter = seen.clock(name).is_some_and(check::is_counter);
    let verdict = verdicts.iter().find(|verdict| {
        if is_counter { seen.clock(&verdict.clock).is_some_and(check::is_counter) } else { verdict.clock == name }
    })?;
    let mut deciding = verdict.evidence.iter().filter(|evidence| evidence.decides);
    let is_limited_otherwise = deciding.any(|evidence| !COMPARED.contains(&evidence.data.kind()));
    let mut unknown = verdict.evidence.iter().filter(|evidence| evidence.finding == Finding::Unknown);
    let is_open = unknown.any(|evidence| evidence.data.kind().is_test());
    match verdict.verdict {
        Trustworthiness::Undecided => None,
        Trustworthiness::Limited if !is_limited_otherwise => (!is_open).then_some(Trustworthiness::Trusted),
        verdict => Some(verdict),
    }
}

/// The first clock that cannot be read.
fn unreadable(seen: &Observations, names: &[String; 2]) -> Option<UnreadableClock> {
    names.iter().find_map(|name| match seen.clock(name) {
        Some(clock) => check::unreadable(clock),
        None => Some(UnreadableClock { clock: name.clone(), reason: texts::NOT_MEASURED.into() }),
    })
}

/// The length from which on the difference in cost is negligible: two reads an interval.
fn negligible_beyond_us(cost: &Metric) -> Option<f64> {
    if cost.winner.get()? == Winner::Tie {
        return None;
    }
    let difference_ns = (cost.a.get()? - cost.b.get()?).abs();
    Some(2.0 * difference_ns / MAX_NEGLIGIBLE_SHARE / 1e3)
}

#[cfg(test)]
mod tests;
