//! Prometheus' text format, for the textfile collector of node_exporter: one file a machine.
//!
//! A figure that is unknown has no series, so that no query takes it for 0.

mod check;
mod exposition;
mod synchronization;

use clockscope_records::Document;

use super::renderer::{RenderError, Renderer};
use crate::report::Report;
use crate::style::Style;

/// Most series of a document, unless all are asked for: each costs the server memory on every
/// machine.
const MOST: usize = 60;

/// Documents that have metrics.
pub(super) const SCHEMAS: [&str; 1] = ["clockscope.check"];

pub(super) struct Prometheus;

impl Renderer for Prometheus {
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        let mut families = match report.document {
            Document::Check(check) => check::families(check),
            Document::Measurement(_)
            | Document::Steps(_)
            | Document::Advice(_)
            | Document::Order(_)
            | Document::Offsets(_)
            | Document::Rates(_)
            | Document::Gaps(_)
            | Document::Sleep(_)
            | Document::Shootout(_)
            | Document::Comparison(_)
            | Document::Clocksources(_)
            | Document::Switched(_)
            | Document::Runtimes(_)
            | Document::RuntimesFound(_)
            | Document::Listing(_)
            | Document::AllClocks(_)
            | Document::Info(_) => return Err(RenderError::NoMetrics),
        };
        if !style.verbose {
            exposition::limit(&mut families, MOST);
        }
        Ok(exposition::text(&families))
    }
}
