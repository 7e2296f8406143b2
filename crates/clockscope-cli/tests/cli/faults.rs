//! Clocks and machines that are broken on purpose, end to end: what the rig did must be what the
//! instrument counts.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::time::Duration;

use crate::support::{clock, clockscope, count, record, record_beside, record_granted, run, under};
use clockscope_testing::{Granted, Hog, Signal, allowed_cpus, demand, signal, until_it_ran};
use serde_json::Value;
use serial_test::{parallel, serial};

const MONOTONIC: (&str, &str) = ("CLOCKSCOPE_LIE_CLOCK", "1");

/// Measures `monotonic` under the liar; the record, and what the liar says that it did. On a busy
/// machine it may get to read little: then it is given more time.
fn lied(lies: &[(&str, &str)]) -> (Value, Value) {
    let is_repeated = lies.iter().any(|(name, _)| *name == "CLOCKSCOPE_LIE_EVERY");
    let (mut record, mut log, _) = lied_for("300ms", lies);
    for duration in ["3s", "15s"] {
        if is_repeated && log["events"].as_u64().unwrap() <= MIN_EVENTS {
            (record, log, _) = lied_for(duration, lies);
        }
    }
    (record, log)
}

/// Fewer events than this show nothing.
const MIN_EVENTS: u64 = 20;

/// A step back, in ns, that shows between any two reads, the last of a batch and the first of the
/// next among them: these are microseconds apart, and the more of the events fall there the shorter
/// batches are. It does not show where the thread loses its CPU in between.
const BACK: &str = "-500000";

fn lied_for(duration: &str, lies: &[(&str, &str)]) -> (Value, Value, Granted) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().to_str().unwrap();
    let variables = [lies, &[MONOTONIC, ("CLOCKSCOPE_LIE_LOG", path)]].concat();
    // In one process: the liar's log is of the last that ends.
    let arguments = ["measure", "monotonic", "--repeat", "1", "--duration", duration, "--format", "json"];
    let (record, granted) = record_granted(under("liar", &variables, &arguments));
    let log = std::fs::read_to_string(path).unwrap();
    (record, serde_json::from_str(&log).unwrap(), granted)
}

/// Equal but for one, or for one in a hundred, and for those of reads around work, which are not
/// judged. Gaps of more than 1 ms are warps, too, which a busy machine adds.
fn assert_counted(record: &Value, event: &str, log: &Value) {
    let (counted, done) = (count(record, "monotonic", event), log["events"].as_u64().unwrap());
    let (reads, judged) = (log["reads"].as_u64().unwrap(), count(record, "monotonic", "reads"));
    let few = 1.max(done / 100) + ((reads - judged) * done).div_ceil(reads);
    let added = if event == "warp" { count(record, "monotonic", "gap") } else { 0 };
    assert!(done > MIN_EVENTS, "the rig did too little: {log}");
    assert!(
        (done.saturating_sub(few)..=done + few + added).contains(&counted),
        "{event}: counted {counted}, the rig did {done}\n{record:#}"
    );
}

/// Brackets that a clock's rate is found from where it is read around work, at either end.
const BRACKETS: u64 = 64;

fn assert_none(record: &Value, events: &[&str]) {
    for event in events {
        assert_eq!(count(record, "monotonic", event), 0, "{event}\n{record:#}");
    }
}

#[test]
#[parallel]
fn a_healthy_clock_has_no_events() {
    let (record, log) = lied(&[]);
    assert_none(&record, &["errors", "stuck", "stall", "warp", "jump", "regression", "hidden_regression"]);
    assert_eq!(clock(&record, "monotonic")["monotonic"]["weak"], true);
    // Every read that the process made was looked at: those in a loop, two around each work, and
    // two for each bracket of the clock's rate.
    let found = clock(&record, "monotonic");
    let intervals = found["after_work"].as_array().unwrap().iter().map(|after| after["measurements"].as_u64().unwrap());
    let around = 2 * (intervals.sum::<u64>() + 2 * BRACKETS);
    assert_eq!(log["reads"].as_u64().unwrap(), found["events"]["reads"].as_u64().unwrap() + around);
}

#[test]
#[parallel]
fn lasting_steps_back_are_regressions() {
    let (record, log) = lied(&[("CLOCKSCOPE_LIE_EVERY", "2500"), ("CLOCKSCOPE_LIE_STEP_NS", BACK)]);
    assert_counted(&record, "regression", &log);
    assert_none(&record, &["jump", "warp"]);
    assert_eq!(clock(&record, "monotonic")["monotonic"], serde_json::json!({ "strict": false, "weak": false }));
}

#[test]
#[parallel]
fn the_return_from_a_step_back_is_no_jump() {
    let (record, log) = lied(&[("CLOCKSCOPE_LIE_EVERY", "2500"), ("CLOCKSCOPE_LIE_BLIP_NS", BACK)]);
    assert_counted(&record, "regression", &log);
    assert_none(&record, &["warp"]);
    // Where a step falls between two batches its return may be all that is seen of it.
    assert!(count(&record, "monotonic", "jump") <= 1 + log["events"].as_u64().unwrap() / 100);
}

#[test]
#[parallel]
fn steps_of_2_ms_are_warps() {
    let (record, log) = lied(&[("CLOCKSCOPE_LIE_EVERY", "10000"), ("CLOCKSCOPE_LIE_STEP_NS", "2000000")]);
    assert_counted(&record, "warp", &log);
    assert_counted(&record, "jump", &log);
    assert_none(&record, &["regression"]);
}

#[test]
#[parallel]
fn steps_of_half_a_millisecond_are_jumps_and_no_warps() {
    let (record, log) = lied(&[("CLOCKSCOPE_LIE_EVERY", "3000"), ("CLOCKSCOPE_LIE_STEP_NS", "500000")]);
    assert_counted(&record, "jump", &log);
    assert_none(&record, &["warp", "regression"]);
}

#[test]
#[parallel]
fn a_frozen_clock_is_a_fail_and_nothing_hangs() {
    let (record, _) = lied(&[("CLOCKSCOPE_LIE_FREEZE_AFTER", "5000")]);
    assert_eq!(count(&record, "monotonic", "stuck"), 1);
    assert_none(&record, &["jump", "warp", "regression"]);
}

#[test]
#[parallel]
fn a_clock_frozen_from_the_start_has_no_observed_resolution() {
    let (record, _) = lied(&[("CLOCKSCOPE_LIE_FREEZE_AFTER", "1")]);
    let clock = clock(&record, "monotonic");
    assert_eq!(clock["events"]["stuck"], 1);
    assert!(
        clock["observed_resolution_ns"].is_null() && clock["unknown"]["observed_resolution_ns"]["code"].is_string()
    );
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn reads_that_fail_are_counted_and_said() {
    for lie in [
        [("CLOCKSCOPE_LIE_ERROR_AFTER", "50000"), ("CLOCKSCOPE_LIE_ERROR", "0")],
        [("CLOCKSCOPE_LIE_EVERY", "7777"), ("CLOCKSCOPE_LIE_ERROR", "1")],
    ] {
        let (record, log) = lied(&lie);
        // One more where a read around work failed, which ends those.
        let (counted, done) = (count(&record, "monotonic", "errors"), log["errors"].as_u64().unwrap());
        assert!((counted..=counted + 1).contains(&done), "{lie:?}: counted {counted}, the rig did {done}");
        // On a busy machine, the loop may end before the first read that fails.
        if counted == 0 {
            continue;
        }
        let reason = &clock(&record, "monotonic")["reason"];
        assert_eq!(
            (&reason["code"], &reason["error"]["number"]),
            (&"some_reads_failed".into(), &22.into()),
            "{reason}"
        );
        assert_none(&record, &["jump", "warp", "regression"]);
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_quantum_is_observed_and_is_no_jump() {
    for (quantum, expected) in [("41", 41.0), ("4000000", 4e6)] {
        demand(|factor| {
            let lies = [("CLOCKSCOPE_LIE_QUANTUM_NS", quantum)];
            let (record, _, granted) = lied_for(&format!("{}ms", 700 * factor), &lies);
            assert_none(&record, &["jump", "warp", "regression"]);
            // A thread that only runs now and then sees no two neighboring values of a coarse
            // clock.
            (granted, move || assert_eq!(clock(&record, "monotonic")["observed_resolution_ns"], expected, "{quantum}"))
        });
    }
}

/// Quanta of a clock that is read in a fifth of a tick and of one that is read in twenty ticks, in
/// fractions too.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn quanta_are_found_by_steps_and_by_measure() {
    for (quantum, expected) in [
        ("7", 7.0),
        ("41", 41.0),
        ("100", 100.0),
        ("279", 279.0),
        ("125/3", 125.0 / 3.0),
        ("1000", 1000.0),
        ("4000000", 4e6),
    ] {
        let variables = [MONOTONIC, ("CLOCKSCOPE_LIE_QUANTUM_NS", quantum)];
        for command in ["measure", "steps"] {
            demand(|factor| {
                let duration = format!("{}ms", 300 * factor);
                let arguments = [command, "monotonic", "--duration", &duration, "--format", "json"];
                let (record, granted) = record_granted(under("liar", &variables, &arguments));
                (granted, move || {
                    let clock = clock(&record, "monotonic");
                    let tick_ns = clock["tick_ns"].as_f64().unwrap_or_else(|| panic!("{command} {quantum}: {clock:#}"));
                    assert!((tick_ns / expected - 1.0).abs() < 1e-3, "{command} {quantum}: {tick_ns}");
                    if quantum == "125/3" {
                        assert_eq!(clock["tick_evidence"]["period"], "125/3 ns");
                    }
                })
            });
        }
    }
}

/// The worst events are reported with their kind, time and size, beside the number of events.
#[test]
#[parallel]
fn the_worst_events_are_reported_with_time_and_size() {
    let variables = [MONOTONIC, ("CLOCKSCOPE_LIE_EVERY", "100000"), ("CLOCKSCOPE_LIE_STEP_NS", "2000000")];
    let arguments = ["steps", "monotonic", "--reads", "1000000", "--format", "json"];
    let record = record(under("liar", &variables, &arguments));
    let clock = clock(&record, "monotonic");
    for kind in ["warp", "jump"] {
        let worst = clock["worst"][kind].as_array().unwrap();
        assert_eq!(Some(worst.len() as u64), clock["events"][kind].as_u64().map(|count| count.min(10)), "{clock:#}");
        for event in worst {
            assert!((event["size_ns"].as_f64().unwrap() / 2e6 - 1.0).abs() < 0.1, "{event}");
            assert!(event["at_s"].as_f64().unwrap() >= 0.0);
        }
    }
    let back = [MONOTONIC, ("CLOCKSCOPE_LIE_EVERY", "100000"), ("CLOCKSCOPE_LIE_STEP_NS", "-5000")];
    let back_record = crate::support::record(under("liar", &back, &arguments));
    let worst = back_record["clocks"][0]["worst"]["regression"].as_array().unwrap().clone();
    assert!(!worst.is_empty() && worst.iter().all(|event| event["size_ns"].as_f64().unwrap() > 4000.0), "{worst:?}");
    let run = under("liar", &back, &["steps", "monotonic", "--reads", "1000000", "--fail-on", "regression"]);
    crate::support::run(run, 1);
}

/// Nothing is reported of a clock that never advances, and nothing hangs.
#[test]
#[parallel]
fn a_frozen_clock_has_no_tick() {
    let variables = [MONOTONIC, ("CLOCKSCOPE_LIE_FREEZE_AFTER", "1")];
    let record = record(under("liar", &variables, &["steps", "monotonic", "--duration", "100ms", "--format", "json"]));
    let clock = clock(&record, "monotonic");
    assert!(clock["tick_ns"].is_null() && clock["summary_nonzero"].is_null());
    assert_eq!(clock["summary"]["max"], 0.0);
    assert!(clock["unknown"]["tick_ns"]["code"].is_string() && clock["unknown"]["summary_nonzero"]["code"].is_string());
    for format in ["table", "markdown"] {
        let command = under("liar", &variables, &["steps", "monotonic", "--reads", "5000", "--format", format]);
        assert!(!String::from_utf8_lossy(&run(command, 0).stdout).contains("NaN"));
    }
}

#[test]
#[parallel]
fn other_paths_do_not_see_what_libc_was_made_to_say() {
    let variables = [MONOTONIC, ("CLOCKSCOPE_LIE_EVERY", "2500"), ("CLOCKSCOPE_LIE_STEP_NS", "-1000")];
    for path in ["vdso", "syscall"] {
        let record = record(under(
            "liar",
            &variables,
            &["measure", "monotonic", "--path", path, "--duration", "200ms", "--format", "json"],
        ));
        assert_eq!(count(&record, "monotonic", "regression"), 0, "{path}");
        assert_eq!(clock(&record, "monotonic")["path"], path);
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn with_the_counter_disabled_the_others_are_measured_in_every_format() {
    for format in ["table", "json", "ndjson", "csv", "markdown"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        run(
            under(
                "no_tsc",
                &[],
                &["measure", "--all", "--duration", "100ms", "--format", format, "--output", file.to_str().unwrap()],
            ),
            0,
        );
        let text = std::fs::read_to_string(&file).unwrap();
        // Pages are wrapped.
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("disabled for this process by prctl(PR_SET_TSC)"), "{format}: {text}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left in the folder");
    }
    let record = record(under("no_tsc", &[], &["measure", "--path", "all", "--duration", "300ms", "--format", "json"]));
    for name in ["tsc", "rdtscp", "realtime", "gettimeofday", "rust_instant"] {
        let clock = clock(&record, name);
        assert_eq!(clock["available"], false, "{name}");
        assert!(clock["reason"]["text"].as_str().unwrap().contains("PR_SET_TSC"), "{name}");
        assert_eq!(clock["reason"]["code"], "counter_disabled", "{name}");
    }
    let paths = record["clocks"].as_array().unwrap();
    let by_syscall = paths.iter().find(|clock| clock["name"] == "monotonic" && clock["path"] == "syscall").unwrap();
    assert!(by_syscall["cost_ns"]["median"].as_f64().unwrap() > 0.0);
    for name in ["monotonic_coarse", "process", "getrusage"] {
        assert_eq!(clock(&record, name)["available"], true, "{name}");
    }
    assert_eq!(record["environment"]["counter_readable"], false);
    assert_eq!(record["run"]["timer"]["name"], "monotonic_raw:syscall");
}

#[test]
#[parallel]
fn every_other_command_works_with_the_counter_disabled() {
    for command in ["list", "info", "schema", "man"] {
        run(under("no_tsc", &[], &[command]), 0);
    }
}

#[test]
#[parallel]
fn a_denied_clock_is_unavailable_with_the_reason_and_others_are_measured() {
    for (how, reason) in [("errno", "seccomp"), ("trap", "SIGSYS"), ("kill", "SIGSYS")] {
        let variables = [("CLOCKSCOPE_DENY_CLOCK", "2"), ("CLOCKSCOPE_DENY_HOW", how)];
        let record = record(under("deny", &variables, &["measure", "--duration", "300ms", "--format", "json"]));
        let process = clock(&record, "process");
        assert_eq!(process["available"], false, "{how}");
        assert!(process["reason"]["text"].as_str().unwrap().contains(reason), "{how}: {process}");
        for name in ["thread", "monotonic", "tsc", "getrusage"] {
            assert_eq!(clock(&record, name)["available"], true, "{how}: {name}");
        }
    }
}

#[test]
#[parallel]
fn the_reference_itself_may_be_denied() {
    // 4 is CLOCK_MONOTONIC_RAW, 0 CLOCK_REALTIME, which stamps the record.
    for (clock, reference) in [("4", "monotonic:syscall"), ("all", "monotonic_raw:vdso")] {
        for how in ["errno", "kill"] {
            let variables = [("CLOCKSCOPE_DENY_CLOCK", clock), ("CLOCKSCOPE_DENY_HOW", how)];
            let record = record(under(
                "deny",
                &variables,
                &["measure", "tsc", "monotonic", "--duration", "100ms", "--format", "json"],
            ));
            assert_eq!(record["run"]["timer"]["reference"], reference, "{clock} {how}");
            assert_eq!(record["recorded_at"].is_null(), clock == "all", "{clock} {how}");
        }
    }
}

/// A stopped process did not run: its clocks are not at fault.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_stopped_process_shows_gaps_and_no_jumps() {
    let names = ["tsc", "monotonic", "rust_instant"];
    let arguments = [&["measure"], names.as_slice(), &["--duration", "1500ms", "--format", "json"]].concat();
    let (record, _) = record_beside(clockscope(&arguments), 0, |child| {
        for ran_ms in [150, 250, 350, 450, 550] {
            until_it_ran(child, Duration::from_millis(ran_ms));
            signal(child, Signal::STOP);
            std::thread::sleep(Duration::from_millis(30));
            signal(child, Signal::CONT);
        }
    });
    for name in names {
        for event in ["jump", "warp", "regression", "hidden_regression"] {
            assert_eq!(count(&record, name, event), 0, "{name}: {event}");
        }
    }
    assert!(names.iter().map(|name| count(&record, name, "gap")).sum::<u64>() >= 1);
}

/// Something else on the same CPU takes the thread's time, not the clock's.
#[test]
#[serial]
fn a_busy_loop_on_the_same_cpu_shows_gaps_and_no_jumps() {
    let cpu = allowed_cpus()[0];
    let hog = Hog::on(cpu);
    let names = ["tsc", "monotonic", "rust_instant"];
    let cpu = cpu.to_string();
    let options = ["--cpu", &cpu, "--duration", "1s", "--format", "json"];
    let record = record(clockscope(&[&["measure"], names.as_slice(), &options].concat()));
    drop(hog);
    for name in names {
        assert!(count(&record, name, "gap") >= 1, "{name}: {record:#}");
        for event in ["jump", "warp", "regression", "hidden_regression"] {
            assert_eq!(count(&record, name, event), 0, "{name}: {event}");
        }
    }
}

/// `report` gives the answer of a recorded run, without the fault in its own process.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn runs_with_faults_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let file = file.to_str().unwrap();
    let arguments =
        ["steps", "monotonic", "tsc", "realtime:syscall", "--reads", "20000", "--format", "json", "--raw", file];
    let lies: [&[(&str, &str)]; 5] = [
        &[MONOTONIC, ("CLOCKSCOPE_LIE_EVERY", "1000"), ("CLOCKSCOPE_LIE_STEP_NS", "2000000")],
        &[MONOTONIC, ("CLOCKSCOPE_LIE_EVERY", "1000"), ("CLOCKSCOPE_LIE_STEP_NS", "-5000")],
        &[MONOTONIC, ("CLOCKSCOPE_LIE_FREEZE_AFTER", "1000")],
        &[MONOTONIC, ("CLOCKSCOPE_LIE_ERROR_AFTER", "1000")],
        &[MONOTONIC, ("CLOCKSCOPE_LIE_EVERY", "1"), ("CLOCKSCOPE_LIE_ERROR", "1")],
    ];
    let denials: [&[(&str, &str)]; 3] = [
        &[("CLOCKSCOPE_DENY_CALL", "setaffinity")],
        &[("CLOCKSCOPE_DENY_CLOCK", "all"), ("CLOCKSCOPE_DENY_HOW", "errno")],
        &[("CLOCKSCOPE_DENY_CLOCK", "all"), ("CLOCKSCOPE_DENY_HOW", "kill")],
    ];
    let lies = lies.map(|variables| under("liar", variables, &arguments));
    let denials = denials.map(|variables| under("deny", variables, &arguments));
    let commands = lies.into_iter().chain(denials).chain([under("no_tsc", &[], &arguments)]);
    for command in commands {
        let answer = run(command, 0).stdout;
        let again = run(clockscope(&["report", file, "--format", "json"]), 0).stdout;
        assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(answer).unwrap());
    }
}

/// Its names are not those of the file that it is redirected to, which would be replaced.
#[test]
fn standard_output_by_another_name_replaces_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    std::fs::write(&log, "before\n").unwrap();
    let appended = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    assert!(clockscope(&["list", "-o", "/dev/stdout"]).stdout(appended).status().unwrap().success());
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("before\n") && text.contains("monotonic"), "{text}");
}
