//! The document itself, indented.

use clockscope_records::{Document, is_steering};
use serde_json::Value;

use super::renderer::{RenderError, Renderer};
use crate::report::Report;
use crate::style::Style;

pub(super) struct Json;

impl Renderer for Json {
    /// No number in it can be infinite or not a number: records hold `None` for what is unknown,
    /// and JSON would write `null` for anything else.
    fn render(&self, report: &Report<'_>, _: Style) -> Result<String, RenderError> {
        Ok(pretty(report.document)?)
    }
}

/// Writes the document with its texts.
fn pretty(document: &Document) -> Result<String, serde_json::Error> {
    Ok(escaped(serde_json::to_string_pretty(document)?) + "\n")
}

/// Converts the document to a value. It goes through text, so that the program holds one serializer
/// for all records instead of two: serializers are a large part of it.
pub(super) fn value(document: &Document) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&pretty(document)?)
}

/// Escapes all characters that steer a terminal, so that strings keep their content. JSON itself
/// escapes only control characters up to U+001F. Line breaks and spaces between values are not part
/// of a string.
pub(super) fn escaped(json: String) -> String {
    let is_unescaped = |c: char| c > ' ' && is_steering(c);
    if !json.contains(is_unescaped) {
        return json;
    }
    // All of them have numbers of four digits.
    let one = |c: char| if is_unescaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(one).collect()
}
