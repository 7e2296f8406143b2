//! Reasons why a clock cannot be read or compared, or why its readings ended, as records have them.

use clockscope_records::{ClockReason, Unknown, UnreadableClock, texts};
use clockscope_system::child_read::{Outcome, signal_name};
use clockscope_system::failure::system_error;
use clockscope_system::{ClockKind, Errno, Unavailable};

/// Time that a clock may take to answer its first read, in ms.
pub(crate) const PATIENCE_MS: i32 = 200;

/// Returns why a clock that was tried cannot be read; `None` if it can, or could not be tried.
pub(crate) fn refused(outcome: Outcome, counter_readable: Option<bool>) -> Option<ClockReason> {
    match outcome {
        Outcome::Answered | Outcome::Untried(_) => None,
        Outcome::Refused(errno) => Some(ClockReason::ChildReadFailed { error: system_error(errno) }),
        Outcome::Unanswered => Some(ClockReason::ChildReadEnded),
        Outcome::Silent => Some(ClockReason::ChildReadSilent { after_ms: PATIENCE_MS.unsigned_abs() }),
        Outcome::Killed(signal) => Some(killed(signal, counter_readable)),
    }
}

fn killed(signal: i32, counter_readable: Option<bool>) -> ClockReason {
    let signal = signal_name(signal);
    if counter_readable == Some(false) && signal == "SIGSEGV" {
        return ClockReason::CounterDisabled;
    }
    ClockReason::ChildReadKilled { signal }
}

/// Returns why a clock that cannot be tried is unavailable.
pub(crate) fn unavailable(unavailable: Unavailable) -> ClockReason {
    match unavailable {
        Unavailable::Instruction(name) => ClockReason::NoInstruction { instruction: name.to_owned() },
        Unavailable::Call(call, errno) => call_refused(&call, errno),
        Unavailable::Symbol(name) => ClockReason::NoLibraryFunction { function: name.to_owned() },
        // What a later architecture lacks is in the words of its description, too.
        other => ClockReason::Missing { words: other.to_string() },
    }
}

/// Returns a clock with the reason why it cannot be read or compared.
pub(crate) fn unreadable(clock: String, reason: ClockReason) -> UnreadableClock {
    UnreadableClock { clock, reason: reason.into() }
}

/// Returns why a clock of this kind has no time that others can be compared with; `None` if it has.
pub(crate) fn without_time(kind: ClockKind) -> Option<ClockReason> {
    match kind {
        ClockKind::Counter | ClockKind::Monotonic | ClockKind::Wall => None,
        ClockKind::CpuTime => Some(ClockReason::NotApplicable { words: texts::PROCESSOR_TIME.into() }),
        ClockKind::Cycles => Some(ClockReason::NotApplicable { words: texts::NO_LENGTH.into() }),
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
