//! Renders records: table, JSON, NDJSON, CSV, Markdown.
//!
//! This crate cannot reach a clock, a file or the terminal: a record from another machine renders identically.

mod answers;
mod cells;
mod csv;
mod environment;
mod evidence;
mod histogram;
mod json;
mod markdown;
mod notes;
mod plan;
mod raw;
mod steps;
mod style;
mod table;

pub use raw::{NO_PARQUET, RawFormat, Series, write_raw, write_recording};
pub use style::Style;

use std::str::FromStr;

use clockscope_records::{Document, Switched, plain};

/// A form that a document can be rendered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For reading on a terminal.
    Table,
    /// The document itself, indented. The only form that can be read back.
    Json,
    /// One JSON object a line: the environment, every clock, the advice.
    Ndjson,
    /// One row a clock (RFC 4180).
    Csv,
    /// For a page or an issue on a forge.
    Markdown,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Table, Self::Json, Self::Ndjson, Self::Csv, Self::Markdown];

    /// Its name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// A name that no format bears.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format \"{0}\": use table, json, ndjson, csv or markdown")]
pub struct UnknownFormat(String);

/// Why a document could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// It could not be written as JSON.
    #[error("the document cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

/// Renders a document; the text ends with a newline.
///
/// # Errors
/// JSON could not be made of it.
pub fn render(document: &Document, format: Format, style: Style) -> Result<String, RenderError> {
    if let (Document::Switched(found), Format::Table | Format::Ndjson | Format::Markdown) = (document, format) {
        return switched(found, format, style);
    }
    Ok(match format {
        Format::Table => table::render(document, style),
        Format::Json => json::pretty(document)?,
        Format::Ndjson => json::lines(document)?,
        Format::Csv => csv::render(document),
        Format::Markdown => markdown::render(document, style),
    })
}

/// The same measurement with one clocksource after the other: each as if it stood alone, below its name.
fn switched(found: &Switched, format: Format, style: Style) -> Result<String, RenderError> {
    let mut text = String::new();
    for measurement in &found.measurements {
        let name = plain(measurement.environment.clocksource.as_deref().unwrap_or("unknown"));
        text += &match format {
            Format::Table => format!("{}== clocksource {name}\n\n", if text.is_empty() { "" } else { "\n" }),
            Format::Markdown => format!("{}## Clocksource {name}\n\n", if text.is_empty() { "" } else { "\n" }),
            _ => String::new(),
        };
        text += &render(&Document::Measurement(measurement.clone()), format, style)?;
    }
    Ok(text)
}
