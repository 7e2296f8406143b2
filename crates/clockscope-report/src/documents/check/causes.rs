//! The causes of verdicts that are not trust: each once, with its clocks and one remedy.

use clockscope_records::{CheckEvidence, Finding, Trustworthiness, Use, Verdict};

use crate::model::{Block, Line, Tone};
use crate::verdict;
use crate::words::capitalized;

/// What limits clocks in one way.
struct Cause<'a> {
    name: &'static str,
    advice: Option<String>,
    /// The worst verdict that it decides, and the uses that this is for.
    verdict: Trustworthiness,
    uses: Vec<Use>,
    clocks: Vec<&'a str>,
    /// The facts, with the clocks that each is about.
    facts: Vec<(String, Vec<&'a str>)>,
}

/// Returns whether evidence is shown without --verbose: if it decides a verdict that is not
/// trusted.
fn is_cause(verdict: &Verdict, evidence: &CheckEvidence) -> bool {
    evidence.decides && evidence.finding != Finding::For && verdict.verdict != Trustworthiness::Trusted
}

/// Counts the evidence that is shown with --verbose only.
pub(super) fn left_out(verdict: &Verdict) -> usize {
    verdict.evidence.iter().filter(|evidence| !is_cause(verdict, evidence)).count()
}

/// Shows each cause, the worst first.
pub(super) fn blocks(verdicts: &[Verdict]) -> Vec<Block> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for verdict in verdicts {
        for evidence in verdict.evidence.iter().filter(|evidence| is_cause(verdict, evidence)) {
            add(&mut causes, verdict, evidence);
        }
    }
    causes.sort_by_key(|cause| cause.verdict);
    causes.into_iter().map(Cause::block).collect()
}

fn add<'a>(causes: &mut Vec<Cause<'a>>, verdict: &'a Verdict, evidence: &CheckEvidence) {
    let (name, advice) = (evidence.data.name(), evidence.advice());
    let index = causes.iter().position(|cause| cause.name == name && cause.advice == advice).unwrap_or(causes.len());
    if index == causes.len() {
        let (clocks, facts) = (Vec::new(), Vec::new());
        causes.push(Cause { name, advice, verdict: verdict.verdict, uses: limited_uses(verdict), clocks, facts });
    }
    let cause = &mut causes[index];
    cause.verdict = cause.verdict.min(verdict.verdict);
    cause.uses.retain(|of_use| limited_uses(verdict).contains(of_use));
    cause.clocks.push(&verdict.clock);
    let fact = evidence.text();
    match cause.facts.iter_mut().find(|(known, _)| *known == fact) {
        Some((_, clocks)) => clocks.push(&verdict.clock),
        None => cause.facts.push((fact, vec![&verdict.clock])),
    }
}

/// The uses for which a clock has its worst verdict.
fn limited_uses(verdict: &Verdict) -> Vec<Use> {
    Use::ALL.into_iter().filter(|of_use| verdict.uses.of(*of_use) == Some(verdict.verdict)).collect()
}

impl Cause<'_> {
    fn block(self) -> Block {
        let uses = match self.uses.as_slice() {
            [Use::Interval] => " for intervals",
            [Use::Civil] => " for the time of day",
            _ => "",
        };
        let verdict = capitalized(self.verdict.as_str());
        let title = format!("{verdict}{uses} by {}: {}", self.name, self.clocks.join(", "));
        let tone = verdict::tone(self.verdict);
        let is_single = self.facts.len() == 1;
        let mut lines = Vec::new();
        for (fact, clocks) in &self.facts {
            let subject = if is_single { String::new() } else { format!("{}: ", clocks.join(", ")) };
            lines.push(Line::toned(format!("{subject}{fact}"), tone));
        }
        lines.extend(self.advice.map(|advice| Line::toned(format!("-> {advice}"), Tone::Normal)));
        Block::notes(title, lines)
    }
}
