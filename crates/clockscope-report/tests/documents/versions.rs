//! Records of older and of later programs: they are read, and shown as far as this one knows them.

use crate::support::{document, rendered, text_of};
use clockscope_records::{DOCUMENT_SCHEMA, Document};
use clockscope_report::{Format, Style, render};
use serde_json::{Value, json};

/// Records of before the tick was known lack its keys.
#[test]
fn an_older_record_is_read() {
    let mut older: Value = serde_json::from_str(&text_of("healthy")).unwrap();
    older["run"].as_object_mut().unwrap().remove("reads_asked");
    for clock in older["clocks"].as_array_mut().unwrap() {
        for key in ["tick_ns", "tick_evidence", "summary", "failure"] {
            assert!(clock.as_object_mut().unwrap().remove(key).is_some(), "{key}");
        }
    }
    let table = rendered(&Document::from_json(&older.to_string()).unwrap(), Format::Table);
    assert!(table.contains("monotonic"), "{table}");
    for (name, list) in [("list", "clocks"), ("steps", "clocks"), ("rate", "clocks"), ("order", "sequences")] {
        let mut older: Value = serde_json::from_str(&text_of(name)).unwrap();
        for clock in older[list].as_array_mut().unwrap() {
            assert!(clock.as_object_mut().unwrap().remove("failure").is_some(), "{name}");
        }
        Document::from_json(&older.to_string()).unwrap();
    }
}

/// Comparisons of older programs have sentences alone: the score follows from the winners.
#[test]
fn an_older_comparison_is_read() {
    let mut older: Value = serde_json::from_str(&text_of("shootout")).unwrap();
    for key in ["unreadable", "negligible_beyond_us"] {
        assert!(older.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    for (metric, key) in [(1, "reference"), (3, "unordered"), (3, "trusted_more")] {
        assert!(older["metrics"][metric].as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let validator = jsonschema::validator_for(&serde_json::from_str(DOCUMENT_SCHEMA).unwrap()).unwrap();
    assert!(validator.is_valid(&older));
    let table = rendered(&Document::from_json(&older.to_string()).unwrap(), Format::Table);
    let score = "tsc wins cost; monotonic wins reliability; resolution, accuracy: no difference.\n";
    assert!(table.starts_with(score), "{table}");
}

/// Before causes and statements were data, records had their sentences alone.
#[test]
fn sentences_of_an_older_record_are_kept() {
    let mut older: Value = serde_json::from_str(&text_of("clocksource")).unwrap();
    let reason = older["counter"]["reasons"][0].as_object_mut().unwrap();
    assert!(["cause", "line", "fault"].iter().all(|key| reason.remove(*key).is_some()));
    reason["advice"] = "replace the board".into();
    let read = Document::from_json(&older.to_string()).unwrap();
    let written = rendered(&read, Format::Json);
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), older);
    assert_eq!(written.matches("\"seen\"").count(), 1, "{written}");
    assert!(rendered(&read, Format::Table).contains("TSC unstable due to clocksource watchdog"));
    assert!(rendered(&read, Format::Table).contains("replace the board."));

    let mut older: Value = serde_json::from_str(&text_of("check")).unwrap();
    let evidence = older["verdicts"][0]["evidence"].as_array_mut().unwrap();
    let hypervisor = evidence.iter_mut().find(|piece| piece["check"] == "hypervisor").unwrap();
    hypervisor["statement"] = "it emulates every read of the counter".into();
    let read = rendered(&Document::from_json(&older.to_string()).unwrap(), Format::Json);
    assert!(read.contains(r#""statement": "emulated_reads""#));
    assert!(read.contains("KVM says: it emulates every read of the counter; it states"));
}

/// Keys that have other names now are read by their former ones, with the reasons of unknown
/// figures.
#[test]
fn former_names_of_keys_are_read() {
    for (fixture, names) in [
        ("runtimes", [("nominal_resolution_ns", "nominal_tick_ns"), ("recognized", "recognised")]),
        ("gaps", [("lost_ns", "stolen_ns"), ("lost_percent", "stolen_percent")]),
    ] {
        let mut older = text_of(fixture);
        for (name, former) in names {
            assert!(older.contains(&format!("\"{name}\"")), "{name}");
            older = older.replace(&format!("\"{name}\""), &format!("\"{former}\""));
        }
        assert_eq!(Document::from_json(&older).unwrap(), document(fixture), "{fixture}");
    }
}

/// Whatever a later program writes into the lists of these records, they are read, shown with its
/// words where it has some, and written again as they were.
#[test]
fn findings_of_a_later_program_are_read_and_reported() {
    const UNKNOWN: &str = "something this program does not know";
    let validator = jsonschema::validator_for(&serde_json::from_str(DOCUMENT_SCHEMA).unwrap()).unwrap();
    let finding = json!({ "finding": "sundial", "shadow_mm": [3, null] });
    let check = json!({
        "check": "weather", "clouds": 0.5, "finding": "against", "decides": true, "name": "the weather",
        "text": "half of the sky is clouded", "source": "a window", "advice": "wait for the sun",
    });
    let wordless = json!({ "check": "season", "finding": "unknown", "decides": false });
    let metric = json!({
        "metric": "beauty", "a": 1.0, "b": null, "a_bound": null, "b_bound": null, "winner": "a", "grains": 3,
        "unknown": { "b": "nobody looked" }, "figure": "looks", "unit": "helens", "note": "as seen by one",
    });
    for (fixture, list, added, shown) in [
        ("runtimes", "/surprises/0/findings", finding, format!("{UNKNOWN} (sundial)")),
        ("check", "/verdicts/0/evidence", check, "the weather: half of the sky is clouded [a window]".to_owned()),
        ("check", "/verdicts/0/evidence", wordless, format!("{UNKNOWN}: {UNKNOWN}")),
        (
            "check",
            "/demands",
            json!({ "demand": "clocks.x.min_age_s", "required": 1.0, "found": null, "met": null }),
            "clocks.x.min_age_s".to_owned(),
        ),
        ("shootout", "/metrics", metric, "beauty: looks, as seen by one.".to_owned()),
        (
            "gaps",
            "/gaps/0/causes",
            json!({ "cause": "gremlins", "count": 1, "total_ns": 9e9, "max_ns": 9e9 }),
            UNKNOWN.to_owned(),
        ),
    ] {
        let mut record: Value = serde_json::from_str(&text_of(fixture)).unwrap();
        let list = record.pointer_mut(list).unwrap().as_array_mut().unwrap();
        list.push(added.clone());
        let document = Document::from_json(&record.to_string()).unwrap_or_else(|error| panic!("{added}: {error:?}"));
        let verbose = Style { verbose: true, ..Style::default() };
        let [table, json] = [Format::Table, Format::Json].map(|format| render(&document, format, verbose).unwrap());
        // Prose is wrapped.
        let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(table.contains(&shown), "{shown}: {table}");
        let written: Value = serde_json::from_str(&json).unwrap();
        assert!(validator.is_valid(&written), "{added}");
        let written = serde_json::to_value(Document::from_json(&json).unwrap()).unwrap();
        assert_eq!(written, serde_json::to_value(&document).unwrap(), "{added}");
        for format in Format::ALL {
            assert!(!rendered(&document, format).is_empty(), "{added}");
        }
    }
}

/// Data that a later program wrote is written again, with all of its keys.
#[test]
fn findings_of_a_later_program_keep_their_keys() {
    for (fixture, list, added) in [
        ("runtimes", "/surprises/0/findings", json!({ "finding": "sundial", "shadow_mm": [3, null] })),
        (
            "check",
            "/verdicts/0/evidence",
            json!({ "check": "weather", "clouds": 0.5, "finding": "against", "decides": true, "text": "clouded" }),
        ),
        (
            "shootout",
            "/metrics",
            json!({
                "metric": "beauty", "a": 1.0, "b": null, "a_bound": null, "b_bound": null, "winner": "a", "grains": 3,
                "unknown": { "b": "nobody looked" },
            }),
        ),
    ] {
        let mut record: Value = serde_json::from_str(&text_of(fixture)).unwrap();
        record.pointer_mut(list).unwrap().as_array_mut().unwrap().push(added.clone());
        let written = rendered(&Document::from_json(&record.to_string()).unwrap(), Format::Json);
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(written.pointer(list).unwrap().as_array().unwrap().last(), Some(&added));
    }
}

/// A word for a failure that a later program wrote says nothing to this one. The reason beside it
/// is kept: a sentence, or data that this program does not know.
#[test]
fn a_failure_of_a_later_program_keeps_its_reason() {
    let mut record: Value = serde_json::from_str(&text_of("list")).unwrap();
    for reason in [json!("it melted"), json!({ "code": "melted", "degrees": 1538, "text": "it melted" })] {
        let clock = &mut record["clocks"][0];
        (clock["available"], clock["reason"], clock["failure"]) = (false.into(), reason.clone(), "melted".into());
        let document = Document::from_json(&record.to_string()).unwrap();
        let written: Value = serde_json::from_str(&rendered(&document, Format::Json)).unwrap();
        assert_eq!((&written["clocks"][0]["reason"], &written["clocks"][0]["failure"]), (&reason, &Value::Null));
        assert!(rendered(&document, Format::Table).contains("it melted"), "{reason}");
    }
    record["clocks"][0]["failure"] = 3.into();
    assert!(Document::from_json(&record.to_string()).is_err());
}
