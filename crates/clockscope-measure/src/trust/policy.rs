//! What somebody demands of the clocks, against what was found.

use clockscope::counter;
use clockscope_machine::clocksource;
use clockscope_records::{ClockDemands, ClockRecord, Demand, Policy, Trustworthiness, Value, Verdict};

use super::{Seen, counter as counters, os_clock};
use crate::catalogue::{Catalogue, Paths, UnknownClock};
use crate::error::MeasureError;

/// Why a policy cannot be met by any machine, or means nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A list of nothing.
    #[error("clocksource: the list is empty, so that no machine can meet it: name one, or leave it out")]
    NoClocksource,
    /// A limit below zero, or none at all.
    #[error("{demand}: {limit} is no limit: it must be 0 or more")]
    Limit {
        /// Where it stands.
        demand: String,
        /// What stands there.
        limit: f64,
    },
    /// Two demands of which one is never met if the other is.
    #[error("{one} and {other} contradict each other: {why}")]
    Contradiction {
        /// One.
        one: String,
        /// The other.
        other: String,
        /// Why.
        why: &'static str,
    },
    /// A demand that only a counter can meet.
    #[error("{demand} can only be demanded of the counter: put it under [counter]")]
    OnlyOfCounter {
        /// Where it stands.
        demand: String,
    },
}

/// Names of the clocks to judge, each once: those asked for, or the usual ones that there are, and those that the policy names.
pub(super) fn names(policy: &Policy, asked: &[String], usual: &[&str]) -> Result<Vec<String>, MeasureError> {
    let catalogue = Catalogue::new();
    contradictions(policy, &catalogue)?;
    let place = |name: &str| -> Result<usize, UnknownClock> {
        let unknown = || UnknownClock { name: name.to_owned(), known: catalogue.names() };
        catalogue.places(name, Paths::Libc)?.first().copied().ok_or_else(unknown)
    };
    let mut places = Vec::new();
    for name in usual.iter().filter(|_| asked.is_empty()) {
        places.extend(place(name).ok());
    }
    for name in asked.iter().chain(policy.clocks.keys()).filter(|name| *name != COUNTER) {
        places.push(place(name)?);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places.into_iter().map(|place| catalogue.entries[place].identity().label()).collect())
}

/// The counter's name on the command line and in a policy, whatever the architecture calls it.
const COUNTER: &str = "counter";

/// Whether a verdict is on the clock of this name, alias or path.
pub(super) fn is_same(seen: &Seen, verdict: &str, name: &str) -> bool {
    let is_of_counter = |clock: &ClockRecord| super::is_counter(clock);
    let counters: Vec<&ClockRecord> = seen.counters().collect();
    let is_verdict_on_counter = counters.first().is_some_and(|plain| plain.identity.name == verdict);
    if name == COUNTER {
        return is_verdict_on_counter;
    }
    match seen.clock(name) {
        Some(clock) if is_of_counter(clock) => is_verdict_on_counter,
        Some(clock) => clock.identity.label() == verdict,
        None => verdict == name,
    }
}

/// The clocks that a policy names, as they stand there.
fn named(policy: &Policy) -> Vec<(String, &ClockDemands)> {
    let counter = policy.counter.iter().map(|demands| (COUNTER.to_owned(), demands));
    counter.chain(policy.clocks.iter().map(|(name, demands)| (format!("clocks.{name}"), demands))).collect()
}

/// Demands that contradict each other, and limits that are none.
fn contradictions(policy: &Policy, catalogue: &Catalogue) -> Result<(), MeasureError> {
    for (place, demands) in named(policy) {
        for (field, limit) in limits(demands) {
            if limit.is_some_and(|limit| limit.is_nan() || limit < 0.0) {
                let limit = limit.unwrap_or_default();
                return Err(PolicyError::Limit { demand: format!("{place}.{field}"), limit }.into());
            }
        }
        let only = [("max_offset_ns", demands.max_offset_ns.is_some()), ("invariant", demands.invariant.is_some())];
        if let Some((field, _)) = only.iter().find(|(_, is_set)| *is_set && place != COUNTER) {
            return Err(PolicyError::OnlyOfCounter { demand: format!("{place}.{field}") }.into());
        }
    }
    let contradiction = |one: &str, other: &str, why| {
        let (one, other) = (one.to_owned(), other.to_owned());
        Err(PolicyError::Contradiction { one, other, why }.into())
    };
    if let Some(names) = &policy.clocksource {
        if names.is_empty() {
            return Err(PolicyError::NoClocksource.into());
        }
        let is_trusted =
            policy.counter.as_ref().is_some_and(|demands| demands.verdict == Some(Trustworthiness::Trusted));
        if is_trusted && !names.iter().any(|name| counter::CLOCKSOURCES.contains(&name.as_str())) {
            return contradiction(
                "clocksource",
                "counter.verdict",
                "the counter is trusted only where the kernel builds its clocks on it",
            );
        }
        let is_in_kernel = |name: &String| clocksource::kind(name).is_some_and(|kind| kind.vdso == Some(false));
        let fine = policy.clocks.iter().find(|(name, demands)| {
            demands.verdict == Some(Trustworthiness::Trusted)
                && ["monotonic", "realtime", "boottime", "tai"].contains(&name.as_str())
        });
        if let Some((name, _)) = fine.filter(|_| names.iter().all(is_in_kernel)) {
            let other = format!("clocks.{name}.verdict");
            return contradiction(
                "clocksource",
                &other,
                "with this clocksource every read enters the kernel, which limits the clock",
            );
        }
    }
    same_clock(policy, catalogue)
}

/// Two sections on one clock, by two of its names, that demand different things.
fn same_clock(policy: &Policy, catalogue: &Catalogue) -> Result<(), MeasureError> {
    let mut known: Vec<(usize, &String, &ClockDemands)> = Vec::new();
    for (name, demands) in &policy.clocks {
        let Some(place) = catalogue.places(name, Paths::Libc)?.first().copied() else { continue };
        if crate::subject::is_counter(&catalogue.entries[place]) {
            let (one, other) = (format!("clocks.{name}"), COUNTER.to_owned());
            let why = "this is the counter: put its demands under [counter]";
            return Err(PolicyError::Contradiction { one, other, why }.into());
        }
        if let Some((_, other, _)) = known.iter().find(|(at, _, others)| *at == place && *others != demands) {
            let (one, other) = (format!("clocks.{name}"), format!("clocks.{other}"));
            let why = "these are two names of one clock, and the demands differ";
            return Err(PolicyError::Contradiction { one, other, why }.into());
        }
        known.push((place, name, demands));
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

/// Every demand against what was found, in the order of the policy's fields.
pub(super) fn compare(policy: &Policy, seen: &Seen, verdicts: &[Verdict]) -> Vec<Demand> {
    let mut demands = Vec::new();
    if let Some(names) = &policy.clocksource {
        let current = seen.clocksource().map(str::to_owned);
        demands.push(Demand {
            demand: "clocksource".to_owned(),
            required: Value::Word(names.join(" or ")),
            found: current.clone().map(Value::Word),
            met: current.as_ref().map(|current| names.contains(current)),
            advice: match &current {
                None => Some("the kernel does not tell its clocksource: mount /sys".to_owned()),
                Some(current) if names.contains(current) => None,
                Some(_) => Some("see `clockscope clocksource` for why the kernel uses another".to_owned()),
            },
        });
    }
    for (place, of_clock) in named(policy) {
        let name = place.strip_prefix("clocks.").unwrap_or(&place);
        let verdict = verdicts.iter().find(|verdict| is_same(seen, &verdict.clock, name));
        demands.extend(of(&place, of_clock, verdict, seen));
    }
    demands
}

/// The demands on one clock.
fn of(place: &str, demands: &ClockDemands, verdict: Option<&Verdict>, seen: &Seen) -> Vec<Demand> {
    let figures = verdict.map(|verdict| Figures::of(verdict, seen)).unwrap_or_default();
    let mut found = Vec::new();
    if let Some(required) = demands.verdict {
        let is = verdict.map(|verdict| verdict.verdict);
        found.push(Demand {
            demand: format!("{place}.verdict"),
            required: word(required),
            found: is.map(word),
            met: is.map(|is| is >= required),
            advice: (is.is_none_or(|is| is < required))
                .then(|| "the evidence above says why, and what to do".to_owned()),
        });
    }
    let mut at_most = |field: &str, most: Option<f64>, value: Option<f64>, advice: &str| {
        let Some(most) = most else { return };
        let met = value.map(|value| value <= most);
        found.push(Demand {
            demand: format!("{place}.{field}"),
            required: Value::Number(most),
            found: value.map(Value::Number),
            met,
            advice: match met {
                Some(true) => None,
                Some(false) => Some(advice.to_owned()),
                None => Some("it could not be determined: the evidence above says why".to_owned()),
            },
        });
    };
    at_most(
        "max_cost_ns",
        demands.max_cost_ns,
        figures.cost_ns,
        "`clockscope measure --path all` shows which path is dear, and `clockscope clocksource` what it stands on",
    );
    at_most(
        "max_tick_ns",
        demands.max_tick_ns,
        figures.tick_ns,
        "a finer clocksource is needed: `clockscope clocksource`",
    );
    let most = demands.max_regressions.map(|most| most as f64);
    at_most(
        "max_regressions",
        most,
        figures.regressions,
        "`clockscope order` and `clockscope steps` show where and how far it goes back",
    );
    at_most(
        "max_rate_ppm",
        demands.max_rate_ppm,
        figures.rate_ppm,
        "`clockscope rate` shows how it runs; NTP may be steering it",
    );
    at_most(
        "max_offset_ns",
        demands.max_offset_ns,
        figures.offset_ns,
        "`clockscope offsets` shows which CPUs are apart",
    );
    if let Some(required) = demands.invariant {
        let is = seen.is_invariant;
        let met = is.map(|is| is || !required);
        let shown = |is: bool| Value::Word(if is { "yes" } else { "no" }.to_owned());
        found.push(Demand {
            demand: format!("{place}.invariant"),
            required: shown(required),
            found: is.map(shown),
            met,
            advice: (met != Some(true))
                .then(|| "have the hypervisor pass the promise on (QEMU: -cpu host,+invtsc)".to_owned()),
        });
    }
    found
}

fn word(verdict: Trustworthiness) -> Value {
    let word = match verdict {
        Trustworthiness::Trusted => "trusted",
        Trustworthiness::Limited => "limited",
        Trustworthiness::Unfit => "unfit",
    };
    Value::Word(word.to_owned())
}

/// What can be demanded, as it was found.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    cost_ns: Option<f64>,
    tick_ns: Option<f64>,
    regressions: Option<f64>,
    rate_ppm: Option<f64>,
    offset_ns: Option<f64>,
}

impl Figures {
    fn of(verdict: &Verdict, seen: &Seen) -> Self {
        let number = |name: &str| {
            let evidence = verdict.evidence.iter().find(|evidence| evidence.name == name)?;
            match evidence.value {
                Some(Value::Number(number)) => Some(number),
                _ => None,
            }
        };
        let clock = seen.clock(&verdict.clock);
        let is_counter = clock.is_some_and(super::is_counter);
        let on_one = number("steps back on one CPU");
        let across = number("order across CPUs");
        let has_one_cpu = seen.environment.cpu.online == Some(1);
        // What was not tested is not zero, unless there is nothing to be tested.
        let regressions = match (on_one, across) {
            (Some(one), Some(other)) => Some(one + other),
            (Some(one), None) if one > 0.0 || has_one_cpu || !seen.is_ordered_across(&verdict.clock, is_counter) => {
                Some(one)
            }
            _ => None,
        };
        let label = |wanted: &str| seen.rates.as_ref().ok()?.clocks.iter().find(|rate| rate.name == wanted);
        let of_clock = label(&verdict.clock).and_then(|rate| Some(rate.ppm?.abs() + rate.bound_ppm?));
        let of_counter = number("claimed frequency").map(f64::abs).zip(seen.counter_bound_ppm());
        Self {
            cost_ns: if is_counter {
                counters::cheapest_ordered(seen).map(|(_, ns)| ns)
            } else {
                seen.cost_ns(&verdict.clock)
            },
            tick_ns: clock.and_then(os_clock::found_step_ns),
            regressions,
            rate_ppm: if is_counter { of_counter.map(|(ppm, bound)| ppm + bound) } else { of_clock },
            offset_ns: if has_one_cpu { Some(0.0) } else { seen.offsets.within_ns },
        }
    }
}
