//! Reasons why a clock cannot be read or compared, and what ended its readings.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Unknown;
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
    /// The machine or the system has no such clock.
    Missing,
    /// Anything else.
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
    /// This architecture, system or machine has no such clock, or no such call.
    Missing {
        /// The missing part, in a sentence.
        words: String,
    },
    /// The question means nothing for a clock, or a call, of this kind.
    NotApplicable {
        /// The reason, in a sentence.
        words: Cow<'static, str>,
    },
    /// The counter is disabled for this process.
    CounterDisabled,
    /// The run was interrupted before the clock's turn.
    NotRead,
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
    /// The process of the trial read ended without an answer.
    ChildReadEnded,
    /// The trial read ended its process by a signal.
    ChildReadKilled {
        /// The signal's name: SIGSEGV where the instruction is disabled or the memory missing,
        /// SIGILL where the instruction is not permitted, SIGSYS where a filter denies the system
        /// call.
        signal: String,
    },
    /// It did not step during the measurement, so that nothing bounds how late it is.
    NoStepSeen {
        /// Time of observation, in ns.
        observed_ns: f64,
    },
    /// Its readings did not change any more.
    StoodStill,
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
}

impl ClockReason {
    /// Returns whether this architecture, system or machine has no such clock.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::NoInstruction { .. } | Self::NoLibraryFunction { .. } | Self::Missing { .. } => true,
            Self::CallRefused { error, .. } | Self::ChildReadFailed { error } => error.is_missing(),
            _ => false,
        }
    }

    /// Returns whether the system denies the clock to this process.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        match self {
            Self::CallRefused { error, .. } | Self::ChildReadFailed { error } => error.cause == ErrorCause::Denied,
            _ => false,
        }
    }

    /// Returns whether reads failed during the run, after others had succeeded.
    #[must_use]
    pub const fn is_during_run(&self) -> bool {
        matches!(self, Self::ReadFailed { .. } | Self::ReadingsEnded { .. } | Self::SomeReadsFailed { .. })
    }
}

impl SystemError {
    fn is_missing(&self) -> bool {
        matches!(self.cause, ErrorCause::Missing | ErrorCause::Unsupported)
    }
}

/// In sentences: the reason, and what the clock needs.
impl fmt::Display for UnreadableClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { clock, reason } = self;
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
            Self::Missing { words } => f.write_str(words),
            Self::NotApplicable { words } => f.write_str(words),
            Self::CounterDisabled => f.write_str(
                "a read raises SIGSEGV: the time-stamp counter is disabled for this process by prctl(PR_SET_TSC)",
            ),
            Self::NotRead => f.write_str("not read: the run was interrupted before its turn"),
            Self::ChildReadFailed { error } => write!(f, "the read failed: {}", with_hint(error)),
            Self::ChildReadSilent { after_ms } => write!(f, "the read did not return within {after_ms} ms"),
            Self::ChildReadEnded => f.write_str("the read failed: the process that tried it ended without an answer"),
            Self::ChildReadKilled { signal } => killed(f, signal),
            Self::NoStepSeen { .. } => {
                f.write_str("it did not step during the measurement: how late it may be is unknown")
            }
            Self::StoodStill => f.write_str("it stood still during the run: its readings did not change any more"),
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
        ErrorCause::Missing | ErrorCause::Other => words.clone(),
    }
}

fn killed(f: &mut fmt::Formatter<'_>, signal: &str) -> fmt::Result {
    let cause = match signal {
        "SIGILL" => ": the instruction is not permitted here",
        "SIGSYS" => ": a seccomp filter denies the call",
        _ => "",
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
