//! Figures of checks, for spreadsheets.

use clockscope_records::{CheckEvidence, Emulator, EvidenceData, Finding, RateChange};

/// The figure of a check with its unit, or a word; the unit of a count is empty.
pub(super) fn figure_of(evidence: &CheckEvidence) -> (String, &'static str) {
    let number = |number: Option<f64>, unit| (number.map(json_number).unwrap_or_default(), unit);
    let count = |count: Option<u64>| number(count.map(|count| count as f64), "");
    let is_unknown = evidence.finding == Finding::Unknown;
    match &evidence.data {
        EvidenceData::Invariance { invariant, .. } => {
            (invariant.map_or("", |is| if is { "yes" } else { "no" }).to_owned(), "")
        }
        EvidenceData::Clocksource { current, .. } => (current.clone().unwrap_or_default(), ""),
        EvidenceData::Hypervisor { hypervisor, .. } => {
            (hypervisor.as_ref().map(ToString::to_string).unwrap_or_default(), "")
        }
        EvidenceData::Emulation { emulators } => (Emulator::names(emulators), ""),
        EvidenceData::StepsBack { count: found, .. } => count(*found),
        EvidenceData::Stuck { runs, .. } => count(runs.filter(|_| !is_unknown)),
        EvidenceData::Jumps { ahead, behind, .. } => {
            count(ahead.map(|ahead| ahead.saturating_add(behind.unwrap_or(0))))
        }
        EvidenceData::Order { regressions, untested, .. } => count(regressions.filter(|_| untested.is_none())),
        EvidenceData::Offsets { offset_ns: Some(ns), .. }
        | EvidenceData::Offsets { apart: 0, within_ns: Some(ns), .. } => number(Some(*ns), "ns"),
        EvidenceData::ConstantRate { change: Some(RateChange::Step { step_ns, .. }), .. } => {
            number(Some(*step_ns), "ns")
        }
        EvidenceData::Rate { ppm: Some(ppm), .. } | EvidenceData::NominalFrequency { ppm: Some(ppm), .. } => {
            number(Some(*ppm), "ppm")
        }
        EvidenceData::Cost { cost_ns: Some(ns), .. } => number(Some(*ns), "ns"),
        EvidenceData::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, .. } => {
            let ns = tick_ns.or(*coarse_nominal_ns).or(*at_most_ns);
            number(ns, if ns.is_some() { "ns" } else { "" })
        }
        EvidenceData::Synchronization { error_s: Some(s), .. } if !is_unknown => number(Some(*s), "s"),
        _ => (String::new(), ""),
    }
}

/// A number as JSON has it.
fn json_number(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}
