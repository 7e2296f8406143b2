//! The document as JSON: whole, or a line an object.

use clockscope_records::{Document, is_steering};
use serde_json::{Map, Value, json};

use crate::evidence;

/// The document, indented, with words beside the evidence. No number in it can be infinite or not a
/// number: records hold `None` for what is unknown, and JSON would write `null` for anything else.
pub(crate) fn pretty(document: &Document) -> Result<String, serde_json::Error> {
    if let Document::Check(answer) = document {
        let mut answer = answer.clone();
        evidence::explain(&mut answer.found);
        return text(&Document::Check(answer));
    }
    text(document)
}

fn text(document: &Document) -> Result<String, serde_json::Error> {
    Ok(escaped(serde_json::to_string_pretty(document)?) + "\n")
}

/// JSON whose strings steer no terminal. JSON itself escapes control characters up to U+001F alone; the line breaks and spaces
/// between its values are no part of a string.
fn escaped(json: String) -> String {
    let is_unescaped = |c: char| c > ' ' && is_steering(c);
    if !json.contains(is_unescaped) {
        return json;
    }
    // All of them have numbers of four digits.
    let one = |c: char| if is_unescaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(one).collect()
}

/// The document as a value. By its text, so that the program holds one serializer for all records instead of two: they are a
/// large part of it.
pub(crate) fn value(document: &Document) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&pretty(document)?)
}

/// Lists that become lines of their own, in this order, and the type of these.
const LISTS: [(&str, &str); 13] = [
    ("verdicts", "verdict"),
    ("demands", "demand"),
    ("metrics", "metric"),
    ("clocksources", "clocksource"),
    ("runtimes", "runtime"),
    ("clocks", "clock"),
    ("sequences", "sequence"),
    ("pairs", "pair"),
    ("vdso", "vdso"),
    ("gaps", "gap"),
    ("worst", "worst"),
    ("lost", "lost"),
    ("rows", "row"),
];

/// First an object of type `environment` with all that concerns the whole document, then one for each entry of its lists,
/// of type `clock`, `sequence`, `pair` and so on, last that of type `advice` if there is any. Every object bears the schema
/// and its version.
pub(crate) fn lines(document: &Document) -> Result<String, serde_json::Error> {
    let Value::Object(mut whole) = value(document)? else { return Ok(String::new()) };
    let lists = LISTS.map(|(key, kind)| (kind, whole.remove(key)));
    let advice = whole.remove("advice");
    let schema = json!({ "schema": whole.get("schema"), "schema_version": whole.get("schema_version") });
    let mut text = line("environment", &schema, Value::Object(whole))?;
    for (kind, entries) in &lists {
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
