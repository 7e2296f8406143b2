//! Which clocks can be trusted.

use std::collections::BTreeMap;

use clockscope_records::{
    CheckEvidence, CheckOutcome, Demand, DemandProse, DemandValue, Prose, Trust, Trustworthiness, Verdict,
};
use serde_json::Value as Json;

use super::contents::DescribeContents;
use crate::model::{Block, Cell, Line, Row, Table, Tone};
use crate::sheet::Sheet;
use crate::style::View;
use crate::text::{counted, sentence};
use crate::units::figure;
use crate::{demand, evidence};

/// Columns of a spreadsheet. Each piece of a verdict's evidence has a row.
const COLUMNS: [&str; 10] =
    ["clock", "verdict", "name", "finding", "decides", "value", "unit", "seen", "source", "advice"];

impl DescribeContents for Trust {
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

fn blocks(trust: &Trust, view: View) -> Vec<Block> {
    let rows = trust.verdicts.iter().map(|verdict| Row { weight: severity(verdict.verdict), ..row(verdict).into() });
    let table = Table { wraps: true, ..Table::new(["Clock", "Verdict", "Because of"], 2, rows) };
    let mut blocks = vec![table.into()];
    for verdict in &trust.verdicts {
        let shown = verdict.evidence.iter().filter(|evidence| view.is_verbose || evidence.decides);
        blocks.push(Block::notes(format!("{}: {}", verdict.clock, verdict.verdict.as_str()), shown.map(line)));
    }
    blocks.push(demands(&trust.demands).into());
    blocks.extend((!view.is_verbose).then(|| left_out(trust)).flatten());
    blocks
}

/// Says where the evidence is that decides nothing.
fn left_out(trust: &Trust) -> Option<Block> {
    let evidence = trust.verdicts.iter().flat_map(|verdict| &verdict.evidence);
    let left_out = evidence.filter(|evidence| !evidence.decides).count() as u64;
    let others = || format!("--verbose shows the other evidence: {}.", counted(left_out, "check"));
    (left_out > 0).then(|| Block::notes("", [Line::toned(others(), Tone::Context)]))
}

fn severity(verdict: Trustworthiness) -> u64 {
    match verdict {
        Trustworthiness::Trusted => 0,
        Trustworthiness::Limited => 1,
        Trustworthiness::Unfit => 2,
    }
}

fn tone(verdict: Trustworthiness) -> Tone {
    match verdict {
        Trustworthiness::Trusted => Tone::Good,
        Trustworthiness::Limited => Tone::Warning,
        Trustworthiness::Unfit => Tone::Bad,
    }
}

fn row(verdict: &Verdict) -> Vec<Cell> {
    let mut because: Vec<&str> = Vec::new();
    for evidence in verdict.evidence.iter().filter(|evidence| evidence.decides) {
        let name = evidence::name_of(&evidence.check);
        if !because.contains(&name) {
            because.push(name);
        }
    }
    let because = if because.is_empty() { Cell::Absent } else { because.join(", ").into() };
    let word = Cell::word(verdict.verdict.as_str(), tone(verdict.verdict));
    vec![verdict.clock.as_str().into(), word, because]
}

/// A piece of evidence in a line: what it means, what was asked, what was seen, who says so, what
/// to do.
fn line(evidence: &CheckEvidence) -> Line {
    let (finding, tone) = match (evidence.finding, evidence.decides) {
        (CheckOutcome::For, _) => ("for", Tone::Plain),
        (CheckOutcome::Against, true) => ("AGAINST", Tone::Bad),
        (CheckOutcome::Against, false) => ("against", Tone::Warning),
        (CheckOutcome::Unknown, true) => ("UNKNOWN", Tone::Warning),
        (CheckOutcome::Unknown, false) => ("unknown", Tone::Plain),
    };
    let Prose { name, text, source, advice } = evidence::prose(evidence);
    let advice = advice.map_or_else(String::new, |advice| format!(" -> {advice}"));
    Line::toned(format!("{finding:<7}  {name}: {text} [{source}]{advice}"), tone)
}

fn demands(demands: &[Demand]) -> Table {
    let row =
        |demand: &Demand| {
            let cells =
                vec![
                    demand.demand.to_string().into(),
                    value(&demand.required).into(),
                    Cell::known(demand.found.as_ref(), value),
                    Cell::known(demand.met, |met| {
                        if met { Cell::word("yes", Tone::Good) } else { Cell::word("NO", Tone::Bad) }
                    }),
                ];
            Row::from(cells)
        };
    let advice = |demand: &Demand| Some(format!("{}: {}", demand.demand, sentence(demand::prose(demand).advice?)));
    Table::new(["Demand", "Required", "Found", "Met"], 1, demands.iter().map(row))
        .titled("What the policy demands:")
        .below(demands.iter().filter_map(advice))
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
            CheckOutcome::For => "for",
            CheckOutcome::Against => "against",
            CheckOutcome::Unknown => "unknown",
        };
        let (value, unit) = evidence::figure(evidence);
        let Prose { name, text, source, advice } = evidence::prose(evidence);
        vec![
            verdict.clock.as_str().into(),
            judged.into(),
            name.into(),
            finding.into(),
            if evidence.decides { "true" } else { "false" }.into(),
            value.into(),
            unit.into(),
            text.into(),
            source.into(),
            Cell::text(advice.as_deref()),
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
    let DemandProse { unit, advice } = demand::prose(demand);
    vec![
        "policy".into(),
        verdict.into(),
        demand.demand.to_string().into(),
        finding.into(),
        if demand.met == Some(false) { "true" } else { "false" }.into(),
        Cell::known(demand.found.as_ref(), in_full),
        unit.map_or(Cell::Absent, Cell::from),
        format!("required: {}", in_full(&demand.required)).into(),
        "the policy".into(),
        Cell::text(advice.as_deref()),
    ]
}

fn conclusion(trust: &Trust) -> Vec<String> {
    let of = |verdict: Trustworthiness, words: &str| {
        let clocks: Vec<&str> =
            trust.verdicts.iter().filter(|found| found.verdict == verdict).map(|found| found.clock.as_str()).collect();
        (!clocks.is_empty()).then(|| format!("{words}: {}.", clocks.join(", ")))
    };
    let verdicts: Vec<String> = [
        of(Trustworthiness::Unfit, "Unfit"),
        of(Trustworthiness::Limited, "Limited"),
        of(Trustworthiness::Trusted, "Trusted"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut lines = vec![verdicts.join(" ")];
    if verdicts.is_empty() {
        lines = vec!["There was no clock to judge.".to_owned()];
    }
    if !trust.demands.is_empty() {
        let unmet = names(trust, Some(false));
        let unknown = names(trust, None);
        lines.push(match (unmet.as_slice(), unknown.as_slice()) {
            ([], []) => "The policy is met.".to_owned(),
            ([], unknown) => format!("Whether the policy is met is unknown: {}.", unknown.join(", ")),
            (unmet, _) => format!("The policy is not met: {}.", unmet.join(", ")),
        });
    }
    lines.extend(untested(trust));
    lines
}

/// What would have to be tested to know more, and of which clocks: a verdict is no better than its
/// tests.
fn untested(trust: &Trust) -> Option<String> {
    let mut clocks_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for verdict in &trust.verdicts {
        for evidence in verdict.evidence.iter().filter(|evidence| evidence.finding == CheckOutcome::Unknown) {
            if evidence.check.kind().is_test() {
                clocks_of.entry(evidence::name_of(&evidence.check)).or_default().push(&verdict.clock);
            }
        }
    }
    let by_test: Vec<String> =
        clocks_of.iter().map(|(test, clocks)| format!("{test} of {}", clocks.join(", "))).collect();
    (!by_test.is_empty()).then(|| format!("Not shown by any test: {}.", by_test.join("; ")))
}

/// Demands of which this is known.
fn names(trust: &Trust, met: Option<bool>) -> Vec<String> {
    trust.demands.iter().filter(|demand| demand.met == met).map(|demand| demand.demand.to_string()).collect()
}
