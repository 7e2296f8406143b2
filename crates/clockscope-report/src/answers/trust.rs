//! Which clocks can be trusted.

use std::collections::BTreeMap;

use clockscope_records::{Demand, Evidence, Finding, Prose, Trust, Trustworthiness, Value, Verdict};

use super::{Block, sentence};
use crate::cells::{UNKNOWN, significant, trimmed};
use crate::evidence;

pub(super) fn blocks(trust: &Trust) -> Vec<Block> {
    let mut table = Block::table("", &["Clock", "Verdict", "Because of"], 3, trust.verdicts.iter().map(row).collect());
    table.faults = trust.verdicts.iter().map(|verdict| verdict.verdict == Trustworthiness::Unfit).collect();
    let mut blocks = vec![table];
    for verdict in &trust.verdicts {
        let lines = verdict.evidence.iter().map(line).collect();
        blocks.push(Block::lines(&format!("{}: {}", verdict.clock, word(verdict.verdict)), lines));
    }
    blocks.push(demands(&trust.demands));
    blocks
}

fn row(verdict: &Verdict) -> Vec<String> {
    let mut because: Vec<&str> = Vec::new();
    for evidence in verdict.evidence.iter().filter(|evidence| evidence.decides) {
        let name = evidence::name(evidence.check.kind());
        if !because.contains(&name) {
            because.push(name);
        }
    }
    let because = if because.is_empty() { "-".to_owned() } else { because.join(", ") };
    vec![verdict.clock.clone(), word(verdict.verdict).to_owned(), because]
}

/// The verdict in words.
pub(super) fn word(verdict: Trustworthiness) -> &'static str {
    match verdict {
        Trustworthiness::Trusted => "trusted",
        Trustworthiness::Limited => "usable with limits",
        Trustworthiness::Unfit => "do not use",
    }
}

/// A piece of evidence in a line: what it means, what was asked, what was seen, who says so, what to do.
fn line(evidence: &Evidence) -> String {
    let finding = match (evidence.finding, evidence.decides) {
        (Finding::For, _) => "for",
        (Finding::Against, true) => "AGAINST",
        (Finding::Against, false) => "against",
        (Finding::Unknown, true) => "UNKNOWN",
        (Finding::Unknown, false) => "unknown",
    };
    let Prose { name, text, source, advice } = evidence::prose(evidence);
    let advice = advice.map_or_else(String::new, |advice| format!(" -> {advice}"));
    format!("{finding:<7}  {name}: {text} [{source}]{advice}")
}

fn demands(demands: &[Demand]) -> Block {
    let row = |demand: &Demand| {
        vec![
            demand.demand.clone(),
            value(&demand.required),
            demand.found.as_ref().map_or_else(|| UNKNOWN.to_owned(), value),
            match demand.met {
                Some(true) => "yes".to_owned(),
                Some(false) => "NO".to_owned(),
                None => UNKNOWN.to_owned(),
            },
        ]
    };
    let title = "What the policy demands:";
    let mut block = Block::table(title, &["Demand", "Required", "Found", "Met"], 1, demands.iter().map(row).collect());
    block.faults = demands.iter().map(|demand| demand.met == Some(false)).collect();
    let advice = |demand: &Demand| Some(format!("{}: {}", demand.demand, sentence(demand.advice.clone()?)));
    block.lines = demands.iter().filter_map(advice).collect();
    block
}

fn value(value: &Value) -> String {
    match value {
        Value::Number(number) => trimmed(&significant(*number, 4)).to_owned(),
        Value::Word(word) => word.clone(),
    }
}

pub(super) fn conclusion(trust: &Trust) -> Vec<String> {
    let of = |verdict: Trustworthiness, words: &str| {
        let clocks: Vec<&str> =
            trust.verdicts.iter().filter(|found| found.verdict == verdict).map(|found| found.clock.as_str()).collect();
        (!clocks.is_empty()).then(|| format!("{words}: {}.", clocks.join(", ")))
    };
    let mut lines: Vec<String> = [
        of(Trustworthiness::Trusted, "Trusted"),
        of(Trustworthiness::Limited, "Usable with limits"),
        of(Trustworthiness::Unfit, "Do not use"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if lines.is_empty() {
        lines.push("There was no clock to judge.".to_owned());
    }
    lines.extend(untested(trust));
    if !trust.demands.is_empty() {
        let unmet: Vec<&str> = names(trust, Some(false));
        let unknown: Vec<&str> = names(trust, None);
        lines.push(match (unmet.as_slice(), unknown.as_slice()) {
            ([], []) => "The policy is met.".to_owned(),
            ([], unknown) => format!("Whether the policy is met is unknown: {}.", unknown.join(", ")),
            (unmet, _) => format!("The policy is not met: {}.", unmet.join(", ")),
        });
    }
    lines
}

/// What would have to be tested to know more, and of which clocks: a verdict is no better than its tests.
fn untested(trust: &Trust) -> Option<String> {
    let mut clocks_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for verdict in &trust.verdicts {
        for evidence in verdict.evidence.iter().filter(|evidence| evidence.finding == Finding::Unknown) {
            let check = evidence.check.kind();
            if check.is_test() {
                clocks_of.entry(evidence::name(check)).or_default().push(&verdict.clock);
            }
        }
    }
    let by_test: Vec<String> =
        clocks_of.iter().map(|(test, clocks)| format!("{test} of {}", clocks.join(", "))).collect();
    (!by_test.is_empty()).then(|| format!("Not told by any test: {}.", by_test.join("; ")))
}

/// Demands of which this is known.
fn names(trust: &Trust, met: Option<bool>) -> Vec<&str> {
    trust.demands.iter().filter(|demand| demand.met == met).map(|demand| demand.demand.as_str()).collect()
}
