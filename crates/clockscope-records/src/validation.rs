//! Validation of JSON against a schema of this crate.

use std::fmt;

use serde_json::{Map, Value};

/// The first place at which a value does not match its schema, and the fault there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    path: String,
    depth: usize,
    fault: Fault,
}

/// The fault at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// The key is missing.
    Missing,
    /// No such key is known; these are.
    Unknown(Vec<String>),
    /// Another kind of value was expected.
    Expected(String),
}

impl ValidationError {
    /// Returns the first place at which a value does not match this schema, which is JSON of this
    /// crate; `None` if it matches.
    #[must_use]
    pub fn first(schema: &str, value: &Value) -> Option<Self> {
        let root: Value = serde_json::from_str(schema).ok()?;
        let schema = Schema { root: &root, here: &root };
        schema.error(value, &Place { path: String::new(), depth: 0 })
    }

    /// Returns the place: `environment.cpu.online`, `clocks[3].name`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl std::error::Error for ValidationError {}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the file" } else { &self.path };
        match &self.fault {
            Fault::Missing => write!(f, "{path} is missing"),
            Fault::Unknown(known) => write!(f, "unknown key {path}: expected {}", listed(known)),
            Fault::Expected(expected) => write!(f, "{path}: expected {expected}"),
        }
    }
}

/// A schema, and the part of it that applies.
#[derive(Clone, Copy)]
struct Schema<'a> {
    root: &'a Value,
    here: &'a Value,
}

/// A place in a document.
struct Place {
    path: String,
    depth: usize,
}

impl Place {
    fn key(&self, key: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { path: format!("{}{dot}{key}", self.path), depth: self.depth + 1 }
    }

    fn item(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), depth: self.depth + 1 }
    }

    fn error(&self, fault: Fault) -> ValidationError {
        ValidationError { path: self.path.clone(), depth: self.depth, fault }
    }

    fn expected(&self, expected: String) -> ValidationError {
        self.error(Fault::Expected(expected))
    }
}

impl<'a> Schema<'a> {
    fn at(self, here: &'a Value) -> Self {
        Self { here, ..self }
    }

    fn error(self, value: &Value, place: &Place) -> Option<ValidationError> {
        let referenced = self.referenced().and_then(|schema| schema.error(value, place));
        referenced
            .or_else(|| self.wrong_kind(value, place))
            .or_else(|| self.wrong_choice(value, place))
            .or_else(|| self.wrong_object(value.as_object()?, place))
            .or_else(|| self.wrong_list(value.as_array()?, place))
    }

    /// The definition that it refers to.
    fn referenced(self) -> Option<Self> {
        let name = self.here.get("$ref")?.as_str()?;
        Some(self.at(self.root.pointer(name.strip_prefix('#')?)?))
    }

    /// A value of another kind, another word, or a number beyond the limits.
    fn wrong_kind(self, value: &Value, place: &Place) -> Option<ValidationError> {
        let wrong_type = !self.types().is_empty() && !self.types().iter().any(|kind| is_a(kind, value));
        let wrong_word = self.here.get("const").is_some_and(|word| word != value)
            || self.here.get("enum").and_then(Value::as_array).is_some_and(|words| !words.contains(value));
        let limit = |key: &str| self.here.get(key).and_then(Value::as_f64).zip(value.as_f64());
        let beyond = limit("minimum").is_some_and(|(least, found)| found < least)
            || limit("maximum").is_some_and(|(most, found)| found > most);
        (wrong_type || wrong_word || beyond).then(|| place.expected(listed(&self.expected())))
    }

    /// A value that is none of several.
    fn wrong_choice(self, value: &Value, place: &Place) -> Option<ValidationError> {
        let choices = ["oneOf", "anyOf"].into_iter().find_map(|key| self.here.get(key)?.as_array())?;
        let marked: Vec<_> = choices.iter().filter(|choice| self.at(choice).is_marked(value)).collect();
        let tried = if marked.is_empty() { choices.iter().collect() } else { marked };
        let errors: Vec<ValidationError> =
            tried.iter().map(|choice| self.at(choice).error(value, place)).collect::<Option<_>>()?;
        let deepest = errors.into_iter().max_by_key(|error| error.depth)?;
        let is_here = deepest.depth == place.depth;
        Some(if is_here { place.expected(listed(&self.expected())) } else { deepest })
    }

    /// Returns true if a key of the value has the very word by which this choice is known.
    fn is_marked(self, value: &Value) -> bool {
        let properties = self.here.get("properties").and_then(Value::as_object);
        let marks = properties.into_iter().flatten().filter_map(|(key, schema)| Some((key, schema.get("const")?)));
        marks.fold(None, |all: Option<bool>, (key, mark)| Some(all != Some(false) && value.get(key) == Some(mark)))
            == Some(true)
    }

    fn wrong_object(self, value: &Map<String, Value>, place: &Place) -> Option<ValidationError> {
        let properties = self.here.get("properties").and_then(Value::as_object);
        let property = |key: &str| properties.and_then(|properties| properties.get(key));
        let others = self.here.get("additionalProperties");
        let required = self.here.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = || {
            let mut keys = required.filter_map(Value::as_str);
            keys.find(|key| !value.contains_key(*key)).map(|key| place.key(key).error(Fault::Missing))
        };
        let wrong = |(key, value): (&String, &Value)| match (property(key), others) {
            (None, Some(Value::Bool(false))) => {
                let known = properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default();
                Some(place.key(key).error(Fault::Unknown(known)))
            }
            (schema, others) => self.at(schema.or(others)?).error(value, &place.key(key)),
        };
        missing().or_else(|| value.iter().find_map(wrong))
    }

    fn wrong_list(self, value: &[Value], place: &Place) -> Option<ValidationError> {
        let length = |key: &str| self.here.get(key).and_then(Value::as_u64).map(|length| length as usize);
        let (least, most) = (length("minItems").unwrap_or(0), length("maxItems").unwrap_or(usize::MAX));
        if !(least..=most).contains(&value.len()) {
            return Some(
                place.expected(format!("a list of {} values", if value.len() < least { least } else { most })),
            );
        }
        let first = self.here.get("prefixItems").and_then(Value::as_array);
        let item = |index: usize| first.and_then(|first| first.get(index)).or_else(|| self.here.get("items"));
        let wrong = |(index, value)| self.at(item(index)?).error(value, &place.item(index));
        value.iter().enumerate().find_map(wrong)
    }

    fn types(self) -> Vec<&'a str> {
        match self.here.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Words for all that a value may be.
    fn expected(self) -> Vec<String> {
        let here = self.here;
        if let Some(referenced) = self.referenced() {
            return referenced.expected();
        }
        if let Some(word) = here.get("const") {
            return vec![word.to_string()];
        }
        let choices = ["oneOf", "anyOf", "enum"].into_iter().find_map(|key| here.get(key)?.as_array());
        let mut words: Vec<String> = match (choices, here.get("enum")) {
            (Some(words), Some(_)) => words.iter().map(Value::to_string).collect(),
            (Some(choices), None) => choices.iter().flat_map(|choice| self.at(choice).expected()).collect(),
            (None, _) => self.types().into_iter().map(|kind| self.described(kind)).collect(),
        };
        let mut seen = std::collections::BTreeSet::new();
        // A value that may be missing is null: nobody is to write that.
        words.retain(|word| word != "null" && seen.insert(word.clone()));
        words
    }

    /// Words for a type of JSON, with its limits.
    fn described(self, kind: &str) -> String {
        let word = match kind {
            "integer" => "a whole number",
            "number" => "a number",
            "string" => "a text",
            "boolean" => "true or false",
            "array" => "a list",
            "object" => "an object",
            other => other,
        };
        let least = self.here.get("minimum").filter(|_| matches!(kind, "integer" | "number"));
        match least.and_then(Value::as_f64) {
            Some(least) => format!("{word} from {least} on"),
            None => word.to_owned(),
        }
    }
}

/// Returns whether a value is of a type of JSON Schema.
fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Lists words: `a, b or c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => "another value".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{DOCUMENT_SCHEMA, POLICY_SCHEMA};

    #[test]
    fn a_place_and_what_it_should_hold_are_named() {
        let of = |schema, value| ValidationError::first(schema, &value).map(|error| error.to_string());
        let policy = |value| of(POLICY_SCHEMA, value).unwrap_or_default();
        assert_eq!(policy(json!({ "counter": { "invariant": true } })), "");
        let unknown = "unknown key sundial: expected clocksource, counter or clocks";
        assert_eq!(policy(json!({ "sundial": 1 })), unknown);
        assert_eq!(
            policy(json!({ "counter": { "max_tick_ns": "x" } })),
            "counter.max_tick_ns: expected a number from 0 on"
        );
        assert_eq!(policy(json!({ "clocksource": ["tsc", 1] })), "clocksource[1]: expected a text");
        let document = |value| of(DOCUMENT_SCHEMA, value).unwrap_or_default();
        let info = json!({ "schema": "clockscope.info", "schema_version": 1 });
        assert_eq!(document(info), "environment is missing");
        let version = json!({ "schema": "clockscope.info", "schema_version": "1", "environment": {} });
        assert_eq!(document(version), "schema_version: expected a whole number from 0 on");
    }
}
