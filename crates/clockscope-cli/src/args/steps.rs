//! Arguments of `steps` and `replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::clocks::ClockArgs;
use super::output::OutputArgs;
use crate::duration::{self, Seconds};
use crate::findings::FailOn;
use crate::numbers::{self, Reads};

#[derive(Args, Debug)]
pub(crate) struct StepsArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// CPU to read on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Number of reads of each clock, e.g. 10000 or 1e8 [default with --raw: 10000]
    #[arg(long, value_name = "N", value_parser = numbers::reads, allow_hyphen_values = true)]
    pub(crate) reads: Option<Reads>,
    /// Time for all clocks together [default: 2s]
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, conflicts_with_all = ["reads", "raw"])]
    pub(crate) duration: Option<Seconds>,
    /// Write every reading to this file, in ns since the clock's first one; a file that ends in
    /// .json is a recording for `clockscope replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) raw: Option<PathBuf>,
    /// Format of that file [default: by its ending, otherwise csv]
    #[arg(long, value_name = "FORMAT", value_enum, requires = "raw")]
    pub(crate) raw_format: Option<RawFormatArg>,
    /// Style of CSV
    #[arg(long, value_name = "STYLE", value_enum, requires = "raw", default_value_t)]
    pub(crate) raw_style: RawStyleArg,
    #[command(flatten)]
    pub(crate) answer: StepsAnswerArgs,
}

/// Options by which an answer of `steps` is shown and judged.
#[derive(Args, Debug)]
pub(crate) struct StepsAnswerArgs {
    /// Maximum number of rows of distinct differences: the most frequent ones
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) rows: usize,
    /// Draw histograms and curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Exit with 1 if a clock shows any of these, with 3 if that could not be determined
    #[arg(long, value_name = "EVENT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The recording, as `clockscope steps --raw FILE.json` wrote it; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) answer: StepsAnswerArgs,
}

/// Format of raw readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawFormatArg {
    /// One line per reading
    Csv,
    /// One object per line
    Ndjson,
    /// One array per clock, one after the other, for `numpy.load`
    Npy,
    /// Everything that the run read, for `clockscope replay`
    Recording,
}

/// Style of CSV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawStyleArg {
    /// A header, and `clock,ns`
    #[default]
    Plain,
    /// No header, and `clock ns`
    Labeled,
}
