//! Arguments of `rate`.

use clap::Args;

use super::clocks::ClockArgs;
use super::output::OutputArgs;
use crate::duration::{self, Seconds};
use crate::findings::RateFinding;
use crate::numbers::{self, Ppm};

#[derive(Args, Debug)]
pub(crate) struct RateArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// The clock that the others are compared with [default: monotonic_raw:vdso]
    #[arg(long, value_name = "CLOCK")]
    pub(crate) reference: Option<String>,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for comparing; with --until, the maximum [default: 2s, with --until 60s]
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Option<Seconds>,
    /// Stop as soon as every clock's bound is this small, e.g. 0.1ppm or 20ppb; exit with 3 if the
    /// time was too short
    #[arg(long, value_name = "BOUND", value_parser = numbers::ppm, allow_hyphen_values = true)]
    pub(crate) until: Option<Ppm>,
    /// Draw curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<RateFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
