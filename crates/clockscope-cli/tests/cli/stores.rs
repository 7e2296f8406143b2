//! Readings after the thread's own stores, on the machine as it is.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use crate::support::{assert_valid, clockscope, record, run};
use clockscope_testing::two_cpus;
use serde_json::Value;
use serial_test::serial;

fn order(arguments: &[&str]) -> Value {
    record(clockscope(&[arguments, &["--format", "json"]].concat()))
}

/// A reading after a fence follows the thread's own stores; what a bare one does depends on the
/// processor.
#[test]
#[serial]
fn stores_are_tested_before_readings_with_and_without_a_fence() {
    let Some((a, b)) = two_cpus() else { return };
    let cpus = format!("{a},{b}");
    let arguments = ["order", "tsc", "rdtscp", "monotonic", "--cpus", &cpus, "--duration", "400ms"];
    assert!(order(&arguments)["stores"].is_null());
    let record = order(&[&arguments[..], &["--stores"]].concat());
    assert_valid(&record);
    let stores = &record["stores"];
    assert_eq!((&stores["writer"], &stores["reader"]), (&a.into(), &b.into()), "{stores:#}");
    let names: Vec<_> = stores["clocks"].as_array().unwrap().iter().map(|clock| &clock["name"]).collect();
    // An unordered clock promises nothing.
    assert_eq!(names, ["rdtscp", "monotonic"]);
    for clock in stores["clocks"].as_array().unwrap() {
        assert!(clock["bare"]["rounds"].as_u64().unwrap() > 0, "{clock:#}");
        let fenced = &clock["fenced"];
        assert!(fenced["rounds"].as_u64().unwrap() > 0 && fenced["violations"] == 0, "{clock:#}");
    }
    // Violations are no finding.
    let failing = [&arguments[..], &["--stores", "--fail-on", "regression"]].concat();
    let said = String::from_utf8(run(clockscope(&failing), 0).stdout).unwrap();
    assert!(said.contains("Stores before a reading") && said.contains("now_after_stores()"), "{said}");
}
