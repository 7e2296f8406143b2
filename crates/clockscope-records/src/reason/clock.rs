//! Reasons why a clock cannot be read or compared, and what ended its readings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NOT_RECORDED, Unknown};
use crate::Failure;
use crate::text::grouped;

/// An error that the system answered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemError {
    /// Its number on that system; 0 for one without a number.
    pub number: i32,
    /// The cause, by the error's own statement.
    pub cause: ErrorCause,
    /// The error in the system's own words.
    pub words: String,
}

/// The cause of an error of the system, by the error's own statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// This process lacks the permission.
    Denied,
    /// The system has no such call, or hides it.
    Unsupported,
    /// Anything else.
    Other,
}

/// The meaning of a signal that ended a trial, for the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignalMeaning {
    /// SIGSEGV: the instruction is disabled, or the memory is not there.
    Fault,
    /// SIGILL: the processor does not know the instruction, or it is not permitted.
    IllegalInstruction,
    /// SIGSYS: a filter denies the system call.
    DeniedCall,
    /// Any other.
    Other,
}

/// Reason why a clock cannot be read or compared, or what ended its readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ClockReason {
    /// The processor lacks the instruction.
    NoInstruction {
        /// Its name.
        instruction: String,
    },
    /// The system refused a call that the clock needs, or that should have slept.
    CallRefused {
        /// The call.
        call: String,
        /// The error.
        error: SystemError,
    },
    /// The C library lacks the function.
    NoLibraryFunction {
        /// Its name.
        function: String,
    },
    /// There is no such clock.
    NoSuchClock {
        /// The reason, in the words of the clock's description.
        words: String,
    },
    /// The trial read failed.
    TrialFailed {
        /// The error.
        error: SystemError,
    },
    /// The process that tried it ended without an answer.
    TrialEnded,
    /// The trial read did not return.
    TrialSilent {
        /// Time for which it was waited, in ms.
        after_ms: u32,
    },
    /// The counter is disabled for this process, in which the clock reads it.
    CounterDisabled,
    /// The trial read ended its process by a signal.
    TrialKilled {
        /// The signal's name.
        signal: String,
        /// The meaning of the signal for the read.
        meaning: SignalMeaning,
    },
    /// The run was interrupted before its turn.
    NotReached,
    /// It counts processor time, which does not go on while the thread does not run.
    ProcessorTime,
    /// It counts processor time, which goes on in several threads at once.
    ThreadsTime,
    /// It counts the cycles of one core for one thread.
    CoreCycles,
    /// It did not step while it was looked at, so that nothing bounds how late it is.
    NoStepSeen {
        /// For how long it was looked at, in ns.
        looked_ns: f64,
    },
    /// A read failed when the clock's step was looked for.
    ReadFailed {
        /// The error.
        error: SystemError,
    },
    /// A read failed and ended its readings.
    ReadingsEnded {
        /// The error.
        error: SystemError,
    },
    /// It stood still during the run: its readings did not change any more.
    StandsStill,
    /// Some of its reads failed.
    SomeReadsFailed {
        /// So many.
        errors: u64,
        /// Of so many.
        reads: u64,
        /// The place of the first that failed, from 1.
        first: u64,
        /// The first error.
        error: SystemError,
    },
    /// The call takes whole coarser units, and the time asked for is none.
    WholeUnits {
        /// The units.
        unit: String,
    },
    /// This system has no such call that clockscope knows.
    UnknownCall,
    /// A recording holds no sleeps.
    SleepsNotRecorded,
}

/// A clock that cannot be read or compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadableClock {
    /// Its name.
    pub clock: String,
    /// Reason why it cannot be read or compared.
    pub reason: Unknown,
    /// The failure.
    pub failure: Option<Failure>,
}

impl fmt::Display for ClockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::NoInstruction { instruction } => {
                return write!(f, "this processor has no {instruction} instruction");
            }
            Self::CallRefused { call, error } => return write!(f, "{call}: {}", error.words),
            Self::NoLibraryFunction { function } => return write!(f, "the C library has no {function}"),
            Self::NoSuchClock { words } => words,
            Self::TrialFailed { error } => return write!(f, "the read failed: {}", with_hint(error)),
            Self::TrialEnded => "the read failed: the process that tried it ended without an answer",
            Self::TrialSilent { after_ms } => return write!(f, "the read did not return within {after_ms} ms"),
            Self::CounterDisabled => {
                "a read raises SIGSEGV: the time-stamp counter is disabled for this process by prctl(PR_SET_TSC)"
            }
            Self::TrialKilled { signal, meaning } => return killed(f, signal, *meaning),
            Self::NotReached => "not read: the run was interrupted before its turn",
            Self::ProcessorTime => "it counts processor time, which stands still while the thread does not run",
            Self::ThreadsTime => "it counts processor time, which goes on in several threads at once",
            Self::CoreCycles => "it counts the cycles of one core for one thread",
            Self::NoStepSeen { .. } => "it did not step while it was looked at: how late it may be is unknown",
            Self::ReadFailed { error } => return write!(f, "a read failed: {}", error.words),
            Self::ReadingsEnded { error } => {
                return write!(f, "a read failed and ended its readings: {}", error.words);
            }
            Self::StandsStill => "it stood still during the run: its readings did not change any more",
            Self::SomeReadsFailed { errors, reads, first, error } => {
                return write!(
                    f,
                    "{} of {} reads failed; the first, read {}: {}",
                    grouped(*errors),
                    grouped(*reads),
                    grouped(*first),
                    error.words
                );
            }
            Self::WholeUnits { unit } => return write!(f, "it takes whole {unit} only"),
            Self::UnknownCall => "clockscope does not know this call on this system",
            Self::SleepsNotRecorded => NOT_RECORDED,
        };
        f.write_str(words)
    }
}

/// Returns an error with the cause that it usually has where a clock is refused.
fn with_hint(error: &SystemError) -> String {
    let SystemError { cause, words, .. } = error;
    match cause {
        ErrorCause::Denied => format!("{words}; does a seccomp filter deny the call?"),
        ErrorCause::Unsupported => format!("{words}; the kernel lacks the call, or a seccomp filter hides it"),
        ErrorCause::Other => words.clone(),
    }
}

fn killed(f: &mut fmt::Formatter<'_>, signal: &str, meaning: SignalMeaning) -> fmt::Result {
    let cause = match meaning {
        SignalMeaning::IllegalInstruction => ": the instruction is not permitted here",
        SignalMeaning::DeniedCall => ": a seccomp filter denies the call",
        SignalMeaning::Fault | SignalMeaning::Other => "",
    };
    write!(f, "a read raises {signal}{cause}")
}

/// Returns why a measurement was not made: its own words, and why clocks that it needs cannot be
/// read.
#[must_use]
pub fn with_unreadable(words: &str, clocks: &[UnreadableClock]) -> String {
    if clocks.is_empty() {
        return words.to_owned();
    }
    let reasons: Vec<String> = clocks.iter().map(|lacking| format!("{}: {}", lacking.clock, lacking.reason)).collect();
    format!("{words}: {}", reasons.join("; "))
}
