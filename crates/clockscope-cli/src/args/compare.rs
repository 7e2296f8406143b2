//! Options of comparisons with earlier records.

use clap::Args;

use super::OutputArgs;
use crate::changes::ChangeFinding;
use crate::numbers::{self, Share};

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Records to compare with: a file, a folder, a quoted pattern, or several with commas
    ///
    /// Of `clockscope measure --json` or `clockscope check --json`. Several records a side, or one
    /// of `measure --repeat`, show how much runs differ.
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// Records to judge, in the same way
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// Compare these clocks alone: fewer have narrower bounds
    #[arg(long = "clock", value_name = "CLOCK", value_delimiter = ',', num_args = 1)]
    pub(crate) clocks: Vec<String>,
    /// Change of a cost that does not matter, e.g. 2% or 0.02
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_MARGIN, value_parser = numbers::share, allow_hyphen_values = true)]
    pub(crate) margin: Share,
    /// Compare records of different machines
    #[arg(long)]
    pub(crate) across_machines: bool,
    /// Exit with 1 for any of these changes, with 3 if that could not be determined
    #[arg(long, value_name = "CHANGE", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<ChangeFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Largest change of a cost that does not matter by default.
const DEFAULT_MARGIN: &str = "2%";

/// Earlier records that an answer is compared with.
#[derive(Args, Debug)]
pub(crate) struct BaselineArgs {
    /// Compare with these records, as `clockscope compare` does, and show what has changed
    ///
    /// A file, a folder, a quoted pattern, or several with commas. --fail-on takes the changes as
    /// well: slower, verdict, clocksource, events.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) baseline: Option<String>,
    /// With --baseline: compare with records of another machine, too
    #[arg(long, requires = "baseline", hide_short_help = true)]
    pub(crate) across_machines: bool,
    /// With --baseline: change of a cost that does not matter, e.g. 2% or 0.02
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_MARGIN, value_parser = numbers::share, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) margin: Share,
}
