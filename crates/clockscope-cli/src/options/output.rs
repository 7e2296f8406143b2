//! Options on the output, which most commands have.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clockscope_report::{Columns, Format};

use crate::formats;
use crate::output::is_stdout;
use crate::usage::UsageError;

#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// Format
    ///
    /// The default is the one that the ending of --output names, otherwise table.
    #[arg(long, short, value_name = "FORMAT", value_parser = parser_of_all())]
    format: Option<Format>,
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
    /// Write to this file; its ending names the format
    ///
    /// Endings: json, ndjson, csv, md, html, svg, prom, and txt for a table; a name without one is
    /// a table, too. - is standard output. The file appears complete or not at all. An input
    /// of the command is refused.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print no progress, and do not confirm --save
    #[arg(long, short, hide_short_help = true)]
    pub(crate) quiet: bool,
    /// Whether to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_short_help = true)]
    pub(crate) color: ColorArg,
}

impl OutputArgs {
    /// Returns the format: by option, or else by the file's name.
    pub(crate) fn format(&self) -> Format {
        match self.format_by_option() {
            Some((format, _)) => format,
            None => self.file().and_then(formats::by_ending).unwrap_or(Format::Table),
        }
    }

    /// Returns the option that the format is by, as errors name it.
    pub(crate) fn format_origin(&self) -> String {
        match (self.format_by_option(), self.file()) {
            (None, Some(file)) => format!("--output {}", file.display()),
            (Some((format, _)), _) => format!("--format {}", format.name()),
            (None, None) => "--format table".to_owned(),
        }
    }

    /// Refuses a file whose name does not agree with the format, or names none.
    pub(crate) fn refuse_file_name(&self) -> Result<(), UsageError> {
        let Some(file) = self.file() else { return Ok(()) };
        let named = self.format_by_option();
        formats::refuse_ending(file, named.as_ref().map(|(format, option)| (*format, option.as_str())))
    }

    /// Refuses a format that documents of this schema cannot be rendered in.
    pub(crate) fn refuse_format_of(&self, schema: &str) -> Result<(), UsageError> {
        clockscope_report::supported(schema, self.format())
            .map_err(|error| UsageError(format!("{}: {error}", self.format_origin())))
    }

    /// Returns the file; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|file| !is_stdout(file))
    }

    /// Returns the format that an option asks for, and that option.
    fn format_by_option(&self) -> Option<(Format, String)> {
        if self.json {
            Some((Format::Json, "--json".to_owned()))
        } else if self.csv {
            Some((Format::Csv, "--csv".to_owned()))
        } else {
            self.format.map(|format| (format, format!("--format {}", format.name())))
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
    /// The usual ones, with costs relative to the cheapest counter read, and bars
    Relative,
    /// Everything that was measured
    All,
    /// The nine columns of the program clockperf, with the resolution as a frequency
    Clockperf,
}

impl From<ColumnsArg> for Columns {
    fn from(columns: ColumnsArg) -> Self {
        match columns {
            ColumnsArg::Relative => Self::Relative,
            ColumnsArg::All => Self::All,
            ColumnsArg::Clockperf => Self::Clockperf,
        }
    }
}

fn parser_of_all() -> impl TypedValueParser<Value = Format> {
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
