//! Every check is worded, and read back.

use serde_json::Value;

use super::*;
use crate::{Check, DOCUMENT_SCHEMA, Trustworthiness, Uses, Verdict};

/// A check with examples: its figures known, and each of its reasons at least once.
pub(super) trait Examples: Sized {
    fn examples() -> Vec<Self>;
}

/// Every kind of check, in the order of its declaration.
fn kinds() -> Vec<EvidenceKind> {
    let mut kinds: Vec<EvidenceKind> = checks::examples().iter().map(EvidenceData::kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn judged(check: EvidenceData, finding: Finding) -> CheckEvidence {
    CheckEvidence { data: check, finding, decides: false }
}

/// The schema lists all kinds.
#[test]
fn every_check_is_worded_and_has_its_own_name() {
    let schema: Value = serde_json::from_str(DOCUMENT_SCHEMA).expect("JSON");
    let all: Vec<EvidenceKind> = kinds().into_iter().collect();
    assert_eq!(serde_json::json!(all), schema["$defs"]["EvidenceKind"]["enum"]);
    let mut names: Vec<&str> = kinds().into_iter().map(EvidenceKind::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kinds().len());
    for check in checks::examples() {
        let is_never_against = matches!(check, EvidenceData::Hypervisor(_) | EvidenceData::Emulation(_));
        let has_no_remedy =
            is_never_against || matches!(check, EvidenceData::KernelVerdict(checks::KernelVerdict { cause: None, .. }));
        for finding in [Finding::For, Finding::Against, Finding::Unknown] {
            let evidence = judged(check.clone(), finding);
            let advice = evidence.advice();
            assert!(!evidence.text().is_empty() && !check.source().is_empty(), "{check:?}");
            let is_advised = finding == Finding::Against && !has_no_remedy;
            assert!(finding == Finding::Unknown || advice.is_some() == is_advised, "{check:?}: {advice:?}");
        }
    }
}

/// Reasons that differ are worded differently.
#[test]
fn no_two_checks_read_alike() {
    let mut lines: Vec<String> = Vec::new();
    for check in checks::examples() {
        let evidence = judged(check, Finding::Against);
        let (name, source) = (evidence.data.name(), evidence.data.source());
        lines.push(format!("{name}: {} [{source}] {:?}", evidence.text(), evidence.advice()));
    }
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), all);
}

#[test]
fn every_check_is_read_back_and_its_words_are_ignored() {
    let evidence: Vec<CheckEvidence> =
        checks::examples().into_iter().map(|check| judged(check, Finding::Against)).collect();
    let uses = Uses { interval: Some(Trustworthiness::Unfit), time_of_day: None };
    let verdict = Verdict { clock: "tsc".to_owned(), verdict: Trustworthiness::Unfit, uses, evidence };
    let check = Check { verdicts: vec![verdict], ..Check::default() };
    let mut json = serde_json::to_value(&check).expect("it is written");
    let pieces = json["verdicts"][0]["evidence"].as_array_mut().expect("a list");
    assert!(pieces.iter().all(|piece| piece["text"].is_string() && piece["check"].is_string()));
    let of_causes: Vec<&Value> = pieces.iter().filter(|piece| piece["cause"].is_object()).collect();
    assert!(!of_causes.is_empty() && of_causes.iter().all(|piece| piece["cause"]["seen"] == piece["text"]));
    assert_eq!(serde_json::from_value::<Check>(json.clone()).expect("it is read"), check);
    assert_eq!(serde_json::from_str::<Check>(&json.to_string()).expect("it is read"), check);
    // Nor does anything depend on them.
    let pieces = json["verdicts"][0]["evidence"].as_array_mut().expect("a list");
    for word in ["name", "text", "source", "advice"] {
        pieces.iter_mut().filter_map(|piece| piece.as_object_mut()).for_each(|piece| drop(piece.remove(word)));
    }
    for cause in pieces.iter_mut().filter_map(|piece| piece.get_mut("cause")?.as_object_mut()) {
        let is_named = cause.contains_key("cause");
        cause.retain(|word, _| !(is_named && ["seen", "source", "is_fault", "advice"].contains(&word.as_str())));
    }
    assert_eq!(serde_json::from_value::<Check>(json).expect("it is read"), check);
}
