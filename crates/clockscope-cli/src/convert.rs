//! The command *convert*: files of stamps become times, by the headers in them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use clockscope::stamps::{Converted, Header, Stamp, StampError};
use csv::ByteRecord;

use crate::answer::read_bytes;
use crate::ending::{Ending, Exits};
use crate::exit::Exit;
use crate::output::{self, Destination};
use crate::usage::UsageError;

/// Columns that the answer has behind those of the input.
const COLUMNS: [&str; 8] =
    ["monotonic_ns", "error_ns", "wall", "earliest", "latest", "state", "generation", "without_time"];

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
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
    /// Column of the counts, by its name or its number [default: the first]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
    /// Write to this file instead of standard output
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

impl ConvertArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("convert run.stamps", "a header, and a count in the first column of each row"),
            ("convert run.stamps --column stamp -o run.csv", "rows with counts in the column stamp"),
            ("convert ring.bin --header ring.header --counts le64", "bare counts, their header beside"),
        ],
        more: "The answer is CSV: the columns of the input, and for each count its time on
CLOCK_MONOTONIC, the bound of that time's error, the wall clock's time, the
earliest and the latest true time, how far that is known, the generation of the
process's clock, or the reason why there is no time.

Stamps: https://github.com/clockscope/clockscope/blob/HEAD/docs/tracing.md",
        exits: Exits { finding: "", undecided: "some counts have no time; all others were converted" },
    };
}

/// Counts with the header that converts them.
struct Section<'a> {
    header: Header,
    counts: &'a [u8],
    /// Number of the line at which they begin, from 1 on.
    line: u64,
}

/// The answer to a count.
type Answer = Result<Converted, StampError>;

pub(crate) fn run(args: &ConvertArgs) -> Result<Exit> {
    let wrong = || format!("cannot convert {}", args.file.display());
    let bytes = read_bytes(&args.file).with_context(wrong)?;
    let sections = sections(args, &bytes).with_context(wrong)?;
    let table = Table::of(args, &sections).with_context(wrong)?;
    // All of it, before anything is written.
    let mut without_time = BTreeMap::new();
    let mut total = 0_u64;
    table
        .answer(&mut |_, _, answer| {
            total += 1;
            if let Err(reason) = answer {
                *without_time.entry(reason.to_string()).or_insert(0_u64) += 1;
            }
            Ok(())
        })
        .with_context(wrong)?;
    let destination = Destination::open(args.output.as_deref())?;
    destination.write_by(|out| table.write(out))?;
    for (reason, counts) in &without_time {
        output::warn(&format!("{counts} of {total} counts have no time: {reason}"));
    }
    Ok(if without_time.is_empty() { Exit::Success } else { Exit::Undetermined })
}

/// Splits a file at its headers.
fn sections<'a>(args: &ConvertArgs, bytes: &'a [u8]) -> Result<Vec<Section<'a>>> {
    if let Some(file) = &args.header {
        if bytes.starts_with(b"clockscope stamps ") {
            bail!(UsageError(format!("{} has a header: leave --header out", args.file.display())));
        }
        let header = read_header(file).with_context(|| format!("--header {}", file.display()))?;
        return Ok(vec![Section { header, counts: bytes, line: 1 }]);
    }
    let mut sections = Vec::new();
    let (mut rest, mut line) = (bytes, 1);
    loop {
        let (header, tail) = Header::split(rest).with_context(|| match sections.len() {
            0 => "a stamp file begins with a header; --header names that of bare counts".to_owned(),
            _ => format!("the header at line {line}"),
        })?;
        line += lines(&rest[..rest.len() - tail.len()]);
        let length = match args.counts {
            CountsArg::Csv => next_header(tail),
            CountsArg::Le64 => tail.len(),
        };
        sections.push(Section { header, counts: &tail[..length], line });
        line += lines(&tail[..length]);
        rest = &tail[length..];
        if rest.is_empty() {
            return Ok(sections);
        }
    }
}

fn read_header(file: &Path) -> Result<Header> {
    let bytes = read_bytes(file)?;
    let (header, rest) = Header::split(&bytes)?;
    if rest.trim_ascii().is_empty() { Ok(header) } else { bail!("counts follow it: name this file alone") }
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The number of bytes before the next line that begins a header.
fn next_header(bytes: &[u8]) -> usize {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if Header::begins_with(line) {
            break;
        }
        at += line.len();
    }
    at
}

/// The input as rows.
struct Table<'a> {
    sections: &'a [Section<'a>],
    format: CountsArg,
    /// Number of the column of the counts, from 0 on.
    column: usize,
    /// Names of the columns.
    names: ByteRecord,
    /// The first row of the first section holds them.
    are_named: bool,
}

impl<'a> Table<'a> {
    fn of(args: &ConvertArgs, sections: &'a [Section<'a>]) -> Result<Self> {
        let number = args.column.as_deref().and_then(|column| column.parse::<usize>().ok());
        let with = |column, names, are_named| Self { sections, format: args.counts, column, names, are_named };
        if args.counts == CountsArg::Le64 {
            return match number.unwrap_or(1) {
                1 if args.column.is_none() || number.is_some() => Ok(with(0, ByteRecord::from(vec!["count"]), false)),
                _ => bail!(UsageError("--column: little-endian counts have one column; leave it out".to_owned())),
            };
        }
        let first = sections.iter().find_map(|section| reader(section).into_byte_records().next());
        let first = first.transpose()?.unwrap_or_else(|| ByteRecord::from(vec!["count"]));
        let column = match (&args.column, number) {
            (None, _) => 0,
            (Some(_), Some(number)) if (1..=first.len()).contains(&number) => number - 1,
            (Some(name), _) => match first.iter().position(|field| field == name.as_bytes()) {
                Some(column) => column,
                None => bail!(UsageError(format!("--column {name}: the columns are {}", shown(&first)))),
            },
        };
        if count(&first[column]).is_none() {
            return Ok(with(column, first, true));
        }
        let name = |index: usize| if index == column { "count".to_owned() } else { format!("column{}", index + 1) };
        Ok(with(column, (0..first.len()).map(name).collect::<Vec<_>>().into(), false))
    }

    /// Answers each row.
    fn answer(&self, take: &mut dyn FnMut(&ByteRecord, &Header, Answer) -> io::Result<()>) -> Result<()> {
        self.sections.iter().try_for_each(|section| match self.format {
            CountsArg::Csv => self.answer_rows(section, take),
            CountsArg::Le64 => answer_counts(section, take),
        })
    }

    fn answer_rows(
        &self,
        section: &Section<'_>,
        take: &mut dyn FnMut(&ByteRecord, &Header, Answer) -> io::Result<()>,
    ) -> Result<()> {
        let mut rows = reader(section);
        let mut row = ByteRecord::new();
        while rows.read_byte_record(&mut row).with_context(|| below(section))? {
            if self.are_named && row == self.names {
                continue;
            }
            let line = section.line + row.position().map_or(0, |position| position.line() - 1);
            if row.len() != self.names.len() {
                bail!("line {line} has {} columns, and the first one has {}", row.len(), self.names.len());
            }
            let field = &row[self.column];
            let Some(count) = count(field) else {
                let hint = if section.counts.contains(&0) { "; --counts le64 is for little-endian ones" } else { "" };
                bail!(
                    "line {line}: {:?} is not a count, which is from 0 to {}{hint}",
                    String::from_utf8_lossy(field),
                    u64::MAX
                );
            };
            take(&row, &section.header, section.header.convert(Stamp::from_count(count)))?;
        }
        Ok(())
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_byte_record(&self.names.iter().chain(COLUMNS.map(str::as_bytes)).collect())?;
        let written = self.answer(&mut |row, header, answer| {
            row.iter().try_for_each(|field| writer.write_field(field))?;
            for text in texts(header, answer) {
                writer.write_field(text.as_bytes())?;
            }
            writer.write_record(None::<&[u8]>)?;
            Ok(())
        });
        written.map_err(|error| error.downcast().unwrap_or_else(io::Error::other))?;
        writer.flush()
    }
}

fn answer_counts(
    section: &Section<'_>,
    take: &mut dyn FnMut(&ByteRecord, &Header, Answer) -> io::Result<()>,
) -> Result<()> {
    let (counts, rest) = section.counts.as_chunks::<8>();
    if !rest.is_empty() {
        bail!("the counts end in the middle of one: {} bytes are not a multiple of 8", section.counts.len());
    }
    counts.iter().try_for_each(|bytes| {
        let count = u64::from_le_bytes(*bytes);
        let row = ByteRecord::from(vec![count.to_string()]);
        Ok(take(&row, &section.header, section.header.convert(Stamp::from_count(count)))?)
    })
}

/// The texts of the columns behind the input's.
fn texts(header: &Header, answer: Answer) -> [Cow<'static, str>; COLUMNS.len()] {
    let Converted { instant, error_bound, wall, interval, .. } = match answer {
        Ok(converted) => converted,
        Err(reason) => {
            let mut texts = [const { Cow::Borrowed("") }; COLUMNS.len()];
            texts[COLUMNS.len() - 1] = reason.to_string().into();
            return texts;
        }
    };
    let end = |end: clockscope::WallTime| if interval.state.is_bounded() { end.to_string() } else { String::new() };
    [
        instant.as_ns().to_string().into(),
        error_bound.as_nanos().to_string().into(),
        wall.map_or(String::new(), |wall| wall.to_string()).into(),
        end(interval.earliest).into(),
        end(interval.latest).into(),
        interval.state.as_str().into(),
        header.generation().to_string().into(),
        "".into(),
    ]
}

fn reader<'a>(section: &Section<'a>) -> csv::Reader<&'a [u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(section.counts)
}

fn below(section: &Section<'_>) -> String {
    format!("the rows from line {} on", section.line)
}

fn count(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn shown(names: &ByteRecord) -> String {
    let names = names.iter().enumerate().map(|(at, name)| format!("{} ({})", at + 1, String::from_utf8_lossy(name)));
    names.collect::<Vec<_>>().join(", ")
}
