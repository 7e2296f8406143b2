//! The exit codes.

use clockscope_report::ClockHealth;

/// Ends of the program (the numbers are part of its interface).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success,
    /// A finding that the user asked to fail on.
    Finding,
    /// Bad arguments.
    Usage,
    /// The user asked to fail on something that could not be determined.
    Undetermined,
    /// The answer has nothing of what was asked: no result at all.
    Unanswered,
    /// The measurement itself, or writing it, failed.
    Failed,
    /// Interrupted; what was measured until then was reported.
    Interrupted,
    /// By the state of the clocks, as Nagios has it.
    Monitored(ClockHealth),
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success | Self::Monitored(ClockHealth::Ok) => 0,
            Self::Finding | Self::Monitored(ClockHealth::Warning) => 1,
            Self::Usage | Self::Monitored(ClockHealth::Critical) => 2,
            Self::Undetermined | Self::Unanswered | Self::Monitored(ClockHealth::Unknown) => 3,
            Self::Failed => 4,
            Self::Interrupted => 130,
        }
    }

    /// Returns the end of the program by this and another finding: a finding counts more than one
    /// that is not known, and how the run itself ended counts most.
    pub(crate) fn or(self, other: Self) -> Self {
        let weight = |exit: Self| match exit {
            Self::Success => 0,
            Self::Undetermined => 1,
            Self::Unanswered => 2,
            Self::Finding => 3,
            Self::Usage | Self::Failed | Self::Interrupted | Self::Monitored(_) => 4,
        };
        if weight(self) >= weight(other) { self } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit::{Failed, Finding, Interrupted, Monitored, Success, Unanswered, Undetermined, Usage};
    use super::*;

    #[test]
    fn a_finding_counts_more_than_an_unknown_one() {
        for (one, other, both) in [
            (Success, Success, Success),
            (Success, Undetermined, Undetermined),
            (Undetermined, Unanswered, Unanswered),
            (Undetermined, Finding, Finding),
            (Unanswered, Finding, Finding),
            (Finding, Interrupted, Interrupted),
            (Undetermined, Failed, Failed),
            (Success, Usage, Usage),
        ] {
            assert_eq!([one.or(other), other.or(one)], [both; 2], "{one:?} {other:?}");
        }
    }

    /// Scripts depend on the first six, and Nagios' plugin guidelines state the others.
    #[test]
    fn codes_are_part_of_the_interface() {
        let codes = [Success, Finding, Usage, Undetermined, Failed, Interrupted].map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 130]);
        assert_eq!(Unanswered.code(), 3);
        let states = [ClockHealth::Ok, ClockHealth::Warning, ClockHealth::Critical, ClockHealth::Unknown];
        assert_eq!(states.map(|state| Monitored(state).code()), [0, 1, 2, 3]);
    }
}
