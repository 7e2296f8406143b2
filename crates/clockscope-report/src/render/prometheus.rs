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

/// Most series of a document without `--verbose`: each costs the server memory on every machine.
const MAX_SERIES: usize = 60;

/// Documents that have metrics.
pub(super) const SCHEMAS: [&str; 1] = ["clockscope.check"];

pub(super) struct Prometheus;

impl Renderer for Prometheus {
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        let Document::Check(check) = report.document else { return Err(RenderError::NoMetrics) };
        let mut families = check::families(check);
        if !style.verbose {
            exposition::limit(&mut families, MAX_SERIES);
        }
        Ok(exposition::text(&families))
    }
}
