//! Options on the output, which most commands have.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clockscope_report::{Columns, Format};

#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Format
    #[arg(long, short, value_name = "FORMAT", default_value = "table", value_parser = formats())]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "csv"])]
    json: bool,
    /// The same as --format csv
    #[arg(long, conflicts_with = "format", hide_short_help = true)]
    csv: bool,
    /// Show only the conclusion and the main table
    ///
    /// At most 15 lines, in the formats table and markdown: as many rows as fit, and of a wide
    /// table the columns that fit.
    #[arg(long, short)]
    pub(crate) brief: bool,
    /// Show all facts about the machine, not one line
    #[arg(long, hide_short_help = true)]
    pub(crate) machine: bool,
    /// Write to this file instead of standard output
    ///
    /// It appears complete or not at all.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Draw no progress bar
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
    /// Whether to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_short_help = true)]
    pub(crate) color: ColorArg,
}

impl OutputArgs {
    /// The format that was asked for.
    pub(crate) fn format(&self) -> Format {
        match (self.json, self.csv) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => self.format,
        }
    }
}

/// Use of colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

/// Columns of the table of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColumnsArg {
    /// Everything that was measured
    All,
    /// The nine columns of the program clockperf, with the resolution as a frequency
    Clockperf,
}

impl From<ColumnsArg> for Columns {
    fn from(columns: ColumnsArg) -> Self {
        match columns {
            ColumnsArg::All => Self::All,
            ColumnsArg::Clockperf => Self::Clockperf,
        }
    }
}

fn formats() -> impl TypedValueParser<Value = Format> {
    parser(|_| true)
}

/// The formats, of which the help shows those that documents of this schema have.
pub(crate) fn formats_of(schema: &str) -> impl TypedValueParser<Value = Format> {
    parser(|format| clockscope_report::supported(schema, format).is_ok())
}

fn parser(is_visible: impl Fn(Format) -> bool) -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.iter().map(|format| PossibleValue::new(format.name()).hide(!is_visible(*format)));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Format>())
}
