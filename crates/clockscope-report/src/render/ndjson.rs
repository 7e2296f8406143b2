//! A JSON object a line.

use serde_json::{Map, Value, json};

use super::json::{escaped, value};
use super::renderer::{RenderError, Renderer};
use crate::report::{Lines, Report};
use crate::style::Style;

pub(super) struct Ndjson;

impl Renderer for Ndjson {
    fn render(&self, report: &Report<'_>, _: Style) -> Result<String, RenderError> {
        let mut whole = value(report.document)?;
        match report.lines() {
            Lines::Entries(entries) => Ok(lines(whole, entries)?),
            Lines::Documents { list, schema, entries } => {
                let Value::Array(documents) = whole[list].take() else { return Ok(String::new()) };
                let mut text = String::new();
                for mut document in documents {
                    document["schema"] = schema.into();
                    text += &lines(document, entries)?;
                }
                Ok(text)
            }
        }
    }
}

/// Writes first an object of type `environment` with everything that concerns the whole document,
/// then one for each entry of its lists, last one of type `advice` if there is any. Every object
/// has the schema and its version.
fn lines(document: Value, entries: &[(&str, &str)]) -> Result<String, serde_json::Error> {
    let Value::Object(mut whole) = document else { return Ok(String::new()) };
    let entries: Vec<_> = entries.iter().map(|(list, kind)| (kind, whole.remove(*list))).collect();
    let advice = whole.remove("advice");
    let schema = json!({ "schema": whole.get("schema"), "schema_version": whole.get("schema_version") });
    let mut text = line("environment", &schema, Value::Object(whole))?;
    for (kind, entries) in &entries {
        for entry in entries.as_ref().and_then(Value::as_array).into_iter().flatten() {
            text += &line(kind, &schema, entry.clone())?;
        }
    }
    if let Some(advice) = advice {
        text += &line("advice", &schema, advice)?;
    }
    Ok(text)
}

fn line(kind: &str, schema: &Value, content: Value) -> Result<String, serde_json::Error> {
    let mut object = Map::new();
    object.insert("type".to_owned(), kind.into());
    for part in [schema, &content] {
        object.extend(part.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
    }
    Ok(escaped(serde_json::to_string(&object)?) + "\n")
}
