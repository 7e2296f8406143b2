//! The document itself, indented.

use clockscope_records::{Document, is_steering};
use serde_json::Value;

use super::renderer::{RenderError, Renderer};
use crate::report::Report;
use crate::style::Style;

pub(super) struct Json;

impl Renderer for Json {
    /// All numbers of the document are finite: an unknown figure is `None` in a record. JSON would
    /// write `null` for infinity.
    fn render(&self, report: &Report<'_>, _: Style) -> Result<String, RenderError> {
        Ok(pretty(report.document)?)
    }
}

/// Writes the document with its texts.
fn pretty(document: &Document) -> Result<String, serde_json::Error> {
    Ok(escaped(&serde_json::to_string_pretty(document)?) + "\n")
}

/// Converts the document to a value. It goes through text, so that the program holds one serializer
/// for all records instead of two: serializers are a large part of it.
pub(super) fn value(document: &Document) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&pretty(document)?)
}

/// Escapes the characters of strings that steer a terminal and that JSON does not escape: those
/// above U+001F. Each has a number of four digits.
pub(super) fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            c if c > ' ' && is_steering(c) => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}
