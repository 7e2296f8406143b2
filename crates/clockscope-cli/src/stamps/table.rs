//! The rows of a stamp file, and their answers.

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::{Result, bail};
use clockscope::WallTime;
use clockscope::stamps::{Converted, Header, Stamp, StampError};
use csv::ByteRecord;

use super::arguments::{CountsArg, StampsArgs};
use super::sections::Section;
use crate::usage::UsageError;

/// Columns appended to the input's.
const COLUMNS: [&str; 10] =
    ["monotonic_ns", "error_ns", "wall", "earliest", "latest", "state", "boot", "process", "generation", "reason"];

/// The answer to a count.
pub(super) type Answer = Result<Converted, StampError>;

/// Takes a row, the header above it, and the answer.
type Take<'a> = dyn FnMut(&ByteRecord, &Header, Answer) -> io::Result<()> + 'a;

/// The input as rows.
pub(super) struct Table<'a> {
    sections: &'a [Section<'a>],
    format: CountsArg,
    /// Number of the column of the counts, from 0 on.
    column: usize,
    /// Names of the columns.
    names: ByteRecord,
    /// The first row of each section holds them.
    are_named: bool,
}

impl<'a> Table<'a> {
    pub(super) fn new(args: &StampsArgs, sections: &'a [Section<'a>]) -> Result<Self> {
        let names = ByteRecord::from(vec!["count"]);
        let mut table = Self { sections, format: args.counts, column: 0, names, are_named: false };
        let number = args.column.as_deref().and_then(|column| column.parse::<usize>().ok());
        if args.counts == CountsArg::Le64 {
            if args.column.is_some() && number != Some(1) {
                bail!(UsageError("--column: little-endian counts have one column; leave it out".to_owned()));
            }
            return Ok(table);
        }
        sections.iter().try_for_each(quotes_are_closed)?;
        let first = sections.iter().find_map(|section| reader(section).into_byte_records().next());
        let Some(first) = first.transpose()? else { return Ok(table) };
        table.are_named = are_names(&first);
        table.column = match (args.column.as_deref(), number) {
            (None, _) => 0,
            (Some(_), Some(number)) if (1..=first.len()).contains(&number) => number - 1,
            (Some(column), Some(_)) => {
                bail!(UsageError(format!("--column {column}: expected 1 to {}, or a name", first.len())))
            }
            (Some(name), None) if table.are_named => named(&first, name)?,
            (Some(name), None) => bail!(UsageError(format!("--column {name}: the first row has no names"))),
        };
        if !table.are_named {
            let mut names: Vec<String> = (1..=first.len()).map(|number| format!("column{number}")).collect();
            "count".clone_into(&mut names[table.column]);
            table.names = names.into();
            return Ok(table);
        }
        if let Some(name) = COLUMNS.into_iter().find(|name| first.iter().any(|field| field == name.as_bytes())) {
            bail!("the input has a column {name}, as the answer has: rename it");
        }
        table.names = first;
        Ok(table)
    }

    /// Answers each row.
    pub(super) fn answer(&self, take: &mut Take<'_>) -> Result<()> {
        self.sections.iter().try_for_each(|section| match self.format {
            CountsArg::Csv => self.answer_rows(section, take),
            CountsArg::Le64 => answer_counts(section, take),
        })
    }

    fn answer_rows(&self, section: &Section<'_>, take: &mut Take<'_>) -> Result<()> {
        let mut rows = reader(section);
        let mut row = ByteRecord::new();
        let mut is_first = true;
        while rows.read_byte_record(&mut row)? {
            let is_of_names = self.are_named && std::mem::take(&mut is_first);
            let line = || section.line_of(row.position().map_or(0, |position| position.byte() as usize));
            if is_of_names {
                if row != self.names {
                    bail!("line {}: the names of the columns are not those below the first header", line());
                }
                continue;
            }
            if row.len() != self.names.len() {
                bail!("line {} has {} columns: expected {}, as the first has", line(), row.len(), self.names.len());
            }
            let field = &row[self.column];
            let Some(count) = count(field) else {
                let (field, most) = (String::from_utf8_lossy(field), u64::MAX);
                bail!("line {}: {field:?} is not a count: expected 0 to {most}{}", line(), hint(section, &row));
            };
            take(&row, &section.header, section.header.convert(Stamp::from_count(count)))?;
        }
        Ok(())
    }

    /// Writes the answer.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let names: ByteRecord = self.names.iter().chain(COLUMNS.map(str::as_bytes)).collect();
        writer.write_byte_record(&names).map_err(output_error)?;
        let written = self.answer(&mut |row, header, answer| {
            row.iter().try_for_each(|field| writer.write_field(field)).map_err(output_error)?;
            let texts = texts(header, answer);
            texts.iter().try_for_each(|text| writer.write_field(text.as_bytes())).map_err(output_error)?;
            writer.write_record(None::<&[u8]>).map_err(output_error)
        });
        written.map_err(|error| error.downcast().unwrap_or_else(io::Error::other))?;
        writer.flush()
    }
}

fn answer_counts(section: &Section<'_>, take: &mut Take<'_>) -> Result<()> {
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
    let mut texts = [const { Cow::Borrowed("") }; COLUMNS.len()];
    texts[6] = header.boot().unwrap_or_default().to_owned().into();
    texts[7] = header.process().to_string().into();
    texts[8] = header.generation().to_string().into();
    let Converted { instant, error_bound, wall, interval, .. } = match answer {
        Ok(converted) => converted,
        Err(reason) => {
            texts[9] = reason.word().into();
            return texts;
        }
    };
    texts[0] = instant.as_ns().to_string().into();
    texts[1] = error_bound.as_nanos().to_string().into();
    texts[2] = wall.as_ref().map(WallTime::to_string).unwrap_or_default().into();
    if let Some(interval) = interval {
        if interval.state.is_bounded() {
            texts[3] = interval.earliest.to_string().into();
            texts[4] = interval.latest.to_string().into();
        }
        texts[5] = interval.state.as_str().into();
    }
    texts
}

/// Returns the error of the output, whose kind shows a reader that closed it early.
fn output_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

fn reader<'a>(section: &Section<'a>) -> csv::Reader<&'a [u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(section.counts)
}

/// Each quoted field has an even number of quotes. Where the last one is missing, the reader would
/// take all that follows for one field.
fn quotes_are_closed(section: &Section<'_>) -> Result<()> {
    if section.counts.iter().filter(|byte| **byte == b'"').count() % 2 != 0 {
        bail!("the quotes in the rows from line {} on are an odd number: one is not closed", section.line_of(0));
    }
    Ok(())
}

/// Returns true if a row has names: no number in any field, nor a control character, and a word.
fn are_names(row: &ByteRecord) -> bool {
    let mut has_word = false;
    for field in row {
        let Ok(text) = std::str::from_utf8(field) else { return false };
        let text = text.trim();
        let unsigned = text.trim_start_matches(['+', '-', '.']);
        if unsigned.starts_with(|letter: char| letter.is_ascii_digit()) || text.contains(char::is_control) {
            return false;
        }
        has_word |= text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    }
    has_word
}

/// The number of the column of this name.
fn named(names: &ByteRecord, name: &str) -> Result<usize, UsageError> {
    let mut found = names.iter().enumerate().filter(|(_, field)| field.trim_ascii() == name.as_bytes());
    match (found.next(), found.next()) {
        (Some((column, _)), None) => Ok(column),
        (Some(_), Some(_)) => Err(UsageError(format!("--column {name}: two columns have this name; use a number"))),
        (None, _) => {
            let names =
                names.iter().enumerate().map(|(at, name)| format!("{} ({})", at + 1, String::from_utf8_lossy(name)));
            Err(UsageError(format!("--column {name}: the columns are {}", names.collect::<Vec<_>>().join(", "))))
        }
    }
}

/// Reads digits, with blanks around them.
fn count(field: &[u8]) -> Option<u64> {
    let digits = field.trim_ascii();
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A likely cause of a row without a count.
fn hint(section: &Section<'_>, row: &ByteRecord) -> &'static str {
    if section.counts.contains(&0) {
        "; --counts le64 is for little-endian ones"
    } else if row.iter().any(|field| count(field).is_some()) {
        "; --column names the column of the counts"
    } else if row.iter().any(|field| field.contains(&b';') || field.contains(&b'\t')) {
        "; commas separate columns"
    } else {
        ""
    }
}
