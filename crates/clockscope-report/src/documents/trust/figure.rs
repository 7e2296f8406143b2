//! Figures of checks, for spreadsheets.

use clockscope_records::{Check, CheckEvidence, Emulator, Finding, RateChange};

/// The figure of a check with its unit, or a word; the unit of a count is empty.
pub(super) fn figure_of(evidence: &CheckEvidence) -> (String, &'static str) {
    let number = |number: Option<f64>, unit| (number.map(json_number).unwrap_or_default(), unit);
    let count = |count: Option<u64>| number(count.map(|count| count as f64), "");
    let is_unknown = evidence.finding == Finding::Unknown;
    match &evidence.check {
        Check::Invariance { invariant, .. } => {
            (invariant.map_or("", |is| if is { "yes" } else { "no" }).to_owned(), "")
        }
        Check::Clocksource { current, .. } => (current.clone().unwrap_or_default(), ""),
        Check::Hypervisor { hypervisor, .. } => (hypervisor.as_ref().map(ToString::to_string).unwrap_or_default(), ""),
        Check::Emulation { emulators } => (Emulator::names(emulators), ""),
        Check::StepsBack { count: found, .. } => count(*found),
        Check::Stuck { runs, .. } => count(runs.filter(|_| !is_unknown)),
        Check::Jumps { ahead, behind, .. } => count(ahead.map(|ahead| ahead.saturating_add(behind.unwrap_or(0)))),
        Check::Order { regressions, untested, .. } => count(regressions.filter(|_| untested.is_none())),
        Check::Offsets { offset_ns: Some(ns), .. } | Check::Offsets { apart: 0, within_ns: Some(ns), .. } => {
            number(Some(*ns), "ns")
        }
        Check::ConstantRate { change: Some(RateChange::Step { step_ns, .. }), .. } => number(Some(*step_ns), "ns"),
        Check::Rate { ppm: Some(ppm), .. } | Check::NominalFrequency { ppm: Some(ppm), .. } => {
            number(Some(*ppm), "ppm")
        }
        Check::Cost { cost_ns: Some(ns), .. } => number(Some(*ns), "ns"),
        Check::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, .. } => {
            let ns = tick_ns.or(*coarse_nominal_ns).or(*at_most_ns);
            number(ns, if ns.is_some() { "ns" } else { "" })
        }
        Check::Synchronization { error_s: Some(s), .. } if !is_unknown => number(Some(*s), "s"),
        _ => (String::new(), ""),
    }
}

/// A number as JSON has it.
fn json_number(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}
