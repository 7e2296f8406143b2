//! The document as JSON: whole, or a line an object.

use clockscope_records::Document;
use serde_json::{Map, Value, json};

/// The document, indented. No number in it can be infinite or not a number: records hold `None` for what is unknown,
/// and JSON would write `null` for anything else.
pub(crate) fn pretty(document: &Document) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// First an object of type `environment` with all that concerns the whole document, then one of type `clock` for each
/// clock, last those of type `row` or `advice` if there are any. Every object bears the schema and its version.
pub(crate) fn lines(document: &Document) -> Result<String, serde_json::Error> {
    let Value::Object(mut whole) = serde_json::to_value(document)? else { return Ok(String::new()) };
    let clocks = whole.remove("clocks");
    let rows = whole.remove("rows");
    let advice = whole.remove("advice");
    let schema = json!({ "schema": whole.get("schema"), "schema_version": whole.get("schema_version") });
    let mut text = line("environment", &schema, Value::Object(whole))?;
    for clock in clocks.as_ref().and_then(Value::as_array).into_iter().flatten() {
        text += &line("clock", &schema, clock.clone())?;
    }
    for row in rows.as_ref().and_then(Value::as_array).into_iter().flatten() {
        text += &line("row", &schema, row.clone())?;
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
    Ok(serde_json::to_string(&object)? + "\n")
}
