//! The result of *check*: verdicts on clocks, with their evidence.

mod words;

use serde::{Deserialize, Serialize};

use crate::verdict::{Trustworthiness, Uses};
use crate::{CheckEvidence, Demand, Identity, Synchronization, UnreadableClock};

/// The result of `clockscope check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// A random number of 32 hexadecimal digits: no other check has it.
    pub check_id: String,
    /// The machine's names in a fleet.
    pub identity: Identity,
    /// One entry a clock: the processor's counter first, where there is one, then the system's
    /// clocks.
    pub verdicts: Vec<Verdict>,
    /// Clocks that were named, and that this machine lacks: they have no verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<UnreadableClock>,
    /// One entry a demand of the policy; empty where none was given.
    pub demands: Vec<Demand>,
    /// The synchronization of the time of day.
    pub synchronization: Option<Synchronization>,
}

/// The verdict on a clock, and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
