//! One row per clock (RFC 4180). An unknown value is an empty field; the column `unknown` has the
//! reasons.

use std::io;

use csv::{Terminator, WriterBuilder};

use super::json;
use super::renderer::{RenderError, Renderer};
use crate::model::Cell;
use crate::report::Report;
use crate::style::Style;

pub(super) struct Csv;

impl Renderer for Csv {
    fn render(&self, report: &Report<'_>, _: Style) -> Result<String, RenderError> {
        let sheet = report.page.sheet(&json::value(report.document)?);
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(&mut text);
        writer.write_record(sheet.head.iter().map(|name| name.as_bytes()))?;
        for row in &sheet.rows {
            writer.write_record(row.iter().map(Cell::data))?;
        }
        writer.flush().map_err(csv::Error::from)?;
        drop(writer);
        Ok(String::from_utf8(text).map_err(io::Error::other).map_err(csv::Error::from)?)
    }
}
