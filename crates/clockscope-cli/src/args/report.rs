//! Arguments of `report` and `schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::output::{ColumnsArg, OutputArgs};

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Recorded documents, as --format json wrote them; - for standard input
    ///
    /// Several make one page of --format html.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Chart to draw with --format svg [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
    /// Open the written file in a browser
    #[arg(long, requires = "output")]
    pub(crate) open: bool,
    /// Maximum number of rows of distinct differences [default: 40]
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
    /// Draw histograms and curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Columns of a measurement's table [default: the most important ones]
    #[arg(long, value_name = "COLUMNS", value_enum)]
    pub(crate) columns: Option<ColumnsArg>,
    /// Show all evidence of verdicts, not only what decides them
    #[arg(long, short, conflicts_with = "brief")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Subject of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaArg {
    /// All JSON documents
    #[default]
    Documents,
    /// Policies of `check`
    Policy,
    /// Recordings of `steps`
    Recording,
}
