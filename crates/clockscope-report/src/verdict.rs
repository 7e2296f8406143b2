//! Tones of verdicts and their order on a page, and words for findings.

use clockscope_records::{Finding, Trustworthiness};

use crate::model::Tone;

pub(crate) fn tone(verdict: Trustworthiness) -> Tone {
    match verdict {
        Trustworthiness::Trusted => Tone::Good,
        Trustworthiness::Undecided | Trustworthiness::Limited => Tone::Warning,
        Trustworthiness::Unfit => Tone::Bad,
    }
}

/// Returns how much a verdict matters to a reader: the worse, the more.
pub(crate) fn weight(verdict: Trustworthiness) -> u8 {
    match verdict {
        Trustworthiness::Trusted => 0,
        Trustworthiness::Undecided => 1,
        Trustworthiness::Limited => 2,
        Trustworthiness::Unfit => 3,
    }
}

/// Returns the word for a finding.
pub(crate) fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::For => "for",
        Finding::Against => "against",
        Finding::Unknown => "unknown",
    }
}
