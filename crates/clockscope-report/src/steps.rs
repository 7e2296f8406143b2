//! What stands in the tables of sequential reads, for every format that has tables.

use clockscope_records::{DifferenceRecord, Steps, StepsRecord, Strength, Summary, WorstRecord};

use crate::cells::{self, UNKNOWN, exact_time, precise_time, share, significant, time};

/// Heads of the table of distinct differences.
pub(crate) const DIFFERENCES: [&str; 5] = ["Ticks", "Time", "Count", "%", "Cumulative %"];

/// What the figures are of.
pub(crate) const ABOUT: &str = "Times in ns, of the differences between successive readings. Between batches of reads there is a pause: no difference is taken there.";

/// A table: its head and its rows.
pub(crate) type Table = (Vec<String>, Vec<Vec<String>>);

/// The figures of all clocks side by side, a column a clock.
pub(crate) fn side_by_side(clocks: &[&StepsRecord]) -> Table {
    let mut head = vec![String::new()];
    head.extend(clocks.iter().map(|clock| clock.identity.label()));
    let mut rows = figures("", clocks, |clock| clock.summary.as_ref());
    let with_zeros = |clock: &&StepsRecord| clock.summary.as_ref().map(|all| all.count) != nonzero(clock);
    if clocks.iter().any(with_zeros) {
        rows.extend(figures(", not 0", clocks, |clock| clock.summary_nonzero.as_ref()));
    }
    let row = |name: &str, cell: &dyn Fn(&StepsRecord) -> String| -> Vec<String> {
        std::iter::once(name.to_owned()).chain(clocks.iter().map(|clock| cell(clock))).collect()
    };
    rows.push(row("tick", &|clock| cells::tick(clock.tick_ns, clock.tick_evidence.as_ref())));
    type Count = fn(&clockscope_records::Events) -> Option<u64>;
    let counts: [(&str, Count); 8] = [
        ("reads", |events| Some(events.reads)),
        ("stuck", |events| Some(events.stuck)),
        ("stall", |events| Some(events.stall)),
        ("warp", |events| events.warp),
        ("jump", |events| events.jump),
        ("gap", |events| events.gap),
        ("regression", |events| Some(events.regression)),
        ("hidden", |events| events.hidden_regression),
    ];
    for (name, count) in counts {
        rows.push(row(name, &|clock| {
            clock.events.as_ref().and_then(count).map_or(UNKNOWN.to_owned(), |count| count.to_string())
        }));
    }
    (head, rows)
}

fn nonzero(clock: &StepsRecord) -> Option<u64> {
    clock.summary_nonzero.as_ref().map(|some| some.count)
}

/// The rows of a summary in ns, named as pandas' describe() names them.
fn figures(suffix: &str, clocks: &[&StepsRecord], of: impl Fn(&StepsRecord) -> Option<&Summary>) -> Vec<Vec<String>> {
    type Figure = fn(&Summary) -> Option<f64>;
    let figures: [(&str, Figure); 9] = [
        ("mean", |summary| Some(summary.mean)),
        ("std", |summary| summary.std),
        ("min", |summary| Some(summary.min)),
        ("25%", |summary| Some(summary.p25)),
        ("50%", |summary| Some(summary.p50)),
        ("75%", |summary| Some(summary.p75)),
        ("99%", |summary| Some(summary.p99)),
        ("99.9%", |summary| Some(summary.p999)),
        ("max", |summary| Some(summary.max)),
    ];
    let cell = |clock: &&StepsRecord, show: &dyn Fn(&Summary) -> Option<String>| {
        of(clock).and_then(show).unwrap_or_else(|| UNKNOWN.to_owned())
    };
    let row = |name: &str, show: &dyn Fn(&Summary) -> Option<String>| -> Vec<String> {
        std::iter::once(format!("{name}{suffix}")).chain(clocks.iter().map(|clock| cell(clock, show))).collect()
    };
    let mut rows = vec![row("count", &|summary| Some(summary.count.to_string()))];
    for (name, figure) in figures {
        rows.push(row(name, &|summary| figure(summary).map(ns)));
    }
    rows
}

/// A time in ns, to the picosecond where that says something.
fn ns(ns: f64) -> String {
    if ns.abs() >= 1e6 { format!("{ns:.0}") } else { significant(ns, 5) }
}

/// The distinct differences, at most so many rows: the most frequent ones. How many were left out is told beside.
pub(crate) fn differences(clock: &StepsRecord, most: usize) -> (Vec<Vec<String>>, usize) {
    let all = clock.histogram.iter().map(|bin| bin.count).sum::<u64>();
    let all = if all == 0 { clock.differences.iter().map(|entry| entry.count).sum() } else { all };
    let mut counts: Vec<u64> = clock.differences.iter().map(|entry| entry.count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let least = counts.get(most.saturating_sub(1)).copied().unwrap_or(0);
    let (mut seen, mut rows) = (0, Vec::new());
    for entry in &clock.differences {
        seen += entry.count;
        if entry.count >= least && rows.len() < most {
            rows.push(difference(entry, all, Some(seen)));
        }
    }
    let left_out = clock.differences.len() - rows.len();
    (rows, left_out)
}

/// The largest differences, which the table above may not have reached.
pub(crate) fn largest(clock: &StepsRecord) -> Vec<Vec<String>> {
    let all = clock.summary.as_ref().map_or(0, |summary| summary.count);
    clock.largest.iter().map(|entry| difference(entry, all, None)).collect()
}

fn difference(entry: &DifferenceRecord, all: u64, seen: Option<u64>) -> Vec<String> {
    let percent = |count: u64| share(count, all);
    vec![
        entry.units.to_string(),
        entry.ns.map_or(UNKNOWN.to_owned(), exact_time),
        entry.count.to_string(),
        percent(entry.count),
        seen.map(percent).unwrap_or_default(),
    ]
}

/// What is to be said of a clock in sentences: its tick, its modes, what was rounded.
pub(crate) fn sentences(clock: &StepsRecord) -> Vec<String> {
    let mut lines = vec![tick(clock)];
    if let [_, _, ..] = clock.modes.as_slice() {
        let modes: Vec<String> = clock
            .modes
            .iter()
            .map(|mode| format!("{} ({}%)", time(mode.ns), significant(mode.share * 100.0, 3)))
            .collect();
        let listed = modes.join(", ");
        lines.push(format!("Multimodal: the differences gather around {listed}. A mean says little of them."));
    }
    if clock.rounded > 0 {
        lines.push(format!("{} differences were rounded down to 0.1 %.", clock.rounded));
    }
    if let Some(reason) = &clock.reason {
        lines.push(reason.clone());
    }
    lines
}

fn tick(clock: &StepsRecord) -> String {
    let reason = clock.unknown.get("tick_ns").map_or("no reason was recorded", String::as_str);
    let (Some(tick_ns), Some(evidence)) = (clock.tick_ns, &clock.tick_evidence) else {
        return match clock.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns) {
            Some(_) => format!("Tick: {reason}."),
            None => format!("Tick unknown: {reason}."),
        };
    };
    let mut line = format!("Tick: {}", precise_time(tick_ns));
    if let Some(period) = evidence.period.as_ref().filter(|period| period.contains(['/', 'k'])) {
        line.push_str(&format!(" = {period}"));
    }
    if let Some(hz) = evidence.frequency_hz {
        line.push_str(&format!(", {}", frequency(hz)));
    }
    if let Some(name) = &evidence.recognised {
        line.push_str(&format!(" ({name})"));
    }
    let strength = match evidence.strength {
        Strength::Strong => "strong",
        Strength::Fair => "fair",
        Strength::Weak => "weak",
        Strength::None => "no",
    };
    line.push_str(&format!("; {strength} evidence: {} steps", evidence.steps));
    if let Some(agreement) = evidence.agreement {
        line.push_str(&format!(", {}% of the readings on its lattice", significant(agreement * 100.0, 4)));
    }
    if let Some(spread_ns) = evidence.spread_ns {
        line.push_str(&format!(" within {}", time(spread_ns)));
    }
    line + "."
}

fn frequency(hz: f64) -> String {
    match hz {
        1e6.. => format!("{} MHz", significant(hz / 1e6, 8)),
        1e3.. => format!("{} kHz", significant(hz / 1e3, 6)),
        _ => format!("{} Hz", significant(hz, 6)),
    }
}

/// The worst events of every kind that there were, a line a kind.
pub(crate) fn worst(clock: &StepsRecord) -> Vec<String> {
    let worst = &clock.worst;
    let kinds: [(&str, &[WorstRecord]); 7] = [
        ("stuck", &worst.stuck),
        ("stall", &worst.stall),
        ("warp", &worst.warp),
        ("jump", &worst.jump),
        ("gap", &worst.gap),
        ("regression", &worst.regression),
        ("hidden regression", &worst.hidden_regression),
    ];
    kinds
        .into_iter()
        .filter(|(_, events)| !events.is_empty())
        .map(|(kind, events)| format!("{kind}: {}", events.iter().map(event).collect::<Vec<_>>().join(", ")))
        .collect()
}

fn event(event: &WorstRecord) -> String {
    let size = match (event.size_ns, event.repeats) {
        (Some(ns), _) => time(ns),
        (None, Some(repeats)) => format!("{repeats} repeats"),
        (None, None) => UNKNOWN.to_owned(),
    };
    format!("{size} at {}", time(event.at_s * 1e9))
}

/// The clocks that could be read.
pub(crate) fn readable(steps: &Steps) -> Vec<&StepsRecord> {
    steps.clocks.iter().filter(|clock| clock.available).collect()
}
