//! Failures of clocks, before and during a run, and of runtimes.

use serde::{Deserialize, Serialize};

/// Reason why a clock could not be read, or why its readings ended. The sentence beside it has the
/// system's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    Stuck,
}

/// Reason why a runtime, or an API of it, was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuntimeFailure {
    /// The runtime's program, or a compiler for it, is missing.
    NotFound,
    /// There is no folder for the probe, or a file in it cannot be written.
    NoFolder,
    /// A program cannot be started.
    NotStarted,
    /// The probe was not built.
    NotBuilt,
    /// There is no server for the browser.
    NoServer,
    /// A program ended with an error, by a signal, or printed too much.
    Failed,
    /// A program did not end in time.
    TimedOut,
    /// The run was interrupted.
    Interrupted,
    /// The probe printed no figures.
    NoFigures,
    /// A line that the probe printed cannot be used.
    Malformed,
    /// The probe reports that this version of the runtime lacks the API.
    NoApi,
}
