//! A JSON object a line.

use clockscope_records::Document;
use serde_json::{Map, Value, json};

use super::json::{escaped, value};
use super::renderer::{RenderError, Renderer};
use crate::report::{Lines, Report};
use crate::style::Style;

pub(super) struct Ndjson;

impl Renderer for Ndjson {
    fn render(&self, report: &Report<'_>, _: Style) -> Result<String, RenderError> {
        let mut record = value(report.document)?;
        let names = names(report.document);
        match report.page.lines() {
            Lines::Entries(entries) => Ok(lines(record, &names, entries)?),
            Lines::Documents { list, schema, entries } => {
                let Value::Array(documents) = record[list].take() else { return Ok(String::new()) };
                let mut text = String::new();
                for mut document in documents {
                    document["schema"] = schema.into();
                    text += &lines(document, &names, entries)?;
                }
                Ok(text)
            }
        }
    }
}

/// Returns the names that identify a check in a fleet, which each of its lines has.
fn names(document: &Document) -> Map<String, Value> {
    let mut names = Map::new();
    if let Document::Check(check) = document {
        names.insert("check_id".to_owned(), check.found.check_id.as_str().into());
        names.insert("host".to_owned(), check.found.identity.name().into());
    }
    names
}

/// Writes an object of type `environment` with the fields of the document that are not lists (and
/// the number of clocks of a check), then one for each entry of its lists, one of type `advice` if
/// there is any, and one of type `end` with the number of lines before it. Every object has the
/// schema, its version, and `names`.
fn lines(document: Value, names: &Map<String, Value>, entries: &[(&str, &str)]) -> Result<String, serde_json::Error> {
    let Value::Object(mut fields) = document else { return Ok(String::new()) };
    if let Some(verdicts) = fields.get("verdicts").and_then(Value::as_array) {
        fields.insert("clocks".to_owned(), verdicts.len().into());
    }
    let entries: Vec<_> = entries.iter().map(|(list, kind)| (kind, fields.remove(*list))).collect();
    let advice = fields.remove("advice");
    let mut head = names.clone();
    for key in ["schema", "schema_version"] {
        head.insert(key.to_owned(), fields.get(key).cloned().unwrap_or_default());
    }
    let mut text = line("environment", &head, Value::Object(fields))?;
    for (kind, entries) in &entries {
        for entry in entries.as_ref().and_then(Value::as_array).into_iter().flatten() {
            text += &line(kind, &head, entry.clone())?;
        }
    }
    if let Some(advice) = advice {
        text += &line("advice", &head, advice)?;
    }
    let before = text.lines().count();
    text += &line("end", &head, json!({ "lines": before }))?;
    Ok(text)
}

fn line(kind: &str, head: &Map<String, Value>, content: Value) -> Result<String, serde_json::Error> {
    let mut object = Map::new();
    object.insert("type".to_owned(), kind.into());
    object.extend(head.clone());
    object.extend(content.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
    Ok(escaped(&serde_json::to_string(&object)?) + "\n")
}
