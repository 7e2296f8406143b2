//! The stopwatches of runtimes.

use std::collections::BTreeSet;

use clockscope_records::{RuntimeRecord, Runtimes};
use serde_json::Value;

use super::clocks::tick_cell;
use super::environment::Fact;
use super::question_page::QuestionPage;
use crate::chart::{Axis, Chart, Mark, RowPlot, RowSeries, Unit};
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{cost, figure, time, trimmed};
use crate::words::{by_reason, counted, sentence, texts};

const HEAD: [&str; 10] =
    ["Runtime", "API", "Hardware timer", "Stated", "Cost", "Observed", "Tick", "Zeros %", "Regr", "Largest"];

/// Columns of a spreadsheet. The row's clocksource is the context's.
const COLUMNS: [&str; 37] = [
    "runtime",
    "title",
    "version",
    "program",
    "api",
    "available",
    "reason",
    "failure",
    "built_on",
    "moved_by",
    "documented_coarse",
    "hardware_timer",
    "nominal_resolution_ns",
    "cost_ns",
    "cost_ci95_low=cost.ci95.0",
    "cost_ci95_high=cost.ci95.1",
    "cost_min=cost.min",
    "cost_p99=cost.p99",
    "cost_batches=cost.batches",
    "cost_reads_per_batch=cost.reads_per_batch",
    "cost_batches_dropped=cost.batches_dropped",
    "observed_resolution_ns",
    "tick_ns",
    "tick_at_most_ns=tick_evidence.at_most_ns",
    "tick_strength=tick_evidence.strength",
    "tick_steps=tick_evidence.steps",
    "tick_frequency_hz=tick_evidence.frequency_hz",
    "tick_error_ppm=tick_evidence.error_ppm",
    "tick_spread_ns=tick_evidence.spread_ns",
    "tick_agreement=tick_evidence.agreement",
    "tick_period=tick_evidence.period",
    "tick_recognized=tick_evidence.recognized",
    "zeros_percent",
    "regressions",
    "largest_step_ns",
    "reads",
    "unknown",
];

impl QuestionPage for Runtimes {
    const LINES: &'static [(&'static str, &'static str)] = &[("runtimes", "runtime")];

    fn blocks(&self, _: View) -> Vec<Block> {
        let mut blocks: Vec<Block> = tables(self).into_iter().map(Into::into).collect();
        let sources = blocks.len();
        blocks.push(chart(self, sources > 1).into());
        blocks.push(Block::notes("Not measured:", not_measured(self, sources)));
        blocks.push(Block::notes("What was measured:", what(self)));
        blocks
    }

    fn how(&self) -> Vec<Fact> {
        how(self).collect()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        let mut sheet = Sheet::of_list(record, "runtimes", &COLUMNS);
        for (index, row) in self.runtimes.iter().enumerate() {
            // Where none was switched, the machine's is that of all rows.
            if self.was.is_some() || row.clocksource.is_known() {
                let source = row.clocksource.as_deref().map_or(Cell::Empty, Into::into);
                sheet.set(index, "clocksource", source);
            }
        }
        sheet
    }
}

/// Describes the measurement.
fn how(found: &Runtimes) -> impl Iterator<Item = Fact> {
    let read = format!("{}, after its warm-up, bound to no CPU", time(found.duration_s * 1e9));
    let was = found.was.iter().map(|was| ("clocksource was", format!("{was}, before it was switched")));
    std::iter::once(("each API read for", read)).chain(was)
}

/// Makes one table per clocksource, titled if any was switched.
fn tables(found: &Runtimes) -> Vec<Table> {
    let mut tables: Vec<Table> = sources(found).iter().map(|source| of_source(found, *source)).collect();
    if let [one] = tables.as_mut_slice()
        && found.was.is_none()
    {
        one.title = "".into();
    }
    if let Some(last) = tables.last_mut() {
        let about = "Stated: the nominal resolution, which the API states. Zeros: readings equal to the one before. Regr: readings smaller than the one \
                     before. Largest: the largest difference of two readings that follow each other at once.";
        last.below.extend(texts([about]));
    }
    tables
}

fn measured(found: &Runtimes) -> impl Iterator<Item = &RuntimeRecord> {
    found.runtimes.iter().filter(|row| row.available)
}

/// The clocksources that anything was measured with, in that order.
fn sources(found: &Runtimes) -> Vec<Option<&str>> {
    let mut sources = Vec::new();
    for source in measured(found).map(|row| row.clocksource.as_deref()) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

fn of_source(found: &Runtimes, source: Option<&str>) -> Table {
    let rows: Vec<&RuntimeRecord> = measured(found).filter(|row| row.clocksource.as_deref() == source).collect();
    let title = format!("With the clocksource {}:", source.unwrap_or("that is unknown"));
    let went_back = |row: &RuntimeRecord| row.regressions.get().is_some_and(|count| count > 0);
    let marked = rows.iter().map(|row| Row::marked(cells(found, row), went_back(row)));
    Table { keys: 2, ..Table::new(HEAD, 3, marked).titled(title).below(missing(found, &rows)) }
}

/// Draws what a read of each API costs, and by how much it steps.
fn chart(found: &Runtimes, has_sources: bool) -> Chart {
    let label = |row: &RuntimeRecord| match row.clocksource.as_deref().filter(|_| has_sources) {
        Some(source) => format!("{} ({source})", name(found, row)),
        None => name(found, row),
    };
    let marks = |row: &RuntimeRecord| {
        let interval = row.cost.known().and_then(|cost| cost.ci95.get());
        let cost = row.cost_ns.get().map(|value| Mark { series: 0, value, spread: interval });
        let tick = row.tick_ns.get().map(|value| Mark { series: 1, value, spread: None });
        cost.into_iter().chain(tick).collect::<Vec<_>>()
    };
    let rows: Vec<(String, Vec<Mark>)> = measured(found).map(|row| (label(row), marks(row))).collect();
    let values = rows.iter().flat_map(|(_, marks)| marks.iter().map(|mark| mark.value));
    let axis = Axis::fitting("Time", Unit::Time, values);
    let series = vec![RowSeries::points("Cost per read", "95% interval"), RowSeries::points("Tick", "")];
    Chart::new("runtimes", "Cost and tick of each API", RowPlot::new(axis, "APIs", series, rows))
}

fn cells(found: &Runtimes, row: &RuntimeRecord) -> Vec<Cell> {
    vec![
        with_version(found, row).into(),
        row.api.as_deref().map_or(Cell::Empty, Into::into),
        Cell::text(row.hardware_timer.as_deref()),
        Cell::time(row.nominal_resolution_ns.get()),
        Cell::known(row.cost_ns.get(), cost),
        Cell::time(row.observed_resolution_ns.get()),
        tick_cell(row.tick_ns.get(), row.tick_evidence.as_ref()),
        Cell::known(row.zeros_percent.get(), percent),
        Cell::count(row.regressions.get()),
        Cell::time(row.largest_step_ns.get()),
    ]
}

/// A share, so that only all of them are 100 and only none is 0.
fn percent(percent: f64) -> String {
    match percent {
        p if p > 0.0 && p < 0.0001 => "< 0.0001".to_owned(),
        p if p > 99.9 && p < 100.0 => trimmed(&format!("{:.4}", (p * 1e4).floor() / 1e4)).to_owned(),
        p => figure(p, 3),
    }
}

/// A runtime's name with its version, and with its program where that is needed to identify it.
fn with_version(found: &Runtimes, row: &RuntimeRecord) -> String {
    let name = row.label(&found.runtimes);
    match &row.version {
        Some(version) if !name.ends_with(version.as_str()) => {
            name.replacen(&row.title, &format!("{} {version}", row.title), 1)
        }
        _ => name,
    }
}

/// The name of a row's runtime and API.
fn name(found: &Runtimes, row: &RuntimeRecord) -> String {
    let runtime = row.label(&found.runtimes);
    match &row.api {
        Some(api) => format!("{runtime} {api}"),
        None => runtime,
    }
}

/// Reasons why figures are unknown: a line for those that are so for the same reason of the same
/// APIs.
fn missing(found: &Runtimes, rows: &[&RuntimeRecord]) -> Vec<String> {
    let mut lines: Vec<(Vec<&str>, String, Vec<String>)> = Vec::new();
    for row in rows {
        let mut of_row: Vec<(Vec<&str>, String)> = Vec::new();
        for (head, reason) in unknown(row) {
            match of_row.iter_mut().find(|(_, known)| *known == reason) {
                Some((heads, _)) => heads.push(head),
                None => of_row.push((vec![head], reason)),
            }
        }
        for (heads, reason) in of_row {
            match lines.iter_mut().find(|line| line.0 == heads && line.1 == reason) {
                Some((_, _, names)) => names.push(name(found, row)),
                None => lines.push((heads, reason, vec![name(found, row)])),
            }
        }
    }
    let line = |(heads, reason, names): &(Vec<&str>, String, Vec<String>)| {
        format!("? {} of {}: {reason}", heads.join(", "), names.join(", "))
    };
    lines.iter().map(line).collect()
}

/// The columns that show a row's `?`, each with the reason.
fn unknown(row: &RuntimeRecord) -> impl Iterator<Item = (&'static str, String)> {
    let at_most = row.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns);
    [
        ("Hardware timer", row.hardware_timer.why()),
        ("Stated", row.nominal_resolution_ns.why()),
        ("Cost", row.cost_ns.why()),
        ("Observed", row.observed_resolution_ns.why()),
        ("Tick", row.tick_ns.why().filter(|_| at_most.is_none())),
        ("Zeros %", row.zeros_percent.why()),
        ("Regr", row.regressions.why()),
        ("Largest", row.largest_step_ns.why()),
    ]
    .into_iter()
    .filter_map(|(head, reason)| Some((head, reason?)))
}

/// The APIs that were not measured, and with which clocksource where that makes a difference.
fn not_measured(found: &Runtimes, sources: usize) -> Vec<String> {
    let missing: Vec<(String, Option<&str>, &str)> = found
        .runtimes
        .iter()
        .filter(|row| !row.available)
        .map(|row| {
            let reason = row.reason.as_deref().unwrap_or("no reason was recorded");
            (name(found, row), row.clocksource.as_deref(), reason)
        })
        .collect();
    let reported = missing.iter().map(|(name, source, reason)| {
        let alike = missing.iter().filter(|other| other.0 == *name && other.2 == *reason).count();
        match source {
            Some(source) if sources > 1 && alike < sources => (format!("{name} (with {source})"), *reason),
            _ => (name.clone(), *reason),
        }
    });
    let mut once = Vec::new();
    for one in reported {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    by_reason(once.into_iter())
}

/// Versions, programs, and what their APIs are built on: a line a runtime.
fn what(found: &Runtimes) -> Vec<String> {
    /// APIs with what they are built on.
    type Built<'a> = Vec<(Vec<&'a str>, Option<&'a str>)>;
    let mut lines: Vec<(String, Built<'_>)> = Vec::new();
    for row in measured(found) {
        let title =
            row.version.as_ref().map_or_else(|| row.title.clone(), |version| format!("{} {version}", row.title));
        let whole = row.program.as_ref().map_or_else(|| title.clone(), |program| format!("{title} ({program})"));
        let index = lines.iter().position(|line| line.0 == whole).unwrap_or_else(|| {
            lines.push((whole, Vec::new()));
            lines.len() - 1
        });
        let built = &mut lines[index].1;
        let api = row.api.as_deref().unwrap_or("-");
        match built.iter_mut().find(|(_, on)| *on == row.built_on.as_deref()) {
            Some((apis, _)) if apis.contains(&api) => {}
            Some((apis, _)) => apis.push(api),
            None => built.push((vec![api], row.built_on.as_deref())),
        }
    }
    let of_built = |(apis, on): &(Vec<&str>, Option<&str>)| match on {
        Some(on) => format!("{} on {on}", apis.join(", ")),
        None => format!("{} on something unknown", apis.join(", ")),
    };
    let line = |(whole, built): (String, Built<'_>)| {
        format!("{whole}: {}", built.iter().map(of_built).collect::<Vec<_>>().join("; "))
    };
    lines.into_iter().map(line).collect()
}

fn conclusion(found: &Runtimes) -> Vec<String> {
    let rows: Vec<&RuntimeRecord> = measured(found).collect();
    let mut lines = Vec::new();
    if rows.is_empty() {
        lines.push("No runtime could be measured.".to_owned());
    }
    lines.extend(found.surprises.iter().map(ToString::to_string));
    if lines.is_empty() {
        lines.push(unsurprising(found, &rows));
    }
    lines.extend(found.error.iter().map(|error| sentence(format!("What went wrong with the clocksources: {error}"))));
    lines
}

/// The conclusion where nothing surprises.
fn unsurprising(found: &Runtimes, rows: &[&RuntimeRecord]) -> String {
    let went_back: Vec<String> = rows
        .iter()
        .filter(|row| row.regressions.get().is_some_and(|count| count > 0))
        .map(|row| name(found, row))
        .collect();
    if !went_back.is_empty() {
        return format!("Readings went BACK: {}.", went_back.join(", "));
    }
    let apis: BTreeSet<String> = rows.iter().map(|row| name(found, row)).collect();
    let runtimes: BTreeSet<String> = rows.iter().map(|row| row.label(&found.runtimes)).collect();
    let what = format!("{} of {}", counted(apis.len() as u64, "API"), counted(runtimes.len() as u64, "runtime"));
    let costs = || rows.iter().filter_map(|row| row.cost_ns.get());
    let costs = match (costs().reduce(f64::min), costs().reduce(f64::max)) {
        (Some(least), Some(most)) if least < most => format!(", whose reads cost {} to {}", time(least), time(most)),
        (Some(least), _) => format!(", whose reads cost {}", time(least)),
        _ => String::new(),
    };
    let back = if rows.iter().all(|row| row.regressions.is_known()) { ", and none of which went back" } else { "" };
    format!("Nothing surprising: {what}{costs}{back}.")
}

#[cfg(test)]
mod tests {
    use clockscope_records::texts;
    use clockscope_records::{Document, Figure};

    use super::*;

    fn recorded() -> Runtimes {
        let text = include_str!("../../tests/fixtures/runtimes.json");
        match Document::from_json(text) {
            Ok(Document::Runtimes(envelope)) => envelope.found,
            other => panic!("runtimes: {other:?}"),
        }
    }

    #[test]
    fn the_first_line_of_the_conclusion_stands_alone() {
        let mut found = recorded();
        let surprises: Vec<String> = found.surprises.iter().map(ToString::to_string).collect();
        assert!(!surprises.is_empty());
        assert_eq!(conclusion(&found), surprises);
        found.surprises.clear();
        assert_eq!(conclusion(&found), ["Readings went BACK: Chromium Date.now."]);
        for row in &mut found.runtimes {
            row.regressions = Figure::of(row.regressions.get().map(|_| 0), texts::NO_EVENTS);
        }
        let [line] = &conclusion(&found)[..] else { panic!("one line") };
        assert!(line.starts_with("Nothing surprising: ") && line.ends_with("and none of which went back."), "{line}");
        found.runtimes.iter_mut().for_each(|row| row.regressions = Figure::default());
        assert!(!conclusion(&found)[0].contains("back"));
        found.runtimes.retain(|row| !row.available);
        found.error = Some("hpet is still in use".to_owned());
        let lines = ["No runtime could be measured.", "What went wrong with the clocksources: hpet is still in use."];
        assert_eq!(conclusion(&found), lines);
    }

    #[test]
    fn a_clocksource_that_was_switched_to_is_named() {
        let mut found = recorded();
        assert_eq!(*tables(&found)[0].title, *"");
        found.was = Some("hpet".to_owned());
        assert_eq!(*tables(&found)[0].title, *"With the clocksource tsc:");
    }

    #[test]
    fn a_missing_runtime_is_named_once_and_a_clocksource_only_where_it_matters() {
        let missing = |title: &str, source: Option<&str>, reason: &str| RuntimeRecord {
            title: title.to_owned(),
            clocksource: Figure::of(source.map(str::to_owned), texts::CLOCKSOURCE_HIDDEN),
            reason: Some(reason.to_owned()),
            ..RuntimeRecord::default()
        };
        let mut found = recorded();
        found.runtimes = vec![
            missing("Deno", None, "not on PATH"),
            missing("Bun", Some("tsc"), "not on PATH"),
            missing("Bun", Some("hpet"), "not on PATH"),
            missing("Ruby", Some("hpet"), "it hung"),
        ];
        assert_eq!(not_measured(&found, 2), ["Ruby (with hpet): it hung", "Deno, Bun: not on PATH"]);
        assert_eq!(not_measured(&found, 1), ["Ruby: it hung", "Deno, Bun: not on PATH"]);
    }

    #[test]
    fn programs_of_one_name_are_distinguished() {
        let row = |program: &str, version: &str| RuntimeRecord {
            title: "Python".to_owned(),
            program: Some(program.to_owned()),
            version: Some(version.to_owned()),
            api: Some("time.time".to_owned()),
            available: true,
            ..RuntimeRecord::default()
        };
        let labels = |rows: Vec<RuntimeRecord>| -> Vec<String> {
            let found = Runtimes { runtimes: rows, ..recorded() };
            found.runtimes.iter().map(|row| name(&found, row)).collect()
        };
        let missing = RuntimeRecord { title: "Python".to_owned(), ..RuntimeRecord::default() };
        assert_eq!(labels(vec![row("/a", "3.11"), row("/a", "3.11"), missing])[1..], ["Python time.time", "Python"]);
        assert_eq!(
            labels(vec![row("/a", "3.11"), row("/b", "3.13")]),
            ["Python 3.11 time.time", "Python 3.13 time.time"]
        );
        assert_eq!(
            labels(vec![row("/a", "3.11"), row("/b", "3.11")]),
            ["Python (/a) time.time", "Python (/b) time.time"]
        );
        let found = Runtimes { runtimes: vec![row("/a", "3.11"), row("/b", "3.11"), row("/c", "3.13")], ..recorded() };
        let heads: Vec<String> = found.runtimes.iter().map(|row| with_version(&found, row)).collect();
        assert_eq!(heads, ["Python 3.11 (/a)", "Python 3.11 (/b)", "Python 3.13"]);
    }

    #[test]
    fn only_all_are_a_hundred_percent() {
        assert_eq!(
            [0.0, 73.04, 99.996, 99.99999, 100.0, 1e-9].map(percent),
            ["0", "73", "99.996", "99.9999", "100", "< 0.0001"]
        );
    }

    /// A `?` has a reason below the table, or the word that none was recorded.
    #[test]
    fn every_unknown_figure_is_explained() {
        let bare = RuntimeRecord { title: "Perl".to_owned(), available: true, ..RuntimeRecord::default() };
        let found = Runtimes { runtimes: vec![bare], ..recorded() };
        let table = &tables(&found)[0];
        let printed: Vec<String> = table.rows[0].cells.iter().map(Cell::to_string).collect();
        assert_eq!(printed, ["Perl", "-", "?", "?", "?", "?", "?", "?", "?", "?"]);
        let heads = HEAD[2..].join(", ");
        assert_eq!(*table.below[0], *format!("? {heads} of Perl: no reason was recorded"));
    }
}
