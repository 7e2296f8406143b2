//! Documents with a value of another kind: the error names its place.

use clockscope_records::{Document, ReadError};
use clockscope_testing::pointer_below;
use serde_json::{Value, json};

use crate::support::{fixtures, text_of};

/// One of this number of values is damaged: all would take minutes.
const STEP: usize = 17;

/// Returns the path of every value, as errors write it, and as a JSON pointer.
fn paths(value: &Value, path: &str, pointer: &str, all: &mut Vec<(String, String)>) {
    all.push((path.to_owned(), pointer.to_owned()));
    for (key, value) in value.as_object().into_iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        paths(value, &format!("{path}{dot}{key}"), &pointer_below(pointer, key), all);
    }
    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
        paths(value, &format!("{path}[{index}]"), &format!("{pointer}/{index}"), all);
    }
}

/// Returns what an error says of the document with another value there; `None` if it is read.
fn fault(document: &Value, pointer: &str) -> Option<String> {
    let mut damaged = document.clone();
    let value = damaged.pointer_mut(pointer)?;
    *value = if value.is_boolean() { json!(0.5) } else { json!(true) };
    match Document::from_json(&damaged.to_string()) {
        Ok(_) => None,
        Err(ReadError::Damaged(fault)) => Some(fault),
        Err(error) => panic!("{pointer}: {error}"),
    }
}

/// Returns true if a fault begins with the path of a value, or of an object or list around it.
fn is_near(fault: &str, path: &str) -> bool {
    let found = fault.split(": ").next().unwrap_or_default();
    !found.is_empty() && path.strip_prefix(found).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The error names the object of a type that serde reads from a buffer, and not the value in it.
#[test]
fn the_error_names_the_damaged_value_or_what_is_around_it() {
    let (mut refused, mut exact) = (0, 0);
    for name in fixtures() {
        let document: Value = serde_json::from_str(&text_of(name)).unwrap();
        let mut all = Vec::new();
        paths(&document, "", "", &mut all);
        all.retain(|(_, pointer)| !pointer.is_empty() && pointer != "/schema");
        for (path, pointer) in all.iter().step_by(STEP) {
            let Some(fault) = fault(&document, pointer) else { continue };
            assert!(is_near(&fault, path), "{name}: {path}: {fault}");
            refused += 1;
            exact += u32::from(fault.starts_with(&format!("{path}: ")));
        }
    }
    assert!(f64::from(exact) > 0.75 * f64::from(refused), "{exact} of {refused} paths are exact");
}
