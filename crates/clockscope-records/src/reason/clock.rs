//! Why a clock cannot be read or compared, and what ended its readings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::Failure;
use crate::unnamed::known_word;

/// An error that the system answered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemError {
    /// Its number on that system; 0 for one without a number.
    pub number: i32,
    /// What it says of the cause.
    pub cause: ErrorCause,
    /// The error in the system's own words.
    pub words: String,
}

/// What an error of the system says of its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// This process lacks the permission.
    Denied,
    /// The system has no such call, or hides it.
    Unsupported,
    /// Anything else, and the words of later programs.
    #[serde(other)]
    Other,
}

/// What a signal that ended a trial says of the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignalMeaning {
    /// SIGSEGV: the instruction is disabled, or the memory is not there.
    Fault,
    /// SIGILL: the processor does not know the instruction, or it is not permitted.
    IllegalInstruction,
    /// SIGSYS: a filter denies the system call.
    DeniedCall,
    /// Any other, and the words of later programs.
    #[serde(other)]
    Other,
}

/// Why a clock cannot be read or compared, or what ended its readings.
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
        /// Why, in the words of the clock's description.
        words: String,
    },
    /// The trial read failed.
    TrialFailed {
        /// The error.
        error: SystemError,
    },
    /// The trial read failed in a run that an older program recorded.
    RecordedTrialFailed {
        /// The error, in the words of the recording.
        words: String,
    },
    /// The process that tried it ended without an answer.
    TrialEnded,
    /// The trial read did not return.
    TrialSilent {
        /// How long it was waited for, in ms.
        after_ms: u32,
    },
    /// The counter is disabled for this process, in which the clock reads it.
    CounterDisabled,
    /// The trial read ended its process by a signal.
    TrialKilled {
        /// The signal's name.
        signal: String,
        /// What the signal says of the read.
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
    /// Why it cannot be read or compared.
    pub reason: Unknown,
    /// What failed; `null` in older records.
    #[serde(default, deserialize_with = "known_word")]
    pub failure: Option<Failure>,
}
