//! The schemas that the types describe, for the test that compares them with the files.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::words::Worded;
use crate::{Contents, Unknown};

/// A known figure in the schema, which is that of the value. The objects `unknown` refer to the
/// schema of reasons, so it is defined with the first figure.
#[allow(dead_code, reason = "a type for the schema alone")]
pub(crate) struct KnownFigure<T>(T);

impl<T: JsonSchema> JsonSchema for KnownFigure<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Unknown>();
        T::json_schema(generator)
    }
}

/// Adds the object `unknown` to the schema of a record.
pub(crate) fn add_unknown(schema: &mut Schema) {
    let description = "Why fields above are `null`; not there where none is.";
    let object =
        json!({ "description": description, "type": "object", "additionalProperties": { "$ref": "#/$defs/Unknown" } });
    if let Some(keys) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        keys.insert("unknown".to_owned(), object);
    }
}

/// Adds the texts to the schema of a record.
pub(crate) fn add_words<R: Worded<Words: JsonSchema>>(schema: &mut Schema) {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let words = settings.into_generator().into_root_schema_for::<R::Words>().to_value();
    let record = schema.ensure_object();
    for (list, none) in [("properties", json!({})), ("required", json!([]))] {
        match (record.entry(list).or_insert(none), &words[list]) {
            (Value::Object(keys), Value::Object(added)) => keys.extend(added.clone()),
            (Value::Array(names), Value::Array(added)) => names.extend(added.clone()),
            _ => {}
        }
    }
}

/// Adds the sentence to the schema of all reasons.
pub(crate) fn add_text(schema: &mut Schema) {
    let text = "The sentence for people; only in documents, and ignored when one is read.";
    schema.insert("properties".to_owned(), json!({ "text": { "type": "string", "description": text } }));
}

/// Removes the run from the schema of contents that have none.
pub(crate) fn omit_run<F: Contents>(schema: &mut Schema) {
    if F::IS_RUN {
        return;
    }
    if let Some(keys) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        keys.remove("run");
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|key| key != "run");
    }
}
