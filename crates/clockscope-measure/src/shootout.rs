//! Two clocks by four metrics: resolution, accuracy, cost, reliability. What is measured is what *trust* stands on.

use std::borrow::Cow;

use clockscope_records::{
    CheckKind, ClockRecord, Envelope, Evidence, Figure, Finding, Metric, Shootout, Trustworthiness, Verdict, Winner,
};

use crate::bench::{Progress, Setup};
use crate::catalogue::{Catalogue, Paths, UnknownClock};
use crate::error::MeasureError;
use crate::platform::Platform;
use crate::session::Session;
use crate::trust::{self, Observations, at_most_ns};
use crate::{across, rate};

/// Costs and steps that differ by less than this share are the same.
const SAME: f64 = 0.02;
/// The counter, whatever the architecture calls it; and the clock that it is compared with.
const COUNTER: &str = "counter";
const MONOTONIC: &str = "monotonic";
/// Checks that have a metric of their own.
const COMPARED: [CheckKind; 2] = [CheckKind::Resolution, CheckKind::Cost];
/// An overhead that nobody cares about.
const NEGLIGIBLE: f64 = 0.01;

/// What to compare, and how.
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

/// Compares two clocks, by what was found if it is ended early; the rest is unknown. Pins the calling thread meanwhile.
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
    let label = |name: &Option<String>, usual| label(platform, name.as_deref().unwrap_or(usual));
    let names = [label(a, COUNTER)?, label(b, MONOTONIC)?];
    if names[0] == names[1] {
        return Err(MeasureError::SameClock { name: names[0].clone() });
    }
    let cpus = across::cpus(platform, None).unwrap_or_default();
    let mut setup = Setup::new(session, trust::measured(platform, &names)?, *cpu)?;
    let sampling = setup.bench.calibrate();
    let seen = trust::look(&mut setup, &names, cpus, *duration_s, progress)?;
    let found = compare(&seen, &names);
    Ok(Envelope { environment: seen.environment, ..setup.answer((*duration_s, &sampling), None, found) })
}

/// The clock's name as records have it. Where the system has no such clocks, those of Rust stand for them.
fn label<P: Platform>(platform: &P, name: &str) -> Result<String, MeasureError> {
    let catalogue = Catalogue::new(platform);
    let counter = rate::ordered_counter(&Catalogue::counters(platform));
    let name = match name {
        COUNTER => counter.as_deref().unwrap_or(MONOTONIC),
        other => other,
    };
    let unknown = || UnknownClock { name: name.to_owned(), known: catalogue.names() };
    let places = match (catalogue.places(name, Paths::Libc), name) {
        (Err(_), MONOTONIC) => catalogue.places("rust_instant", Paths::Libc)?,
        (places, _) => places?,
    };
    Ok(catalogue.entries[*places.first().ok_or_else(unknown)?].label())
}

/// The metrics and the conclusion.
fn compare(seen: &Observations, names: &[String; 2]) -> Shootout {
    let metrics = vec![resolution(seen, names), accuracy(seen, names), cost(seen, names), reliability(seen, names)];
    let conclusion = conclusion(seen, names, &metrics);
    let [a, b] = names.clone();
    Shootout { a, b, metrics, conclusion }
}

/// A figure, and by how much it may be off where that is known.
#[derive(Clone, Copy)]
struct BoundedFigure {
    value: f64,
    bound: Option<f64>,
}

/// Makes a metric of two figures of which the smaller is better: by more than their errors.
fn metric(
    name: &str,
    figure: &str,
    unit: &str,
    [a, b]: [Result<BoundedFigure, Cow<'static, str>>; 2],
    note: &str,
) -> Metric {
    let winner = a.clone().and_then(|a| Ok(better(a, b.clone()?)));
    let bound = |found: &Result<BoundedFigure, Cow<'static, str>>| found.as_ref().ok().and_then(|found| found.bound);
    Metric {
        metric: name.to_owned(),
        figure: figure.to_owned(),
        unit: unit.to_owned(),
        a_bound: bound(&a),
        b_bound: bound(&b),
        a: a.map(|found| found.value).into(),
        b: b.map(|found| found.value).into(),
        winner: winner.into(),
        note: note.to_owned(),
    }
}

/// Which of two figures is better: the smaller, by more than their errors.
fn better(a: BoundedFigure, b: BoundedFigure) -> Winner {
    let error = a.bound.unwrap_or(0.0) + b.bound.unwrap_or(0.0);
    match (b.value - a.value).abs() <= error {
        true => Winner::Tie,
        false if a.value < b.value => Winner::A,
        false => Winner::B,
    }
}

/// The clock's record, or why it has no figures.
fn read<'a>(seen: &'a Observations, name: &str) -> Result<&'a ClockRecord, Cow<'static, str>> {
    let clock = seen.clock(name).ok_or("it was not measured")?;
    if clock.available {
        return Ok(clock);
    }
    Err(clock.reason.clone().unwrap_or_else(|| "it cannot be read".to_owned()).into())
}

fn resolution(seen: &Observations, names: &[String; 2]) -> Metric {
    let step = |name: &String| {
        let value = read(seen, name)?.tick_ns.clone().result()?;
        Ok(BoundedFigure { value, bound: Some(value * SAME / 2.0) })
    };
    let note = "the step that all readings are multiples of, whatever the interface states";
    let mut found = metric("resolution", "tick", "ns", names.each_ref().map(step), note);
    let at_most = names.each_ref().map(|name| seen.clock(name).and_then(at_most_ns));
    // A bound is not a figure: the tick may be far shorter. But a tick beyond the bound is longer.
    let is_longer =
        |ns: Option<f64>, bound: Option<f64>| ns.zip(bound).is_some_and(|(ns, bound)| ns * (1.0 - SAME) > bound);
    let winner = match (is_longer(found.b.get(), at_most[0]), is_longer(found.a.get(), at_most[1])) {
        (true, _) => Winner::A,
        (_, true) => Winner::B,
        _ => return found,
    };
    found.winner = Figure::Known(winner);
    found
}

/// How far a duration that is measured with it is off from the reference's, for its rate. A counter is as good as its
/// calibration. None wins: nobody knows that the reference is right.
fn accuracy(seen: &Observations, names: &[String; 2]) -> Metric {
    let off = |name: &String| {
        read(seen, name)?;
        let rates = seen.rates.as_ref().map_err(ToString::to_string)?;
        if rates.reference == *name {
            return Err("it is the reference itself".into());
        }
        let own = rates.clocks.iter().find(|rate| rate.name == *name);
        // All sequences read one counter: where this one was not compared, the ordered one was.
        let is_counter = seen.clock(name).is_some_and(trust::is_counter);
        let of_counter = || rates.clocks.iter().find(|rate| seen.clock(&rate.name).is_some_and(trust::is_counter));
        let rate =
            own.or_else(|| of_counter().filter(|_| is_counter)).ok_or("it was not compared with another clock")?;
        let unknown = || rate.reason.clone().unwrap_or_else(|| "its rate could not be determined".to_owned());
        let bound = rate.bound_ppm.get().ok_or_else(unknown)?;
        let value = if is_counter { 0.0 } else { rate.ppm.get().ok_or_else(unknown)?.abs() };
        Ok(BoundedFigure { value, bound: Some(bound) })
    };
    let reference = seen.rates.as_ref().map_or("another clock", |rates| rates.reference.as_str());
    let note = format!(
        "distance of its rate from that of {reference}; a counter runs at the frequency that was measured, as well as that is known. \
         Which of them is nearer to true time no clock of this machine can tell"
    );
    let mut found = metric("accuracy", "rate", "ppm", names.each_ref().map(off), &note);
    if found.winner.get().is_some_and(|winner| winner != Winner::Tie) {
        found.winner = Figure::unknown("they differ, and which of them is right no clock here can tell");
    }
    found
}

fn cost(seen: &Observations, names: &[String; 2]) -> Metric {
    let cost = |name: &String| {
        let cost = read(seen, name)?.cost_ns.clone().result()?;
        // Without an interval, the cheapest of the few batches shows how far they are apart.
        let [low, high] = cost.ci95.get().unwrap_or([cost.min, cost.median]);
        let spread = (high - cost.median).max(cost.median - low);
        Ok(BoundedFigure { value: cost.median, bound: Some(spread.max(cost.median * SAME / 2.0)) })
    };
    let mut found = metric("cost", "median", "ns", names.each_ref().map(cost), "one read, back to back");
    if let Some(emulators) = seen.emulators() {
        found.winner = Figure::unknown(format!("these are the costs of {emulators}, not of the machine"));
    }
    found
}

/// Readings that were wrong. Where that is as many, the verdicts decide.
fn reliability(seen: &Observations, names: &[String; 2]) -> Metric {
    let wrong = |name: &String| {
        let events = read(seen, name)?.events.as_ref().ok_or("it was not found")?;
        let across = match seen.handed_over(name) {
            Some(sequence) if sequence.available => sequence.regressions.clone().result()?,
            // Of one thread alone: CPU time, cycles.
            _ => 0,
        };
        let ahead = events.jump.get().unwrap_or(0) + events.hidden_regression.get().unwrap_or(0);
        Ok(BoundedFigure { value: (events.errors + events.regression + ahead + across) as f64, bound: None })
    };
    let mut note = "readings that went back, on one CPU or across CPUs, that jumped, or failed".to_owned();
    for name in names {
        let handed_over = seen.handed_over(name);
        if handed_over
            .is_some_and(|sequence| !sequence.ordered && sequence.regressions.get().is_some_and(|count| count > 0))
        {
            note += &format!(
                "; {name} is not ordered: when threads hand readings on, some go back without a fault of the clock"
            );
        }
    }
    let mut found = metric("reliability", "wrong readings", "", names.each_ref().map(wrong), &note);
    let verdicts = names.each_ref().map(|name| verdict(seen, name));
    if let (Some(Winner::Tie), [Some(a), Some(b)]) = (found.winner.get(), verdicts)
        && a != b
    {
        found.winner = Figure::Known(if a > b { Winner::A } else { Winner::B });
        let [better, worse] = if a > b { [&names[0], &names[1]] } else { [&names[1], &names[0]] };
        found.note += &format!("; `clockscope check` trusts {better} more than {worse}");
    }
    found
}

/// What `check` would say of a clock, but for what other metrics compare. `None` where only a test
/// that could not be made limits it, which says nothing against the clock.
fn verdict(seen: &Observations, name: &str) -> Option<Trustworthiness> {
    let verdicts: Vec<Verdict> = trust::verdicts(seen, &[name.to_owned()]);
    let is_counter = seen.clock(name).is_some_and(trust::is_counter);
    let of_it = |verdict: &&Verdict| {
        if is_counter { seen.clock(&verdict.clock).is_some_and(trust::is_counter) } else { verdict.clock == name }
    };
    let verdict = verdicts.iter().find(of_it)?;
    let is_other = |evidence: &&Evidence| evidence.decides && !COMPARED.contains(&evidence.check.kind());
    let mut deciding = verdict.evidence.iter().filter(is_other).peekable();
    if deciding.peek().is_none() {
        return Some(Trustworthiness::Trusted);
    }
    deciding.any(|evidence| evidence.finding == Finding::Against).then_some(verdict.verdict)
}

/// The score, and when it does not matter.
fn conclusion(seen: &Observations, names: &[String; 2], metrics: &[Metric]) -> String {
    for name in names {
        if let Err(reason) = read(seen, name) {
            return format!("{name} cannot be read ({reason}), so that there is nothing to compare.");
        }
    }
    let won = |winner: Winner| {
        metrics.iter().filter(move |metric| metric.winner.get() == Some(winner)).map(|metric| metric.metric.as_str())
    };
    let wins = |name: &str, winner: Winner| {
        let won: Vec<&str> = won(winner).collect();
        (!won.is_empty()).then(|| format!("{name} wins {}", won.join(", ")))
    };
    let ties: Vec<&str> = won(Winner::Tie).collect();
    let parts = [wins(&names[0], Winner::A), wins(&names[1], Winner::B)].into_iter().flatten();
    let parts = parts.chain((!ties.is_empty()).then(|| format!("{}: no difference", ties.join(", "))));
    let mut sentence = parts.collect::<Vec<_>>().join("; ");
    if sentence.is_empty() {
        "Nothing could be decided".clone_into(&mut sentence);
    }
    sentence.push('.');
    if let Some(matters) = does_it_matter(metrics) {
        sentence += &format!(" {matters}");
    }
    sentence
}

/// From which length on the difference in cost is negligible: two reads an interval.
fn does_it_matter(metrics: &[Metric]) -> Option<String> {
    let cost = metrics.iter().find(|metric| metric.metric == "cost")?;
    if cost.winner.get()? == Winner::Tie {
        let reliability = metrics.iter().find(|metric| metric.metric == "reliability")?;
        let take = match reliability.winner.get() {
            Some(Winner::Tie) => "take either",
            Some(_) => "take the more reliable one",
            None => "which is more reliable was not told",
        };
        return Some(format!("Cost does not matter: {take}."));
    }
    let difference_ns = (cost.a.get()? - cost.b.get()?).abs();
    let interval_us = 2.0 * difference_ns / NEGLIGIBLE / 1e3;
    Some(format!(
        "The difference of {difference_ns:.1} ns a read does not matter for what takes longer than {interval_us:.1} µs: two reads \
         are then less than {:.0} % of it.",
        NEGLIGIBLE * 100.0
    ))
}

#[cfg(test)]
mod tests;
