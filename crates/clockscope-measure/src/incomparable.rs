//! Why a clock's rate cannot be compared.

use clockscope_records::Failure;
use clockscope_sources::Errno;

use crate::unreadable::Unreadable;

/// Why a clock cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Incomparable {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It is one of CPU time.
    #[error("it counts processor time, which stands still while the thread does not run")]
    CpuTime,
    /// It counts work.
    #[error("it counts core cycles, whose length changes")]
    Cycles,
    /// Nothing bounds how late it is.
    #[error("it did not step while it was looked at: how late it may be is unknown")]
    NoStep {
        /// For how long it was looked at.
        ns: f64,
    },
    /// It answered when it was tried, and refused later.
    #[error("a read failed: {0}")]
    ReadFailed(Errno),
}

impl Incomparable {
    /// Returns what records have of it beside the sentence.
    pub(crate) fn failure(&self) -> Option<Failure> {
        match self {
            Self::Unreadable(unreadable) => unreadable.failure(),
            Self::CpuTime | Self::Cycles => Some(Failure::NotApplicable),
            Self::NoStep { .. } => Some(Failure::StoodStill),
            Self::ReadFailed(_) => Some(Failure::DuringRun),
        }
    }

    /// Returns for how long the clock did not step, in ns, if that is why.
    pub(crate) fn stood_still_ns(&self) -> Option<f64> {
        if let Self::NoStep { ns } = self { Some(*ns) } else { None }
    }
}
