//! Policies: demands on clocks, which decide the exit code of `check`.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::PathBuf;

use crate::support::{assert_valid, clockscope, printed_schema, run};
use clockscope_testing::{demand, granted, two_cpus};
use serde_json::Value;
use serial_test::parallel;

/// A policy in a file that lives as long as this.
pub(crate) struct Written(tempfile::NamedTempFile);

impl Written {
    pub(crate) fn new(text: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Self(file)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

/// Checks by a policy, which ends with this code. Returns the record, and the messages on standard
/// error.
fn by_policy(text: &str, code: i32) -> (Value, String) {
    let policy = Written::new(text);
    let path = policy.path();
    let output = run(
        clockscope(&["check", "monotonic", "--duration", "3s", "--format", "json", "--policy", path.to_str().unwrap()]),
        code,
    );
    let record = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (record, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn a_policy_decides_the_exit_code() {
    // Only two CPUs can show steps back of the counter.
    let counter =
        if two_cpus().is_some() { "[counter]\nmax_regressions = 0\n" } else { "[counter]\ninvariant = true\n" };
    let policy = format!("{counter}[clocks.monotonic]\nverdict = \"limited\"\nmax_rate_ppm = 1e6");
    demand(|factor| {
        let policy = Written::new(&policy);
        let duration = format!("{}s", 3 * factor);
        let arguments = ["check", "monotonic", "--duration", &duration, "--format", "json", "--policy"];
        let (output, granted) = granted(clockscope(&arguments).arg(policy.path()));
        (granted, move || {
            let met = serde_json::from_slice(&output.stdout).unwrap();
            assert_valid(&met);
            let demands = met["demands"].as_array().unwrap();
            assert_eq!(demands.len(), 3, "{demands:#?}");
            assert!(demands.iter().all(|demand| demand["met"] == true && demand["advice"].is_null()), "{demands:#?}");
            assert_eq!(output.status.code(), Some(0));
        })
    });
    let (unmet, _) = by_policy("clocksource = [\"sundial\"]\n[clocks.monotonic]\nmax_cost_ns = 0.1", 1);
    for demand in unmet["demands"].as_array().unwrap() {
        assert!(demand["met"] == false && demand["advice"].is_string(), "{demand:#}");
    }
    // A second shows no rate so closely.
    let (unknown, _) = by_policy("[clocks.monotonic]\nmax_rate_ppm = 0.001", 3);
    let demand = &unknown["demands"][0];
    assert!(demand["met"].is_null() && demand["advice"].as_str().unwrap().contains("--duration"), "{unknown:#}");
}

#[test]
#[parallel]
fn a_policy_that_is_wrong_is_refused_before_anything_is_measured() {
    for (text, said) in [
        (
            "clocksorce = [\"tsc\"]",
            "line 1: clocksorce: unknown key `clocksorce`, expected one of `clocksource`, `counter`, `clocks`",
        ),
        ("[counter]\nmax_cost = 3", "line 2: counter.max_cost: unknown key `max_cost`, expected one of"),
        ("[counter]\nmax_cost_ns = \"fast\"", "line 2: counter.max_cost_ns: found string \"fast\", expected a number"),
        (
            "[counter]\nmax_regressions = -1",
            "line 2: counter.max_regressions: found integer `-1`, expected a whole number from 0 on",
        ),
        ("[counter]\nmax_cost_ns = -1", "counter.max_cost_ns: invalid limit -1"),
        ("[counter]\nmax_cost_ns = nan", "invalid limit"),
        ("[counter]\nmax_cost_ns = inf", "invalid limit"),
        ("[counter]\nverdict = \"good\"", "counter.verdict: unknown word `good`, expected one of `unfit`"),
        ("clocksource = []", "empty"),
        ("[clocks.realtime]\nuse = \"time_of_day\"", "clocks.realtime.use: no verdict is demanded"),
        ("[clocks.monotonic]\nmax_offset_ns = 3", "only be demanded of the counter"),
        ("[clocks.sundial]\nmax_cost_ns = 3", "clocks.sundial: unknown clock: sundial"),
        ("[clocks.nanoTime]\nmax_cost_ns = 3", "clocks.nanoTime: unknown clock: nanoTime"),
        ("[clocks.monotonic", "line 1: not TOML"),
        ("\u{0}", "not TOML"),
    ] {
        let (record, message) = by_policy(text, 2);
        assert!(message.contains(said), "{text}: {message}");
        assert_eq!(record, Value::Null, "{text}");
    }
    let output = run(clockscope(&["check", "--policy", "/nonexistent/policy.toml"]), 4);
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nonexistent/policy.toml"));
}

/// Policies that the documentation shows have to be accepted, by the program and by the schema.
#[test]
#[parallel]
fn the_schema_describes_what_is_accepted() {
    let schema = printed_schema(&["policy"]);
    let example =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/policy.toml")).unwrap();
    let policy: Value = toml::from_str(&example).unwrap();
    assert!(schema.accepts(&policy), "{policy:#}");
    for wrong in [
        "clocksorce = [\"tsc\"]",
        "[counter]\nmax_cost_ns = \"fast\"",
        "[counter]\nmax_cost_ns = -1",
        "[counter]\nverdict = \"good\"",
    ] {
        assert!(!schema.accepts(&toml::from_str(wrong).unwrap()), "{wrong}");
    }
    let (record, _) = by_policy_any(&example);
    assert_eq!(record["demands"].as_array().unwrap().len(), 9, "{:#}", record["demands"]);
}

/// Checks by a policy that this machine need not meet. Returns the record and the exit code.
fn by_policy_any(text: &str) -> (Value, i32) {
    let policy = Written::new(text);
    let path = policy.path();
    let mut command =
        clockscope(&["check", "--duration", "500ms", "--format", "json", "--policy", path.to_str().unwrap()]);
    let output = command.output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code().unwrap())
}
