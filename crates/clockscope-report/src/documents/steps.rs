//! Differences between successive readings.

mod charts;
mod short;

use clockscope_records::{
    DifferenceRecord, Events, ExactTick, Figure, Steps, StepsRecord, Strength, Summary, Worst, WorstEvent,
};
use serde_json::{Value, json};

use super::clocks::{not_available, tick_cell, word};
use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{exact_time, share, significant, tick_time, time};
use crate::words::{UNKNOWN, counted, grouped, total};

/// Heads of the table of distinct differences; the table of the largest lacks the last one.
const DIFFERENCES: [&str; 5] = ["Units", "Time", "Count", "%", "Cumulative %"];

/// The meaning of the figures.
const ABOUT: &str = "Times in ns, of the differences between successive readings. Between batches of reads there is a pause: no difference is taken there.";

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    name kind path available reason code=reason.code tick_ns tick_at_most_ns difference_units difference_ns \
    count cumulative_count";

impl QuestionPage for Steps {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let readable: Vec<&StepsRecord> = self.clocks.iter().filter(|clock| clock.available).collect();
        if !view.is_all && !readable.is_empty() {
            let mut blocks = short::blocks(&readable);
            let all = self.clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_ref()));
            // Of a few clocks, which were named, the missing ones have their reasons.
            if self.clocks.len() <= MAX_LISTED {
                blocks.push(not_available(all));
            }
            return blocks;
        }
        let mut blocks = vec![
            Block::folded("All figures, side by side", [side_by_side(&readable).into()]),
            Block::folded("Definitions", [Block::prose([ABOUT])]),
        ];
        blocks.extend(charts::distributions(&readable).into_iter().map(Block::from));
        blocks.push(Block::folded("Each clock", readable.iter().map(|clock| of_clock(clock))));
        let all = self.clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_ref()));
        blocks.push(not_available(all));
        blocks
    }

    fn conclusion(&self) -> Vec<String> {
        let read: Vec<&StepsRecord> = self.clocks.iter().filter(|clock| clock.events.is_some()).collect();
        if read.is_empty() {
            return vec!["No clock was read.".to_owned()];
        }
        let ticks: Vec<f64> = read.iter().filter_map(|clock| clock.tick_ns.get()).collect();
        let finest = ticks.iter().copied().reduce(f64::min);
        let coarsest = ticks.iter().copied().reduce(f64::max);
        let ticked = match finest.zip(coarsest) {
            Some((finest, coarsest)) if read.len() > MAX_LISTED => {
                let clocks = counted(ticks.len() as u64, "clock");
                format!("The ticks of {clocks} are {} to {}.", tick_time(finest), tick_time(coarsest))
            }
            None if read.len() > MAX_LISTED => "No tick was found.".to_owned(),
            _ => {
                let listed: Vec<String> =
                    read.iter().map(|clock| format!("{} {}", clock.identity.label(), tick(clock))).collect();
                format!("Tick: {}.", listed.join(", "))
            }
        };
        let faulty: Vec<String> =
            read.iter().filter(|clock| is_faulty(clock)).map(|clock| clock.identity.label()).collect();
        let moved = if faulty.is_empty() {
            "No reading went back or jumped.".to_owned()
        } else {
            format!("Readings went back or jumped: {}.", faulty.join(", "))
        };
        vec![format!("{ticked} {moved}")]
    }

    fn sheet(&self, record: &Value) -> Sheet {
        let mut sheet = Sheet::new(record, COLUMNS);
        self.clocks.iter().flat_map(rows_of).for_each(|row| sheet.push(row));
        sheet
    }
}

/// Most clocks whose ticks are listed in a sentence.
const MAX_LISTED: usize = 6;

fn tick(clock: &StepsRecord) -> Cell {
    tick_cell(clock.tick_ns.get(), clock.tick_evidence.as_ref())
}

fn is_faulty(clock: &StepsRecord) -> bool {
    clock.events.as_ref().is_some_and(|events| {
        events.regression > 0 || [&events.hidden_regression, &events.jump].iter().any(|count| count.get() > Some(0))
    })
}

/// Shows one clock in detail.
fn of_clock(clock: &StepsRecord) -> Block {
    let mut blocks = vec![Block::section(clock.identity.label(), sentences(clock))];
    if !clock.differences.is_empty() {
        let of_all = clock.summary.known().map_or(0, |summary| summary.count);
        let largest = clock.largest.iter().map(|entry| difference(entry, of_all));
        blocks.extend([
            differences(clock).into(),
            Table::new(DIFFERENCES[..4].iter().copied(), 0, largest).titled("The largest:").whole().into(),
            Block::Series(clock.histogram.clone()),
        ]);
        blocks.extend(charts::of_clock(clock).into_iter().map(Block::from));
        blocks.push(Block::notes("The worst, by size and time:", worst(clock)));
    }
    let tick = clock.tick_ns.get().map_or_else(String::new, |tick| format!(", tick {}", tick_time(tick)));
    Block::folded(format!("{}{tick}", clock.identity.label()), blocks)
}

/// Shows the figures of all clocks side by side, one column per clock.
fn side_by_side(clocks: &[&StepsRecord]) -> Table {
    if clocks.is_empty() {
        return Table::default();
    }
    let mut rows = figures("", clocks, |clock| &clock.summary);
    if clocks.iter().any(|clock| count(&clock.summary) != count(&clock.summary_nonzero)) {
        rows.extend(figures(", not 0", clocks, |clock| &clock.summary_nonzero));
    }
    rows.push(row("tick", clocks, tick));
    type Count = fn(&Events) -> Option<u64>;
    let counts: [(&str, Count); 8] = [
        ("reads", |events| Some(events.reads)),
        ("stuck", |events| Some(events.stuck)),
        ("stall", |events| Some(events.stall)),
        ("warp", |events| events.warp.get()),
        ("jump", |events| events.jump.get()),
        ("gap", |events| events.gap.get()),
        ("regression", |events| Some(events.regression)),
        ("hidden", |events| events.hidden_regression.get()),
    ];
    for (name, count) in counts {
        rows.push(row(name, clocks, |clock| Cell::count(clock.events.as_ref().and_then(count))));
    }
    let head = std::iter::once("Time (ns)".to_owned()).chain(clocks.iter().map(|clock| clock.identity.label()));
    let weighed = rows.into_iter().map(|cells| Row { weight: weight(&cells), ..cells.into() });
    Table::new(head, 1, weighed)
}

/// Rows that a brief page shows first, the most important one first.
const WEIGHTY: [&str; 11] =
    ["tick", "50%", "99%", "max", "regression", "jump", "stuck", "stall", "gap", "reads", "min"];

fn weight(cells: &[Cell]) -> u64 {
    let name = cells.first().map(Cell::to_string).unwrap_or_default();
    WEIGHTY.iter().rev().position(|weighty| *weighty == name).map_or(0, |index| index as u64 + 1)
}

/// Makes a row of a table with one column per clock.
fn row(name: &str, clocks: &[&StepsRecord], cell: impl Fn(&StepsRecord) -> Cell) -> Vec<Cell> {
    std::iter::once(name.into()).chain(clocks.iter().map(|clock| cell(clock))).collect()
}

fn count(summary: &Figure<Summary>) -> Option<u64> {
    summary.known().map(|summary| summary.count)
}

/// Makes the rows of a summary in ns, named as pandas' describe() names them.
fn figures(suffix: &str, clocks: &[&StepsRecord], summary: fn(&StepsRecord) -> &Figure<Summary>) -> Vec<Vec<Cell>> {
    type SummaryFigure = fn(&Summary) -> Option<f64>;
    let figures: [(&str, SummaryFigure); 9] = [
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
    let mut rows = vec![row(&format!("count{suffix}"), clocks, |clock| Cell::count(count(summary(clock))))];
    for (name, figure) in figures {
        let name = format!("{name}{suffix}");
        rows.push(row(&name, clocks, |clock| Cell::known(summary(clock).known().and_then(figure), ns)));
    }
    rows
}

/// Shows a time in ns with five digits; without decimals from 1 ms on.
fn ns(ns: f64) -> String {
    if ns.abs() >= 1e6 { format!("{ns:.0}") } else { significant(ns, 5) }
}

/// Shows the distinct differences. The rarer ones may be left out.
fn differences(clock: &StepsRecord) -> Table {
    let all = total(clock.histogram.iter().map(|bin| bin.count));
    let all = if all == 0 { total(clock.differences.iter().map(|entry| entry.count)) } else { all };
    let mut cumulative = 0;
    let rows = clock.differences.iter().map(|entry| {
        cumulative = total([cumulative, entry.count]);
        let mut cells = difference(entry, all);
        cells.push(share(cumulative, all).into());
        Row { cells, weight: entry.count, ..Row::default() }
    });
    Table { omitted: Some("rarer ones"), ..Table::new(DIFFERENCES, 0, rows).whole() }
}

fn difference(entry: &DifferenceRecord, all: u64) -> Vec<Cell> {
    vec![
        entry.units.to_string().into(),
        Cell::known(entry.ns, exact_time),
        grouped(entry.count).into(),
        share(entry.count, all).into(),
    ]
}

/// Describes a clock: its tick, its modes, the number of rounded differences.
fn sentences(clock: &StepsRecord) -> Vec<String> {
    let mut lines = vec![of_tick(clock)];
    if let [_, _, ..] = clock.modes.as_slice() {
        let modes: Vec<String> = clock
            .modes
            .iter()
            .map(|mode| format!("{} ({}%)", time(mode.ns), significant(mode.share * 100.0, 3)))
            .collect();
        let listed = modes.join(", ");
        lines.push(format!("Multimodal: the differences gather around {listed}. The mean is not representative."));
    }
    if clock.rounded > 0 {
        lines.push(format!("{} rounded down to 0.1%.", counted(clock.rounded, "difference")));
    }
    lines.extend(clock.reason.as_ref().map(ToString::to_string));
    lines
}

fn of_tick(clock: &StepsRecord) -> String {
    let (Some(tick_ns), Some(evidence)) = (clock.tick_ns.get(), &clock.tick_evidence) else {
        let reason = clock.tick_ns.why().unwrap_or_else(|| "no evidence was recorded".to_owned());
        return match clock.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns) {
            Some(_) => format!("Tick: {reason}."),
            None => format!("Tick unknown: {reason}."),
        };
    };
    let mut line = format!("Tick: {}", tick_time(tick_ns));
    if let Some(exact) = evidence.exact_tick.as_ref().filter(|exact| says_more(exact)) {
        line.push_str(&format!(" = {exact}"));
    }
    if let Some(hz) = evidence.frequency_hz {
        line.push_str(&format!(", {}", frequency(hz)));
    }
    if let Some(name) = &evidence.recognized {
        line.push_str(&format!(" ({name})"));
    }
    let strength = match evidence.strength {
        Strength::Strong => "strong",
        Strength::Fair => "fair",
        Strength::Weak => "weak",
        Strength::None => "no",
    };
    line.push_str(&format!("; {strength} evidence: {}", counted(evidence.steps, "step")));
    if let Some(agreement) = evidence.agreement {
        line.push_str(&format!(", {}% of the readings are multiples of it", significant(agreement * 100.0, 4)));
    }
    if let Some(spread_ns) = evidence.spread_ns {
        line.push_str(&format!(" within {}", time(spread_ns)));
    }
    line + "."
}

/// Returns true if an exact tick is not a multiple of 1 ns.
const fn says_more(exact: &ExactTick) -> bool {
    match exact {
        ExactTick::Fraction { denominator, .. } => *denominator > 1,
        ExactTick::Counts { .. } | ExactTick::Period { .. } => true,
    }
}

fn frequency(hz: f64) -> String {
    match hz {
        1e6.. => format!("{} MHz", significant(hz / 1e6, 8)),
        1e3.. => format!("{} kHz", significant(hz / 1e3, 6)),
        _ => format!("{} Hz", significant(hz, 6)),
    }
}

/// Lists the worst events, a line a kind.
fn worst(clock: &StepsRecord) -> Vec<String> {
    events_by_kind(&clock.worst)
        .into_iter()
        .filter(|(_, events)| !events.is_empty())
        .map(|(kind, events)| format!("{kind}: {}", events.iter().map(event).collect::<Vec<_>>().join(", ")))
        .collect()
}

/// Returns the worst events of each kind, by its name.
fn events_by_kind(worst: &Worst) -> [(&'static str, &[WorstEvent]); 7] {
    [
        ("stuck", &worst.stuck),
        ("stall", &worst.stall),
        ("warp", &worst.warp),
        ("jump", &worst.jump),
        ("gap", &worst.gap),
        ("regression", &worst.regression),
        ("hidden regression", &worst.hidden_regression),
    ]
}

fn event(event: &WorstEvent) -> String {
    let size = match (event.size_ns, event.repeats) {
        (Some(ns), _) => time(ns),
        (None, Some(repeats)) => counted(repeats, "repeat"),
        (None, None) => UNKNOWN.to_owned(),
    };
    format!("{size} at {}", time(event.at_s * 1e9))
}

/// Makes one row per distinct difference, and one for a clock without any.
fn rows_of(clock: &StepsRecord) -> Vec<Vec<Cell>> {
    let start = [
        clock.identity.name.as_str().into(),
        word(&json!(clock.identity.kind)).into(),
        clock.identity.path.as_str().into(),
        clock.available.to_string().into(),
        Cell::known(clock.reason.as_ref(), ToString::to_string),
        Cell::known(clock.reason.as_ref(), |reason| word(&json!(reason)["code"])),
        Cell::time(clock.tick_ns.get()),
        Cell::time(clock.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns)),
    ];
    let mut ends = Vec::new();
    let mut cumulative = 0;
    for DifferenceRecord { units, ns, count, .. } in &clock.differences {
        cumulative = total([cumulative, *count]);
        ends.push([units.to_string().into(), Cell::time(*ns), Cell::Count(*count), Cell::Count(cumulative)]);
    }
    if ends.is_empty() {
        ends.push([const { Cell::Empty }; 4]);
    }
    ends.into_iter().map(|end| start.iter().cloned().chain(end).collect()).collect()
}
