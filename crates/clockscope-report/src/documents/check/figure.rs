//! Figures of checks, for spreadsheets.

use clockscope_records::checks::{self, RateChange};
use clockscope_records::{CheckEvidence, Emulator, EvidenceData, Finding};

/// The figure of a check with its unit, or a word; the unit of a count is empty.
pub(super) fn figure_of(evidence: &CheckEvidence) -> (String, &'static str) {
    let number = |number: Option<f64>, unit| (number.map(json_number).unwrap_or_default(), unit);
    let count = |count: Option<u64>| number(count.map(|count| count as f64), "");
    let is_unknown = evidence.finding == Finding::Unknown;
    match &evidence.data {
        EvidenceData::Invariance(check) => {
            (check.invariant.map_or("", |is| if is { "yes" } else { "no" }).to_owned(), "")
        }
        EvidenceData::Clocksource(check) => (check.current.clone().unwrap_or_default(), ""),
        EvidenceData::Hypervisor(check) => (check.hypervisor.as_ref().map(ToString::to_string).unwrap_or_default(), ""),
        EvidenceData::Emulation(check) => (Emulator::names(&check.emulators), ""),
        EvidenceData::StepsBack(check) => count(check.count),
        EvidenceData::Stuck(check) => count(check.runs.filter(|_| !is_unknown)),
        EvidenceData::Jumps(check) => count(check.ahead.map(|ahead| ahead.saturating_add(check.behind.unwrap_or(0)))),
        EvidenceData::Order(check) => count(check.regressions.filter(|_| check.reason.is_none())),
        EvidenceData::Offsets(checks::Offsets { offset_ns: Some(ns), .. })
        | EvidenceData::Offsets(checks::Offsets { apart: 0, within_ns: Some(ns), .. }) => number(Some(*ns), "ns"),
        EvidenceData::ConstantRate(checks::ConstantRate { change: Some(RateChange::Step { step_ns, .. }), .. }) => {
            number(Some(*step_ns), "ns")
        }
        EvidenceData::Rate(checks::Rate { ppm: Some(ppm), .. })
        | EvidenceData::NominalFrequency(checks::NominalFrequency { ppm: Some(ppm), .. }) => number(Some(*ppm), "ppm"),
        EvidenceData::Cost(checks::Cost { cost_ns: Some(ns), .. }) => number(Some(*ns), "ns"),
        EvidenceData::Resolution(checks::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, .. }) => {
            let ns = tick_ns.or(*coarse_nominal_ns).or(*at_most_ns);
            number(ns, if ns.is_some() { "ns" } else { "" })
        }
        EvidenceData::Synchronization(checks::Synchronization { error_s: Some(s), .. }) if !is_unknown => {
            number(Some(*s), "s")
        }
        _ => (String::new(), ""),
    }
}

/// A number as JSON has it.
fn json_number(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}
