//! Records of `measure` that were written under version 1 of the schema, for comparisons with later
//! ones. docs/records.md lists the differences.

use serde_json::{Map, Value, json};

use crate::SCHEMA_VERSION;

/// Why facts of a clock are unknown that version 1 does not have.
const NOT_STATED: &str = "records of version 1 do not state it";

/// Makes a measurement of version 1 one of the present version. Facts about clocks that version 1
/// does not state are unknown, or not so. What was measured across CPUs is left out: no comparison
/// uses it.
pub(crate) fn upgrade(measurement: &mut Value) {
    let Some(document) = measurement.as_object_mut() else { return };
    document.insert("schema_version".to_owned(), SCHEMA_VERSION.into());
    document.insert("thorough".to_owned(), Value::Null);
    if let Some(advice) = document.get_mut("advice").and_then(Value::as_object_mut) {
        advice.entry("unknown").or_insert_with(|| json!({}));
    }
    let clocks = document.get_mut("clocks").and_then(Value::as_array_mut);
    clocks.into_iter().flatten().filter_map(Value::as_object_mut).for_each(upgrade_clock);
}

fn upgrade_clock(clock: &mut Map<String, Value>) {
    let is = |key: &str, word: &str| clock.get(key).is_some_and(|value| value == word);
    let is_counter = is("kind", "counter") && is("path", "instruction");
    let facts = [
        ("basis", Value::from(if is_counter { "counter" } else { "other" })),
        ("is_wall", is("kind", "wall").into()),
        ("is_cpu_time", is("kind", "cpu_time").into()),
        ("is_ordered", false.into()),
        ("is_coarse", false.into()),
        ("is_steered", false.into()),
        ("counts_suspend", false.into()),
        ("is_device", false.into()),
    ];
    for (fact, value) in facts {
        clock.entry(fact).or_insert(value);
    }
    if !clock.contains_key("counter_based") {
        clock.insert("counter_based".to_owned(), Value::Null);
        if let Some(unknown) = clock.get_mut("unknown").and_then(Value::as_object_mut) {
            unknown.insert("counter_based".to_owned(), NOT_STATED.into());
        }
    }
    if let Some(cost) = clock.get_mut("cost_ns").and_then(Value::as_object_mut) {
        cost.entry("rounds").or_insert_with(|| json!([]));
    }
    rename(clock.get_mut("events"), "fail", "stuck");
    rename(clock.get_mut("tick_evidence"), "recognised", "recognized");
}

fn rename(record: Option<&mut Value>, former: &str, now: &str) {
    let Some(record) = record.and_then(Value::as_object_mut) else { return };
    if let Some(value) = record.remove(former) {
        record.insert(now.to_owned(), value);
    }
}
