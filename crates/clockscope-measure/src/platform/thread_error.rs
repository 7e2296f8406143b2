//! Why a thread that was bound to a CPU found nothing.

use std::io::ErrorKind;

use clockscope_machine::affinity::AffinityError;
use clockscope_records::CpuFailure;
use clockscope_sources::Errno;

/// Why a thread that was bound to a CPU found nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadError {
    /// The system refused to start it.
    #[error("no thread can be started: {0}")]
    NotStarted(Errno),
    /// It panicked.
    #[error("its thread ended by a panic")]
    Panicked,
    /// It could not be bound to its CPU.
    #[error("{}", unbound(*cpu, error))]
    Unbound {
        /// The CPU.
        cpu: u32,
        /// Why not.
        error: AffinityError,
    },
    /// It was on another CPU when it ended.
    #[error("its thread was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?")]
    Moved {
        /// The CPU that it was bound to.
        from: u32,
        /// The CPU that it was on.
        to: u32,
    },
    /// The other thread of its pair did not come.
    #[error("the thread on the other CPU did not come")]
    Alone,
    /// The run was interrupted before the thread was started.
    #[error("interrupted before its turn")]
    Interrupted,
    /// A run that was recorded holds no threads.
    #[error("not recorded")]
    NotRecorded,
}

impl ThreadError {
    /// Returns what records have of it beside the sentence.
    pub(crate) fn failure(&self) -> CpuFailure {
        match self {
            Self::NotStarted(_) => CpuFailure::NotStarted,
            Self::Panicked => CpuFailure::Panicked,
            Self::Unbound { error: AffinityError::System { error, .. }, .. } if is_denied(*error) => CpuFailure::Denied,
            Self::Unbound { .. } => CpuFailure::NotBound,
            Self::Moved { .. } => CpuFailure::Moved,
            Self::Alone => CpuFailure::Alone,
            Self::Interrupted => CpuFailure::Interrupted,
            Self::NotRecorded => CpuFailure::NotRecorded,
        }
    }
}

fn unbound(cpu: u32, error: &AffinityError) -> String {
    let hint = match error {
        AffinityError::NoSuchCpu { .. } => return format!("no thread can be bound: {error}"),
        AffinityError::System { error, .. } if is_denied(*error) => "does a seccomp filter or a container forbid it?",
        _ => "is it online, and in the cpuset?",
    };
    format!("no thread can be bound to CPU {cpu} ({error}): {hint}")
}

fn is_denied(error: Errno) -> bool {
    std::io::Error::from(error).kind() == ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sandbox that denies the call is not a CPU that is offline.
    #[cfg(unix)]
    #[test]
    fn a_denied_bind_is_no_missing_cpu() {
        let denied = std::io::Error::from_raw_os_error(1);
        let refused = |error: Errno| ThreadError::Unbound {
            cpu: 1,
            error: AffinityError::System { call: "sched_setaffinity", error },
        };
        assert_eq!(refused(Errno::from(&denied)).failure(), CpuFailure::Denied);
        assert_eq!(refused(Errno::new(22)).failure(), CpuFailure::NotBound);
    }
}
