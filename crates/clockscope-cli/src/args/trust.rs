//! Arguments of `check` and `shootout`.

use std::path::PathBuf;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use clockscope_records::Use;

use super::compare::BaselineArgs;
use super::monitor::{self, MonitorArgs};
use super::output::OutputArgs;
use crate::changes::{OrChange, or_change};
use crate::duration::{self, Seconds};
use crate::findings::CheckFinding;

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Clocks by name or alias; "counter" is the processor's [default: the counter and all POSIX
    /// clocks]
    #[arg(value_name = "CLOCK")]
    pub(crate) clocks: Vec<String>,
    /// Use to judge the clocks for: interval (how long something takes), civil (date and time of
    /// day), or all; civil judges only clocks that show civil time
    #[arg(long = "for", value_name = "USE", default_value = "all")]
    pub(crate) for_use: JudgedUse,
    /// Demands on the clocks (TOML; `clockscope schema policy`): exit with 1 if one is not met,
    /// with 3 if that is unknown
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// CPU to measure on where one is enough [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for everything; 2s with --one-line
    #[arg(long, short, value_name = "TIME", default_value = "5s", default_value_if("one_line", ArgPredicate::IsPresent, monitor::ONE_LINE_DURATION), value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if a clock has any of these findings, with 3 if that could not be determined
    ///
    /// The changes (slower, verdict, clocksource, events) need --baseline.
    #[arg(long, value_name = "FINDING", value_parser = or_change::<CheckFinding>(), value_delimiter = ',')]
    pub(crate) fail_on: Vec<OrChange<CheckFinding>>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Show all evidence, not only what decides a verdict
    ///
    /// JSON, CSV and Markdown always have all of it.
    #[arg(long, short, conflicts_with = "brief")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Uses that clocks are judged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JudgedUse {
    Interval,
    Civil,
    All,
}

impl JudgedUse {
    /// The one use; `None` for all.
    pub(crate) fn alone(self) -> Option<Use> {
        match self {
            Self::Interval => Some(Use::Interval),
            Self::Civil => Some(Use::Civil),
            Self::All => None,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ShootoutArgs {
    /// One clock [default: the processor's counter, by an ordered read]
    #[arg(value_name = "A")]
    pub(crate) a: Option<String>,
    /// The other [default: monotonic]
    #[arg(value_name = "B")]
    pub(crate) b: Option<String>,
    /// CPU to measure on where one is enough [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for everything
    #[arg(long, short, value_name = "TIME", default_value = "3s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
