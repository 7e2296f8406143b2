//! Verdicts in words.

use super::*;
use crate::{EvidenceData, Finding, PtpClock, Use};

impl Verdict {
    /// Returns the worst verdict, and the use that it is for where the clock is better for the
    /// other.
    #[must_use]
    pub fn brief(&self) -> String {
        match self.uses {
            Uses { interval: Some(interval), time_of_day: Some(time_of_day) } if time_of_day < interval => {
                format!("{} for the time of day", self.verdict)
            }
            Uses { interval: Some(interval), time_of_day: Some(time_of_day) } if interval < time_of_day => {
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
            Uses { interval: Some(interval), time_of_day: Some(time_of_day) } if time_of_day < interval => {
                format!("{brief}, {interval} for intervals")
            }
            Uses { interval: Some(interval), time_of_day: Some(time_of_day) } if interval < time_of_day => {
                format!("{brief}, {time_of_day} for the time of day")
            }
            _ => brief,
        }
    }

    /// Returns the evidence that the verdict for a use is based on: of an unfit or limited clock
    /// what is against it, of an undecided one what has no result, of a trusted one what supports
    /// it.
    pub fn decisive(&self, this: Use) -> impl Iterator<Item = &CheckEvidence> {
        let judged = self.uses.of(this);
        self.evidence.iter().filter(move |evidence| {
            let is_of_verdict = match judged {
                Some(Trustworthiness::Unfit | Trustworthiness::Limited) => evidence.finding == Finding::Against,
                Some(Trustworthiness::Undecided) => evidence.finding == Finding::Unknown,
                Some(Trustworthiness::Trusted) => evidence.finding == Finding::For,
                None => false,
            };
            is_of_verdict && evidence.decides && evidence.data.matters_for(this)
        })
    }

    /// Names the decisive evidence on a use: the names of checks that are against the clock or have
    /// no result, and what those showed that support it; empty where a record names none.
    #[must_use]
    pub fn because_for(&self, this: Use) -> String {
        self.joined(self.decisive(this))
    }

    /// Names the decisive evidence on all uses, as [`Verdict::because_for`] does.
    #[must_use]
    pub fn because(&self) -> String {
        self.joined(self.evidence.iter().filter(|evidence| evidence.decides))
    }

    fn joined<'a>(&self, decisive: impl Iterator<Item = &'a CheckEvidence>) -> String {
        let mut parts: Vec<String> = Vec::new();
        // A clock that was handed from CPU to CPU was read on each of them.
        let is_handed_over = self.evidence.iter().any(|evidence| evidence.decides && is_order(evidence));
        for evidence in decisive {
            let is_contained = is_handed_over
                && evidence.finding == Finding::For
                && matches!(evidence.data, EvidenceData::StepsBack(_));
            let part = part(evidence);
            if !is_contained && !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join("; ")
    }
}

fn is_order(evidence: &CheckEvidence) -> bool {
    matches!(&evidence.data, EvidenceData::Order(order) if order.reason.is_none()) && evidence.finding == Finding::For
}

fn part(evidence: &CheckEvidence) -> String {
    let (name, brief) = (evidence.data.name(), evidence.data.brief());
    match (&evidence.data, evidence.finding, brief) {
        (EvidenceData::Synchronization(_), _, Some(brief)) | (_, Finding::For, Some(brief)) => brief,
        (_, Finding::For, None) => format!("{name}: {}", evidence.text()),
        (_, Finding::Against, _) => name.to_owned(),
        (_, Finding::Unknown, _) => format!("{name} not known"),
    }
}

impl Check {
    /// Names a clock whose rate was compared with a clock on the same hardware alone, and what
    /// would be independent of it; `None` if there is none.
    #[must_use]
    pub fn not_independent(&self) -> Option<String> {
        let shares_hardware = |evidence: &&CheckEvidence| {
            let EvidenceData::ConstantRate(rate) = &evidence.data else { return false };
            evidence.finding == Finding::For && rate.reference_shares_hardware == Some(true) && rate.reference.is_some()
        };
        let in_question = self.verdicts.iter().filter(|verdict| verdict.verdict > Trustworthiness::Limited);
        let clock =
            &in_question.into_iter().find(|verdict| verdict.evidence.iter().any(|one| shares_hardware(&one)))?.clock;
        let is_device = |ptp: &&PtpClock| !ptp.is_virtual();
        let ptp = match self.synchronization.iter().flat_map(|found| &found.ptp).find(is_device) {
            Some(ptp) => format!("clockscope rate {clock} --reference {}", ptp.device),
            None => "a PTP clock".to_owned(),
        };
        let hpet = if clock == "tsc" { "HPET, " } else { "" };
        Some(format!("Not tested: the rate of {clock} (takes {ptp}, {hpet}or another host)."))
    }
}
