//! Verdicts on clocks, with their evidence.

mod causes;
mod figure;

use std::collections::{BTreeMap, BTreeSet};

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
use crate::words::{counted, sentence};

/// Columns of a spreadsheet. Each piece of a verdict's evidence has a row.
const COLUMNS: &str = "clock verdict interval time_of_day name finding decides value unit seen source advice";

impl QuestionPage for Check {
    const LINES: &'static [(&'static str, &'static str)] = &[("verdicts", "verdict"), ("demands", "demand")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let mut blocks = vec![verdicts(self, view).into(), chart(self).into()];
        blocks.extend(causes::blocks(&self.verdicts));
        if view.is_verbose {
            let evidence = self.verdicts.iter().map(|verdict| {
                Block::notes(format!("{}: {}", verdict.clock, verdict.phrase()), verdict.evidence.iter().map(line))
            });
            blocks.push(Block::folded("The evidence as lists", evidence));
        }
        blocks.push(demands(&self.demands).into());
        blocks.push(Block::notes("", hints(self, view).into_iter().map(|hint| Line::toned(hint, Tone::Context))));
        blocks
    }

    fn conclusion(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (of_use, title) in [(Use::Interval, "Intervals"), (Use::TimeOfDay, "Time of day")] {
            lines.extend(conclusion_on(&self.verdicts, of_use).map(|conclusion| format!("{title}: {conclusion}.")));
        }
        if lines.is_empty() && self.unavailable.is_empty() {
            lines.push("There was no clock to judge.".to_owned());
        }
        lines.extend(self.unavailable.iter().map(ToString::to_string));
        if !self.demands.is_empty() {
            let unmet = names(self, Some(false));
            let unknown = names(self, None);
            lines.push(match (unmet.as_slice(), unknown.as_slice()) {
                ([], []) => "The policy is met.".to_owned(),
                ([], unknown) => format!("The policy is undecided: {}.", unknown.join(", ")),
                (unmet, _) => format!("The policy is not met: {}.", unmet.join(", ")),
            });
        }
        lines.extend(untested(self));
        lines
    }

    fn sheet(&self, record: &Json) -> Sheet {
        let mut sheet = Sheet::new(record, COLUMNS);
        self.verdicts.iter().flat_map(verdict_cells).for_each(|row| sheet.push(row));
        self.demands.iter().for_each(|demand| sheet.push(demand_cells(demand)));
        sheet
    }
}

/// Draws the findings on each clock.
fn chart(check: &Check) -> Chart {
    let clocks = check.verdicts.iter().map(|verdict| {
        let findings = verdict.evidence.iter().map(|evidence| {
            (evidence.data.name(), FindingMark { finding: evidence.finding, decides: evidence.decides })
        });
        (verdict.clock.as_str(), findings.collect())
    });
    Chart::new("evidence", "Evidence on each clock", EvidencePlot::new(&clocks.collect::<Vec<_>>()))
}

/// Concludes on one use: the clocks by their verdicts, the worst first, or the verdict and reason
/// that all of them share. `None` where no clock was judged for it.
fn conclusion_on(verdicts: &[Verdict], of_use: Use) -> Option<String> {
    let mut groups: BTreeMap<Trustworthiness, Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        if let Some(judged) = verdict.uses.of(of_use) {
            groups.entry(judged).or_default().push(verdict);
        }
    }
    let trusted = groups.remove(&Trustworthiness::Trusted).unwrap_or_default();
    if groups.is_empty() {
        return match trusted.as_slice() {
            [] => None,
            [one] => Some(format!("{} can be trusted", one.clock)),
            [..] => Some("every clock can be trusted".to_owned()),
        };
    }
    let reasons: BTreeSet<String> = groups.values().flatten().map(|verdict| verdict.because_for(of_use)).collect();
    if let (Some(judged), 1, []) = (groups.keys().next(), groups.len(), trusted.as_slice()) {
        match (reasons.len(), reasons.first()) {
            (1, Some(reason)) if !reason.is_empty() => return Some(format!("{judged}, {reason}")),
            _ if verdicts.len() > 1 => {}
            _ => return Some(judged.to_string()),
        }
    }
    let mut parts: Vec<String> =
        groups.iter().map(|(judged, verdicts)| format!("{judged} ({})", clock_names(verdicts))).collect();
    match trusted.as_slice() {
        [] => {}
        [one] => parts.push(format!("{} can be trusted", one.clock)),
        [..] => parts.push("the others can be trusted".to_owned()),
    }
    Some(parts.join("; "))
}

fn clock_names(verdicts: &[&Verdict]) -> String {
    let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.clock.as_str()).collect();
    names.join(", ")
}

/// Names the rate that this run did not test, and the commands that show more.
fn hints(check: &Check, view: View) -> Vec<String> {
    let mut hints: Vec<String> = check.not_independent().into_iter().collect();
    let count: usize = check.verdicts.iter().map(causes::left_out).sum();
    let mut more = String::new();
    if !view.is_verbose && count > 0 {
        more = format!("{}: --verbose. ", counted(count as u64, "more check"));
    }
    more += "See also clockscope help evidence and help symptoms.";
    hints.push(more);
    hints
}

/// Makes the table of verdicts: a row a clock, with its verdict for each use. Trusted clocks of the
/// same verdicts and evidence share a row.
fn verdicts(check: &Check, view: View) -> Table {
    let has_time_of_day = check.verdicts.iter().any(|verdict| verdict.uses.time_of_day.is_some());
    let mut rows: Vec<(String, &Verdict)> = Vec::new();
    for found in &check.verdicts {
        let is_same = |(_, other): &&mut (String, &Verdict)| {
            let is_trusted = found.verdict == Trustworthiness::Trusted && !view.has_folds;
            is_trusted && other.uses == found.uses && other.because() == found.because()
        };
        match rows.iter_mut().find(is_same) {
            Some((names, _)) => *names += &format!(", {}", found.clock),
            None => rows.push((found.clock.clone(), found)),
        }
    }
    let rows = rows.into_iter().map(|(names, found)| {
        let verdicts =
            if has_time_of_day { vec![found.uses.interval, found.uses.time_of_day] } else { vec![Some(found.verdict)] };
        let mut cells = vec![names.into()];
        cells.extend(verdicts.into_iter().map(|verdict| match verdict {
            Some(verdict) => Cell::word(verdict.as_str(), verdict::tone(verdict)),
            None => Cell::Empty,
        }));
        let because = found.because();
        cells.push(if because.is_empty() { Cell::Empty } else { because.into() });
        Row { weight: verdict::weight(found.verdict).into(), ..cells.into() }
    });
    let uses = if has_time_of_day { &["Intervals", "Time of day"][..] } else { &["Verdict"] };
    let head = ["Clock"].iter().chain(uses).chain(&["Evidence"]).copied();
    Table { wraps: true, ..Table::new(head, 1 + uses.len(), rows) }.without_empty_columns()
}

/// Writes a piece of evidence in a line: the finding, the check, the facts, their source, the
/// remedy.
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
    let rows = demands.iter().map(|demand| {
        let met = demand.met.map(|met| if met { ("yes", Tone::Good) } else { ("NO", Tone::Bad) });
        vec![
            demand_name(demand).into(),
            value(&demand.required).into(),
            Cell::known(demand.found.as_ref(), value),
            Cell::known(met, |(word, tone)| Cell::word(word, tone)),
        ]
    });
    let advice = demands.iter().filter_map(|demand| Some((demand_name(demand), demand.advice()?)));
    let advice = advice.map(|(name, advice)| format!("{name}: {}", sentence(advice.to_owned())));
    Table::new(["Demand", "Required", "Found", "Met"], 1, rows).titled("What the policy demands:").below(advice)
}

/// Names a demand by its place in the policy, and the use that a verdict is demanded for.
fn demand_name(demand: &Demand) -> String {
    let suffix = match demand.for_use {
        Some(Use::Interval) => " for intervals",
        Some(Use::TimeOfDay) => " for the time of day",
        None => "",
    };
    format!("{}{suffix}", demand.demand)
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
        let (value, unit) = figure_of(evidence);
        vec![
            verdict.clock.as_str().into(),
            judged.into(),
            use_cell(verdict.uses.interval),
            use_cell(verdict.uses.time_of_day),
            evidence.data.name().into(),
            verdict::finding(evidence.finding).into(),
            if evidence.decides { "true" } else { "false" }.into(),
            value.into(),
            unit.into(),
            evidence.text().into(),
            evidence.data.source().into(),
            Cell::text(evidence.advice().as_deref()),
        ]
    })
}

/// Shows a value with all digits.
fn in_full(value: &DemandValue) -> String {
    match value {
        DemandValue::Number(number) => number.to_string(),
        DemandValue::Word(word) => word.clone(),
    }
}

/// Makes a row of a demand: its clock is `policy`, its verdict is whether the demand is met.
fn demand_cells(demand: &Demand) -> Vec<Cell> {
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

/// Names the tests without a result, and their clocks.
fn untested(check: &Check) -> Option<String> {
    let mut clocks_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for verdict in &check.verdicts {
        for evidence in verdict.evidence.iter().filter(|evidence| evidence.finding == Finding::Unknown) {
            if evidence.data.kind().is_test() {
                clocks_of.entry(evidence.data.name()).or_default().push(&verdict.clock);
            }
        }
    }
    if clocks_of.is_empty() {
        return None;
    }
    let by_test = clocks_of.iter().map(|(test, clocks)| format!("{test} of {}", clocks.join(", ")));
    Some(format!("Not shown by any test: {}.", by_test.collect::<Vec<_>>().join("; ")))
}

/// Names the demands that are met, or are not, or are undecided.
fn names(check: &Check, met: Option<bool>) -> Vec<String> {
    check.demands.iter().filter(|demand| demand.met == met).map(demand_name).collect()
}
