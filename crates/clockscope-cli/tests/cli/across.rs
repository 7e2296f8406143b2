//! The questions across CPUs and over time, on the machine as it is and on ones that are broken on
//! purpose.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::time::Duration;

use crate::support::{assert_valid, clock, clockscope, record, record_beside, record_granted, run, under};
use clockscope_testing::{
    Granted, Hog, Signal, allowed_cpus, demand, granted, move_threads, on_cpu, signal, two_cpus, until_it_catches,
    until_it_ran,
};
use serde_json::Value;
use serial_test::{parallel, serial};

fn entry<'a>(record: &'a Value, list: &str, key: &str, name: &str) -> &'a Value {
    let entries = record[list].as_array().unwrap();
    entries.iter().find(|entry| entry[key] == name).unwrap_or_else(|| panic!("no {name} in {record:#}"))
}

fn sequence<'a>(record: &'a Value, name: &str) -> &'a Value {
    entry(record, "sequences", "name", name)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

const JSON: [&str; 2] = ["--format", "json"];

fn record_of(arguments: &[&str]) -> Value {
    record_of_granted(arguments).0
}

fn record_of_granted(arguments: &[&str]) -> (Value, Granted) {
    record_granted(clockscope(&[arguments, &JSON].concat()))
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn unordered_reads_go_back_and_ordered_ones_do_not() {
    if two_cpus().is_none() {
        return;
    }
    let names = ["tsc", "tsc_lfence", "rdtscp", "monotonic", "monotonic_raw", "clockscope.now"];
    demand(|factor| {
        let duration = format!("{}s", 2 * factor);
        let (record, granted) = record_of_granted(&[&["order"], names.as_slice(), &["--duration", &duration]].concat());
        // Whatever the machine granted.
        for name in &names[1..] {
            let found = sequence(&record, name);
            assert_eq!(found["ordered"], true, "{found:#}");
            assert_eq!(found["regressions"].as_u64().unwrap_or(0), 0, "{found:#}");
        }
        (granted, move || {
            for name in &names[1..] {
                let found = sequence(&record, name);
                assert!(found["handoffs"].as_u64().unwrap() > 10_000, "{found:#}");
                for way in ["mailbox", "lock"] {
                    assert!(found[way]["handoffs"].as_u64().unwrap() > 1000, "{found:#}");
                }
            }
        })
    });
    // A virtual machine's host may place both CPUs so that none goes back in a whole run.
    demand(|factor| {
        let duration = format!("{factor}s");
        let mut runs = (0..5).map(|_| record_of_granted(&["order", "tsc", "--duration", &duration]));
        let went_back = |record: &Value| sequence(record, "tsc")["regressions"].as_u64().unwrap() > 0;
        let first = runs.next().unwrap();
        let (record, granted) =
            if went_back(&first.0) { first } else { runs.find(|(record, _)| went_back(record)).unwrap_or(first) };
        (granted, move || {
            let bare = sequence(&record, "tsc");
            assert!(went_back(&record), "{bare:#}");
            assert!(number(&bare["worst_ns"]) > 0.0 && bare["worst_pair"].as_array().unwrap().len() == 2, "{bare:#}");
        })
    });
    // That an unordered one went back is no finding to fail on.
    demand(|factor| {
        let duration = format!("{}ms", 200 * factor);
        let arguments = ["order", "tsc", "rdtscp", "--duration", &duration, "--fail-on", "regression"];
        let (output, granted) = granted(&mut clockscope(&arguments));
        (granted, move || assert_eq!(output.status.code(), Some(0), "{output:?}"))
    });
}

#[test]
#[parallel]
fn one_cpu_is_untestable_not_passed() {
    let cpu = allowed_cpus()[0];
    on_cpu(cpu, || {
        for (command, finding) in [(&["order"][..], "regression"), (&["order", "--offsets"], "unsynchronized")] {
            let output = clockscope(&[command, &JSON].concat()).output().unwrap();
            let record: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_valid(&record);
            let is_alone = record["environment"]["cpu"]["online"] == 1;
            let limit = if is_alone { "machine" } else { "process" };
            let untestable = &record["untestable"];
            assert_eq!((&untestable["code"], &untestable["limit"]), (&"one_cpu".into(), &limit.into()));
            run(clockscope(&[command, &["--fail-on", finding]].concat()), 3);
            run(clockscope(&[command, &["--fail-on", "unknown"]].concat()), 3);
            // Where there is one CPU, no other can disagree.
            let code = if is_alone { 0 } else { 3 };
            let said = run(clockscope(&[command, &["-d", "50ms"]].concat()), code).stdout;
            assert!(is_alone || String::from_utf8(said).unwrap().contains("could not be"));
        }
    });
    for command in [&["order"][..], &["order", "--offsets"]].into_iter().filter(|_| allowed_cpus().len() > 1) {
        let output = run(clockscope(&[command, &["--cpus", &cpu.to_string(), "-d", "50ms"]].concat()), 3);
        assert!(String::from_utf8(output.stdout).unwrap().replace('\n', " ").contains("name two by --cpus"));
    }
}

/// Processor time of a thread is not handed to another.
#[test]
#[parallel]
fn an_order_of_nothing_is_undetermined() {
    let output = run(clockscope(&["order", "thread", "-d", "50ms"]), if two_cpus().is_some() { 3 } else { 0 });
    assert!(two_cpus().is_none() || String::from_utf8(output.stdout).unwrap().contains("No ordered clock was tested"));
}

/// A clock that does not step in its share of the time shows nothing, and would keep the order of
/// all others undetermined.
#[test]
#[parallel]
fn an_order_of_all_clocks_leaves_out_those_that_step_rarely() {
    let names = |arguments: &[&str]| -> Vec<String> {
        let record = record_of(arguments);
        let sequences = record["sequences"].as_array().unwrap();
        sequences.iter().map(|sequence| sequence["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names(&["order", "-d", "200ms"]);
    assert!(all.iter().any(|name| name == "monotonic") && all.iter().all(|name| name != "time"), "{all:?}");
    assert_eq!(names(&["order", "time", "-d", "50ms"]), ["time"]);
}

#[test]
#[parallel]
fn pairs_may_be_measured_one_at_a_time_and_in_one_way() {
    let Some((a, b)) = two_cpus() else { return };
    let cpus = format!("{a},{b}");
    let arguments = ["order", "rdtscp", "--cpus", &cpus, "--serial", "--handoff", "lock", "--duration", "100ms"];
    let record = record_of(&arguments);
    let found = sequence(&record, "rdtscp");
    assert!(record["serial"] == true && record["rounds"] == 1 && found["mailbox"].is_null(), "{record:#}");
    assert_eq!(found["handoffs"], found["lock"]["handoffs"]);
    for command in [&["order"][..], &["order", "--offsets"], &["gaps"]] {
        let output = run(clockscope(&[command, &["--cpus", "60000"]].concat()), 2);
        assert!(String::from_utf8(output.stderr).unwrap().contains("60000"));
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn counters_that_are_apart_are_found_by_their_skew() {
    let Some((a, b)) = two_cpus() else { return };
    // The machine's own offset is known to a hundred ns or so, and so is what the rig adds.
    for ticks in [1_000_000_000_i64, -1_000_000_000, 1_000_000, 100] {
        let fault = format!("offset:cpu={b},ticks={ticks}");
        demand(|factor| {
            let duration = format!("{}ms", 300 * factor);
            let arguments = ["order", "--offsets", "--duration", &duration, "--format", "json"];
            let (record, granted) = record_granted(under("trap", &[("CLOCKSCOPE_TRAP", &fault)], &arguments));
            let pair = record["pairs"][0].clone();
            assert_eq!((&pair["a"], &pair["b"]), (&a.into(), &b.into()));
            let (offset, bound) = (number(&pair["offset_counts"]), number(&pair["bound_ns"]) * 5.0);
            assert!((offset - ticks as f64).abs() <= bound + 1000.0, "{ticks}: {pair:#}");
            (granted, move || {
                assert_eq!(record["apart"], u64::from(ticks.abs() >= 1_000_000), "{record:#}");
                // The vDSO computes its clock from the same counter: it is as wrong as that, unless
                // the counter is behind what the kernel saw last, where the vDSO stands still.
                let against = &record["vdso"][0];
                assert!(
                    ticks < 0 || number(&against["offset_ns"]).abs() <= number(&against["bound_ns"]) + 1000.0,
                    "{against:#}"
                );
            })
        });
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn skewed_counters_go_back_and_the_kernels_own_clock_does_not() {
    let Some((a, b)) = two_cpus() else { return };
    let fault = format!("offset:cpu={b},ticks=1000000");
    let names = ["tsc_lfence", "rdtscp", "monotonic", "monotonic:syscall", "clockscope.now"];
    demand(|factor| {
        let duration = format!("{factor}s");
        let arguments = [&["order"], names.as_slice(), &["--duration", &duration], &JSON].concat();
        let (record, granted) = record_granted(under("trap", &[("CLOCKSCOPE_TRAP", &fault)], &arguments));
        assert_eq!(sequence(&record, "monotonic:syscall")["regressions"].as_u64().unwrap_or(0), 0, "{record:#}");
        (granted, move || {
            for name in &names[..3] {
                let found = sequence(&record, name);
                assert!(found["regressions"].as_u64().unwrap() > 100, "{found:#}");
                assert_eq!(found["worst_pair"], serde_json::json!([b, a]), "{found:#}");
                // A million ticks, less what the handoff takes: at least 100 µs at up to 10 GHz.
                assert!((50e3..10e6).contains(&number(&found["worst_ns"])), "{found:#}");
            }
        })
    });
    demand(|factor| {
        let duration = format!("{}ms", 300 * factor);
        let failing = [&["order"], names.as_slice(), &["--duration", &duration, "--fail-on", "regression"]].concat();
        let (output, granted) = granted(&mut under("trap", &[("CLOCKSCOPE_TRAP", &fault)], &failing));
        (granted, move || assert_eq!(output.status.code(), Some(1), "{output:?}"))
    });
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn threads_that_cannot_be_bound_or_started_are_reported() {
    // One CPU alone has nothing to ask another.
    if two_cpus().is_none() {
        return;
    }
    for (call, reason) in [("setaffinity", "not permitted"), ("thread", "no thread can be started")] {
        let denied = |arguments: &[&str]| under("deny", &[("CLOCKSCOPE_DENY_CALL", call)], arguments);
        for command in [&["order"][..], &["order", "--offsets"]] {
            let arguments = [command, &["--duration", "100ms", "--format", "json"]].concat();
            let (record, _) = record_beside(denied(&arguments), 3, |_| ());
            assert!(record["untestable"]["text"].as_str().unwrap().contains(reason), "{call}: {record:#}");
        }
        run(denied(&["order", "rdtscp", "--fail-on", "regression"]), 3);
        let output = run(denied(&["gaps", "--all-cpus", "--duration", "100ms", "--format", "json"]), 3);
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        for cpu in record["gaps"].as_array().unwrap() {
            assert!(
                cpu["reason"]["text"].as_str().unwrap().contains(reason) && cpu["lost_percent"].is_null(),
                "{cpu:#}"
            );
        }
        // On one thread alone, which need not be pinned.
        for command in ["gaps", "rate", "sleep"] {
            run(denied(&[command, "--duration", "100ms"]), 0);
        }
    }
}

/// As when a CPU goes offline, or leaves the cpuset: the kernel puts its threads elsewhere.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn threads_that_are_moved_under_way_are_reported() {
    if two_cpus().is_none() {
        return;
    }
    let cpu = allowed_cpus()[0];
    let arguments = ["order", "rdtscp", "monotonic", "--duration", "2s", "--format", "json"];
    let (record, _) = record_beside(clockscope(&arguments), 0, |child| {
        // When it has found its CPUs, again and again: some of these moments fall into a round.
        for ran_ms in (150..350).step_by(20) {
            until_it_ran(child, Duration::from_millis(ran_ms));
            move_threads(child, cpu);
        }
    });
    assert!(record["lost"][0]["reason"]["code"] == "moved_away", "{record:#}");
    assert_eq!(sequence(&record, "rdtscp")["regressions"].as_u64().unwrap_or(0), 0, "{record:#}");
}

/// Rate of the liar's clock as it was found: ppm and its bound.
fn found_rate(factor: u32, ppb: &str, more: &[(&str, &str)]) -> (Value, Granted) {
    let lies = [&[("CLOCKSCOPE_LIE_CLOCK", "1"), ("CLOCKSCOPE_LIE_PPB", ppb)], more].concat();
    let duration = format!("{factor}s");
    let arguments = ["rate", "monotonic", "realtime", "--duration", &duration, "--format", "json"];
    let (record, granted) = record_granted(under("liar", &lies, &arguments));
    let truth = clock(&record, "realtime");
    assert!(number(&truth["ppm"]).abs() <= number(&truth["bound_ppm"]) + 0.5, "{truth:#}");
    (clock(&record, "monotonic").clone(), granted)
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_fast_clock_is_found_with_sign_and_size() {
    for (ppb, ppm) in [("10000", 10.0), ("-10000", -10.0), ("500000", 500.0), ("-100", -0.1)] {
        demand(|factor| {
            let (found, granted) = found_rate(factor, ppb, &[]);
            let (seen, bound) = (number(&found["ppm"]), number(&found["bound_ppm"]));
            // The kernel's own clock may be steered by some hundredths of a ppm meanwhile.
            assert!((seen - ppm).abs() <= bound + 0.05, "{found:#}");
            (granted, move || assert!(bound < 1.0 && (ppm.abs() < 1.0 || seen * ppm > 0.0), "{found:#}"))
        });
    }
}

/// A clock whose nominal resolution is finer than its steps runs at no wrong rate, nor does it
/// change it: it is late by up to its step.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn a_hidden_step_is_no_rate() {
    let hidden = |quantum_ns: &str, arguments: &[&str], name: &str| {
        let lies = [("CLOCKSCOPE_LIE_CLOCK", "1"), ("CLOCKSCOPE_LIE_QUANTUM_NS", quantum_ns)];
        let all = [arguments, &["--duration", "1s", "--format", "json"]].concat();
        let (rates, granted) = record_granted(under("liar", &lies, &all));
        let found = clock(&rates, name).clone();
        // A busy machine may not let it see three steps, or take enough brackets.
        if let (Some(ppm), Some(bound)) = (found["ppm"].as_f64(), found["bound_ppm"].as_f64()) {
            assert!(ppm.abs() <= bound && found["constant"] != false, "{quantum_ns}: {found:#}");
        }
        let is_reported = found["ppm"].is_f64();
        (granted, move || assert!(is_reported, "{found:#}"))
    };
    for quantum_ns in ["300000", "20000000", "100000000"] {
        demand(|_| hidden(quantum_ns, &["rate", "monotonic", "realtime"], "monotonic"));
        // As the reference it accuses nobody either.
        demand(|_| hidden(quantum_ns, &["rate", "realtime", "--reference", "monotonic"], "realtime"));
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_rate_that_changes_under_way_is_said_to() {
    demand(|factor| {
        let halfway = (500 * factor).to_string();
        let (found, granted) = found_rate(factor, "20000", &[("CLOCKSCOPE_LIE_PPB_AFTER_MS", &halfway)]);
        (granted, move || {
            assert_eq!(found["constant"], false, "{found:#}");
            let changed = &found["changed"];
            assert!(number(&changed["from_s"]) <= number(&changed["until_s"]), "{changed}");
        })
    });
    run(clockscope(&["rate", "monotonic", "--duration", "300ms", "--fail-on", "changed"]), 0);
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_step_is_distinguished_from_a_rate() {
    demand(|factor| {
        let lies = [("CLOCKSCOPE_LIE_EVERY", "4500"), ("CLOCKSCOPE_LIE_STEP_NS", "2000000000")];
        let (found, granted) = found_rate(factor, "0", &lies);
        (granted, move || assert!((number(&found["step"]["ns"]) - 2e9).abs() < 1e6, "{found:#}"))
    });
}

#[test]
#[serial]
fn a_requested_bound_ends_the_run_or_is_said_to_need_more() {
    let reached = record_of(&["rate", "monotonic", "--until", "1ppm"]);
    let found = clock(&reached, "monotonic");
    assert!(number(&found["bound_ppm"]) <= 1.0 && number(&found["seconds"]) < 50.0, "{found:#}");
    let short = ["rate", "monotonic_coarse", "--until", "1ppb", "--duration", "300ms", "--format", "json"];
    let output = run(clockscope(&short), 3);
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(number(&clock(&record, "monotonic_coarse")["needed_s"]) > 10.0, "{record:#}");
}

/// Nothing that is not known passes for reached.
#[test]
#[parallel]
fn a_bound_of_nothing_is_not_reached() {
    for clocks in [["process"].as_slice(), &["monotonic", "process"]] {
        run(clockscope(&[&["rate"], clocks, &["--until", "1ppm", "--duration", "500ms"]].concat()), 3);
    }
    // The counter as the reference is only known as well as its calibration, which is waited for.
    let record = record_of(&["rate", "monotonic", "--reference", "rdtscp", "--until", "2ppm", "--duration", "30s"]);
    assert!(number(&clock(&record, "monotonic")["bound_ppm"]) <= 2.0, "{record:#}");
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_reference_that_steps_is_distinguished_from_clocks_that_do() {
    let lies =
        [("CLOCKSCOPE_LIE_CLOCK", "1"), ("CLOCKSCOPE_LIE_EVERY", "9000"), ("CLOCKSCOPE_LIE_STEP_NS", "2000000000")];
    demand(|factor| {
        let duration = format!("{}s", 2 * factor);
        let arguments = ["rate", "monotonic_raw", "boottime", "--reference", "monotonic", "--duration", &duration];
        let (record, granted) = record_granted(under("liar", &lies, &[&arguments, JSON.as_slice()].concat()));
        // The step is at the 9000th read.
        (granted, move || assert_eq!(record["reference_suspected"], true, "{record:#}"))
    });
    let honest = record_of(&["rate", "monotonic_raw", "boottime", "--reference", "monotonic", "--duration", "300ms"]);
    assert_eq!(honest["reference_suspected"], false, "{honest:#}");
}

/// A late timer tick is no fault of a clock that it moves.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn coarse_clocks_are_not_accused() {
    let record = record_of(&["rate", "monotonic_coarse", "time", "--duration", "1s"]);
    for name in ["monotonic_coarse", "time"] {
        let found = clock(&record, name);
        assert!(found["constant"].is_null() && found["step"].is_null(), "{found:#}");
        assert!(found["unknown"]["constant"]["code"] == "ticked", "{found:#}");
    }
    // A coarse reference shows the same moment many times; what is reported is finite, and can be
    // read back.
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    run(
        clockscope(&["rate", "monotonic", "--reference", "time", "--duration", "2s", "--format", "json", "-o", path]),
        0,
    );
    run(clockscope(&["report", path]), 0);
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn a_read_that_fails_is_reported() {
    if two_cpus().is_none() {
        return;
    }
    let lies = [("CLOCKSCOPE_LIE_CLOCK", "1"), ("CLOCKSCOPE_LIE_ERROR_AFTER", "50000")];
    demand(|factor| {
        let duration = format!("{}ms", 300 * factor);
        let arguments = ["order", "monotonic", "rdtscp", "--duration", &duration, "--fail-on", "unknown"];
        let (output, granted) = granted(&mut under("liar", &lies, &[&arguments, JSON.as_slice()].concat()));
        // Reads fail from the 50,001st on.
        (granted, move || {
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            let record: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(sequence(&record, "monotonic")["reason"]["code"] == "readings_ended", "{record:#}");
        })
    });
}

/// If the clock that calls sleep by cannot be read, another one must not accuse them.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn nobody_is_early_by_another_clock() {
    for (denied, name) in [("1", "monotonic:vdso"), ("all", "monotonic:vdso")] {
        let variables = [("CLOCKSCOPE_DENY_CLOCK", denied), ("CLOCKSCOPE_DENY_HOW", "errno")];
        let arguments = ["sleep", "--duration", "100ms", "--fail-on", "early", "--format", "json"];
        let record = record(under("deny", &variables, &arguments));
        assert_eq!(record["clock"], name, "{record:#}");
    }
}

#[test]
#[parallel]
fn what_cannot_be_a_reference_is_refused() {
    for (arguments, reason) in [
        (vec!["rate", "--reference", "process"], "processor time"),
        (vec!["rate", "monotonic", "--reference", "monotonic"], "reference itself"),
        (vec!["rate", "--reference", "nonsense"], "unknown clock"),
        (vec!["rate", "nonsense"], "unknown clock"),
        (vec!["rate", "--until", "0ppm"], "at least"),
        (vec!["rate", "--until", "fast"], "expected a bound"),
        (vec!["gaps", "--threshold", "1ns"], "at least 100ns"),
        (vec!["order", "--cpus", "3-1"], "expected 1-3"),
    ] {
        let output = run(clockscope(&arguments), 2);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(reason) && output.stdout.is_empty(), "{arguments:?}: {said}");
    }
    // The counter may be one: its frequency is measured meanwhile.
    let record = record_of(&["rate", "monotonic", "--reference", "rdtscp", "--duration", "300ms"]);
    let found = clock(&record, "monotonic");
    assert!(number(&found["ppm"]).abs() <= number(&found["bound_ppm"]) + 1.0, "{found:#}");
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn what_takes_a_threads_time_is_reported() {
    let cpu = allowed_cpus()[0];
    let hog = Hog::on(cpu);
    let record = record_of(&["gaps", "--cpus", &cpu.to_string(), "--duration", "1s"]);
    drop(hog);
    let gaps = &record["gaps"][0];
    let switches = entry(gaps, "causes", "cause", "involuntary_switch");
    assert!(switches["count"].as_u64().unwrap() >= 3 && number(&gaps["lost_percent"]) > 1.0, "{gaps:#}");
    assert_eq!(record["worst"][0]["cpu"], cpu);
    for pair in record["worst"].as_array().unwrap().windows(2) {
        assert!(number(&pair[0]["ns"]) >= number(&pair[1]["ns"]));
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_stopped_thread_is_distinguished_from_a_preempted_one() {
    let cpu = allowed_cpus()[0];
    let _hog = Hog::on(cpu);
    demand(|factor| {
        let duration = format!("{}s", 2 * factor);
        let arguments = ["gaps", "--cpus", &cpu.to_string(), "--duration", &duration, "--format", "json"];
        let (record, granted) = record_beside(clockscope(&arguments), 0, |child| {
            until_it_ran(child, Duration::from_millis(300));
            signal(child, Signal::STOP);
            std::thread::sleep(Duration::from_millis(100));
            signal(child, Signal::CONT);
        });
        (granted, move || {
            let worst = &record["worst"][0];
            assert!(number(&worst["ns"]) >= 90e6, "{worst}");
            assert_eq!(worst["cause"], "voluntary_switch", "{worst}");
        })
    });
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn no_call_returns_early_and_one_that_does_is_reported() {
    let record = record_of(&["sleep", "--duration", "3s"]);
    let rows = record["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["early"] == 0 || row["early"].is_null()), "{record:#}");
    let slept = |call: &str| rows.iter().filter(|row| row["call"] == call && row["early"] == 0).count();
    for call in ["nanosleep", "clock_nanosleep_absolute", "usleep", "timerfd", "thread_sleep", "spin_clockscope_now"] {
        assert_eq!(slept(call), 6, "{call}");
    }
    assert_eq!(slept("poll"), 3);
    // seeds: usleep(1000).
    let usleep = rows.iter().find(|row| row["call"] == "usleep" && row["requested_ns"] == 1_000_000).unwrap();
    assert!(number(&usleep["min_ns"]) >= 1e6, "{usleep}");
    run(clockscope(&["sleep", "--duration", "100ms", "--fail-on", "early"]), 0);
    let output = run(under("early", &[], &["sleep", "--duration", "100ms", "--fail-on", "early"]), 1);
    assert!(String::from_utf8(output.stdout).unwrap().contains("EARLY: usleep"));
}

#[test]
#[parallel]
fn an_interrupted_run_reports_what_it_has() {
    // One CPU alone has nothing to ask another.
    if two_cpus().is_none() {
        return;
    }
    // With how long it must have run, in ms: some questions are mostly waiting.
    for (command, list, ran_ms) in [
        (&["order"][..], "sequences", 300),
        (&["order", "--offsets"], "pairs", 200),
        (&["rate"], "clocks", 50),
        (&["gaps"], "gaps", 200),
        (&["sleep"], "rows", 30),
    ] {
        let arguments = [command, &["--duration", "60s", "--format", "json"]].concat();
        let (record, _) = record_beside(clockscope(&arguments), 130, |child| {
            until_it_catches(child, Signal::INT);
            until_it_ran(child, Duration::from_millis(ran_ms));
            signal(child, Signal::INT);
        });
        assert_eq!(record["run"]["interrupted"], true, "{command:?}");
        assert!(!record[list].as_array().unwrap().is_empty(), "{command:?}");
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn with_the_counter_disabled_all_questions_have_answers() {
    for command in [&["order"][..], &["order", "--offsets"], &["rate"], &["gaps"], &["sleep"]] {
        // No counter can be compared with another.
        let code = if command.contains(&"--offsets") { 3 } else { 0 };
        let request = under("no_tsc", &[], &[command, &["--duration", "200ms", "--format", "json"]].concat());
        let (record, _) = record_beside(request, code, |_| ());
        match command[command.len() - 1] {
            "--offsets" => assert!(record["untestable"]["text"].as_str().unwrap().contains("PR_SET_TSC"), "{record:#}"),
            "rate" => assert!(record["clocks"].as_array().unwrap().iter().any(|clock| clock["available"] == false)),
            _ => {}
        }
    }
    let arguments = ["rate", "monotonic:syscall", "--reference", "boottime:syscall", "--duration", "300ms"];
    let record = record(under("no_tsc", &[], &[&arguments, JSON.as_slice()].concat()));
    let found = clock(&record, "monotonic:syscall");
    assert!(number(&found["ppm"]).abs() <= number(&found["bound_ppm"]), "{found:#}");
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn an_extended_measurement_says_a_line_on_each() {
    let output = run(clockscope(&["measure", "rdtscp", "monotonic", "--duration", "200ms", "--extended"]), 0);
    let table = String::from_utf8(output.stdout).unwrap();
    for start in ["order: ", "offsets: ", "rate: "] {
        assert_eq!(table.lines().filter(|line| line.starts_with(start)).count(), 1, "{table}");
    }
    let record = record_of(&["measure", "rdtscp", "--duration", "100ms", "--extended"]);
    for question in ["order", "offsets", "rate"] {
        assert!(record["extended"][question].is_object(), "{question}");
    }
    assert!(record_of(&["measure", "rdtscp", "--duration", "100ms"])["extended"].is_null());
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn every_command_has_every_format() {
    for command in [&["order"][..], &["order", "--offsets"], &["rate"], &["gaps"], &["sleep"]] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        run(clockscope(&[command, &["--duration", "100ms", "--format", "json", "--output", path]].concat()), 0);
        for format in ["table", "json", "ndjson", "csv", "markdown"] {
            let output = run(clockscope(&["report", path, "--format", format]), 0);
            assert!(!output.stdout.is_empty(), "{command:?} {format}");
        }
    }
}
