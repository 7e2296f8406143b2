//! Verdicts in words.

use clockscope_records::{Trustworthiness, Uses, Verdict};

use crate::model::Tone;

/// The word for people: JSON's, but for one that is undecided.
pub(crate) fn word(verdict: Trustworthiness) -> &'static str {
    match verdict {
        Trustworthiness::Undecided => "not decided",
        verdict => verdict.as_str(),
    }
}

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

/// The worst verdict, and the use that it is for where the clock is better for the other.
pub(crate) fn brief(verdict: &Verdict) -> String {
    let word = word(verdict.verdict);
    match verdict.uses {
        Uses { interval: Some(interval), civil: Some(civil) } if civil < interval => format!("{word} for civil time"),
        Uses { interval: Some(interval), civil: Some(civil) } if interval < civil => format!("{word} for intervals"),
        _ => word.to_owned(),
    }
}

/// The same with the verdict for the other use.
pub(crate) fn phrase(verdict: &Verdict) -> String {
    let brief = brief(verdict);
    match verdict.uses {
        Uses { interval: Some(interval), civil: Some(civil) } if civil < interval => {
            format!("{brief}, {} for intervals", word(interval))
        }
        Uses { interval: Some(interval), civil: Some(civil) } if interval < civil => {
            format!("{brief}, {} for civil time", word(civil))
        }
        _ => brief,
    }
}
