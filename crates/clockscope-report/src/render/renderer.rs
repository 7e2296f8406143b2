//! The trait that every format implements.

use crate::report::Report;
use crate::style::Style;

/// A form that reports are rendered in.
pub(crate) trait Renderer {
    /// Renders a report; the text ends with a newline.
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError>;

    /// Renders several reports as one text. Few forms have room for more than one.
    fn render_all(&self, reports: &[Report<'_>], style: Style) -> Result<String, RenderError> {
        match reports {
            [report] => self.render(report, style),
            _ => Err(RenderError::SeveralDocuments),
        }
    }
}

/// Reason why a document could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The form holds one document.
    #[error("several records need --format html: the other formats hold one record each")]
    SeveralDocuments,
    /// Nothing in the document is drawn.
    #[error("the record has no chart: expected one of {}, with results", crate::chart::documents())]
    NoChart,
    /// The document has no metrics.
    #[error("the record has no metrics: expected one of check")]
    NoMetrics,
    /// The document has other charts.
    #[error("unknown chart \"{name}\": expected one of {known}")]
    UnknownChart {
        /// The name that was given.
        name: String,
        /// The names of its charts.
        known: String,
    },
    /// It could not be written as JSON.
    #[error("the document cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// It could not be written as CSV.
    #[error("the document cannot be written as CSV")]
    Csv(#[from] csv::Error),
}
