//! Verdicts on clocks, with their evidence.

mod figure;

use std::collections::BTreeMap;

use clockscope_records::{Check, CheckEvidence, Demand, DemandValue, Finding, Trustworthiness, Use, Verdict};
use serde_json::Value as Json;

use self::figure::figure_of;
use super::question_page::QuestionPage;
use crate::chart::{Chart, EvidencePlot, FindingMark};
use crate::model::{Block, Cell, Line, Row, Table, Tone};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::figure;
use crate::verdict;
use crate::words::{capitalized, counted, sentence};

/// Columns of a spreadsheet. Each piece of a verdict's evidence has a row.
const COLUMNS: [&str; 12] = [
    "clock", "verdict", "interval", "civil", "name", "finding", "decides", "value", "unit", "seen", "source", "advice",
];

impl QuestionPage for Check {
    const LINES: &'static [(&'static str, &'static str)] = &[("verdicts", "verdict"), ("demands", "demand")];

    fn blocks(&self, view: View) -> Vec<Block> {
        blocks(self, view)
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Json) -> Sheet {
        let mut sheet = Sheet::new(record, &COLUMNS);
        self.verdicts.iter().flat_map(verdict_cells).for_each(|row| sheet.push(row));
        self.demands.iter().for_each(|demand| sheet.push(demand_cells(demand)));
        sheet
    }
}

fn blocks(check: &Check, view: View) -> Vec<Block> {
    let mut blocks = vec![verdicts(check).into(), chart(check).into()];
    let evidence = check.verdicts.iter().map(|verdict| {
        let is_displayed = |evidence: &&CheckEvidence| view.is_verbose || is_displayed(verdict, evidence);
        let lines = verdict.evidence.iter().filter(is_displayed).map(line);
        Block::notes(format!("{}: {}", verdict.clock, verdict.phrase()), lines)
    });
    blocks.push(Block::folded("The evidence as lists", evidence));
    blocks.push(demands(&check.demands).into());
    let context = |text: String| Block::notes("", [Line::toned(text, Tone::Context)]);
    blocks.extend(check.not_independent().map(context));
    blocks.extend((!view.is_verbose).then(|| left_out(check)).flatten().map(context));
    blocks.extend(help(check).map(context));
    blocks
}

/// Draws the findings on each clock.
fn chart(check: &Check) -> Chart {
    let mark = |evidence: &CheckEvidence| FindingMark { finding: evidence.finding, decides: evidence.decides };
    let of_clock = |verdict: &Verdict| -> Vec<(&str, FindingMark)> {
        verdict.evidence.iter().map(|evidence| (evidence.data.name(), mark(evidence))).collect()
    };
    let things: Vec<_> = check.verdicts.iter().map(|verdict| (verdict.clock.as_str(), of_clock(verdict))).collect();
    Chart::new("evidence", "Evidence on each clock", EvidencePlot::new(&things))
}

/// Returns whether evidence is shown without --verbose: what decides a verdict that is not trusted.
/// The table has what decides the others.
fn is_displayed(verdict: &Verdict, evidence: &CheckEvidence) -> bool {
    evidence.decides && verdict.verdict != Trustworthiness::Trusted
}

/// Says where the evidence is that is not shown.
fn left_out(check: &Check) -> Option<String> {
    let of =
        |verdict: &Verdict| verdict.evidence.iter().filter(|evidence| !is_displayed(verdict, evidence)).count() as u64;
    let left_out = check.verdicts.iter().map(of).sum();
    (left_out > 0).then(|| format!("--verbose shows the other evidence: {}.", counted(left_out, "check")))
}

/// Names the pages that explain the verdicts of clocks that are not trusted.
fn help(check: &Check) -> Option<String> {
    let is_explained = check.verdicts.iter().any(|verdict| verdict.verdict != Trustworthiness::Trusted);
    let text = "`clockscope help evidence` explains each check, `clockscope help symptoms` causes and fixes.";
    is_explained.then(|| text.to_owned())
}

/// A row a clock, with its verdict for each use.
fn verdicts(check: &Check) -> Table {
    let has_civil = check.verdicts.iter().any(|verdict| verdict.uses.civil.is_some());
    let cell = |verdict: Option<Trustworthiness>| match verdict {
        Some(verdict) => Cell::word(verdict.as_str(), verdict::tone(verdict)),
        None => Cell::Empty,
    };
    let row = |found: &Verdict| {
        let mut cells = vec![found.clock.as_str().into()];
        if has_civil {
            cells.extend([cell(found.uses.interval), cell(found.uses.civil)]);
        } else {
            cells.push(cell(Some(found.verdict)));
        }
        let because = found.because();
        cells.push(if because.is_empty() { Cell::Empty } else { because.into() });
        Row { weight: verdict::weight(found.verdict).into(), ..cells.into() }
    };
    let uses = if has_civil { &["Intervals", "Civil time"][..] } else { &["Verdict"] };
    let head = ["Clock"].iter().chain(uses).chain(&["Because of"]).copied();
    let table = Table::new(head, 1 + uses.len(), check.verdicts.iter().map(row));
    Table { wraps: true, ..table }.without_empty_columns()
}

/// A piece of evidence in a line: what it means, what was asked, what was seen, who says so, what
/// to do.
fn line(evidence: &CheckEvidence) -> Line {
    let (finding, tone) = match (evidence.finding, evidence.decides) {
        (Finding::For, true) => ("FOR", Tone::Good),
        (Finding::For, false) => ("for", Tone::Normal),
        (Finding::Against, true) => ("AGAINST", Tone::Bad),
        (Finding::Against, false) => ("against", Tone::Warning),
        (Finding::Unknown, true) => ("UNKNOWN", Tone::Warning),
        (Finding::Unknown, false) => ("unknown", Tone::Normal),
    };
    let advice = evidence.advice().map_or_else(String::new, |advice| format!(" -> {advice}"));
    let (name, source) = (evidence.data.name(), evidence.data.source());
    Line::toned(format!("{finding:<7}  {name}: {} [{source}]{advice}", evidence.text()), tone)
}

fn demands(demands: &[Demand]) -> Table {
    let row =
        |demand: &Demand| {
            let cells =
                vec![
                    demand_name(demand).into(),
                    value(&demand.required).into(),
                    Cell::known(demand.found.as_ref(), value),
                    Cell::known(demand.met, |met| {
                        if met { Cell::word("yes", Tone::Good) } else { Cell::word("NO", Tone::Bad) }
                    }),
                ];
            Row::from(cells)
        };
    let advice = |demand: &Demand| Some(format!("{}: {}", demand_name(demand), sentence(demand.advice()?.to_owned())));
    Table::new(["Demand", "Required", "Found", "Met"], 1, demands.iter().map(row))
        .titled("What the policy demands:")
        .below(demands.iter().filter_map(advice))
}

/// Names a demand by its place in the policy, and the use that a verdict is demanded for.
fn demand_name(demand: &Demand) -> String {
    let of_use = match demand.for_use {
        Some(Use::Interval) => " for intervals",
        Some(Use::Civil) => " for civil time",
        None => "",
    };
    format!("{}{of_use}", demand.demand)
}

fn use_cell(verdict: Option<Trustworthiness>) -> Cell {
    verdict.map_or(Cell::Empty, |verdict| verdict.as_str().into())
}

fn value(value: &DemandValue) -> String {
    match value {
        DemandValue::Number(number) => figure(*number, 4),
        DemandValue::Word(word) => word.clone(),
    }
}

/// Makes a row of each piece of a verdict's evidence.
fn verdict_cells(verdict: &Verdict) -> impl Iterator<Item = Vec<Cell>> {
    let judged = verdict.verdict.as_str();
    verdict.evidence.iter().map(move |evidence| {
        let finding = match evidence.finding {
            Finding::For => "for",
            Finding::Against => "against",
            Finding::Unknown => "unknown",
        };
        let (value, unit) = figure_of(evidence);
        vec![
            verdict.clock.as_str().into(),
            judged.into(),
            use_cell(verdict.uses.interval),
            use_cell(verdict.uses.civil),
            evidence.data.name().into(),
            finding.into(),
            if evidence.decides { "true" } else { "false" }.into(),
            value.into(),
            unit.into(),
            evidence.text().into(),
            evidence.data.source().into(),
            Cell::text(evidence.advice().as_deref()),
        ]
    })
}

/// Makes a row of a demand, below the evidence: its clock is named `policy`, its verdict says
/// whether it is met.
fn demand_cells(demand: &Demand) -> Vec<Cell> {
    let in_full = |value: &DemandValue| match value {
        DemandValue::Number(number) => number.to_string(),
        DemandValue::Word(word) => word.clone(),
    };
    let (verdict, finding) = match demand.met {
        Some(true) => ("met", "for"),
        Some(false) => ("unmet", "against"),
        None => ("unknown", "unknown"),
    };
    vec![
        "policy".into(),
        verdict.into(),
        Cell::Empty,
        Cell::Empty,
        demand_name(demand).into(),
        finding.into(),
        if demand.met == Some(false) { "true" } else { "false" }.into(),
        Cell::known(demand.found.as_ref(), in_full),
        demand.unit().map_or(Cell::Empty, Cell::from),
        format!("required: {}", in_full(&demand.required)).into(),
        "the policy".into(),
        Cell::text(demand.advice()),
    ]
}

fn conclusion(check: &Check) -> Vec<String> {
    // The worst first; clocks of which the same is to be said together.
    let mut groups: Vec<(Trustworthiness, String, Vec<&str>)> = Vec::new();
    for found in &check.verdicts {
        let phrase = found.phrase();
        match groups.iter_mut().find(|(_, of_group, _)| *of_group == phrase) {
            Some((_, _, clocks)) => clocks.push(&found.clock),
            None => groups.push((found.verdict, phrase, vec![&found.clock])),
        }
    }
    groups.sort_by_key(|(verdict, ..)| *verdict);
    let said =
        |(_, phrase, clocks): &(_, String, Vec<&str>)| format!("{}: {}.", capitalized(phrase), clocks.join(", "));
    let verdicts: Vec<String> = groups.iter().map(said).collect();
    let mut lines = vec![verdicts.join(" ")];
    if verdicts.is_empty() {
        lines = if check.unavailable.is_empty() { vec!["There was no clock to judge.".to_owned()] } else { Vec::new() };
    }
    lines.extend(check.unavailable.iter().map(ToString::to_string));
    if !check.demands.is_empty() {
        let unmet = names(check, Some(false));
        let unknown = names(check, None);
        lines.push(match (unmet.as_slice(), unknown.as_slice()) {
            ([], []) => "The policy is met.".to_owned(),
            ([], unknown) => format!("The policy is undecided: {}.", unknown.join(", ")),
            (unmet, _) => format!("The policy is not met: {}.", unmet.join(", ")),
        });
    }
    lines.extend(untested(check));
    lines
}

/// The tests that are missing to know more, and the clocks that lack them: a verdict is no better
/// than its tests.
fn untested(check: &Check) -> Option<String> {
    let mut clocks_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for verdict in &check.verdicts {
        for evidence in verdict.evidence.iter().filter(|evidence| evidence.finding == Finding::Unknown) {
            if evidence.data.kind().is_test() {
                clocks_of.entry(evidence.data.name()).or_default().push(&verdict.clock);
            }
        }
    }
    let by_test: Vec<String> =
        clocks_of.iter().map(|(test, clocks)| format!("{test} of {}", clocks.join(", "))).collect();
    (!by_test.is_empty()).then(|| format!("Not shown by any test: {}.", by_test.join("; ")))
}

/// Demands of which this is known.
fn names(check: &Check, met: Option<bool>) -> Vec<String> {
    check.demands.iter().filter(|demand| demand.met == met).map(demand_name).collect()
}
