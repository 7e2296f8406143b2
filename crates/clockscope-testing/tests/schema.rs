//! The check of documents by their schema says what a known validator says.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;

use clockscope_testing::{Schema, pointer_below};
use jsonschema::Validator;
use serde_json::{Value, json};

/// Places of a document of which one is changed: all of them take five minutes, in which the two
/// agreed on 2026-11-29.
const PLACES_PER_CHANGED_ONE: usize = 40;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn schema_text(name: &str) -> String {
    fs::read_to_string(format!("{CRATES}/clockscope-records/schema/{name}.json")).unwrap()
}

/// Returns the recorded documents of the renderer's tests, with their names.
fn fixtures() -> Vec<(String, Value)> {
    let entries = fs::read_dir(format!("{CRATES}/clockscope-report/tests/fixtures")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "json"));
    paths.map(|path| (path.display().to_string(), read(&fs::read_to_string(&path).unwrap()))).collect()
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Shortens lists of objects to their first entry.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Array(entries) => {
            if entries.first().is_some_and(Value::is_object) {
                entries.truncate(1);
            }
            entries.iter_mut().for_each(shorten);
        }
        _ => {}
    }
}

/// Both validators of one schema.
struct Both {
    ours: Schema,
    known: Validator,
    /// Places that an earlier document had.
    seen: BTreeSet<String>,
    refused: usize,
    accepted: usize,
}

impl Both {
    fn new(text: &str) -> Self {
        let known = jsonschema::validator_for(&read(text)).unwrap();
        Self { ours: Schema::parse(text), known, seen: BTreeSet::new(), refused: 0, accepted: 0 }
    }

    fn compare(&mut self, value: &Value, change: &str) {
        let errors = self.ours.errors(value);
        assert_eq!(errors.is_empty(), self.known.is_valid(value), "{change}: {errors:?}");
        if errors.is_empty() {
            self.accepted += 1;
        } else {
            self.refused += 1;
        }
    }

    /// Compares a value, and it with each change of one in `places_per_changed_one` places that no
    /// earlier value had. Only the first entry of a list is changed.
    fn compare_changes(&mut self, name: &str, value: &Value, places_per_changed_one: usize) {
        self.compare(value, name);
        let mut pointers = BTreeSet::new();
        add_pointers(value, String::new(), &mut pointers);
        pointers.retain(|pointer| self.seen.insert(pointer.clone()));
        for pointer in pointers.into_iter().step_by(places_per_changed_one) {
            for other in [json!(null), json!(true), json!(-1), json!(1e300), json!(70_000), json!("known"), json!([])] {
                let mut changed = value.clone();
                *changed.pointer_mut(&pointer).unwrap() = other;
                self.compare(&changed, &format!("{name}{pointer}"));
            }
            self.compare_objects(name, value, &pointer);
        }
    }

    /// Compares a value without a key, and with one more, where it has an object.
    fn compare_objects(&mut self, name: &str, value: &Value, pointer: &str) {
        let Some(object) = value.pointer(pointer).and_then(Value::as_object) else { return };
        for key in object.keys() {
            let mut changed = value.clone();
            changed.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap().remove(key);
            self.compare(&changed, &format!("{name}{pointer}: without {key}"));
        }
        let mut changed = value.clone();
        changed.pointer_mut(pointer).unwrap()["added"] = json!(1);
        self.compare(&changed, &format!("{name}{pointer}: one more"));
    }
}

fn add_pointers(value: &Value, pointer: String, pointers: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                add_pointers(inner, pointer_below(&pointer, key), pointers);
            }
        }
        Value::Array(entries) => {
            for (index, inner) in entries.iter().enumerate().take(1) {
                add_pointers(inner, format!("{pointer}/{index}"), pointers);
            }
        }
        _ => {}
    }
    pointers.insert(pointer);
}

#[test]
fn documents_are_refused_as_by_a_known_validator() {
    let mut both = Both::new(&schema_text("documents"));
    for (name, mut document) in fixtures() {
        both.compare(&document, &name);
        shorten(&mut document);
        both.compare_changes(&name, &document, PLACES_PER_CHANGED_ONE);
    }
    assert!(both.accepted > 100 && both.refused > 200, "{} accepted, {} refused", both.accepted, both.refused);
}

/// The only schema of the project that refuses keys which it does not name.
#[test]
fn policies_are_refused_as_by_a_known_validator() {
    let mut both = Both::new(&schema_text("policy"));
    let policy = json!({
        "counter": { "max_cost_ns": 30, "verdict": "trusted" },
        "clocks": { "monotonic": { "max_cost_ns": 60.5 } },
        "clocksource": ["tsc"],
    });
    both.compare_changes("policy", &policy, 1);
    assert!(both.accepted > 10 && both.refused > 10, "{} accepted, {} refused", both.accepted, both.refused);
}

/// Keywords by which the changes above refuse nothing, or little.
#[test]
fn keywords_are_applied_as_by_a_known_validator() {
    let values = [json!([]), json!([1]), json!([1, 2]), json!([1, 2, 3]), json!(["a", 2]), json!([1, "b"]), json!("a")];
    for schema in [
        json!({ "minItems": 1, "maxItems": 2 }),
        json!({ "prefixItems": [{ "type": "integer" }], "items": { "type": "string" } }),
        json!({ "prefixItems": [{ "type": "integer" }], "items": false, "type": "array" }),
        json!({ "oneOf": [{ "minItems": 2 }, { "maxItems": 2 }] }),
        json!({ "anyOf": [{ "const": "a" }, { "maxItems": 1, "type": ["array", "null"] }] }),
        json!({ "items": { "enum": [1, 2] } }),
        json!({ "items": { "type": "number", "minimum": 2, "maximum": 2 } }),
        json!({ "$defs": { "one": { "const": [1] } }, "$ref": "#/$defs/one" }),
    ] {
        let mut both = Both::new(&schema.to_string());
        values.iter().for_each(|value| both.compare(value, &format!("{schema} beside {value}")));
        assert!(both.accepted > 0 && both.refused > 0, "{schema}");
    }
}

#[test]
#[should_panic(expected = "the keyword not, which is not known here")]
fn unknown_keywords_are_refused() {
    let _ = Schema::parse(r#"{ "not": {} }"#).errors(&json!(1));
}
