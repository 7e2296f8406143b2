//! Advice on intervals, from records and beside the first screen.

use crate::support::{clockscope, record, run, run_granted, stderr};
use clockscope_testing::demand;
use serde_json::Value;

#[test]
fn advice_is_based_on_either_record() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let file = file.to_str().unwrap();
    for command in ["measure", "steps"] {
        demand(|factor| {
            // Long enough for the coarse clock's tick.
            let duration = format!("{factor}s");
            let arguments = [command, "monotonic", "monotonic_coarse", "--duration", &duration];
            let (_, granted) =
                run_granted(clockscope(&[&arguments[..], &["--format", "json", "-o", file]].concat()), 0);
            let advice = record(clockscope(&["advise", "--from", file, "--error", "5%", "--format", "json"]));
            let rows = advice["rows"].as_array().unwrap().clone();
            assert_eq!(rows.len(), 10);
            for row in &rows {
                let (single, repetitions) =
                    (row["reading_error"].as_f64().unwrap(), row["repetitions"].as_u64().unwrap());
                // Either a bound and what it is from, or why there is none.
                assert_eq!(row["scale_error"].is_null(), row["scale_source"].is_null(), "{row}");
                assert_eq!(row["scale_error"].is_null(), row["unknown"]["scale_error"]["text"].is_string(), "{row}");
                assert!(single / repetitions as f64 <= 0.05 * (1.0 + 1e-9), "{row}");
                assert!(repetitions == 1 || single / (repetitions - 1) as f64 > 0.05 * (1.0 - 1e-9), "{row}");
                assert_eq!(row["clock"], "monotonic");
            }
            let advice = record(clockscope(&["advise", "--from", file, "--interval", "10ns", "--format", "json"]));
            assert_eq!(advice["rows"].as_array().unwrap().len(), 1);
            // A thread that only runs now and then sees few of its ticks.
            (granted, move || assert_eq!(rows[9]["cheapest_sufficient"], "monotonic_coarse"))
        });
    }
    run(clockscope(&["list", "--format", "json", "--output", file]), 0);
    assert!(stderr(&["advise", "--from", file], 4).contains("holds no measurement"));
}

/// The first screen and `advise` name the same clock, the library's takes part, and every clock is
/// weighed or has its reason.
#[test]
fn the_first_screen_and_advise_agree() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let file = file.to_str().unwrap();
    demand(|factor| {
        let duration = format!("{factor}s");
        let (found, granted) = run_granted(clockscope(&["--duration", &duration, "--json", "-o", file]), 0);
        drop(found);
        let measured: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let advice = record(clockscope(&["advise", "--from", file, "--format", "json"]));
        (granted, move || {
            let (first, from_ns) = (&measured["advice"]["clock"], measured["advice"]["interval_ns"].as_f64().unwrap());
            for row in advice["rows"].as_array().unwrap() {
                let is_shorter = row["interval_ns"].as_f64().unwrap() < from_ns;
                assert!(is_shorter || &row["clock"] == first, "{row}");
                assert!(is_shorter || row["reading_error"].as_f64().unwrap() <= 0.01, "{row}");
            }
            let names =
                |list: &str| advice[list].as_array().unwrap().iter().map(|clock| clock["clock"].clone()).collect();
            let (weighed, left_out): (Vec<Value>, Vec<Value>) = (names("clocks"), names("left_out"));
            assert!(weighed.contains(&"clockscope.now".into()), "{weighed:?}");
            assert!(left_out.contains(&"realtime".into()), "{left_out:?}");
            assert_eq!(weighed.len() + left_out.len(), measured["clocks"].as_array().unwrap().len());
            assert!(advice["left_out"].as_array().unwrap().iter().all(|clock| clock["reason"].is_string()));
        })
    });
}

/// An interval, a clock and a day are named as people write them, and a record of several runs is
/// enough.
#[test]
fn intervals_and_clocks_are_named_as_people_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let file = file.to_str().unwrap();
    run(clockscope(&["measure", "monotonic", "tsc", "-d", "1.6s", "--quiet", "--json", "-o", file]), 0);
    let rows = |arguments: &[&str]| {
        let advice = record(clockscope(&[arguments, &["--quiet", "--json"]].concat()));
        let row = advice["rows"][0].clone();
        (row["clock"].as_str().unwrap().to_owned(), row["interval_ns"].as_f64().unwrap())
    };
    assert_eq!(rows(&["advise", "1d", "--from", file]), ("monotonic".to_owned(), 86_400e9));
    let one = ["advise", "--clock", "monotonic", "1us", "--duration", "50ms"];
    assert_eq!(rows(&one), ("monotonic".to_owned(), 1000.0));
    assert!(stderr(&["advise", "1us", "--interval", "1us"], 2).contains("cannot be used with"));
}

/// Without its runtime, a language gets no advice, and the error names what was asked for.
#[test]
fn a_language_needs_its_runtime() {
    for (arguments, status, expected) in [
        (
            &["--program", "/nonexistent/python"][..],
            4,
            "cannot advise for Python: /nonexistent/python is not a program",
        ),
        (&["--from", "record.json"], 2, "cannot be used with"),
        (&["--cpu", "9999"], 2, "CPU 9999 does not exist"),
    ] {
        let found = stderr(&[&["advise", "1ms", "--lang", "python"], arguments].concat(), status);
        assert!(found.contains(expected), "{found}");
    }
    assert!(stderr(&["advise", "1ms", "--program", "python3"], 2).contains("--lang <LANGUAGE>"));
}
