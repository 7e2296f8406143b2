//! Verdicts in words.

use clockscope_core::evidence::FrequencyOffset;

use super::*;
use crate::evidence::sentences::brief_of_civil_time;
use crate::units::time;
use crate::{EvidenceData, Finding, PtpClock, counted, grouped};

impl Verdict {
    /// Returns the worst verdict, and the use that it is for where the clock is better for the
    /// other.
    #[must_use]
    pub fn brief(&self) -> String {
        match self.uses {
            Uses { interval: Some(interval), civil: Some(civil) } if civil < interval => {
                format!("{} for civil time", self.verdict)
            }
            Uses { interval: Some(interval), civil: Some(civil) } if interval < civil => {
                format!("{} for intervals", self.verdict)
            }
            _ => self.verdict.to_string(),
        }
    }

    /// Returns the same with the verdict for the other use.
    #[must_use]
    pub fn phrase(&self) -> String {
        let brief = self.brief();
        match self.uses {
            Uses { interval: Some(interval), civil: Some(civil) } if civil < interval => {
                format!("{brief}, {interval} for intervals")
            }
            Uses { interval: Some(interval), civil: Some(civil) } if interval < civil => {
                format!("{brief}, {civil} for civil time")
            }
            _ => brief,
        }
    }

    /// Names the decisive evidence: the names of checks that are against the clock or have no
    /// result, and what those showed that support it; empty where a record names none.
    #[must_use]
    pub fn because(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        // A clock that was handed from CPU to CPU was read on each of them.
        let is_handed_over = self.evidence.iter().any(|evidence| evidence.decides && is_order(evidence));
        let is_said = |evidence: &&CheckEvidence| {
            let is_contained = is_handed_over && matches!(evidence.data, EvidenceData::StepsBack { .. });
            evidence.decides && !(is_contained && evidence.finding == Finding::For)
        };
        for evidence in self.evidence.iter().filter(is_said) {
            let part = part(evidence);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join("; ")
    }
}

fn is_order(evidence: &CheckEvidence) -> bool {
    matches!(evidence.data, EvidenceData::Order { untested: None, .. }) && evidence.finding == Finding::For
}

fn part(evidence: &CheckEvidence) -> String {
    let name = evidence.data.name();
    match (&evidence.data, evidence.finding) {
        (EvidenceData::Synchronization { .. }, _) => brief_of_civil_time(&evidence.data),
        (_, Finding::Against) => name.to_owned(),
        (_, Finding::Unknown) => format!("{name} not known"),
        (EvidenceData::StepsBack { readings, .. }, Finding::For) => {
            format!("0 of {} went back", counted(*readings, "reading"))
        }
        (EvidenceData::Order { untested: None, handoffs, shared_with, .. }, Finding::For) => {
            let whose = shared_with.as_ref().map_or_else(String::new, |clock| format!(" of {clock}"));
            format!("0 of {} handoffs{whose} went back", grouped(*handoffs))
        }
        (EvidenceData::Offsets { untested: None, within_ns: Some(ns), .. }, Finding::For) => {
            format!("offsets within {}", time(*ns))
        }
        (EvidenceData::Rate { ppm: Some(ppm), bound_ppm: Some(bound), .. }, Finding::For) => {
            format!("rate {}", FrequencyOffset { ppm: *ppm, bound_ppm: *bound })
        }
        (_, Finding::For) => format!("{name}: {}", evidence.text()),
    }
}

impl Check {
    /// Names a clock whose rate was compared with a clock on the same hardware alone, and what
    /// would be independent of it; `None` if there is none.
    #[must_use]
    pub fn not_independent(&self) -> Option<String> {
        let of_verdict = |check: &EvidenceData| match check {
            EvidenceData::ConstantRate {
                reference: Some(reference), reference_shares_hardware: Some(true), ..
            } => Some(reference.clone()),
            _ => None,
        };
        let in_question = self.verdicts.iter().filter(|verdict| verdict.verdict > Trustworthiness::Limited);
        let (clock, reference) = in_question.into_iter().find_map(|verdict| {
            let is_for = |evidence: &&CheckEvidence| evidence.finding == Finding::For;
            let reference = verdict.evidence.iter().filter(is_for).find_map(|evidence| of_verdict(&evidence.data))?;
            Some((&verdict.clock, reference))
        })?;
        let is_device = |ptp: &&PtpClock| !ptp.is_virtual();
        let ptp = match self.synchronization.iter().flat_map(|found| &found.ptp).find(is_device) {
            Some(ptp) => format!("a PTP clock (clockscope rate {clock} --reference {})", ptp.device),
            None => "a PTP clock of a network card".to_owned(),
        };
        let hpet = if clock == "tsc" { "HPET as the clocksource, " } else { "" };
        Some(format!(
            "Rate of {clock} not independently measured: {reference} is computed from the same counter. Independent are {ptp}, \
             {hpet}or another host."
        ))
    }
}
