//! Figures in JSON: an unknown one is `null`, and its reason is in the object `unknown` beside it.
//! A document that is read is written again as it was.

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

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Field {
    /// The object, as a JSON pointer.
    object: String,
    name: String,
}

impl Field {
    fn pointer(&self) -> String {
        format!("{}/{}", self.object, self.name)
    }

    /// Its place without numbers: fields of one type have the same.
    fn kind(&self) -> String {
        self.pointer().replace(|c: char| c.is_ascii_digit(), "")
    }

    /// Makes it `null`, with the reason if there is one. Does nothing if it is not there.
    fn forget(&self, document: &mut Value, reason: Option<Value>) {
        let Some(object) = document.pointer_mut(&self.object).and_then(Value::as_object_mut) else { return };
        if !object.contains_key(&self.name) {
            return;
        }
        object.insert(self.name.clone(), Value::Null);
        let mut unknown = object.remove("unknown").unwrap_or_else(|| json!({}));
        let reasons = unknown.as_object_mut().unwrap();
        reasons.remove(&self.name);
        reasons.extend(reason.map(|reason| (self.name.clone(), reason)));
        if !reasons.is_empty() {
            object.insert("unknown".to_owned(), unknown);
        }
    }
}

/// Adds all fields below a value.
fn fields(value: &Value, path: &str, found: &mut Vec<Field>) {
    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
        fields(value, &format!("{path}/{index}"), found);
    }
    for (name, value) in value.as_object().into_iter().flatten().filter(|(name, _)| *name != "unknown") {
        fields(value, &format!("{path}/{name}"), found);
        found.push(Field { object: path.to_owned(), name: name.clone() });
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

/// Returns those of these fields that are figures: each takes a reason. Fields of one kind are
/// alike.
///
/// # Panics
/// A figure lost its reason.
fn figures(document: &Value, fields: Vec<Field>) -> Vec<Field> {
    let nullable = places(document).into_iter().filter(Place::takes_null);
    let nullable: BTreeSet<String> = nullable.map(|place| place.pointer).collect();
    let before = unexplained(&read(document).unwrap());
    let mut kinds = BTreeMap::new();
    let nullable = fields.into_iter().filter(|field| nullable.contains(&field.pointer()));
    nullable.filter(|field| *kinds.entry(field.kind()).or_insert_with(|| is_figure(document, field, before))).collect()
}

/// Returns whether a field takes a reason. Most others are refused if they are `null` with one.
fn is_figure(document: &Value, field: &Field, unexplained_before: usize) -> bool {
    let [mut explained, mut forgotten] = [document.clone(), document.clone()];
    field.forget(&mut explained, Some(why("forgotten")));
    field.forget(&mut forgotten, None);
    let (Some(explained), Some(forgotten)) = (read(&explained), read(&forgotten)) else { return false };
    let is_lost = unexplained(&forgotten) > unexplained_before && unexplained(&explained) > unexplained_before;
    assert!(!is_lost, "{field:?} lost its reason");
    format!("{explained:?}").contains("\"forgotten\"")
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

/// An unknown figure is written and read with its reason.
#[test]
fn every_figure_keeps_its_reason() {
    let (mut visited, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for name in with_figures() {
        let document = fixture(name);
        let mut all = Vec::new();
        fields(&document, "", &mut all);
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
    let some = ["healthy/clocks//cost_ns", "healthy/clocks//events/jump", "extended/extended/rate"];
    for kind in some.into_iter().chain(["/environment/cpu/model", "/run/cpu"]) {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
}

/// Names a field's type: those of the environment and the run are the same in all documents.
fn kind(document: &str, field: &Field) -> String {
    let is_shared = ["/environment", "/run"].iter().any(|shared| field.object.starts_with(shared));
    format!("{}{}", if is_shared { "" } else { document }, field.kind())
}

/// An empty list of rows has its reason like a figure.
#[test]
fn what_is_not_null_keeps_its_reason_too() {
    let mut plan = fixture("advise");
    (plan["rows"], plan["unknown"]["rows"]) = (json!([]), why("nothing to weigh"));
    assert_eq!(written(&plan), plan);
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
        fields(&document, "", &mut all);
        for field in all {
            let value = document.pointer(&field.pointer()).unwrap();
            // A list that is not known is empty.
            let is_known = !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
            let unknown = &mut hostile.pointer_mut(&field.object).unwrap()["unknown"];
            if is_known {
                unknown[field.name.as_str()] = why("it is there");
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
    let deep = "{\"unknown\":".repeat(100_000);
    assert!(Document::from_json(&deep).is_err());
}

/// Documents, and those of their fields that may be unknown for any reason.
static DOUBTFUL: LazyLock<Vec<(Value, Vec<Field>)>> = LazyLock::new(|| {
    let doubtful = |document: Value| {
        let mut all = Vec::new();
        fields(&document, "", &mut all);
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
