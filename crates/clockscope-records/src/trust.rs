//! What was found about whether clocks can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::demand::ignored;
use crate::verdict::{Trustworthiness, Uses};
use crate::{Check, Demand, Synchronization};

/// The result of `clockscope check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// One entry a clock: the processor's counter first, where there is one, then the system's
    /// clocks.
    pub verdicts: Vec<Verdict>,
    /// One entry a demand of the policy; empty where none was given.
    pub demands: Vec<Demand>,
    /// What keeps civil time.
    pub synchronization: Option<Synchronization>,
}

/// Whether a clock can be trusted, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The clock's name. The counter is judged in all of its reading sequences and bears the name
    /// of the plain one.
    pub clock: String,
    /// The worst of `uses`.
    pub verdict: Trustworthiness,
    /// The verdict for each use.
    pub uses: Uses,
    /// Everything that was found, and not found.
    pub evidence: Vec<CheckEvidence>,
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
    /// Whether the verdict is based on it. Of an unfit or limited clock: against it, and as severe
    /// as the verdict. Of an undecided one: required, and without a result. Of a trusted one: a
    /// test that supports it.
    pub decides: bool,
    /// The same for people. Renderers write it beside the figures; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<Prose>,
}

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
