//! Documents beside their schema: what else each of their values may be.

use std::sync::LazyLock;

use clockscope_records::{DOCUMENT_SCHEMA, Document};
use clockscope_testing::pointer_below;
use serde_json::{Value, json};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(DOCUMENT_SCHEMA).unwrap());

/// A value of a document, and the schemas that describe it.
pub(crate) struct Place {
    /// A JSON pointer (RFC 6901).
    pub(crate) pointer: String,
    schemas: Vec<&'static Value>,
}

impl Place {
    /// Returns true if any text may be there.
    pub(crate) fn takes_text(&self) -> bool {
        self.schemas.iter().any(|schema| is_of_type(schema, "string") && schema.get("const").is_none())
    }

    /// Returns true if `null` may be there.
    pub(crate) fn takes_null(&self) -> bool {
        self.schemas.iter().any(|schema| is_of_type(schema, "null"))
    }

    /// Returns extreme numbers that may be there; none if numbers may not.
    pub(crate) fn extremes(&self) -> Vec<Value> {
        let formats = self.schemas.iter().filter_map(|schema| schema["format"].as_str());
        formats.flat_map(extremes).collect()
    }
}

fn extremes(format: &str) -> Vec<Value> {
    match format {
        "double" => vec![json!(1.797e308), json!(-1.797e308), json!(5e-324)],
        "uint64" => vec![json!(u64::MAX), json!(i64::MAX), json!(u32::MAX), json!(0)],
        "int64" => vec![json!(i64::MAX), json!(i64::MIN)],
        "uint32" => vec![json!(u32::MAX), json!(0)],
        "int32" => vec![json!(i32::MAX), json!(i32::MIN)],
        "uint16" => vec![json!(u16::MAX), json!(0)],
        "uint8" => vec![json!(u8::MAX), json!(0)],
        other => panic!("a number of the format {other}"),
    }
}

fn is_of_type(schema: &Value, name: &str) -> bool {
    schema["type"] == name || schema["type"].as_array().is_some_and(|types| types.iter().any(|one| one == name))
}

/// Returns the places of all values of a document, inner ones first.
pub(crate) fn places(document: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    walk(document, described(&SCHEMA, document), String::new(), &mut places);
    for place in &places {
        assert!(!place.schemas.is_empty(), "{}: the walk does not follow the schema there", place.pointer);
    }
    places
}

fn walk(value: &Value, schemas: Vec<&'static Value>, pointer: String, places: &mut Vec<Place>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let inner = schemas
                    .iter()
                    .filter_map(|schema| schema["properties"].get(key).or_else(|| schema.get("additionalProperties")));
                let inner = inner.flat_map(|schema| described(schema, value)).collect();
                walk(value, inner, pointer_below(&pointer, key), places);
            }
        }
        Value::Array(entries) => {
            for (index, value) in entries.iter().enumerate() {
                let inner = schemas
                    .iter()
                    .filter_map(|schema| schema["prefixItems"].get(index).or_else(|| schema.get("items")));
                let inner = inner.flat_map(|schema| described(schema, value)).collect();
                walk(value, inner, format!("{pointer}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(Place { pointer, schemas });
}

/// Returns a schema and all to which it refers, but those whose constants are not the value's.
fn described(schema: &'static Value, value: &Value) -> Vec<&'static Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (key, property) in properties {
        let (constant, found) = (property.get("const"), value.get(key));
        if constant.is_some() && found.is_some() && constant != found {
            return Vec::new();
        }
    }
    let mut all = vec![schema];
    if let Some(name) = schema["$ref"].as_str() {
        all.extend(described(SCHEMA.pointer(name.trim_start_matches('#')).unwrap(), value));
    }
    for list in ["oneOf", "anyOf"] {
        all.extend(schema[list].as_array().into_iter().flatten().flat_map(|schema| described(schema, value)));
    }
    all
}

/// Puts values into a document, but those with which it cannot be read. Returns the pointers of
/// those that it took.
pub(crate) fn replace<'a>(document: &mut Value, changes: &'a [(String, Value)]) -> Vec<&'a str> {
    let mut changed = document.clone();
    for (pointer, value) in changes {
        *changed.pointer_mut(pointer).unwrap() = value.clone();
    }
    if Document::from_json(&changed.to_string()).is_ok() {
        *document = changed;
        return changes.iter().map(|(pointer, _)| pointer.as_str()).collect();
    }
    if changes.len() == 1 {
        return Vec::new();
    }
    let (first, second) = changes.split_at(changes.len() / 2);
    let mut taken = replace(document, first);
    taken.extend(replace(document, second));
    taken
}
