//! The causes of verdicts that are not trust: each once, with its clocks and one remedy.

use clockscope_records::{CheckEvidence, Finding, Trustworthiness, Use, Verdict};

use crate::model::{Block, Line, Tone};
use crate::verdict;
use crate::words::capitalized;

/// Evidence that limits some clocks, or leaves their verdict undecided, with one remedy.
struct Cause<'a> {
    name: &'static str,
    advice: Option<String>,
    /// The verdict that it decides.
    verdict: Trustworthiness,
    /// The uses that the verdict is for.
    uses: Vec<Use>,
    clocks: Vec<&'a str>,
    /// The facts, with the clocks that each is about.
    facts: Vec<(String, Vec<&'a str>)>,
}

/// Counts the evidence that is shown with --verbose only.
pub(super) fn left_out(verdict: &Verdict) -> usize {
    let is_cause = |evidence: &&CheckEvidence| evidence.decides && evidence.finding != Finding::For;
    verdict.evidence.len() - verdict.evidence.iter().filter(is_cause).count()
}

/// Shows each cause, the worst first.
pub(super) fn blocks(verdicts: &[Verdict]) -> Vec<Block> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for verdict in verdicts {
        for this in Use::ALL {
            if let Some(judged) = verdict.uses.of(this)
                && judged != Trustworthiness::Trusted
            {
                verdict.decisive(this).for_each(|evidence| add(&mut causes, (verdict, this, judged), evidence));
            }
        }
    }
    causes.sort_by_key(|cause| cause.verdict);
    causes.into_iter().map(Cause::block).collect()
}

/// Adds evidence that decides the verdict on a clock for a use.
fn add<'a>(
    causes: &mut Vec<Cause<'a>>,
    (verdict, this, judged): (&'a Verdict, Use, Trustworthiness),
    evidence: &CheckEvidence,
) {
    let (name, advice) = (evidence.data.name(), evidence.advice());
    let is_same = |cause: &Cause<'_>| cause.name == name && cause.advice == advice && cause.verdict == judged;
    let index = causes.iter().position(is_same).unwrap_or(causes.len());
    if index == causes.len() {
        let (uses, clocks, facts) = (Vec::new(), Vec::new(), Vec::new());
        causes.push(Cause { name, advice, verdict: judged, uses, clocks, facts });
    }
    let cause = &mut causes[index];
    if !cause.uses.contains(&this) {
        cause.uses.push(this);
    }
    let clock = verdict.clock.as_str();
    if !cause.clocks.contains(&clock) {
        cause.clocks.push(clock);
    }
    let fact = evidence.text();
    match cause.facts.iter_mut().find(|(known, _)| *known == fact) {
        Some((_, clocks)) if clocks.contains(&clock) => {}
        Some((_, clocks)) => clocks.push(clock),
        None => cause.facts.push((fact, vec![clock])),
    }
}

impl Cause<'_> {
    fn block(self) -> Block {
        let uses = match self.uses.as_slice() {
            [Use::Interval] => " for intervals",
            [Use::TimeOfDay] => " for the time of day",
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
