//! Figures in JSON: an unknown one is `null`, and its reason is in the object `unknown` of its
//! record. What is read is written again as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::schema::{Place, places, replace};
use crate::support::{fixtures, text_of};
use clockscope_records::Document;
use clockscope_testing::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Documents whose figures are those of another one, or of the environment alone.
const REPEATING: [&str; 4] = ["check", "compare_checks", "runtimes_switched", "runtimes_found"];

/// The documents that have figures of their own.
fn with_figures() -> impl Iterator<Item = &'static str> {
    fixtures().filter(|name| !REPEATING.contains(name))
}

/// The reason of a figure that has none.
const UNRECORDED: &str = "Unrecorded";

/// A reason that is a sentence.
fn why(sentence: &str) -> Value {
    json!({ "code": "other", "text": sentence })
}

/// A field of a record that has an object `unknown`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Field {
    /// The record, as a JSON pointer.
    record: String,
    /// The names from there on.
    names: Vec<String>,
}

impl Field {
    fn path(&self) -> String {
        self.names.join(".")
    }

    fn pointer(&self) -> String {
        format!("{}/{}", self.record, self.names.join("/"))
    }

    /// Its place without numbers: fields of one type have the same.
    fn kind(&self) -> String {
        self.record.replace(|c: char| c.is_ascii_digit(), "") + "." + &self.path()
    }

    /// Makes it `null`, with the reason if there is one. Returns whether it is there.
    fn forget(&self, document: &mut Value, reason: Option<Value>) -> bool {
        let Some(value) = document.pointer_mut(&self.pointer()) else {
            return false;
        };
        *value = Value::Null;
        let unknown = document.pointer_mut(&self.record).unwrap()["unknown"].as_object_mut().unwrap();
        let (path, within) = (self.path(), self.path() + ".");
        unknown.retain(|name, _| *name != path && !name.starts_with(&within));
        unknown.extend(reason.map(|reason| (path, reason)));
        true
    }
}

/// Adds all fields below a value that belong to a record.
fn fields(value: &Value, path: &str, record: Option<&Field>, found: &mut Vec<Field>) {
    if let Some(list) = value.as_array() {
        for (index, value) in list.iter().enumerate() {
            fields(value, &format!("{path}/{index}"), None, found);
        }
    }
    let Some(object) = value.as_object() else { return };
    let own = Field { record: path.to_owned(), names: Vec::new() };
    let record = if object.contains_key("unknown") { Some(&own) } else { record };
    for (name, value) in object.iter().filter(|(name, _)| *name != "unknown") {
        let field = record.map(|Field { record, names }| Field {
            record: record.clone(),
            names: names.iter().chain([name]).cloned().collect(),
        });
        fields(value, &format!("{path}/{name}"), field.as_ref(), found);
        found.extend(field);
    }
}

fn read(document: &Value) -> Option<Document> {
    Document::from_json(&document.to_string()).ok()
}

/// A document as it is written after it was read.
fn written(document: &Value) -> Value {
    serde_json::to_value(read(document).unwrap()).unwrap()
}

fn fixture(name: &str) -> Value {
    written(&serde_json::from_str(&text_of(name)).unwrap())
}

/// Number of figures that are unknown without a reason.
fn unexplained(document: &Document) -> usize {
    format!("{document:?}").matches(UNRECORDED).count()
}

/// Returns those of these fields that are figures: each takes a reason.
///
/// # Panics
/// A figure lost its reason.
fn figures(document: &Value, fields: Vec<Field>) -> Vec<Field> {
    let nullable = places(document).into_iter().filter(Place::takes_null);
    let nullable: BTreeSet<String> = nullable.map(|place| place.pointer).collect();
    let mut levels: BTreeMap<usize, Vec<Field>> = BTreeMap::new();
    for field in fields.into_iter().filter(|field| nullable.contains(&field.pointer())) {
        levels.entry(field.pointer().matches('/').count()).or_default().push(field);
    }
    let before = unexplained(&read(document).unwrap());
    let mut figures = Vec::new();
    for level in levels.into_values() {
        let mut without = document.clone();
        for (index, field) in level.iter().enumerate() {
            field.forget(&mut without, Some(why(&format!("excuse {index}."))));
        }
        let found = read(&without).unwrap_or_else(|| panic!("{without} is refused"));
        let found = format!("{found:?}");
        for (index, field) in level.into_iter().enumerate() {
            if found.contains(&format!("\"excuse {index}.\"")) {
                figures.push(field);
            } else {
                let mut without = document.clone();
                field.forget(&mut without, Some(why("forgotten")));
                let is_lost = unexplained(&read(&without).unwrap()) > before;
                assert!(!is_lost, "{field:?}: not named among the figures of its record");
            }
        }
    }
    figures
}

/// Forgets figures of one level after another, and compares what is read and written again. Each
/// has a reason of its own, or none.
fn assert_kept(name: &str, document: &Value, figures: &[&Field], have_reasons: bool) {
    let levels: BTreeSet<usize> = figures.iter().map(|field| field.pointer().matches('/').count()).collect();
    for level in levels {
        let mut without = document.clone();
        let fields = figures.iter().filter(|field| field.pointer().matches('/').count() == level);
        for (index, field) in fields.enumerate() {
            let reason = if have_reasons { Some(why(&format!("a \"reason\" {index}\n"))) } else { None };
            field.forget(&mut without, reason);
        }
        let [mut written, mut without] = [written(&without), without];
        [&mut written, &mut without].into_iter().for_each(remove_sentences);
        assert_eq!(written, without, "{name}, level {level}");
    }
}

/// Removes texts that are made of figures and reasons.
fn remove_sentences(value: &mut Value) {
    match value {
        Value::Object(keys) => {
            let made = ["sentence", "conclusion", "why", "advice"];
            keys.retain(|key, value| value.is_object() || !made.contains(&key.as_str()));
            keys.values_mut().for_each(remove_sentences);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_sentences),
        _ => {}
    }
}

/// A figure that its record does not name would lose its reason.
#[test]
fn every_figure_keeps_its_reason() {
    let (mut visited, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for name in with_figures() {
        let document = fixture(name);
        let mut all = Vec::new();
        fields(&document, "", None, &mut all);
        // One of each kind, and one that is there.
        all.sort_by_key(|field| document.pointer(&field.pointer()).is_some_and(Value::is_null));
        all.retain(|field| visited.insert(kind(name, field)));
        let figures = figures(&document, all);
        // Every other one alone, too: a neighbor may hide what is lost.
        for fields in [figures.iter().collect::<Vec<_>>(), figures.iter().step_by(2).collect()] {
            assert_kept(name, &document, &fields, true);
            assert_kept(name, &document, &fields, false);
        }
        kinds.extend(figures.iter().map(|field| kind(name, field)));
    }
    let some = ["healthy/clocks/.cost_ns", "healthy/clocks/.events.jump", "extended/extended.rate"];
    for kind in some.into_iter().chain(["/environment.cpu.model", "/run.cpu"]) {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
}

/// Names a field's type: those of the environment and the run are the same in all documents.
fn kind(document: &str, field: &Field) -> String {
    let is_shared = ["/environment", "/run"].contains(&field.record.as_str());
    format!("{}{}", if is_shared { "" } else { document }, field.kind())
}

/// An empty list of rows has its reason like a figure, and a frequency of the start has one.
#[test]
fn what_is_not_null_keeps_its_reason_too() {
    let mut plan = fixture("advise");
    (plan["rows"], plan["unknown"]["rows"]) = (json!([]), why("nothing to weigh"));
    assert_eq!(written(&plan), plan);
    let mut measurement = fixture("healthy");
    measurement["run"]["unknown"]["timer.frequency_hz"] = why("it stood still");
    assert_eq!(written(&measurement), measurement);
}

/// Adds the places of keys that are not written any more.
fn left_out(read: &Value, written: &Value, pointer: &str, found: &mut Vec<String>) {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            for (key, value) in read.iter().filter(|(key, _)| *key != "unknown") {
                let pointer = format!("{pointer}/{key}");
                match written.get(key) {
                    Some(written) => left_out(value, written, &pointer, found),
                    None => found.push(pointer),
                }
            }
        }
        (Value::Array(read), Value::Array(written)) => {
            for (index, (read, written)) in read.iter().zip(written).enumerate() {
                left_out(read, written, &format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// A key is there whether or not it has a value.
#[test]
fn what_is_null_is_written() {
    for name in fixtures() {
        let document = fixture(name);
        let nullable = places(&document).into_iter().filter(|place| place.takes_null());
        let nulls: Vec<(String, Value)> = nullable.map(|place| (place.pointer, Value::Null)).collect();
        let mut without = document;
        replace(&mut without, &nulls);
        let mut found = Vec::new();
        left_out(&without, &written(&without), "", &mut found);
        assert_eq!(found, [""; 0], "{name}");
    }
}

/// Nothing is said of what is known, or of what is not there.
#[test]
fn reasons_that_belong_to_no_unknown_figure_are_dropped() {
    for name in with_figures() {
        let document = fixture(name);
        let mut hostile = document.clone();
        let mut all = Vec::new();
        fields(&document, "", None, &mut all);
        for field in all {
            let value = document.pointer(&field.pointer()).unwrap();
            // A list that is not known is empty.
            let is_known = !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
            let unknown = &mut hostile.pointer_mut(&field.record).unwrap()["unknown"];
            let is_doubted = field.path() == "timer.frequency_hz";
            if is_known && !is_doubted {
                unknown[field.path().as_str()] = why("it is there");
            }
            for odd in ["", ".", "no.such.field", &"cost_ns.".repeat(10_000)] {
                unknown[odd] = why("nowhere");
            }
        }
        assert_eq!(written(&hostile), document, "{name}");
    }
}

#[test]
fn other_shapes_are_refused() {
    let document = fixture("healthy");
    assert!(read(&document).is_some());
    for odd in [
        json!(null),
        json!([]),
        json!("text"),
        json!({ "cost_ns": null }),
        json!({ "cost_ns": { "a": "b" } }),
        json!({ "cost_ns": "why" }),
    ] {
        let mut hostile = document.clone();
        hostile["clocks"][0]["unknown"] = odd;
        assert!(read(&hostile).is_none(), "{}", hostile["clocks"][0]["unknown"]);
    }
    for odd in [json!({ "Unknown": "why" }), json!({ "Known": 1.0 }), json!({ "reason": "why" }), json!(["why"])] {
        let mut hostile = document.clone();
        hostile["clocks"][0]["tick_ns"] = odd;
        assert!(read(&hostile).is_none(), "{}", hostile["clocks"][0]["tick_ns"]);
    }
    let mut missing = document.clone();
    missing["clocks"][0].as_object_mut().unwrap().remove("unknown");
    assert!(read(&missing).is_none());
    let deep = "{\"unknown\":".repeat(100_000);
    assert!(Document::from_json(&deep).is_err());
}

/// Documents, and those of their fields that may be unknown for any reason.
static DOUBTFUL: LazyLock<Vec<(Value, Vec<Field>)>> = LazyLock::new(|| {
    let doubtful = |document: Value| {
        let mut all = Vec::new();
        fields(&document, "", None, &mut all);
        let figures = figures(&document, all);
        (document, figures)
    };
    ["healthy", "offsets", "sleep", "info", "rate", "shootout"].map(|name| doubtful(fixture(name))).into()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(64), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_figures_may_be_unknown(
        (document, doubtful) in prop::sample::select(&**DOUBTFUL),
        reasons in prop::collection::vec(prop::option::of(".*"), 1..100),
    ) {
        prop_assert!(doubtful.len() > 10);
        let mut document = document;
        // Of a figure within another one, the outer is last.
        for (field, reason) in doubtful.iter().zip(reasons.iter().cycle()) {
            if let Some(reason) = reason {
                field.forget(&mut document, Some(why(reason)));
            }
        }
        let mut written = written(&document);
        [&mut written, &mut document].into_iter().for_each(remove_sentences);
        prop_assert_eq!(written, document);
    }
}
