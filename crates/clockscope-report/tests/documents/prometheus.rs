//! Metrics of checks, read by a strict reader of the text format.

use crate::exposition::{Series, read};
use crate::support::{document, fixtures, text_of};
use clockscope_records::{Document, is_steering};
use clockscope_report::{Format, RenderError, Style, render};
use serde_json::{Value, json};

fn check() -> Value {
    serde_json::from_str(&text_of("check")).unwrap()
}

fn text(record: &Value, verbose: bool) -> String {
    let document = Document::from_json(&record.to_string()).unwrap();
    render(&document, Format::Prometheus, Style { verbose, ..Style::default() }).unwrap()
}

fn metrics(record: &Value) -> Vec<Series> {
    read(&text(record, false))
}

/// The value of the one series of this name and clock, or of this name.
fn value(series: &[Series], name: &str, clock: &str) -> Option<f64> {
    let found: Vec<&Series> =
        series.iter().filter(|series| series.name == name && series.label("clock") == clock).collect();
    assert!(found.len() <= 1, "{name} {clock}: {found:?}");
    found.first().map(|series| series.value)
}

/// The piece of a clock's evidence that answers this.
fn evidence<'a>(record: &'a mut Value, clock: &str, check: &str) -> &'a mut Value {
    let verdicts = record["verdicts"].as_array_mut().unwrap();
    let verdict = verdicts.iter_mut().find(|verdict| verdict["clock"] == clock).unwrap();
    let evidence = verdict["evidence"].as_array_mut().unwrap();
    evidence.iter_mut().find(|piece| piece["check"] == check).unwrap()
}

fn is_near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() <= expected.abs() * 1e-9)
}

#[test]
fn figures_have_their_units() {
    let series = metrics(&check());
    for (name, clock, expected) in [
        ("clockscope_last_success_timestamp_seconds", "", 1_795_283_180.0),
        ("clockscope_clock_verdict", "tsc", 1.0),
        ("clockscope_read_seconds", "tsc", 18.161_589_540_315_898e-9),
        ("clockscope_syscall_seconds", "", 234e-9),
        ("clockscope_tick_seconds", "realtime", 10.014_791_284_170_233e-9),
        ("clockscope_order_regressions", "tsc", 36.0),
        ("clockscope_order_regressions", "monotonic", 0.0),
        ("clockscope_offset_bound_seconds", "tsc", 255.376_028_936_752_93e-9),
        ("clockscope_rate_error_ratio", "realtime", -0.009_174_357_919_049_221e-6),
        ("clockscope_rate_bound_ratio", "monotonic", 0.261e-6),
        ("clockscope_sync_synchronized", "", 0.0),
        ("clockscope_sync_kernel_max_error_seconds", "", 16.0),
        ("clockscope_sync_leap_seconds", "", 0.0),
    ] {
        let found = value(&series, name, clock);
        assert!(is_near(found, expected), "{name}: {found:?}");
    }
    let label = |name: &str, clock: &str, label: &str| {
        let found = series.iter().find(|series| series.name == name && series.label("clock") == clock);
        found.map(|series| series.label(label).to_owned()).unwrap_or_default()
    };
    assert_eq!(label("clockscope_clock_verdict", "tsc", "verdict"), "unfit");
    assert_eq!(label("clockscope_read_seconds", "monotonic", "path"), "libc");
    assert_eq!(label("clockscope_rate_error_ratio", "realtime", "reference"), "monotonic_raw:syscall");
    assert_eq!(label("clockscope_clocksource_info", "", "clocksource"), "tsc");
    assert_eq!(label("clockscope_clocksource_info", "", "hypervisor"), "KVM");
    let labels = ["vendor", "name", "family", "model", "stepping", "microcode"];
    let processor = labels.map(|name| label("clockscope_cpu_info", "", name));
    assert_eq!(processor, ["ExampleVendor", "Example CPU 9000", "26", "2", "1", "0xb002116"]);
    assert_eq!(label("clockscope_sync_state", "", "state"), "unsynchronized");
    assert_eq!(label("clockscope_sync_ptp_offset_seconds", "", "name"), "KVM virtual PTP");
}

/// The metric is the time at which the check began, to the second.
#[test]
fn a_check_that_was_interrupted_did_not_succeed() {
    let name = "clockscope_last_success_timestamp_seconds";
    let mut record = check();
    record["recorded_at"] = "2026-11-24T02:30:00Z".into();
    assert_eq!(value(&metrics(&record), name, ""), Some(1_795_487_400.0));
    for when in [Value::Null, "yesterday".into()] {
        record["recorded_at"] = when;
        assert_eq!(value(&metrics(&record), name, ""), None);
    }
    record["recorded_at"] = "2026-11-24T02:30:00Z".into();
    record["run"]["interrupted"] = true.into();
    assert_eq!(value(&metrics(&record), name, ""), None);
}

/// An unknown figure has no series, and is not 0.
#[test]
fn what_is_unknown_has_no_series() {
    let known = metrics(&check());
    for (clock, piece, key, names) in [
        ("tsc", "order", "regressions", &["clockscope_order_regressions"][..]),
        ("monotonic", "order", "regressions", &["clockscope_order_regressions"]),
        ("tsc", "offsets", "within_ns", &["clockscope_offset_bound_seconds"]),
        ("tsc", "cost", "cost_ns", &["clockscope_read_seconds"]),
        ("realtime", "resolution", "tick_ns", &["clockscope_tick_seconds"]),
        ("realtime", "rate", "ppm", &["clockscope_rate_error_ratio", "clockscope_rate_bound_ratio"]),
        ("realtime", "rate", "bound_ppm", &["clockscope_rate_error_ratio", "clockscope_rate_bound_ratio"]),
    ] {
        let mut record = check();
        evidence(&mut record, clock, piece)[key] = Value::Null;
        let series = metrics(&record);
        for name in names {
            assert!(value(&known, name, clock).is_some(), "{name}");
            assert_eq!(value(&series, name, clock), None, "{name}");
        }
        assert_eq!(series.len(), known.len() - names.len(), "{piece}");
    }
    for (pointer, name) in [
        ("/synchronization/adjtimex", "clockscope_sync_kernel_offset_seconds"),
        ("/environment/clocksource", "clockscope_clocksource_info"),
        ("/synchronization/ptp/0/bound_s", "clockscope_sync_ptp_offset_seconds"),
    ] {
        let mut record = check();
        *record.pointer_mut(pointer).unwrap() = Value::Null;
        assert!(known.iter().any(|series| series.name == name), "{name}");
        assert!(metrics(&record).iter().all(|series| series.name != name), "{name}");
    }
}

/// Too few handoffs do not show that no reading went back.
#[test]
fn order_that_was_not_measured_is_unknown() {
    let name = "clockscope_order_regressions";
    let mut record = check();
    for clock in ["tsc", "monotonic"] {
        evidence(&mut record, clock, "order")["reason"] = json!({ "code": "few_handoffs", "handoffs": 5 });
    }
    let series = metrics(&record);
    assert_eq!((value(&series, name, "tsc"), value(&series, name, "monotonic")), (Some(36.0), None));
}

/// The rule on slow reads compares with it, and has nothing to compare with where it is unknown.
#[test]
fn a_system_call_that_was_not_measured_has_no_series() {
    let mut record = check();
    for clock in ["tsc", "realtime", "monotonic"] {
        evidence(&mut record, clock, "cost")["syscall_ns"] = Value::Null;
    }
    assert_eq!(value(&metrics(&record), "clockscope_syscall_seconds", ""), None);
}

/// No statement on cost is made from what an emulator costs; the record is marked.
#[test]
fn costs_of_an_emulator_are_no_metrics() {
    let mut record = check();
    record["environment"]["emulation"] = json!(["qemu-tcg"]);
    for clock in ["tsc", "realtime", "monotonic"] {
        evidence(&mut record, clock, "cost")["emulators"] = json!(["qemu-tcg"]);
    }
    let series = metrics(&record);
    for name in ["clockscope_read_seconds", "clockscope_syscall_seconds"] {
        assert!(series.iter().all(|series| series.name != name), "{name}");
    }
    let info = series.iter().find(|series| series.name == "clockscope_clocksource_info").unwrap();
    assert_eq!(info.label("emulation"), "qemu-tcg");
}

#[test]
fn chronyd_has_its_metrics() {
    let mut record = check();
    record["synchronization"]["chrony"] = json!({
        "stratum": 3, "correction_s": -0.00002, "error_s": 0.0123, "freq_ppm": -7.5, "skew_ppm": 0.04,
        "update_interval_s": 64.5,
    });
    record["synchronization"]["adjtimex"]["status"] = json!(["pll", "ins", "nano"]);
    let series = metrics(&record);
    for (name, expected) in [
        ("clockscope_sync_chrony_correction_seconds", -0.000_02),
        ("clockscope_sync_chrony_error_seconds", 0.0123),
        ("clockscope_sync_chrony_frequency_ratio", -7.5e-6),
        ("clockscope_sync_chrony_skew_ratio", 0.04e-6),
        ("clockscope_sync_chrony_stratum", 3.0),
        ("clockscope_sync_chrony_update_interval_seconds", 64.5),
        ("clockscope_sync_synchronized", 1.0),
        ("clockscope_sync_leap_seconds", 1.0),
    ] {
        assert!(is_near(value(&series, name, ""), expected), "{name}: {:?}", value(&series, name, ""));
    }
    record["synchronization"]["chrony"]["stratum"] = 0.into();
    assert_eq!(value(&metrics(&record), "clockscope_sync_chrony_stratum", ""), None);
}

/// Records of before the object `synchronization` have what the evidence states.
#[test]
fn an_older_check_has_metrics() {
    let mut older = check();
    assert!(older.as_object_mut().unwrap().remove("synchronization").is_some());
    let reported = evidence(&mut older, "realtime", "synchronization");
    (reported["state"], reported["error_s"]) = ("synchronized".into(), 0.25.into());
    let series = metrics(&older);
    assert_eq!(value(&series, "clockscope_sync_error_seconds", ""), Some(0.25));
    assert!(series.iter().any(|series| series.label("state") == "synchronized"));
    assert!(series.iter().all(|series| !series.name.contains("kernel") && !series.name.contains("ptp")));
}

/// Names from anywhere stay inside of their quotes, and no two series are the same.
#[test]
fn a_hostile_record_is_one_file_of_sound_series() {
    let mut record = check();
    let evil = "a\\\"} 1\nclockscope_clock_verdict{clock=\"x\u{1b}[2J\u{202e}";
    record["environment"]["clocksource"] = evil.into();
    record["environment"]["hypervisor"] = "\\".into();
    let verdicts = record["verdicts"].as_array_mut().unwrap();
    let twin = verdicts[0].clone();
    verdicts.push(twin);
    for (index, name) in [(1, evil), (2, "")] {
        verdicts[index]["clock"] = name.into();
    }
    record["synchronization"]["ptp"][0]["name"] = evil.into();
    let text = text(&record, false);
    assert!(!text.contains(|c: char| c != '\n' && is_steering(c)), "{text}");
    let series = read(&text);
    let mut clocks: Vec<&str> = series
        .iter()
        .filter(|series| series.name == "clockscope_clock_verdict")
        .map(|series| series.label("clock"))
        .collect();
    // A clock that shows the time of day has a series for each use.
    clocks.dedup();
    assert_eq!(clocks, ["tsc", "a\\\"} 1 clockscope_clock_verdict{clock=\"x [2J ", ""]);
    let info = series.iter().find(|series| series.name == "clockscope_clocksource_info").unwrap();
    assert_eq!((info.label("clocksource"), info.label("hypervisor")), (clocks[1], "\\"));
}

/// However many clocks there are, most machines have few series; all are there on request.
#[test]
fn there_are_at_most_60_series() {
    let mut record = check();
    let verdicts = record["verdicts"].as_array_mut().unwrap();
    let monotonic = verdicts[2].clone();
    for number in 0..100 {
        let mut clock = monotonic.clone();
        clock["clock"] = format!("clock{number}").into();
        verdicts.push(clock);
    }
    verdicts.last_mut().unwrap()["verdict"] = "limited".into();
    let [some, all] = [false, true].map(|verbose| read(&text(&record, verbose)));
    assert_eq!(some.len(), 60);
    let omitted = value(&some, "clockscope_series_omitted", "").unwrap();
    assert_eq!(all.len(), 59 + omitted as usize);
    // Verdicts are the last to go, and those of clocks at fault the very last.
    let verdict = |clock: &str| value(&some, "clockscope_clock_verdict", clock);
    assert_eq!([verdict("tsc"), verdict("clock99"), verdict("clock98")], [Some(1.0), Some(1.0), None]);
    assert!(value(&some, "clockscope_last_success_timestamp_seconds", "").is_some());
    assert_eq!(value(&metrics(&check()), "clockscope_series_omitted", ""), None);
}

#[test]
fn documents_without_metrics_are_refused() {
    for fixture in fixtures() {
        let found = render(&document(fixture), Format::Prometheus, Style::default());
        match fixture {
            "check" => assert!(found.is_ok()),
            _ => assert!(matches!(found, Err(RenderError::NoMetrics)), "{fixture}: {found:?}"),
        }
    }
}

/// A reader of a metric finds its unit, which is that of its name.
#[test]
fn every_metric_states_its_unit() {
    let style = Style { verbose: true, ..Style::default() };
    let metrics = render(&document("check"), Format::Prometheus, style).unwrap();
    let helps: Vec<(&str, &str)> =
        metrics.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' ')).collect();
    assert!(helps.len() > 15, "{metrics}");
    for (name, help) in helps {
        let unit = match name.rsplit('_').next().unwrap() {
            "seconds" if name.ends_with("leap_seconds") => "Announced leap second, in seconds",
            "seconds" => "in seconds",
            "ratio" => "as a ratio: 0.000001 is 1 ",
            "verdict" | "info" | "state" => "which the label ",
            "synchronized" => "1 if ",
            _ => "Number of ",
        };
        assert!(help.contains(unit) && help.ends_with('.') && help.len() <= 120, "{name}: {help}");
    }
}

/// The error of the time of day that is exposed is the daemon's, whatever the kernel states.
#[test]
fn the_error_of_time_of_day_is_that_of_a_daemon_that_answers() {
    let mut record = check();
    let piece = evidence(&mut record, "realtime", "synchronization");
    (piece["error_s"], piece["daemon_error_s"]) = (0.5.into(), 0.011.into());
    assert!(is_near(value(&metrics(&record), "clockscope_sync_error_seconds", ""), 0.011));
}
