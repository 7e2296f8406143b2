//! Reasons why a clock cannot be read or compared, and what ended its readings.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::Failure;
use crate::printable::grouped;

/// An error that the system answered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SystemError {
    /// Its number on that system; 0 for one without a number.
    pub number: i32,
    /// The cause, by the error's own statement.
    pub cause: ErrorCause,
    /// The error in the system's own words.
    pub words: String,
}

/// The cause of an error of the system, by the error's own statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The trial read failed.
    ChildReadFailed {
        /// The error.
        error: SystemError,
    },
    /// The trial read did not return.
    ChildReadSilent {
        /// Time for which it was waited, in ms.
        after_ms: u32,
    },
    /// The trial read ended its process by a signal.
    ChildReadKilled {
        /// The signal's name.
        signal: String,
        /// The meaning of the signal for the read.
        meaning: SignalMeaning,
    },
    /// It did not step during the measurement, so that nothing bounds how late it is.
    NoStepSeen {
        /// Time of observation, in ns.
        observed_ns: f64,
    },
    /// A read failed during the search for the clock's step.
    ReadFailed {
        /// The error.
        error: SystemError,
    },
    /// A read failed and ended its readings.
    ReadingsEnded {
        /// The error.
        error: SystemError,
    },
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
}

/// A clock that cannot be read or compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnreadableClock {
    /// Its name.
    pub clock: String,
    /// Reason why it cannot be read or compared.
    pub reason: Unknown,
    /// The failure.
    pub failure: Option<Failure>,
}

/// In sentences: the reason, and what the clock needs.
impl fmt::Display for UnreadableClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { clock, reason, .. } = self;
        let because = unavailable_because(clock, reason);
        write!(f, "{clock} cannot be read: {because}{}", if because.ends_with('.') { "" } else { "." })
    }
}

/// Returns why a clock is not available, followed by what the machine, or the user, has to have for
/// it, where that is known.
#[must_use]
pub fn unavailable_because(clock: &str, reason: &Unknown) -> String {
    let is_refused = matches!(reason, Unknown::Clock(ClockReason::CallRefused { .. }));
    if is_refused && clock == HPET { format!("{reason}. {HPET_REQUIREMENTS}") } else { reason.to_string() }
}

/// The name of the clock of the device HPET, and what it needs.
const HPET: &str = "hpet";
const HPET_REQUIREMENTS: &str = "It needs an x86 machine whose firmware or hypervisor offers the device (QEMU: -machine hpet=on), \
    a Linux kernel with CONFIG_HPET, which makes /dev/hpet, and root. Where `clockscope clocksource` lists hpet, `clockscope measure \
    --clocksource hpet` measures the kernel's clocks on it.";

impl fmt::Display for ClockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInstruction { instruction } => {
                write!(f, "this processor has no {instruction} instruction")
            }
            Self::CallRefused { call, error } => write!(f, "{call}: {}", error.words),
            Self::NoLibraryFunction { function } => write!(f, "the C library has no {function}"),
            Self::ChildReadFailed { error } => write!(f, "the read failed: {}", with_hint(error)),
            Self::ChildReadSilent { after_ms } => write!(f, "the read did not return within {after_ms} ms"),
            Self::ChildReadKilled { signal, meaning } => killed(f, signal, *meaning),
            Self::NoStepSeen { .. } => {
                f.write_str("it did not step during the measurement: how late it may be is unknown")
            }
            Self::ReadFailed { error } => write!(f, "a read failed: {}", error.words),
            Self::ReadingsEnded { error } => {
                write!(f, "a read failed and ended its readings: {}", error.words)
            }
            Self::SomeReadsFailed { errors, reads, first, error } => {
                write!(
                    f,
                    "{} of {} reads failed; the first, read {}: {}",
                    grouped(*errors),
                    grouped(*reads),
                    grouped(*first),
                    error.words
                )
            }
        }
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
    let reasons: Vec<String> = clocks.iter().map(|missing| format!("{}: {}", missing.clock, missing.reason)).collect();
    format!("{words}: {}", reasons.join("; "))
}
