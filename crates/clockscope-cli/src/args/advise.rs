//! Arguments of `advise`.

use std::path::PathBuf;

use clap::Args;

use super::output::OutputArgs;
use crate::duration::{self, Seconds};
use crate::numbers::{self, Share};

#[derive(Args, Debug)]
pub(crate) struct AdviseArgs {
    /// Interval to measure, with a unit (ns, us, ms, s, min) [default: a table of 1ns to 1s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_interval, allow_hyphen_values = true)]
    pub(crate) interval: Option<Seconds>,
    /// Acceptable reading error, as a share of the interval, e.g. 1% or 0.01
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = numbers::share, allow_hyphen_values = true)]
    pub(crate) error: Share,
    /// Use this recorded document of `measure` or `steps` instead of measuring; - for standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cpu", "duration"])]
    pub(crate) from: Option<PathBuf>,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for sampling, all clocks together
    #[arg(long, short, value_name = "TIME", default_value = "2.5s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
