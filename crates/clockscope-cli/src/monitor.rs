//! Ends of a check for a monitor.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use clockscope_records::Check;
use clockscope_report::ClockHealth;

use crate::exit::Exit;

/// Time that a check takes whose answer is a line: monitors wait for a few seconds.
pub(crate) const ONE_LINE_DURATION: &str = "2s";

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct MonitorArgs {
    /// Print one line of at most 80 characters, for a monitor; within 3 s by default
    ///
    /// It begins with OK, WARNING (a clock is limited), CRITICAL (a clock is unfit, or a finding of
    /// --fail-on or of --policy) or UNKNOWN (no clock is worse than undecided, or one is missing).
    #[arg(long, conflicts_with_all = ["format", "json", "csv", "brief", "verbose", "baseline"])]
    pub(crate) one_line: bool,
    /// Meaning of the exit code
    #[arg(long, value_name = "CODES", value_enum, default_value_t, conflicts_with = "baseline")]
    pub(crate) exit_codes: ExitCodes,
}

/// Meaning of the exit codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExitCodes {
    /// As of all commands: what --fail-on and --policy name decides
    #[default]
    Clockscope,
    /// 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, also for wrong arguments
    Nagios,
}

/// The state of the clocks, where a check ended so: a finding that the user asked for counts as the
/// worst, and what is not known is no better than a clock that is limited.
pub(crate) fn health(found: &Check, exit: Exit) -> ClockHealth {
    match (exit, ClockHealth::from_check(found)) {
        (Exit::Finding, _) | (Exit::Undetermined | Exit::Unanswered | Exit::Success, ClockHealth::Critical) => {
            ClockHealth::Critical
        }
        (Exit::Success, health) => health,
        (
            Exit::Undetermined | Exit::Unanswered | Exit::Usage | Exit::Failed | Exit::Interrupted | Exit::Monitored(_),
            _,
        ) => ClockHealth::Unknown,
    }
}

/// Returns what the line says beside the verdicts.
pub(crate) fn remark(exit: Exit) -> Option<&'static str> {
    match exit {
        Exit::Interrupted => Some("interrupted"),
        Exit::Finding => Some("policy or --fail-on"),
        Exit::Undetermined => Some("policy or --fail-on unknown"),
        // The line says that no clock was judged.
        Exit::Unanswered | Exit::Success | Exit::Usage | Exit::Failed | Exit::Monitored(_) => None,
    }
}

/// Options that a monitor may have asked for in a command line that cannot be understood, or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestedOutput {
    pub(crate) one_line: bool,
    pub(crate) is_nagios: bool,
}

impl RequestedOutput {
    /// Looks for the two options among the words after the program's name.
    pub(crate) fn new(words: &[OsString]) -> Self {
        let is_named = words.windows(2).any(|two| two[0] == "--exit-codes" && two[1] == "nagios");
        let is_joined = words.iter().any(|word| word == "--exit-codes=nagios");
        Self { one_line: words.iter().any(|word| word == "--one-line"), is_nagios: is_named || is_joined }
    }

    /// Returns the end of a program that could not do what it was asked for.
    pub(crate) fn failed(self, exit: Exit) -> Exit {
        if self.is_nagios { Exit::Monitored(ClockHealth::Unknown) } else { exit }
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Trustworthiness, Uses, Verdict};

    use super::*;

    #[test]
    fn a_state_follows_from_verdicts_and_findings() {
        let check = |verdict| Check {
            verdicts: vec![Verdict { clock: "tsc".to_owned(), verdict, uses: Uses::default(), evidence: Vec::new() }],
            ..Check::default()
        };
        for (verdict, exit, expected) in [
            (Trustworthiness::Trusted, Exit::Success, ClockHealth::Ok),
            (Trustworthiness::Limited, Exit::Success, ClockHealth::Warning),
            (Trustworthiness::Unfit, Exit::Success, ClockHealth::Critical),
            (Trustworthiness::Undecided, Exit::Success, ClockHealth::Unknown),
            (Trustworthiness::Trusted, Exit::Finding, ClockHealth::Critical),
            (Trustworthiness::Limited, Exit::Undetermined, ClockHealth::Unknown),
            (Trustworthiness::Unfit, Exit::Undetermined, ClockHealth::Critical),
            (Trustworthiness::Unfit, Exit::Interrupted, ClockHealth::Unknown),
        ] {
            assert_eq!(health(&check(verdict), exit), expected, "{verdict:?} {exit:?}");
        }
        assert_eq!(health(&Check::default(), Exit::Success), ClockHealth::Unknown);
    }

    #[test]
    fn options_of_a_monitor_are_found_among_wrong_words() {
        let requested = |line: &str| RequestedOutput::new(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let [neither, line, codes, both] = [
            "check --sundial",
            "check --one-line x",
            "check --exit-codes=nagios",
            "check --one-line --exit-codes nagios",
        ]
        .map(requested);
        assert_eq!([neither.one_line, line.one_line, codes.one_line, both.one_line], [false, true, false, true]);
        assert_eq!([neither.is_nagios, line.is_nagios, codes.is_nagios, both.is_nagios], [false, false, true, true]);
        assert_eq!(both.failed(Exit::Usage).code(), 3);
        assert_eq!(line.failed(Exit::Usage).code(), 2);
    }
}
