//! Documents beside a JSON Schema (2020-12), as far as the project's schemas and that of Kubernetes
//! go. The crate jsonschema would take a tenth of the build of all tests; `tests/schema.rs`
//! compares the two.

use serde_json::{Map, Value};

/// Keywords that demand nothing, and `$defs`, to which others refer.
const ANNOTATIONS: [&str; 7] = ["$schema", "$id", "$defs", "title", "description", "default", "format"];

/// A JSON Schema, to which its references lead back.
pub struct Schema(Value);

impl Schema {
    /// Reads a schema.
    ///
    /// # Panics
    /// The text is not JSON.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_else(|error| panic!("the schema is not JSON: {error}")))
    }

    /// Describes values by a definition of this schema alone.
    #[must_use]
    pub fn with_root(mut self, definition: &str) -> Self {
        self.0["$ref"] = format!("#/$defs/{definition}").into();
        self
    }

    /// Returns true if a value is as the schema says.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        self.errors(value).is_empty()
    }

    /// Returns what is wrong with a value, each with a JSON pointer to the place.
    ///
    /// # Panics
    /// The schema has a keyword that is not known here.
    #[must_use]
    pub fn errors(&self, value: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.check(&self.0, value, "", &mut errors);
        errors
    }

    fn check(&self, schema: &Value, value: &Value, pointer: &str, errors: &mut Vec<String>) {
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => errors.push(format!("{pointer}: nothing may be there")),
            Value::Object(keywords) => {
                for (keyword, demand) in keywords {
                    self.check_keyword(keywords, keyword, demand, value, pointer, errors);
                }
            }
            other => panic!("{other} is not a schema"),
        }
    }

    /// Checks a value by one keyword of a schema.
    fn check_keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        demand: &Value,
        value: &Value,
        pointer: &str,
        errors: &mut Vec<String>,
    ) {
        let met = match keyword {
            "type" => is_of_any_type(value, demand),
            "const" => value == demand,
            "enum" => list(demand).contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= limit(demand)),
            "maximum" => value.as_f64().is_none_or(|number| number <= limit(demand)),
            "minItems" => value.as_array().is_none_or(|entries| entries.len() as f64 >= limit(demand)),
            "maxItems" => value.as_array().is_none_or(|entries| entries.len() as f64 <= limit(demand)),
            "required" => value.as_object().is_none_or(|object| {
                list(demand).iter().all(|key| object.contains_key(key.as_str().expect("a key's name")))
            }),
            "anyOf" => list(demand).iter().any(|one| self.met(one, value)),
            "oneOf" => list(demand).iter().filter(|one| self.met(one, value)).count() == 1,
            "$ref" => {
                self.check(self.definition(demand), value, pointer, errors);
                true
            }
            "properties" | "additionalProperties" | "items" | "prefixItems" => {
                for (key, demand, inner) in described_by(schema, keyword, value) {
                    self.check(demand, inner, &pointer_below(pointer, &key), errors);
                }
                true
            }
            other => {
                // By OpenAPI, names that begin with x- are extensions: they demand nothing.
                let known = ANNOTATIONS.contains(&other) || other.starts_with("x-");
                assert!(known, "the schema has the keyword {other}, which is not known here");
                true
            }
        };
        if !met {
            errors.push(format!("{pointer}: {value} does not match {keyword}: {demand}"));
        }
    }

    fn met(&self, schema: &Value, value: &Value) -> bool {
        let mut errors = Vec::new();
        self.check(schema, value, "", &mut errors);
        errors.is_empty()
    }

    fn definition(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        pointer.and_then(|pointer| self.0.pointer(pointer)).unwrap_or_else(|| panic!("no definition {reference}"))
    }
}

/// Returns the values in an object or a list that a keyword describes, each with its key or index
/// and its schema.
fn described_by<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
    value: &'a Value,
) -> Vec<(String, &'a Value, &'a Value)> {
    let demand = &schema[keyword];
    let fields = value.as_object().into_iter().flatten();
    let entries = value.as_array().into_iter().flatten().enumerate();
    match keyword {
        "properties" => fields.filter_map(|(key, inner)| Some((key.clone(), demand.get(key)?, inner))).collect(),
        "additionalProperties" => {
            let named = schema.get("properties");
            let others = fields.filter(|(key, _)| named.is_none_or(|named| named.get(key).is_none()));
            others.map(|(key, inner)| (key.clone(), demand, inner)).collect()
        }
        "prefixItems" => {
            entries.filter_map(|(index, inner)| Some((index.to_string(), demand.get(index)?, inner))).collect()
        }
        _ => {
            let first = schema.get("prefixItems").map_or(0, |prefix| list(prefix).len());
            entries.skip(first).map(|(index, inner)| (index.to_string(), demand, inner)).collect()
        }
    }
}

/// Returns the JSON pointer (RFC 6901) of what has this key in the value of another pointer.
#[must_use]
pub fn pointer_below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The number of a keyword that has one.
fn limit(demand: &Value) -> f64 {
    demand.as_f64().expect("a number")
}

/// The entries of a keyword that has a list.
fn list(demand: &Value) -> &[Value] {
    demand.as_array().expect("a list")
}

fn is_of_any_type(value: &Value, types: &Value) -> bool {
    match types {
        Value::Array(types) => types.iter().any(|name| is_of_type(value, name)),
        name => is_of_type(value, name),
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("a type's name") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract().abs() == 0.0)
        }
        other => panic!("the schema has the type {other}, which is not known here"),
    }
}
