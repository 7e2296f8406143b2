//! Reasons why a thread that was bound to a CPU found nothing.

use clockscope_records::{CpusReason, ErrorCause};
use clockscope_system::Errno;
use clockscope_system::affinity::AffinityError;
use clockscope_system::failure::{cause, system_error};

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

impl From<ThreadError> for CpusReason {
    fn from(error: ThreadError) -> Self {
        match error {
            ThreadError::NotStarted(errno) => Self::NotStarted { words: system_error(errno).words },
            ThreadError::Panicked => Self::Panicked,
            ThreadError::Unbound { cpu, error } => unbound(cpu, &error),
            ThreadError::Moved { from, to } => Self::MovedAway { from, to },
            ThreadError::Alone => Self::PeerMissing,
            ThreadError::Interrupted => Self::Interrupted,
        }
    }
}

fn unbound(cpu: u32, error: &AffinityError) -> CpusReason {
    let words = error.to_string();
    match error {
        AffinityError::NoSuchCpu { .. } => CpusReason::CpuMissing { words },
        AffinityError::System { error, .. } if cause(*error) == ErrorCause::Denied => {
            CpusReason::BindDenied { cpu, words }
        }
        _ => CpusReason::NotBound { cpu, words },
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A sandbox that denies the call is not a CPU that is offline.
    #[test]
    fn a_denied_bind_is_no_missing_cpu() {
        let denied = std::io::Error::from_raw_os_error(1);
        let refused = |error: Errno| unbound(1, &AffinityError::System { call: "sched_setaffinity", error });
        assert!(matches!(refused(Errno::from(&denied)), CpusReason::BindDenied { cpu: 1, .. }));
        assert!(matches!(refused(Errno::new(22)), CpusReason::NotBound { cpu: 1, .. }));
    }
}
