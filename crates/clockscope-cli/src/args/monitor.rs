//! Options for monitors, which show a line and look at the exit code.

use clap::{Args, ValueEnum};

/// Time that a check takes whose answer is a line: monitors wait for a few seconds.
pub(crate) const ONE_LINE_DURATION: &str = "2s";

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct MonitorArgs {
    /// Print one line of at most 80 characters, for a monitor; within 3 s by default
    ///
    /// It begins with OK, WARNING (a clock is limited), CRITICAL (a clock is unfit, or a finding of
    /// --fail-on or of --policy) or UNKNOWN (no clock is worse than undecided).
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
