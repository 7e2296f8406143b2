//! Failures of clocks, before and during a run, and of CPUs that gave no figures.

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

/// Reason why a CPU, or a pair of CPUs, gave no figures, or not to the end. The sentence beside it
/// has the system's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CpuFailure {
    /// The system refused to start a thread.
    NotStarted,
    /// The thread panicked.
    Panicked,
    /// The system denies it to bind a thread to this CPU.
    Denied,
    /// A thread could not be bound to this CPU: it is offline, or outside of the cpuset.
    NotBound,
    /// The thread was moved to another CPU: its own went offline, or left the cpuset.
    Moved,
    /// The thread on the other CPU ended before the handoffs.
    Alone,
    /// The run was interrupted before the CPU's turn.
    Interrupted,
    /// The clock that the counters are compared with refused.
    ClockRefused,
    /// The clock or the timer that they are compared with stood still, or went back.
    ClockFailed,
    /// The counters and the clock that they are compared with did not advance alike.
    Parted,
}

/// Reason why no pair of CPUs could be tested. The sentence beside it has the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PairsFailure {
    /// The system does not show which CPUs the process may run on.
    UnknownCpus,
    /// One CPU alone takes part.
    OneCpu,
    /// No clock that could be tested can be read.
    NoClock,
    /// The counter stood still while it was calibrated.
    Stuck,
    /// No pair could be tested to the end: the entries of the pairs have what failed.
    AllLost,
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
