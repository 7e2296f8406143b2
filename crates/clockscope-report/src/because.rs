//! The reasons of a verdict in a few words.

use clockscope_records::{Check, CheckEvidence, CheckOutcome, Uses, Verdict};

use crate::evidence::{brief_of_civil_time, name_of, offset, prose};
use crate::text::{counted, grouped};
use crate::units::time;

/// Names the decisive evidence of a verdict: the names of checks that are against the clock or have
/// no result, and what those showed that support it; empty where a record names none.
pub(crate) fn because(verdict: &Verdict) -> String {
    let mut parts: Vec<String> = Vec::new();
    // A clock that was handed from CPU to CPU was read on each of them.
    let is_handed_over = verdict.evidence.iter().any(|evidence| evidence.decides && is_order(evidence));
    let is_said = |evidence: &&CheckEvidence| {
        let is_contained = is_handed_over && matches!(evidence.check, Check::StepsBack { .. });
        evidence.decides && !(is_contained && evidence.finding == CheckOutcome::For)
    };
    for evidence in verdict.evidence.iter().filter(is_said) {
        let part = part(evidence, verdict.uses);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join("; ")
}

fn is_order(evidence: &CheckEvidence) -> bool {
    matches!(evidence.check, Check::Order { untested: None, .. }) && evidence.finding == CheckOutcome::For
}

fn part(evidence: &CheckEvidence, uses: Uses) -> String {
    let name = name_of(&evidence.check);
    match (&evidence.check, evidence.finding) {
        (Check::Synchronization { .. }, _) => brief_of_civil_time(&evidence.check),
        (_, CheckOutcome::Against) => name.to_owned(),
        (_, CheckOutcome::Unknown) => format!("{name} not known"),
        (Check::StepsBack { readings, .. }, CheckOutcome::For) => {
            format!("0 of {} went back", counted(*readings, "reading"))
        }
        (Check::Order { untested: None, handoffs, .. }, CheckOutcome::For) => {
            format!("0 of {} handoffs went back", grouped(*handoffs))
        }
        (Check::Offsets { untested: None, within_ns: Some(ns), .. }, CheckOutcome::For) => {
            format!("offsets within {}", time(*ns))
        }
        (Check::Rate { ppm: Some(ppm), bound_ppm: Some(bound), .. }, CheckOutcome::For) => {
            format!("rate {}", offset(*ppm, *bound))
        }
        (_, CheckOutcome::For) => format!("{name}: {}", prose(evidence, uses).text),
    }
}
