//! Reasons why a clock cannot be read or compared, or why its readings ended, as records have them.

use clockscope_records::{ClockReason, Failure, ReadingsReason, SignalMeaning, Unknown, UnreadableClock, texts};
use clockscope_system::child_read::{Outcome, signal_meaning, signal_name};
use clockscope_system::failure::{failure, system_error};
use clockscope_system::{ClockKind, Errno, Unavailable};

/// Time that a clock may take to answer its first read, in ms.
pub(crate) const PATIENCE_MS: i32 = 200;

/// Reason why a clock cannot be read or compared, or why its readings ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailureReason {
    /// The failure.
    pub(crate) failure: Failure,
    /// The reason.
    pub(crate) reason: Unknown,
}

impl FailureReason {
    pub(crate) fn new(failure: Failure, reason: impl Into<Unknown>) -> Self {
        Self { failure, reason: reason.into() }
    }

    /// Returns why a clock that was tried cannot be read; `None` if it can, or could not be tried.
    pub(crate) fn from_outcome(outcome: Outcome, counter_readable: Option<bool>) -> Option<Self> {
        Some(match outcome {
            Outcome::Answered | Outcome::Untried(_) => return None,
            Outcome::Refused(errno) => {
                Self::new(failure(errno), ClockReason::ChildReadFailed { error: system_error(errno) })
            }
            Outcome::Unanswered => Self::new(Failure::NoAnswer, texts::CHILD_READ_ENDED),
            Outcome::Silent => {
                Self::new(Failure::NoAnswer, ClockReason::ChildReadSilent { after_ms: PATIENCE_MS.unsigned_abs() })
            }
            Outcome::Killed(signal) => killed(signal, counter_readable),
        })
    }

    /// Returns it with the name of its clock.
    pub(crate) fn of_clock(self, clock: String) -> UnreadableClock {
        let Self { failure, reason } = self;
        UnreadableClock { clock, reason, failure: Some(failure) }
    }

    /// Returns why the clock has no figures then.
    pub(crate) fn unknown(&self) -> Unknown {
        clock_failed(Some(self.failure), &self.reason)
    }
}

/// Returns why a clock has no figures that failed for this reason.
pub(crate) fn clock_failed(failure: Option<Failure>, reason: &Unknown) -> Unknown {
    ReadingsReason::ClockFailed { failure, because: Box::new(reason.clone()) }.into()
}

impl From<Unavailable> for FailureReason {
    fn from(unavailable: Unavailable) -> Self {
        match unavailable {
            Unavailable::Instruction(name) => {
                Self::new(Failure::NoInstruction, ClockReason::NoInstruction { instruction: name.to_owned() })
            }
            Unavailable::Call(call, errno) => Self::new(failure(errno), call_refused(&call, errno)),
            Unavailable::Symbol(name) => {
                Self::new(Failure::Missing, ClockReason::NoLibraryFunction { function: name.to_owned() })
            }
            // What a later architecture lacks is in the words of its description, too.
            other => Self::new(Failure::Missing, other.to_string()),
        }
    }
}

fn killed(signal: i32, counter_readable: Option<bool>) -> FailureReason {
    let meaning = signal_meaning(signal);
    if counter_readable == Some(false) && meaning == SignalMeaning::Fault {
        return FailureReason::new(
            Failure::CounterDisabled,
            "a read raises SIGSEGV: the time-stamp counter is disabled for this process by prctl(PR_SET_TSC)",
        );
    }
    FailureReason::new(Failure::Killed, ClockReason::ChildReadKilled { signal: signal_name(signal), meaning })
}

/// Returns why a clock of this kind has no time that others can be compared with; `None` if it has.
pub(crate) fn without_time(kind: ClockKind) -> Option<FailureReason> {
    match kind {
        ClockKind::Counter | ClockKind::Monotonic | ClockKind::Wall => None,
        ClockKind::CpuTime => Some(FailureReason::new(Failure::NotApplicable, texts::PROCESSOR_TIME)),
        ClockKind::Cycles => Some(FailureReason::new(Failure::NotApplicable, texts::NO_LENGTH)),
    }
}

/// Returns for how long the clock did not step, in ns, if that is why it was not compared.
pub(crate) fn observed_ns(reason: &Unknown) -> Option<f64> {
    match reason {
        Unknown::Clock(ClockReason::NoStepSeen { observed_ns }) => Some(*observed_ns),
        _ => None,
    }
}

/// Returns what records have of a call that the system refused.
pub(crate) fn call_refused(call: &str, errno: Errno) -> ClockReason {
    ClockReason::CallRefused { call: call.to_owned(), error: system_error(errno) }
}
