//! Renders records: table, JSON, NDJSON, CSV, Markdown, HTML, metrics for Prometheus, a line for
//! monitors, and charts as SVG; and writes raw readings.
//!
//! Every document returns blocks of the same few kinds, which every format renders. This crate
//! cannot reach a clock, a file or the terminal: a record from another machine renders identically.

mod chart;
mod documents;
mod model;
mod render;
mod report;
mod sheet;
mod style;
mod text;
mod units;
mod verdict;

pub use render::one_line::{ClockHealth, LINE_WIDTH, one_line, one_line_of_error};
pub use render::raw_readings::{RawFormat, write_raw};
pub use render::{Format, RenderError, UnknownFormat};
pub use style::{Columns, Style};

use clockscope_records::Document;

/// Renders a document; the text ends with a newline.
///
/// # Errors
/// JSON or CSV could not be made of it.
pub fn render(document: &Document, format: Format, style: Style) -> Result<String, RenderError> {
    render::render(&documents::report(document), format, style)
}

/// Returns whether documents with this key `schema` can have what a format shows: charts, metrics.
///
/// # Errors
/// None can. A document that can may still have no chart, where nothing was found.
pub fn supported(schema: &str, format: Format) -> Result<(), RenderError> {
    render::supported(schema, format)
}

/// Renders several documents as one text.
///
/// # Errors
/// The format holds one document, or the same as of [`render`].
pub fn render_all(documents: &[Document], format: Format, style: Style) -> Result<String, RenderError> {
    let reports: Vec<_> = documents.iter().map(documents::report).collect();
    render::render_all(&reports, format, style)
}

/// Draws the chart of this name as an SVG image.
///
/// # Errors
/// The document has no chart of the name.
pub fn render_chart(document: &Document, name: &str) -> Result<String, RenderError> {
    render::chart(&documents::report(document), name)
}
