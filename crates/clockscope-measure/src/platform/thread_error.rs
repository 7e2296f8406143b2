//! Reasons why a thread that was bound to a CPU found nothing.

use clockscope_records::{CpuFailure, CpusReason, Failure, Unknown, texts};
use clockscope_system::Errno;
use clockscope_system::affinity::AffinityError;
use clockscope_system::failure::{failure, system_error};

use crate::platform::failure_reason::CpuFailureReason;

/// Reason why a thread that was bound to a CPU found nothing. Records have it as data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadError {
    /// The system refused to start it.
    NotStarted(Errno),
    /// It panicked.
    Panicked,
    /// It could not be bound to its CPU.
    Unbound {
        /// The CPU.
        cpu: u32,
        /// The reason.
        error: AffinityError,
    },
    /// It was on another CPU when it ended.
    Moved {
        /// The CPU that it was bound to.
        from: u32,
        /// The CPU that it was on.
        to: u32,
    },
    /// The other thread of its pair ended before the handoffs.
    Alone,
    /// The run was interrupted before the thread was started.
    Interrupted,
}

impl ThreadError {
    /// Returns what records have of it.
    pub(crate) fn failure_reason(&self) -> CpuFailureReason {
        let (failure, reason): (_, Unknown) = match self {
            Self::NotStarted(errno) => {
                (CpuFailure::NotStarted, format!("no thread can be started: {}", system_error(*errno).words).into())
            }
            Self::Panicked => (CpuFailure::Panicked, "its thread ended by a panic".into()),
            Self::Unbound { cpu, error } => unbound(*cpu, error),
            Self::Moved { from, to } => (CpuFailure::Moved, CpusReason::MovedAway { from: *from, to: *to }.into()),
            Self::Alone => (CpuFailure::Alone, texts::PEER_MISSING.into()),
            Self::Interrupted => (CpuFailure::Interrupted, texts::INTERRUPTED.into()),
        };
        CpuFailureReason { failure, reason }
    }
}

impl From<ThreadError> for CpuFailureReason {
    fn from(error: ThreadError) -> Self {
        error.failure_reason()
    }
}

fn unbound(cpu: u32, error: &AffinityError) -> (CpuFailure, Unknown) {
    let words = error.to_string();
    match error {
        AffinityError::NoSuchCpu { .. } => (CpuFailure::NotBound, CpusReason::CpuMissing { words }.into()),
        AffinityError::System { error, .. } if failure(*error) == Failure::Denied => {
            (CpuFailure::Denied, CpusReason::BindDenied { cpu, words }.into())
        }
        _ => (CpuFailure::NotBound, CpusReason::NotBound { cpu, words }.into()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A sandbox that denies the call is not a CPU that is offline.
    #[test]
    fn a_denied_bind_is_no_missing_cpu() {
        let denied = std::io::Error::from_raw_os_error(1);
        let refused = |error: Errno| ThreadError::Unbound {
            cpu: 1,
            error: AffinityError::System { call: "sched_setaffinity", error },
        };
        assert_eq!(refused(Errno::from(&denied)).failure_reason().failure, CpuFailure::Denied);
        assert_eq!(refused(Errno::new(22)).failure_reason().failure, CpuFailure::NotBound);
    }
}
