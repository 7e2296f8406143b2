//! Renders records: table, JSON, NDJSON, CSV, Markdown, HTML, metrics for Prometheus, a line for
//! monitors, and charts as SVG; and writes raw readings.
//!
//! Every document returns blocks of a few kinds, which every format renders. This crate cannot
//! access a clock, a file or the terminal: a record from another machine renders identically.
//!
//! Documents and formats do not know each other. `model` is between them: blocks (table, key-value,
//! series, chart, notes, section, prose, environment, conclusion) of typed cells and clean text. A
//! document gives a `Page` (`report`), a format is a `Renderer` (`render/renderer.rs`).
//!
//! | `Page` | for | formats |
//! |---|---|---|
//! | `blocks` | readers | table, Markdown, HTML, SVG |
//! | `sheet` | spreadsheets | CSV |
//! | `lines` | programs that read line by line | NDJSON |
//!
//! JSON is the document itself. Metrics are made of the document as well (`render/prometheus.rs`):
//! a check has some, other documents have none. All three methods are required, and
//! `documents::report` covers every [`Document`]: one without blocks does not compile.
//! `Envelope<F>` implements `Page` once for all documents with a conclusion of their own.
//! `QuestionPage` (`documents/question_page.rs`) has the part that depends on the question. `words`
//! has the words that documents share. Times with their units have one formatter, `records::units`.
//!
//! A page begins with its `Conclusion` and ends with the environment. A `View` (`style`) selects
//! the columns of a measurement, all evidence or the decisive part, charts, and a brief page; the
//! document chooses its blocks by it. A brief page keeps the conclusion and the first table
//! (`report`). The renderer computes how many of its rows fit (`render/brief.rs`); rows of least
//! `weight` are left out first. Words have a `Tone`, which terminals color. `render/grid.rs` lays
//! out tables, with bars and a last column that wraps. A measurement's columns are data
//! (`documents/measure/columns.rs`): head, cell, and why a figure is unknown.
//!
//! A chart is data as well (`chart`). `render/svg.rs` draws it, as a file or as a part of a page.
//! `render/html/data.rs` makes the table below it, and `render/plot.rs` draws some in characters. A
//! document's charts are blocks between its tables; views without images have none
//! (`View::has_charts`). maud writes elements and escapes text.

mod chart;
mod documents;
mod model;
mod render;
mod report;
mod sheet;
mod style;
mod units;
mod verdict;
mod words;

pub use render::ascii::ascii;
pub use render::one_line::{ClockHealth, LINE_WIDTH, one_line, one_line_of_error};
pub use render::raw_readings::{RawFormat, write_raw};
pub use render::{Format, RenderError, UnknownFormat, supported};
pub use style::{Columns, Style};

use clockscope_records::Document;

/// Renders a document; the text ends with a newline.
///
/// # Errors
/// JSON or CSV could not be made of it.
pub fn render(document: &Document, format: Format, style: Style) -> Result<String, RenderError> {
    format.renderer().render(&documents::report(document), style)
}

/// Renders several documents as one text.
///
/// # Errors
/// The format holds one document, or JSON or CSV could not be made of one.
pub fn render_all(documents: &[Document], format: Format, style: Style) -> Result<String, RenderError> {
    let reports: Vec<_> = documents.iter().map(documents::report).collect();
    format.renderer().render_all(&reports, style)
}

/// Draws the chart of this name as an SVG image.
///
/// # Errors
/// The document has no chart of the name.
pub fn render_chart(document: &Document, name: &str) -> Result<String, RenderError> {
    render::svg::named(&documents::report(document), name)
}
