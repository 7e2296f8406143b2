//! Why a clock could not be read, or failed during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a clock could not be read, or what ended its readings. The sentence beside it has the system's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The processor lacks the instruction.
    NoInstruction,
    /// This architecture, system or machine has no such clock.
    Missing,
    /// The system denies it to this process.
    Denied,
    /// The system refuses it with another error.
    Refused,
    /// The counter is disabled for this process.
    CounterDisabled,
    /// A read ended its process by a signal.
    Killed,
    /// A read did not return in time, or its process ended without an answer.
    NoAnswer,
    /// The run was interrupted before the clock's turn.
    Interrupted,
    /// The question means nothing for a clock of this kind.
    NotApplicable,
    /// Reads failed during the run, after others had succeeded.
    DuringRun,
    /// The clock stood still during the run.
    StoodStill,
}
