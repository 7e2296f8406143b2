//! The arguments of *stamps*, and its help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::ending::{Ending, Exits};

#[derive(Args, Debug)]
pub(crate) struct StampsArgs {
    /// A header and counts below it, as the library's stamps write it; - for standard input
    ///
    /// A CSV file may have several headers, each followed by its counts.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The header, if it is in a file of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) header: Option<PathBuf>,
    /// Format of the counts
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) counts: CountsArg,
    /// Column of the counts, by its name or its number, from 1 on [default: 1]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
    /// Write to this file instead of standard output (-)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Format of counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountsArg {
    /// Columns, with or without names in the first row
    #[default]
    Csv,
    /// 64 bits each, little-endian
    Le64,
}

impl StampsArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("stamps run.stamps", "a header, and a count in the first column of each row"),
            ("stamps run.stamps --column stamp -o run.csv", "rows with counts in the column stamp"),
            ("stamps ring.bin --header ring.header --counts le64", "bare counts, their header beside"),
        ],
        more: "The answer is CSV: the columns of the input, and for each count its time on
CLOCK_MONOTONIC, the bound of that time's error, the wall clock's time, the
earliest and the latest true time, the state of these two, boot and process of
the header, and the generation of the process's clock. The last column has the
reason if a count has no time.

The file: clockscope help stamps-file",
        exits: Exits { finding: "", undecided: "some counts have no time; all others were converted" },
    };
}
