//! The command as its users type it: good input, bad input, and outputs that go wrong.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::{
    COUNTER, assert_valid, clock, clockscope, is_emulated, printed_schema, record, record_beside, run, stderr,
};
use clockscope_testing::{Signal, signal, skip, until_it_catches, until_it_ran};
use serde_json::Value;

/// Standard error that is full or closed changes neither the data nor the exit code.
#[test]
fn nobody_needs_to_listen_to_complaints() {
    let arguments: [(&[&str], i32); 4] = [
        (&["measure", "nosuch"], 2),
        (&["measure", "--bogus"], 2),
        (&["list"], 0),
        (&["measure", "monotonic", "--duration", "10ms", "-o", "/nowhere/x.json"], 4),
    ];
    for (arguments, code) in arguments {
        for closing in ["2>/dev/full", "2>&-"] {
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", &format!("exec \"$0\" \"$@\" {closing}"), env!("CARGO_BIN_EXE_clockscope")])
                .args(arguments);
            assert_eq!(shell.output().unwrap().status.code(), Some(code), "{arguments:?} {closing}");
        }
    }
}

#[test]
fn documented_commands() {
    if is_emulated() {
        return skip("trycmd runs no program under an emulator");
    }
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
}

#[test]
fn measuring_is_the_default() {
    let record = record(clockscope(&[COUNTER[0], "monotonic", "--duration", "50ms", "--format", "json"]));
    assert_eq!(record["schema"], "clockscope.measure");
    assert_eq!(record["clocks"].as_array().unwrap().len(), 2);
    let monotonic = clock(&record, "monotonic");
    let median = monotonic["cost_ns"]["median"].as_f64().unwrap();
    // A busy machine may grant too few batches for an interval.
    let low = monotonic["cost_ns"]["ci95"][0].as_f64();
    assert_eq!(low.is_none(), monotonic["cost_ns"]["batches"].as_u64().unwrap() < 48, "{monotonic:#}");
    let low = low.unwrap_or(median);
    assert!(monotonic["cost_ns"]["min"].as_f64().unwrap() <= low && low <= median);
}

#[test]
fn every_clock_is_measured_or_has_a_reason() {
    let record = record(clockscope(&["--duration", "200ms", "--path", "all", "--format", "json"]));
    let clocks = record["clocks"].as_array().unwrap();
    assert!(clocks.len() >= 20);
    for clock in clocks {
        assert_eq!(clock["available"] == false, clock["cost_ns"].is_null(), "{clock}");
        assert!(clock["available"] == true || clock["reason"]["text"].is_string(), "{clock}");
        for field in ["nominal_resolution_ns", "observed_resolution_ns", "monotonic", "ratio_to_fastest"] {
            let explained = clock["available"] == false || clock["unknown"][field]["code"].is_string();
            assert!(!clock[field].is_null() || explained, "{field} of {clock}");
        }
    }
}

/// The table of all clocks, by all of their paths, and what is brief.
#[test]
fn first_screens_are_small() {
    let text = |arguments: &[&str]| String::from_utf8(run(clockscope(arguments), 0).stdout).unwrap();
    let whole = text(&["--duration", "50ms", "--via", "all"]);
    let table: Vec<&str> = whole.lines().skip_while(|line| !line.trim_start().starts_with("Name")).collect();
    let table = table.split(|line| line.contains(": ")).next().unwrap();
    assert!(table.len() >= 15 && table.iter().all(|line| line.chars().count() <= 80), "{whole}");
    for arguments in [&["measure", "--duration", "50ms"][..], &["list"], &["info"], &["clocksource"]] {
        for format in ["table", "markdown"] {
            let brief = text(&[arguments, &["--brief", "--format", format]].concat());
            assert!((3..=15).contains(&brief.lines().count()), "{arguments:?}: {brief}");
        }
    }
}

#[test]
fn list_and_info_are_valid_records() {
    let list = record(clockscope(&["list", "--format", "json"]));
    assert_eq!(clock(&list, "realtime_coarse")["aliases"], serde_json::json!(["realtime_crs"]));
    let info = record(clockscope(&["info", "--format", "json"]));
    assert!(info["environment"]["kernel"]["release"].is_string());
    assert_eq!(info["windows"].is_object(), cfg!(windows), "{}", info["windows"]);
    let all = record(clockscope(&["list", "--all-platforms", "--format", "json"]));
    let clocks = all["clocks"].as_array().unwrap();
    for (system, name) in [("Windows", "query_performance_counter"), ("macOS", "uptime_raw"), ("FreeBSD", "second")] {
        assert!(clocks.iter().any(|clock| clock["system"] == system && clock["name"] == name), "{name} of {system}");
    }
}

/// Each `?` of the list of all systems' clocks has its own reason below the table.
#[test]
fn clocks_of_other_systems_have_their_own_reasons() {
    let all = record(clockscope(&["list", "--all-platforms", "--format", "json"]));
    let clocks = all["clocks"].as_array().unwrap();
    let output = run(clockscope(&["list", "--all-platforms", "--format", "markdown"]), 0);
    let text = String::from_utf8(output.stdout).unwrap();
    let notes: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("- ? Nominal of ")?.split_once(": ")).collect();
    for clock in clocks {
        let [name, system] = ["name", "system"].map(|key| clock[key].as_str().unwrap());
        let is_of = |named: &str| is_named(named, name, system);
        let reasons: Vec<&str> = notes.iter().filter(|(named, _)| is_of(named)).map(|(_, reason)| *reason).collect();
        let expected: Vec<&str> = clock["unknown"]["nominal_resolution_ns"]["text"].as_str().into_iter().collect();
        assert_eq!(reasons, expected, "{name} of {system}: {text}");
    }
}

/// Returns whether a note's `realtime (FreeBSD, OpenBSD), uptime` has a clock of a system.
fn is_named(named: &str, name: &str, system: &str) -> bool {
    let mut remaining = named;
    while !remaining.is_empty() {
        let end = remaining.find([',', '(']).unwrap_or(remaining.len());
        let (one, behind) = remaining.split_at(end);
        let (systems, behind) =
            behind.strip_prefix('(').and_then(|inner| inner.split_once(')')).unwrap_or(("", behind));
        if one.trim() == name && (systems.is_empty() || systems.split(", ").any(|listed| listed == system)) {
            return true;
        }
        remaining = behind.trim_start_matches([',', ' ']);
    }
    false
}

#[test]
fn a_record_renders_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let file = file.to_str().unwrap();
    run(clockscope(&["measure", "monotonic", "time", "--duration", "50ms", "--format", "json", "--output", file]), 0);
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let rendered: Value =
        serde_json::from_slice(&run(clockscope(&["report", file, "--format", "json"]), 0).stdout).unwrap();
    assert_eq!(rendered, recorded);
    for format in ["table", "markdown", "csv", "ndjson"] {
        let arguments = ["report", file, "--format", format, "--machine"];
        let text = String::from_utf8(run(clockscope(&arguments), 0).stdout).unwrap();
        let time = recorded["recorded_at"].as_str().unwrap();
        assert!(text.contains("monotonic") && text.contains(time), "{format}: {text}");
    }
}

#[test]
fn ndjson_is_an_object_a_line() {
    let output = run(clockscope(&["measure", "time", "--duration", "20ms", "--format", "ndjson"]), 0);
    let text = String::from_utf8(output.stdout).unwrap();
    let types: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
    assert_eq!(types, ["environment", "clock", "advice", "end"]);
}

#[test]
fn steps_of_clocks_are_records() {
    let arguments = ["steps", COUNTER[0], "monotonic", "time", "rdpmc", "--reads", "20000", "--format", "json"];
    let record = record(clockscope(&arguments));
    assert_eq!((&record["schema"], &record["run"]["requested_reads"]), (&"clockscope.steps".into(), &20_000.into()));
    let monotonic = clock(&record, "monotonic");
    assert_eq!(monotonic["events"]["reads"], 20_000);
    // What lies between two batches is no difference.
    let count = monotonic["summary"]["count"].as_u64().unwrap();
    assert!((19_980..20_000).contains(&count), "{count}");
    let differences = monotonic["differences"].as_array().unwrap();
    let counted: u64 = differences.iter().map(|entry| entry["count"].as_u64().unwrap()).sum();
    assert!(counted * 10_000 >= 9_999 * count, "{counted}");
    let ticks = |entry: &Value| entry["units"].as_i64().unwrap();
    assert!(differences.windows(2).all(|pair| ticks(&pair[0]) < ticks(&pair[1])));
    assert_eq!(monotonic["largest"][0]["ns"], monotonic["summary"]["max"]);
    let time = clock(&record, "time");
    assert!(time["tick_ns"].is_null() && time["unknown"]["tick_ns"]["code"].is_string(), "{time}");
    assert_no_nan(&record);
}

/// JSON has no NaN: it would be written as null, which must have a reason.
fn assert_no_nan(record: &Value) {
    for clock in record["clocks"].as_array().unwrap().iter().filter(|clock| clock["available"] == true) {
        for (key, value) in clock.as_object().unwrap() {
            let explained = clock["unknown"].get(key).is_some() || key == "reason";
            assert!(!value.is_null() || explained, "{key} of {}", clock["name"]);
        }
        if let Some(summary) = clock["summary"].as_object() {
            let lone = summary["count"] == 1;
            assert!(summary.iter().all(|(key, value)| !value.is_null() || key == "std" && lone), "{summary:?}");
        }
    }
}

#[test]
fn every_clock_has_steps_or_a_reason() {
    let record = record(clockscope(&["steps", "--path", "all", "--duration", "300ms", "--format", "json"]));
    assert!(record["clocks"].as_array().unwrap().len() >= 20);
    assert_no_nan(&record);
    for clock in record["clocks"].as_array().unwrap() {
        assert!(clock["available"] == true || clock["reason"]["text"].is_string(), "{clock}");
    }
}

/// Two readings are the fewest that differ; nothing shows their tick.
#[test]
fn two_reads_are_enough_for_a_difference() {
    let record = record(clockscope(&["steps", "monotonic", "--reads", "2", "--format", "json"]));
    let clock = clock(&record, "monotonic");
    assert_eq!((&clock["summary"]["count"], &clock["summary"]["std"]), (&1.into(), &Value::Null));
    assert_eq!(clock["unknown"]["tick_ns"]["code"], "few_steps");
    for format in ["table", "markdown", "csv", "ndjson"] {
        let output = run(clockscope(&["steps", "monotonic", "--reads", "2", "--format", format]), 0);
        assert!(!String::from_utf8_lossy(&output.stdout).contains("NaN"));
    }
}

#[test]
fn raw_readings_are_written_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let raw = |arguments: &[&str]| {
        run(clockscope(&[&["steps", "monotonic", COUNTER[0], "--reads", "3000", "--raw"], arguments].concat()), 0);
        std::fs::read_to_string(arguments[0]).unwrap()
    };
    let csv = raw(&[&path("a.csv")]);
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("clock,ns"));
    assert_eq!(lines.next(), Some(format!("{},0.000", COUNTER[0]).as_str()));
    assert!(csv.contains("\nmonotonic,0\n"));
    assert_eq!(csv.lines().count(), 6001);
    let labeled = raw(&[&path("b.txt"), "--raw-style", "labeled"]);
    assert_eq!(labeled.lines().count(), 6000);
    let mut last = 0;
    for line in labeled.lines().skip(3000) {
        let (name, ns) = line.split_once(' ').unwrap();
        let ns: i64 = ns.parse().unwrap();
        assert!(name == "monotonic" && ns >= last, "{line}");
        last = ns;
    }
    let ndjson = raw(&[&path("c.ndjson")]);
    assert!(ndjson.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["ns"].is_number())));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3, "nothing else is left in the folder");
}

/// Several paths of a clock are several series.
#[test]
fn raw_readings_of_several_paths_bear_their_paths() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    run(
        clockscope(&["steps", "monotonic", "--path", "all", "--reads", "1000", "--raw", path, "--raw-format", "csv"]),
        0,
    );
    let text = std::fs::read_to_string(path).unwrap();
    for name in ["monotonic,", "monotonic:vdso,", "monotonic:syscall,"] {
        assert_eq!(text.lines().filter(|line| line.starts_with(name)).count(), 1000, "{name}");
    }
}

/// Readings until then are reported and written; those that were not read are said to be missing.
#[test]
#[cfg(unix)]
fn an_interrupted_raw_run_writes_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("raw.csv");
    let mut command = clockscope(&["steps", "process", "thread", "--reads", "4e7", "--raw", file.to_str().unwrap()]);
    command.args(["--format", "json"]);
    let (record, _) = record_beside(command, 130, interrupt);
    let read = clock(&record, "process")["events"]["reads"].as_u64().unwrap();
    assert!(read < 40_000_000);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count() as u64, read + 1);
    assert_eq!(clock(&record, "thread")["reason"]["text"], "not read: the run was interrupted before its turn");
}

/// The answer of the run again, to the last byte, in every format; from a file and from standard
/// input.
#[test]
fn a_recording_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let recording = path("run.json");
    for format in ["json", "table", "csv", "ndjson", "markdown"] {
        let named = ["monotonic", COUNTER[0], "monotonic:syscall", "process", "time", "rdpmc"];
        let options = ["--reads", "3000", "--rows", "7", "--format", format, "--raw", &recording];
        let answer = run(clockscope(&[&["steps"], &named[..], &options].concat()), 0).stdout;
        let again = run(clockscope(&["report", &recording, "--rows", "7", "--format", format]), 0);
        assert_eq!(String::from_utf8(again.stdout).unwrap(), String::from_utf8(answer).unwrap(), "{format}");
    }
    run(clockscope(&["steps", "--raw", &recording, "--format", "json", "-o", &path("all.json")]), 0);
    let mut piped = clockscope(&["report", "-", "--format", "json"]);
    piped.stdin(std::fs::File::open(&recording).unwrap());
    // `run` gives its programs no input.
    assert_eq!(piped.output().unwrap().stdout, std::fs::read(path("all.json")).unwrap());
    let message = run(clockscope(&["report", &recording, "--fail-on", "unavailable"]), 1).stderr;
    assert_eq!(String::from_utf8(message).unwrap(), "--fail-on: found: unavailable (exit code 1)\n");
    let recording: Value = serde_json::from_slice(&std::fs::read(&recording).unwrap()).unwrap();
    assert_eq!(printed_schema(&["recording"]).errors(&recording), [""; 0]);
}

/// It says what the file is instead, and what to do.
#[test]
fn what_is_no_recording_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let raw = |name: &str, format: &str| {
        run(clockscope(&["steps", "monotonic", "--reads", "50", "--raw", &path(name), "--raw-format", format]), 0);
        path(name)
    };
    for format in ["csv", "ndjson", "npy"] {
        let said = stderr(&["report", &raw(format, format)], 4);
        assert!(said.contains("record with --json"), "{said}");
    }
    let recording = std::fs::read(raw("recording", "recording")).unwrap();
    let digit = recording.iter().rposition(u8::is_ascii_digit).unwrap();
    let mut changed = recording.clone();
    changed[digit] ^= 1;
    for (text, expected) in [
        (&recording[..recording.len() / 2], "the file is cut off"),
        (&changed, "the recording is damaged: its checksum"),
    ] {
        std::fs::write(path("wrong"), text).unwrap();
        let said = stderr(&["report", &path("wrong")], 4);
        assert_eq!(said.matches(expected).count(), 1, "{said}");
    }
    let version = concat!("\"version\":\"", env!("CARGO_PKG_VERSION"));
    let forged = String::from_utf8(recording).unwrap().replacen(version, "\"version\":\"0\\nerror: forged", 1);
    std::fs::write(path("forged"), forged).unwrap();
    let said = stderr(&["report", &path("forged")], 4);
    assert!(said.contains("forged") && said.lines().filter(|line| line.starts_with("error")).count() == 1, "{said}");
    assert!(stderr(&["compare", &path("recording"), "x"], 4).contains("clockscope report"));
    let labeled = ["steps", "--raw", &path("x.json"), "--raw-style", "labeled"];
    assert!(stderr(&labeled, 2).contains("style of CSV"));
    let doubled = format!("{}/./x.json", folder.path().display());
    assert!(stderr(&["steps", "--raw", &path("x.json"), "-o", &doubled], 2).contains("the same file"));
    assert!(std::fs::read_dir(folder.path()).unwrap().all(|file| file.unwrap().file_name() != "x.json"));
}

/// Readings until then are recorded as well.
#[test]
#[cfg(unix)]
fn an_interrupted_run_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let file = file.to_str().unwrap();
    let mut command = clockscope(&["steps", "process", "thread", "--reads", "4e7", "--raw", file]);
    command.args(["--format", "json"]);
    let (record, _) = record_beside(command, 130, interrupt);
    let again = run(clockscope(&["report", file, "--format", "json"]), 130);
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap(), record);
}

/// A disk that fills up while the file is being written: said, and nothing is left.
#[test]
#[cfg(target_os = "linux")]
fn a_raw_file_that_does_not_fit_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("raw.csv");
    let mut shell = std::process::Command::new("sh");
    // In blocks of 512 bytes or 1 KiB, by shell; the signal would end the program before it could
    // say anything.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" steps monotonic --reads 100000 --raw \"$1\"";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_clockscope")]).arg(&file);
    let output = run(shell, 4);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot write to --raw") && said.contains("ulimit -f"), "{said}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "something is left");
    // What was found is reported in spite of that.
    let output = run(clockscope(&["steps", "monotonic", "--raw", "/dev/full"]), 4);
    let (found, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(found.contains("Tick: monotonic") && said.contains("no space left"), "{found}{said}");
}

#[test]
fn numbers_that_are_none_are_refused() {
    for (arguments, hint) in [
        (["steps", "monotonic", "--reads", "0"], "at least 2"),
        (["steps", "monotonic", "--reads", "1"], "at least 2"),
        (["steps", "monotonic", "--reads", "1e20"], "at most 1e12"),
        (["steps", "monotonic", "--reads", "ten"], "expected a whole number"),
        (["advise", "--error", "0", "--quiet"], "more than 0"),
        (["advise", "--error", "1e-300", "--quiet"], "at least 0.0001%"),
        (["advise", "--interval", "1e-9ns", "--quiet"], "at least 0.001ns"),
        (["steps", "monotonic", "--raw", "-"], "expected a file"),
        (["advise", "--error", "nan", "--quiet"], "more than 0"),
        (["advise", "--interval", "-5ns", "--quiet"], "longer than 0"),
        (["advise", "--interval", "10nanos", "--quiet"], "unknown time unit \"nanos\""),
        (["advise", "--interval", "10 n s", "--quiet"], "unknown time unit \"n s\""),
    ] {
        let said = stderr(&arguments, 2);
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
    let said = stderr(&["steps", "--reads", "1e9", "--raw", "/tmp/never-written.csv"], 2);
    assert!(said.contains("at most 100000000"), "{said}");
    assert!(stderr(&["steps", "monotonic", "--raw", "x", "--duration", "1s"], 2).contains("cannot be used with"));
}

/// Many reads are announced with the time that they will take, also of a clock that seldom moves;
/// few are not.
#[test]
#[cfg(unix)]
fn a_long_run_says_how_long_it_takes() {
    for name in ["monotonic", "monotonic_coarse"] {
        let mut command = clockscope(&["steps", name, "--reads", "1e12"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(said.contains("1000000000000 reads of each clock will take about"), "{said}");
        assert!([" min", " h", " days"].iter().any(|unit| said.contains(unit)), "{said}");
    }
    let few = run(clockscope(&["steps", "monotonic", "--reads", "1e6"]), 0);
    assert!(!String::from_utf8_lossy(&few.stderr).contains("will take"), "{few:?}");
}

#[test]
fn a_clock_that_is_not_there_brings_the_nearest_names() {
    let said = stderr(&["measure", "monotnic"], 2);
    assert!(said.contains("unknown clock: monotnic") && said.contains("monotonic"), "{said}");
    assert!(stderr(&["lst"], 2).contains("list"));
    assert!(stderr(&["measure", "--clock", "qqqq"], 2).contains("clockscope list"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_clock_of_another_system_brings_its_system() {
    for (name, systems) in [
        ("monotonic_raw_approx", "macOS"),
        ("qpc", "Windows"),
        ("query_performance_counter", "Windows"),
        ("uptime", "FreeBSD, OpenBSD"),
    ] {
        for spelled in [name.to_owned(), name.to_uppercase(), format!("CLOCK_{name}"), format!("{name}:syscall")] {
            let said = stderr(&["measure", &spelled], 2);
            assert!(said.starts_with(&format!("error: {name} exists on {systems}, not here: ")), "{spelled}: {said}");
        }
    }
    // Here, it has no such path.
    assert!(stderr(&["measure", "monotonic:mmap"], 2).contains("monotonic has no path mmap"));
}

#[test]
#[cfg(not(windows))]
fn a_period_of_the_timer_is_refused_where_there_is_no_such_request() {
    for question in ["measure", "sleep"] {
        let said = stderr(&[question, "--timer-period", "1ms"], 2);
        assert!(said.starts_with("error: --timer-period: only Windows lets programs request"), "{said}");
    }
}

#[test]
fn cpus_that_cannot_be_used_are_named() {
    assert!(stderr(&["measure", "--cpu", "99999", "monotonic"], 2).contains("does not exist"));
    stderr(&["measure", "--cpu", "-1", "monotonic"], 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_cpu_outside_the_mask_is_named() {
    use clockscope_testing::{allowed_cpus, on_cpu};

    let cpus = allowed_cpus();
    let other = cpus.get(1).copied().unwrap_or(cpus[0] + 1).to_string();
    let said = on_cpu(cpus[0], || stderr(&["measure", "--cpu", &other, "monotonic"], 2));
    assert!(said.contains("affinity mask") || said.contains("does not exist"), "{said}");
}

#[test]
fn durations_that_are_none_are_refused() {
    for duration in ["0", "-1", "1e99", "nan", "", "5 apples"] {
        let said = stderr(&["measure", "monotonic", "--duration", duration], 2);
        assert!(said.contains("--duration"), "{duration}: {said}");
    }
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/out.json");
    for output in [missing.to_str().unwrap(), folder.path().to_str().unwrap(), "/proc/nothing"] {
        // An hour: the test would not end if the measurement came first.
        let said = stderr(&["measure", "monotonic", "--duration", "1h", "--output", output], 4);
        assert!(said.contains("cannot write to --output"), "{said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_written_to_and_not_replaced() {
    let said = stderr(&["measure", "monotonic", "--duration", "10ms", "--output", "/dev/full"], 4);
    assert!(said.contains("no space left"), "{said}");
    run(clockscope(&["measure", "monotonic", "--duration", "10ms", "--output", "/dev/null"]), 0);
    use std::os::unix::fs::FileTypeExt;
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn an_existing_file_is_replaced_whole_and_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    std::fs::write(&file, "x".repeat(1 << 20)).unwrap();
    let before = std::fs::metadata(&file).unwrap().permissions();
    run(
        clockscope(&[
            "measure",
            "monotonic",
            "--duration",
            "10ms",
            "--format",
            "json",
            "--output",
            file.to_str().unwrap(),
        ]),
        0,
    );
    assert_valid(&serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions(), before);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for arguments in [
        &["measure", "--duration", "30ms", "--format", "json", "--path", "all"][..],
        &["man"],
        &["schema"],
        &["--help"],
    ] {
        let mut child = clockscope(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn records_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    for (text, hint) in [
        ("", "the file is empty"),
        ("{}", "not a clockscope record"),
        ("{\"schema_version\": 999}", "schema_version 999"),
        ("{\"schema_version\": 1, \"schema\": \"clockscope.other\"}", "clockscope.other"),
        ("[[[[", "not a clockscope record"),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = stderr(&["report", file.to_str().unwrap()], 4);
        assert!(said.contains(hint), "{text}: {said}");
    }
    stderr(&["report", "/nonexistent.json"], 4);
}

#[test]
fn findings_become_exit_codes() {
    let measure = |fail_on: &str, clock: &str| {
        clockscope(&["measure", clock, "--duration", "50ms", "--fail-on", fail_on, "--format", "json"])
    };
    run(measure("stuck", "monotonic_coarse"), 0);
    run(measure("regression,jump", "monotonic"), 0);
    run(measure("jump", "process"), 3);
    run(measure("unavailable", "monotonic"), 0);
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_reports_what_it_has() {
    for (command, read) in [("measure", "monotonic"), ("steps", COUNTER[0])] {
        let command = clockscope(&[command, COUNTER[0], "monotonic", "--duration", "1h", "--format", "json"]);
        let (record, _) = record_beside(command, 130, interrupt);
        assert_eq!(record["run"]["interrupted"], true);
        assert!(clock(&record, read)["events"]["reads"].as_u64().unwrap() > 0, "{record:#}");
    }
}

/// timeout(1) sends its signal to the process, and again to its group.
#[test]
fn two_signals_at_once_leave_what_was_measured() {
    for command in ["measure", "steps"] {
        let command = clockscope(&[command, COUNTER[0], "--duration", "1h", "--format", "json"]);
        let (record, _) = record_beside(command, 130, |child| {
            interrupt(child);
            signal(child, Signal::TERM);
        });
        assert_eq!(record["run"]["interrupted"], true);
    }
}

/// Interrupts a child that catches it and has measured for a while.
fn interrupt(child: &Child) {
    until_it_catches(child, Signal::INT);
    until_it_ran(child, Duration::from_millis(400));
    signal(child, Signal::INT);
}
