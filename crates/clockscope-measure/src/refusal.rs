//! Why a clock cannot be read.

use std::io::ErrorKind;

use clockscope_machine::trial::{Outcome, SignalMeaning, signal_meaning, signal_name};
use clockscope_records::Failure;
use clockscope_sources::{Errno, Unavailable};

/// How long a clock may take to answer its first read, in ms.
pub(crate) const PATIENCE_MS: i32 = 200;

/// Why a clock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// It is not there, or was not opened.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The read failed with this error.
    #[error("the read failed: {}", explained(*.0))]
    Refused(Errno),
    /// The process that tried it ended.
    #[error("the read failed: the process that tried it ended without an answer")]
    Unanswered,
    /// The read did not return.
    #[error("the read did not return within {PATIENCE_MS} ms")]
    Silent,
    /// It reads the counter in this process, where the counter is disabled.
    #[error("a read raises SIGSEGV: the time-stamp counter is disabled for this process by prctl(PR_SET_TSC)")]
    CounterDisabled,
    /// A read ended its process by this signal.
    #[error("{}", killed(*.0))]
    Killed(i32),
    /// The run was interrupted before its turn.
    #[error("not read: the run was interrupted before its turn")]
    Interrupted,
    /// The reason of a run that was recorded.
    #[error("{text}")]
    Recorded {
        /// What failed; `None` in older recordings.
        failure: Option<Failure>,
        /// The same in the words of the recording.
        text: String,
    },
}

impl Unreadable {
    /// Returns why a clock that was tried cannot be read; `None` if it can, or could not be tried.
    pub(crate) fn of(outcome: Outcome, counter_readable: Option<bool>) -> Option<Self> {
        match outcome {
            Outcome::Answered | Outcome::Untried(_) => None,
            Outcome::Refused(errno) => Some(Self::Refused(errno)),
            Outcome::Unanswered => Some(Self::Unanswered),
            Outcome::Silent => Some(Self::Silent),
            Outcome::Killed(signal) => {
                let is_disabled = counter_readable == Some(false) && signal_meaning(signal) == SignalMeaning::Fault;
                Some(if is_disabled { Self::CounterDisabled } else { Self::Killed(signal) })
            }
            Outcome::Recorded { failure, text } => {
                Some(Self::Recorded { failure, text: format!("the read failed: {text}") })
            }
        }
    }

    /// Returns what records have of it beside the sentence.
    pub(crate) fn failure(&self) -> Option<Failure> {
        Some(match self {
            Self::Unavailable(Unavailable::Instruction(_)) => Failure::NoInstruction,
            Self::Unavailable(Unavailable::Call(_, errno)) | Self::Refused(errno) => of_errno(*errno),
            Self::Unavailable(_) => Failure::Missing,
            Self::Unanswered | Self::Silent => Failure::NoAnswer,
            Self::CounterDisabled => Failure::CounterDisabled,
            Self::Killed(_) => Failure::Killed,
            Self::Interrupted => Failure::Interrupted,
            Self::Recorded { failure, .. } => return *failure,
        })
    }
}

/// POSIX's ENXIO and ENODEV, of which std has no kind: 6 and 19 on Linux, macOS and the BSDs.
#[cfg(unix)]
const NO_DEVICE: [i32; 2] = [6, 19];
#[cfg(not(unix))]
const NO_DEVICE: [i32; 0] = [];

/// Returns what an error number says. The system has no clock of a number that it calls invalid
/// (clock_gettime(2), EINVAL).
pub(crate) fn of_errno(errno: Errno) -> Failure {
    match std::io::Error::from(errno).kind() {
        ErrorKind::PermissionDenied => Failure::Denied,
        ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::InvalidInput => Failure::Missing,
        _ if NO_DEVICE.contains(&errno.code()) => Failure::Missing,
        _ => Failure::Refused,
    }
}

/// An error number with the cause that it usually has where a clock is refused.
pub(crate) fn explained(errno: Errno) -> String {
    match std::io::Error::from(errno).kind() {
        ErrorKind::PermissionDenied => format!("{errno}; does a seccomp filter deny the call?"),
        ErrorKind::Unsupported => {
            format!("{errno}; the kernel lacks the call, or a seccomp filter hides it")
        }
        _ => errno.to_string(),
    }
}

fn killed(signal: i32) -> String {
    let name = signal_name(signal);
    match signal_meaning(signal) {
        SignalMeaning::IllegalInstruction => format!("a read raises {name}: the instruction is not permitted here"),
        SignalMeaning::DeniedCall => format!("a read raises {name}: a seccomp filter denies the call"),
        SignalMeaning::Fault | SignalMeaning::Other => format!("a read raises {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EPERM, ENOENT, ENXIO, ENODEV, EINVAL, EIO: the same numbers on all of these systems.
    #[cfg(unix)]
    #[test]
    fn a_clock_that_the_system_does_not_know_is_missing() {
        let words = [1, 2, 6, 19, 22, 5].map(|code| of_errno(Errno::new(code)));
        let missing = Failure::Missing;
        assert_eq!(words, [Failure::Denied, missing, missing, missing, missing, Failure::Refused]);
        assert_eq!(of_errno(Errno::UNSUPPORTED), missing);
    }
}
