//! Figures of checks, for spreadsheets.

use clockscope_records::checks::{self, RateChange};
use clockscope_records::{CheckEvidence, Emulator, EvidenceData, Finding};

/// The figure of a check with its unit, or a word; the unit of a count is empty.
pub(super) fn figure_of(evidence: &CheckEvidence) -> (String, &'static str) {
    let is_unknown = evidence.finding == Finding::Unknown;
    match &evidence.data {
        EvidenceData::Invariance(check) => {
            (check.invariant.map_or("", |is| if is { "yes" } else { "no" }).to_owned(), "")
        }
        EvidenceData::Clocksource(check) => (check.current.clone().unwrap_or_default(), ""),
        EvidenceData::Hypervisor(check) => (check.hypervisor.as_ref().map(ToString::to_string).unwrap_or_default(), ""),
        EvidenceData::Emulation(check) => (Emulator::names(&check.emulators), ""),
        EvidenceData::StepsBack(check) => count_text(check.count),
        EvidenceData::Stuck(check) if !is_unknown => count_text(check.runs),
        EvidenceData::Jumps(check) => {
            count_text(check.ahead.map(|ahead| ahead.saturating_add(check.behind.unwrap_or(0))))
        }
        EvidenceData::Order(check) if check.reason.is_none() => count_text(check.regressions),
        EvidenceData::Offsets(checks::Offsets { offset_ns: Some(ns), .. })
        | EvidenceData::Offsets(checks::Offsets { apart: 0, within_ns: Some(ns), .. }) => (number(*ns), "ns"),
        EvidenceData::ConstantRate(checks::ConstantRate { change: Some(RateChange::Step { step_ns, .. }), .. }) => {
            (number(*step_ns), "ns")
        }
        EvidenceData::Rate(checks::Rate { ppm: Some(ppm), .. })
        | EvidenceData::NominalFrequency(checks::NominalFrequency { ppm: Some(ppm), .. }) => (number(*ppm), "ppm"),
        EvidenceData::Cost(checks::Cost { cost_ns: Some(ns), .. }) => (number(*ns), "ns"),
        EvidenceData::Resolution(checks::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, .. }) => {
            let ns = tick_ns.or(*coarse_nominal_ns).or(*at_most_ns);
            ns.map_or_else(Default::default, |ns| (number(ns), "ns"))
        }
        EvidenceData::Synchronization(checks::Synchronization { error_s: Some(s), .. }) if !is_unknown => {
            (number(*s), "s")
        }
        _ => Default::default(),
    }
}

fn count_text(count: Option<u64>) -> (String, &'static str) {
    (count.map_or_else(String::new, |count| number(count as f64)), "")
}

/// Writes a number as in JSON.
fn number(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}
