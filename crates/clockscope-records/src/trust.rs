//! What was found about whether clocks can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::demand::ignored;
use crate::figure::explain;
use crate::{Check, Demand, Synchronization};

/// The result of `clockscope check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// One entry a clock: the processor's counter first, where there is one, then the system's
    /// clocks.
    pub verdicts: Vec<Verdict>,
    /// One entry a demand of the policy; empty where none was given.
    pub demands: Vec<Demand>,
    /// What keeps civil time; `null` in older records.
    #[serde(default)]
    pub synchronization: Option<Synchronization>,
}

explain!(Trust: verdicts, synchronization);

/// Whether a clock can be trusted, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The clock's name. The counter is judged in all of its reading sequences and bears the name
    /// of the plain one.
    pub clock: String,
    /// The verdict.
    pub verdict: Trustworthiness,
    /// Everything that was found, and not found.
    pub evidence: Vec<CheckEvidence>,
}

explain!(Verdict: evidence);

/// How far a clock can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trustworthiness {
    /// Do not use it.
    Unfit,
    /// Usable, with the limits that the evidence against it names.
    Limited,
    /// Nothing that was found contradicts it.
    Trusted,
}

impl Trustworthiness {
    /// Returns the word that JSON has for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unfit => "unfit",
            Self::Limited => "limited",
            Self::Trusted => "trusted",
        }
    }
}

/// One check of a clock, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Evidence")]
pub struct CheckEvidence {
    /// The question, with its figures.
    #[serde(flatten)]
    pub check: Check,
    /// Its meaning for the clock.
    pub finding: CheckOutcome,
    /// Whether the verdict is based on it: against the clock, and as severe as the verdict.
    pub decides: bool,
    /// The same for people. Renderers write it beside the figures; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<Prose>,
}

explain!(CheckEvidence: check);

/// A check in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prose {
    /// The check's name in tables.
    pub name: String,
    /// The answer in a sentence; where it is unknown, why.
    pub text: String,
    /// Where the answer comes from.
    pub source: String,
    /// The remedy; `null` where none is needed.
    pub advice: Option<String>,
}

/// The meaning of a finding for a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Finding")]
pub enum CheckOutcome {
    /// It supports the clock.
    For,
    /// It contradicts the clock.
    Against,
    /// It is unknown, or says nothing.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_the_words_that_json_has() {
        for verdict in [Trustworthiness::Unfit, Trustworthiness::Limited, Trustworthiness::Trusted] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
    }
}
