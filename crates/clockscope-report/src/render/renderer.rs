//! The trait that every format implements.

use crate::report::Report;
use crate::style::Style;

/// A form that reports are rendered in.
pub(super) trait Renderer {
    /// Renders a report; the text ends with a newline.
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError>;
}

/// Why a document could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// It could not be written as JSON.
    #[error("the document cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// It could not be written as CSV.
    #[error("the document cannot be written as CSV")]
    Csv(#[from] csv::Error),
}
