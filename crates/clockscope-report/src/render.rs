//! One file a format.
//!
//! To add a format, add its file with a type that implements `Renderer`, its `mod` line, and its
//! row of `formats!`, which has the name on the command line. The list of formats, `--help` and
//! errors follow from the row. Endings of file names are in `src/formats.rs` of `clockscope-cli`.
//! `INSTA_UPDATE=always cargo test -p clockscope-report` writes the snapshots.

pub(crate) mod ascii;
mod brief;
mod csv;
mod grid;
mod histogram;
mod html;
mod json;
mod markdown;
mod ndjson;
pub(crate) mod one_line;
mod plot;
mod prometheus;
pub(crate) mod raw_readings;
mod renderer;
pub(crate) mod svg;
mod terminal;

pub use renderer::RenderError;

use std::str::FromStr;

use renderer::Renderer;

/// Makes [`Format`] from one row per format: its name on a command line and its renderer.
macro_rules! formats {
    ($($(#[$about:meta])* $format:ident: $name:literal, $renderer:expr;)+) => {
        /// A form that a document can be rendered in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$about])* $format,)+
        }

        impl Format {
            /// All formats.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$format),+];

            /// Returns its name on a command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$format => $name,)+
                }
            }

            pub(crate) fn renderer(self) -> &'static dyn Renderer {
                match self {
                    $(Self::$format => &$renderer,)+
                }
            }
        }
    };
}

formats! {
    /// For reading on a terminal.
    Table: "table", terminal::Terminal;
    /// The document itself, indented. The only form that can be read back.
    Json: "json", json::Json;
    /// One JSON object a line: the environment, every clock, the advice.
    Ndjson: "ndjson", ndjson::Ndjson;
    /// One row a clock (RFC 4180).
    Csv: "csv", csv::Csv;
    /// For a page or an issue on a forge.
    Markdown: "markdown", markdown::Markdown;
    /// A page for browsers, with charts: one file, offline, complete without script.
    Html: "html", html::Html;
    /// One chart of the document as an image.
    Svg: "svg", svg::Svg;
    /// Metrics of a check, for the textfile collector of node_exporter.
    Prometheus: "prometheus", prometheus::Prometheus;
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// An unknown name of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format \"{0}\": expected {known}", known = names())]
pub struct UnknownFormat(String);

/// Lists the names of all formats: `a, b or c`.
fn names() -> String {
    let names = Format::ALL.map(Format::name);
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Checks that documents with this key `schema` can have the charts or metrics that a format shows.
///
/// # Errors
/// [`RenderError`] if none can. Otherwise a document may still have no chart, if it has no results.
pub fn supported(schema: &str, format: Format) -> Result<(), RenderError> {
    match format {
        Format::Svg if !crate::chart::is_possible(schema) => Err(RenderError::NoChart),
        Format::Prometheus if !prometheus::SCHEMAS.contains(&schema) => Err(RenderError::NoMetrics),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_format_names_all() {
        let error = "xml".parse::<Format>().map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("unknown format \"xml\": expected table, json, ndjson, csv, markdown, html, svg or prometheus"
                .to_owned())
        );
    }
}
