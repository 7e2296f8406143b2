//! Evidence on one clock, and how grave each piece is.

use clockscope::Evidence;
use clockscope_records::{Finding, Trustworthiness, Value, Verdict};

/// What evidence against a clock makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gravity {
    /// Nothing: it is told.
    Told,
    /// It limits its use.
    Limits,
    /// It forbids its use.
    Forbids,
}

/// All that is known of one clock.
pub(super) struct Case {
    clock: String,
    evidence: Vec<(Evidence, Gravity)>,
}

impl Case {
    pub(super) fn of(clock: &str) -> Self {
        Self { clock: clock.to_owned(), evidence: Vec::new() }
    }

    /// Adds evidence that has this gravity if it speaks against the clock.
    pub(super) fn add(&mut self, (evidence, gravity): (Evidence, Gravity)) {
        let gravity = if evidence.finding == clockscope::Finding::Against { gravity } else { Gravity::Told };
        self.evidence.push((evidence, gravity));
    }

    /// The same of evidence without which there is no trust: not to know it limits the clock's use.
    pub(super) fn need(&mut self, (evidence, gravity): (Evidence, Gravity)) {
        let gravity = match evidence.finding {
            clockscope::Finding::For => Gravity::Told,
            clockscope::Finding::Against => gravity,
            _ => Gravity::Limits,
        };
        self.evidence.push((evidence, gravity));
    }

    fn gravest(&self) -> Gravity {
        self.evidence.iter().map(|(_, gravity)| *gravity).max().unwrap_or(Gravity::Told)
    }

    pub(super) fn is_unfit(&self) -> bool {
        self.gravest() == Gravity::Forbids
    }

    /// What forbids the clock's use, of what was seen of it.
    pub(super) fn faults(&self) -> Vec<&'static str> {
        let grave = self.evidence.iter().filter(|(_, gravity)| *gravity == Gravity::Forbids);
        grave.map(|(evidence, _)| evidence.name).collect()
    }

    /// The verdict: what the gravest evidence makes of the clock.
    pub(super) fn verdict(self) -> Verdict {
        let gravest = self.gravest();
        let verdict = match gravest {
            Gravity::Told => Trustworthiness::Trusted,
            Gravity::Limits => Trustworthiness::Limited,
            Gravity::Forbids => Trustworthiness::Unfit,
        };
        let decides = |gravity: Gravity| gravity == gravest && gravity != Gravity::Told;
        let evidence = self.evidence.into_iter().map(|(evidence, gravity)| record(evidence, decides(gravity)));
        Verdict { clock: self.clock, verdict, evidence: evidence.collect() }
    }
}

fn record(evidence: Evidence, decides: bool) -> clockscope_records::Evidence {
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    clockscope_records::Evidence {
        name: evidence.name.to_owned(),
        finding: match evidence.finding {
            clockscope::Finding::For => Finding::For,
            clockscope::Finding::Against => Finding::Against,
            _ => Finding::Unknown,
        },
        decides,
        value: evidence.value.and_then(|value| match value {
            clockscope::Value::Number(number) => Some(Value::Number(number)),
            clockscope::Value::Word(word) => Some(Value::Word(word.into_owned())),
            // The record has no other kind.
            _ => None,
        }),
        unit: filled(evidence.unit),
        seen: evidence.seen.into_owned(),
        source: evidence.source.into_owned(),
        advice: filled(&evidence.advice),
    }
}
