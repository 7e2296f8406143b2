//! The stopwatches of runtimes.

use std::collections::BTreeSet;

use clockscope_records::{RuntimeRecord, Runtimes};
use serde_json::Value;

use super::clocks::tick_cell;
use super::environment::Fact;
use super::question_page::QuestionPage;
use crate::chart::{Axis, Chart, ChartRow, Mark, RowPlot, RowSeries, Unit};
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{cost, figure, time, trimmed};
use crate::words::{by_reason, counted, sentence, texts, unknown_figures};

const HEAD: [&str; 10] =
    ["Runtime", "API", "Hardware timer", "Stated", "Cost", "Observed", "Tick", "Zeros %", "Regr", "Largest"];

/// Heads of a screen: one row for each API, under its runtime.
const SCREEN_HEAD: [&str; 4] = ["API", "Cost", "Tick", "Zeros %"];
/// The meaning of the columns of a screen.
const SCREEN_ABOUT: &str = "Zeros: readings equal to the one before. Steps back, resolutions: --all.";
/// The meaning of all columns.
const ABOUT: &str = "\
    Stated: the nominal resolution, which the API states. Zeros: readings equal to the one before. \
    Regr: readings smaller than the one before. Largest: the largest difference of two readings that \
    follow each other at once.";

/// Columns of a spreadsheet. The row's clocksource is the context's.
const COLUMNS: &str = "\
    runtime title version program api available reason failure built_on moved_by documented_coarse \
    hardware_timer nominal_resolution_ns cost_ns cost_ci95_low=cost.ci95.0 \
    cost_ci95_high=cost.ci95.1 cost_min=cost.min cost_p99=cost.p99 cost_batches=cost.batches \
    cost_reads_per_batch=cost.reads_per_batch cost_batches_dropped=cost.batches_dropped \
    observed_resolution_ns tick_ns tick_at_most_ns=tick_evidence.at_most_ns \
    tick_strength=tick_evidence.strength tick_steps=tick_evidence.steps \
    tick_frequency_hz=tick_evidence.frequency_hz tick_error_ppm=tick_evidence.error_ppm \
    tick_spread_ns=tick_evidence.spread_ns tick_agreement=tick_evidence.agreement \
    tick_period=tick_evidence.period tick_recognized=tick_evidence.recognized zeros_percent \
    regressions largest_step_ns reads unknown";

impl QuestionPage for Runtimes {
    const LINES: &'static [(&'static str, &'static str)] = &[("runtimes", "runtime")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let mut blocks: Vec<Block> = tables(self, view.is_all).into_iter().map(Into::into).collect();
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
        let rows: Vec<&RuntimeRecord> = measured(self).collect();
        let mut lines = Vec::new();
        if rows.is_empty() {
            lines.push("No runtime could be measured.".to_owned());
        }
        lines.extend(self.surprises.iter().map(ToString::to_string));
        if lines.is_empty() {
            lines.push(unsurprising(self, &rows));
        }
        lines
            .extend(self.error.iter().map(|error| sentence(format!("What went wrong with the clocksources: {error}"))));
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        let mut sheet = Sheet::of_list(record, "runtimes", COLUMNS);
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
fn tables(found: &Runtimes, is_all: bool) -> Vec<Table> {
    let mut tables: Vec<Table> = sources(found).iter().map(|source| of_source(found, *source, is_all)).collect();
    if let [one] = tables.as_mut_slice()
        && found.was.is_none()
    {
        one.title = "".into();
    }
    if let Some(last) = tables.last_mut() {
        last.below.extend(texts([if is_all { ABOUT } else { SCREEN_ABOUT }]));
    }
    tables
}

fn measured(found: &Runtimes) -> impl Iterator<Item = &RuntimeRecord> {
    found.runtimes.iter().filter(|row| row.available)
}

/// Lists the clocksources of the measured runtimes, in their order.
fn sources(found: &Runtimes) -> Vec<Option<&str>> {
    let mut sources = Vec::new();
    for source in measured(found).map(|row| row.clocksource.as_deref()) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

fn of_source(found: &Runtimes, source: Option<&str>, is_all: bool) -> Table {
    let rows: Vec<&RuntimeRecord> = measured(found).filter(|row| row.clocksource.as_deref() == source).collect();
    let title = format!("With the clocksource {}:", source.unwrap_or("that is unknown"));
    let unknown = rows.iter().map(|row| {
        let figures = unknown(row).into_iter().filter(|(head, _)| is_all || SCREEN_HEAD.contains(head));
        (name(found, row), figures.collect())
    });
    let unknown = unknown_figures(unknown);
    let table = if is_all {
        let marked = rows.iter().map(|row| Row::marked(cells(found, row), went_back(row)));
        Table { keys: 2, ..Table::new(HEAD, 3, marked) }
    } else {
        Table { wraps: true, ..Table::new(SCREEN_HEAD, 1, screen_rows(found, &rows)) }
    };
    table.titled(title).below(unknown)
}

/// Makes the rows of a screen, with a heading where another runtime begins.
fn screen_rows(found: &Runtimes, rows: &[&RuntimeRecord]) -> Vec<Row> {
    let mut last = None;
    let mut marked = Vec::new();
    for row in rows {
        let runtime = with_version(found, row);
        let api = row.api.as_deref().unwrap_or_default();
        let back = row.regressions.get().filter(|count| *count > 0).map(|count| counted(count, "step"));
        let cells = vec![
            back.map_or_else(|| api.to_owned(), |back| format!("{api}: {back} back")).into(),
            Cell::known(row.cost_ns.get(), cost),
            tick_cell(row.tick_ns.get(), row.tick_evidence.as_ref()),
            Cell::known(row.zeros_percent.get(), percent),
        ];
        let mut row = Row::marked(cells, went_back(row));
        if last.as_ref() != Some(&runtime) {
            row.heading = runtime.as_str().into();
        }
        last = Some(runtime);
        marked.push(row);
    }
    marked
}

fn went_back(row: &RuntimeRecord) -> bool {
    row.regressions.get().is_some_and(|count| count > 0)
}

/// Draws the cost of a read and the tick of each API.
fn chart(found: &Runtimes, has_sources: bool) -> Chart {
    let mut rows = Vec::new();
    for row in measured(found) {
        let cost = row.cost_ns.get().map(|value| {
            let spread = row.cost.known().and_then(|cost| cost.ci95.get());
            Mark { spread, ..Mark::at(0, value) }
        });
        let tick = row.tick_ns.get().map(|value| Mark::at(1, value));
        let mut label = name(found, row);
        if let Some(source) = row.clocksource.as_deref()
            && has_sources
        {
            label += &format!(" ({source})");
        }
        rows.push(ChartRow::new(label, cost.into_iter().chain(tick).collect()));
    }
    let values = rows.iter().flat_map(|row| row.marks.iter().map(|mark| mark.value));
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

/// Shows a share, so that only all of them are 100 and only none is 0.
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

/// Returns the columns of a row that show `?`, each with the reason.
fn unknown(row: &RuntimeRecord) -> Vec<(&'static str, String)> {
    let at_most = row.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns);
    [
        ("Hardware timer", row.hardware_timer.why()),
        ("Stated", row.nominal_resolution_ns.why()),
        ("Cost", row.cost_ns.why()),
        ("Observed", row.observed_resolution_ns.why()),
        ("Tick", if at_most.is_none() { row.tick_ns.why() } else { None }),
        ("Zeros %", row.zeros_percent.why()),
        ("Regr", row.regressions.why()),
        ("Largest", row.largest_step_ns.why()),
    ]
    .into_iter()
    .filter_map(|(head, reason)| Some((head, reason?)))
    .collect()
}

/// Lists the APIs that were not measured, with the clocksource if another one measured them.
fn not_measured(found: &Runtimes, sources: usize) -> Vec<String> {
    let missing = found.runtimes.iter().filter(|row| !row.available).map(|row| {
        let reason = row.reason.as_deref().unwrap_or("no reason was recorded");
        (name(found, row), row.clocksource.as_deref(), reason)
    });
    let missing: Vec<_> = missing.collect();
    let mut reported = Vec::new();
    for (name, source, reason) in &missing {
        let alike = missing.iter().filter(|other| other.0 == *name && other.2 == *reason).count();
        let named = match source {
            Some(source) if sources > 1 && alike < sources => (format!("{name} (with {source})"), *reason),
            _ => (name.clone(), *reason),
        };
        if !reported.contains(&named) {
            reported.push(named);
        }
    }
    by_reason(reported.into_iter())
}

/// Lists versions, programs and the bases of their APIs, a line a runtime.
fn what(found: &Runtimes) -> Vec<String> {
    /// APIs with their basis.
    type Built<'a> = Vec<(Vec<&'a str>, Option<&'a str>)>;
    let mut lines: Vec<(String, Built<'_>)> = Vec::new();
    for row in measured(found) {
        let mut runtime = row.title.clone();
        runtime.extend(row.version.iter().map(|version| format!(" {version}")));
        runtime.extend(row.program.iter().map(|program| format!(" ({program})")));
        let index = lines.iter().position(|line| line.0 == runtime).unwrap_or_else(|| {
            lines.push((runtime, Vec::new()));
            lines.len() - 1
        });
        let built = &mut lines[index].1;
        let api = row.api.as_deref().unwrap_or("-");
        match built.iter_mut().find(|(_, basis)| *basis == row.built_on.as_deref()) {
            Some((apis, _)) if apis.contains(&api) => {}
            Some((apis, _)) => apis.push(api),
            None => built.push((vec![api], row.built_on.as_deref())),
        }
    }
    let lines = lines.into_iter().map(|(runtime, built)| {
        let built =
            built.iter().map(|(apis, on)| format!("{} on {}", apis.join(", "), on.unwrap_or("something unknown")));
        format!("{runtime}: {}", built.collect::<Vec<_>>().join("; "))
    });
    lines.collect()
}

/// The conclusion where nothing surprises.
fn unsurprising(found: &Runtimes, rows: &[&RuntimeRecord]) -> String {
    let faulty: Vec<String> = rows.iter().filter(|row| went_back(row)).map(|row| name(found, row)).collect();
    if !faulty.is_empty() {
        return format!("Readings went BACK: {}.", faulty.join(", "));
    }
    let apis: BTreeSet<String> = rows.iter().map(|row| name(found, row)).collect();
    let runtimes: BTreeSet<String> = rows.iter().map(|row| row.label(&found.runtimes)).collect();
    let what = format!("{} of {}", counted(apis.len() as u64, "API"), counted(runtimes.len() as u64, "runtime"));
    let costs: Vec<f64> = rows.iter().filter_map(|row| row.cost_ns.get()).collect();
    let (least, most) = (costs.iter().copied().reduce(f64::min), costs.iter().copied().reduce(f64::max));
    let costs = match (least, most) {
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
        assert_eq!(found.conclusion(), surprises);
        found.surprises.clear();
        assert_eq!(found.conclusion(), ["Readings went BACK: Chromium Date.now."]);
        for row in &mut found.runtimes {
            row.regressions = Figure::of(row.regressions.get().map(|_| 0), texts::NO_EVENTS);
        }
        let [line] = &found.conclusion()[..] else { panic!("one line") };
        assert!(line.starts_with("Nothing surprising: ") && line.ends_with("and none of which went back."), "{line}");
        found.runtimes.iter_mut().for_each(|row| row.regressions = Figure::default());
        assert!(!found.conclusion()[0].contains("back"));
        found.runtimes.retain(|row| !row.available);
        found.error = Some("hpet is still in use".to_owned());
        let lines = ["No runtime could be measured.", "What went wrong with the clocksources: hpet is still in use."];
        assert_eq!(found.conclusion(), lines);
    }

    #[test]
    fn a_clocksource_that_was_switched_to_is_named() {
        let mut found = recorded();
        assert_eq!(*tables(&found, true)[0].title, *"");
        found.was = Some("hpet".to_owned());
        assert_eq!(*tables(&found, true)[0].title, *"With the clocksource tsc:");
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
        let table = &tables(&found, true)[0];
        let printed: Vec<String> = table.rows[0].cells.iter().map(Cell::to_string).collect();
        assert_eq!(printed, ["Perl", "-", "?", "?", "?", "?", "?", "?", "?", "?"]);
        let heads = HEAD[2..].join(", ");
        assert_eq!(*table.below[0], *format!("? {heads} of Perl: no reason was recorded"));
    }
}
