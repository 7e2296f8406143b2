//! What the command line accepts.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clockscope_measure::Paths;
use clockscope_report::Format;

use crate::duration::{self, Seconds};
use crate::findings::FailOn;

/// See every clock your machine has, know which one to trust and why, and read the fastest.
///
/// Without a subcommand it measures: `clockscope tsc monotonic` is `clockscope measure tsc monotonic`.
#[derive(Debug, Parser)]
#[command(name = "clockscope", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure what a read costs, how fine it ticks, and what happens between reads (the default)
    Measure(Box<MeasureArgs>),
    /// List all clocks: nominal resolution, and whether they can be read here
    List(ListArgs),
    /// Show the facts about this machine that clocks depend on
    Info(OutputArgs),
    /// Render a recorded JSON document in any format
    Report(ReportArgs),
    /// Print the JSON Schema of all JSON documents
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Args, Debug)]
pub(crate) struct MeasureArgs {
    /// Clocks to measure, by name or alias, e.g. tsc or monotonic:vdso; all of them if none is named
    #[arg(value_name = "CLOCK")]
    pub(crate) names: Vec<String>,
    /// The same as naming CLOCK
    #[arg(long = "clock", value_name = "CLOCK")]
    pub(crate) clocks: Vec<String>,
    /// By which path clocks that have several are read
    #[arg(long, value_enum, default_value_t)]
    pub(crate) path: PathArg,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for sampling, all clocks together; with a unit (ns, us, ms, s, min), a bare number is seconds
    #[arg(long, value_name = "TIME", default_value = "2.5s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if a measured clock shows any of these, with 3 if that could not be determined
    #[arg(long, value_name = "EVENT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Which paths to list of clocks that have several
    #[arg(long, value_enum, default_value_t)]
    pub(crate) path: PathArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The recorded document, as --format json wrote it; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Format of the output
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = formats())]
    pub(crate) format: Format,
    /// Write to this file instead of standard output; it appears complete or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Draw no progress bar
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Whether to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorArg,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

/// By which path to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathArg {
    /// The C library
    #[default]
    Libc,
    /// The vDSO, resolved by clockscope
    Vdso,
    /// The bare system call
    Syscall,
    /// All three, a row each
    All,
}

impl From<PathArg> for Paths {
    fn from(path: PathArg) -> Self {
        match path {
            PathArg::Libc => Self::Libc,
            PathArg::Vdso => Self::Vdso,
            PathArg::Syscall => Self::Syscall,
            PathArg::All => Self::All,
        }
    }
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name())).try_map(|name| name.parse::<Format>())
}
