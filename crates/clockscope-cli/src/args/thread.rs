//! Arguments of `gaps` and `sleep`.

use clap::Args;

use super::clocks::TimerArgs;
use super::output::OutputArgs;
use crate::duration::{self, Seconds};
use crate::findings::SleepFinding;
use crate::numbers::{self, Cpus};

#[derive(Args, Debug)]
pub(crate) struct GapsArgs {
    /// Shortest time between two reads that counts as a gap
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) threshold: Seconds,
    /// Time for observing
    #[arg(long, short, value_name = "TIME", default_value = "2s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// CPUs to observe, all at once, e.g. 0-3,8 [default: the current one]
    #[arg(long, visible_alias = "cpu", value_name = "LIST", value_parser = numbers::cpus)]
    pub(crate) cpus: Option<Cpus>,
    /// Observe all CPUs that this process may run on
    #[arg(long, conflicts_with = "cpus")]
    pub(crate) all_cpus: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SleepArgs {
    /// CPU to sleep on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Approximate time for all calls together; shorter runs leave out the longest sleeps
    #[arg(long, short, value_name = "TIME", default_value = "6s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) timer: TimerArgs,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<SleepFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
