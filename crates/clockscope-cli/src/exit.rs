//! The exit codes.

/// How the program ends (the numbers are part of its interface).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success = 0,
    /// A finding that the user asked to fail on.
    Finding = 1,
    /// Bad arguments.
    Usage = 2,
    /// What the user asked to fail on could not be determined.
    Undetermined = 3,
    /// The measurement itself, or writing it, failed.
    Failed = 4,
    /// Interrupted; what was measured until then was reported.
    Interrupted = 130,
}

impl Exit {
    /// How the program ends by this and another finding: a finding counts more than one that is not
    /// known, and how the run itself ended counts most.
    pub(crate) fn or(self, other: Self) -> Self {
        let weight = |exit: Self| match exit {
            Self::Success => 0,
            Self::Undetermined => 1,
            Self::Finding => 2,
            Self::Usage | Self::Failed | Self::Interrupted => 3,
        };
        if weight(self) >= weight(other) { self } else { other }
    }
}
