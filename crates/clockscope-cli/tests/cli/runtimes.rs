//! `clockscope runtimes`, with runtimes that are there, that are not, and that misbehave. `cargo
//! xtask test --only runtimes` measures all that CI installs.
#![cfg(target_os = "linux")]

mod all;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{assert_valid, clockscope, run};
use clockscope_testing::{Signal, signal, until, with_default};
use serde_json::Value;

const LINE: &str = r#"{"clockscope_probe":1,"api":"f","built_on":"CLOCK_MONOTONIC","units_per_second":1000000000,"batch_reads":3,"batches":6,"batch_ns":[60,60,60,60,60,60],"differences":[[20,12]],"steps":[20,20,20]}"#;

/// A program that prints a version and then does what the script says.
fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    let version = "case \"$1\" in --version|-version|version) echo 'version 1.2.3'; exit 0;; esac";
    fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The command, whose temporary files go into this folder and whose cache into another.
fn runtimes(folder: &Path, arguments: &[&str]) -> Command {
    let temporary = folder.join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = clockscope(&["runtimes", "--format", "json"]);
    if !arguments.iter().any(|argument| ["--list", "--duration"].contains(argument)) {
        command.args(["--duration", "20ms"]);
    }
    command.args(arguments).env("TMPDIR", temporary).env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

fn rows(output: &Output) -> Vec<Value> {
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&record);
    record["runtimes"].as_array().unwrap().clone()
}

fn reason(row: &Value) -> &str {
    row["reason"].as_str().unwrap_or_default()
}

/// That nothing temporary is left.
fn assert_tidy(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder.join("temporary")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn without_any_runtime_every_one_is_a_row_with_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = runtimes(folder.path(), &[]);
    command.env("PATH", folder.path());
    let rows = rows(&run(command, 3));
    assert!(rows.len() >= 16, "{rows:#?}");
    for row in rows {
        let said = reason(&row);
        assert!(said.contains(" on PATH; get it: ") && !(said.contains("none of") && said.contains("not")), "{row:#}");
        assert_eq!((&row["available"], &row["api"], &row["cost_ns"]), (&false.into(), &Value::Null, &Value::Null));
    }
    let mut command = runtimes(folder.path(), &["--list"]);
    command.env("PATH", folder.path());
    let output = run(command, 3);
    assert!(self::rows(&output).iter().all(|row| row["get"].as_str().is_some_and(|get| get.len() > 5)));
    // Those that are named, too, whatever else there is.
    let mut command = runtimes(folder.path(), &["deno", "--fail-on", "unavailable"]);
    command.env("PATH", folder.path());
    run(command, 1);
    assert_tidy(folder.path());
}

#[test]
fn figures_have_fixed_keys_and_c_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for turn in 0..2 {
        let output = run(runtimes(folder.path(), &["c"]), 0);
        let rows = rows(&output);
        let row = rows.iter().find(|row| row["api"] == "clock_gettime(CLOCK_MONOTONIC)").unwrap();
        for key in [
            "runtime",
            "version",
            "api",
            "available",
            "reason",
            "nominal_resolution_ns",
            "cost_ns",
            "observed_resolution_ns",
            "tick_ns",
            "zeros_percent",
            "regressions",
            "largest_step_ns",
        ] {
            assert!(row.get(key).is_some(), "{key} is missing in {row:#}");
        }
        assert_eq!((&row["runtime"], &row["available"], &row["regressions"]), (&"c".into(), &true.into(), &0.into()));
        assert!(row["cost_ns"].as_f64().unwrap() > 0.0 && row["observed_resolution_ns"].as_f64().unwrap() >= 1.0);
        // Built once.
        let built = fs::read_dir(folder.path().join("cache/clockscope/probes")).unwrap().count();
        assert_eq!(built, 1, "turn {turn}");
    }
    assert_tidy(folder.path());
}

#[test]
fn wrappers_and_shims_are_measured_or_reported() {
    let folder = tempfile::tempdir().unwrap();
    let chatty = program(folder.path(), "chatty", &format!("echo 'warning: old'; printf 'hint: '; echo '{LINE}'"));
    let broken = program(folder.path(), "broken", "echo 'pyenv: ruby: command not found' >&2; exit 127");
    let hanging = program(folder.path(), "hanging", "sleep 98765 & exec sleep 98765");
    let argument = |path: &Path| format!("ruby={}", path.display());
    let (chatty, broken, hanging) = (argument(&chatty), argument(&broken), argument(&hanging));
    let arguments = ["ruby", "--runtime", &chatty, "--runtime", &broken];
    let found = rows(&run(runtimes(folder.path(), &arguments), 0));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!((&found[0]["version"], &found[0]["cost_ns"]), (&"1.2.3".into(), &20.0.into()));
    assert!(reason(&found[1]).contains("status 127: pyenv: ruby: command not found"), "{}", found[1]);
    // Alone: a busy machine may not run the others in so short a time.
    let found = rows(&run(runtimes(folder.path(), &["ruby", "--runtime", &hanging, "--timeout", "500ms"]), 3));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(reason(&found[0]).contains("did not end within 0.5 s"), "{}", found[0]);
    assert_tidy(folder.path());
}

#[test]
fn where_nothing_can_be_cached_it_is_built_for_the_run() {
    let folder = tempfile::tempdir().unwrap();
    // Not even root can make a folder there.
    let mut command = runtimes(folder.path(), &["c"]);
    command.env("XDG_CACHE_HOME", "/proc/1").env("HOME", "/proc/1");
    let output = run(command, 0);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.contains("rebuilt in each run: /proc/1/clockscope/probes cannot be written"), "{said}");
    assert!(rows(&output).iter().all(|row| row["available"] == true), "{said}");
    assert_tidy(folder.path());
    // Without a place for temporary files there is nothing to be done.
    let mut command = runtimes(folder.path(), &["c"]);
    command.env("TMPDIR", "/proc/1");
    let output = run(command, 4);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty() && said.contains("no temporary folder can be made in /proc/1"), "{said}");
}

/// Go has a cache and telemetry of its own.
#[test]
#[ignore = "runs the languages that are installed"]
fn nothing_is_written_beside_the_users_files() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let mut command = runtimes(folder.path(), &["c", "go", "java", "mono", "python", "perl"]);
    command.env("HOME", &home).env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
    run(command, 0);
    let names =
        |folder: &Path| -> Vec<_> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    assert_eq!((names(&home), names(&home.join(".cache"))), (vec![".cache".into()], vec!["clockscope".into()]));
    assert_tidy(folder.path());
}

#[test]
fn a_browser_that_ends_too_early_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let browser = program(folder.path(), "browser", "exit 0");
    let rows =
        rows(&run(runtimes(folder.path(), &["chromium", "--runtime", &format!("chromium={}", browser.display())]), 3));
    assert!(rows.len() == 1 && reason(&rows[0]) == "the probe ended before its pages had reported", "{rows:#?}");
    assert_tidy(folder.path());
}

/// A request that cannot be met is refused before anything is built.
#[test]
fn a_clocksource_that_is_not_there_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = runtimes(folder.path(), &["c", "--clocksource", "sundial"]);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // Without the right to switch, or a kernel that shows its clocksource, that comes first.
    assert!([Some(2), Some(4)].contains(&output.status.code()) && output.stdout.is_empty(), "{said}");
    assert_eq!(fs::read_dir(folder.path().join("cache/clockscope/probes")).unwrap().count(), 0, "{said}");
    assert_tidy(folder.path());
}

#[test]
fn a_corrupt_program_in_the_cache_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    run(runtimes(folder.path(), &["c"]), 0);
    let cache = folder.path().join("cache/clockscope/probes");
    let built = || fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    for corrupt in [
        |path: &Path| fs::File::options().write(true).open(path).unwrap().set_len(100).unwrap(),
        |path: &Path| fs::File::options().write(true).open(path).unwrap().set_len(5000).unwrap(),
        |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap(),
        |path: &Path| fs::write(path, "#!/bin/sh\nexit 3\n").unwrap(),
    ] {
        corrupt(&built());
        let rows = rows(&run(runtimes(folder.path(), &["c"]), 0));
        assert!(rows.iter().all(|row| row["available"] == true), "{rows:#?}");
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
    }
    // What another user can write is not executed.
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    let output = run(runtimes(folder.path(), &["c"]), 0);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.contains("can be written by others") && rows(&output)[0]["available"] == true, "{said}");
    assert_tidy(folder.path());
}

#[test]
fn a_compiler_that_has_changed_builds_again() {
    let folder = tempfile::tempdir().unwrap();
    let built = |path: &Path| {
        run(runtimes(folder.path(), &["c", "--runtime", &format!("c={}", path.display())]), 0);
        fs::read_dir(folder.path().join("cache/clockscope/probes")).unwrap().count()
    };
    let path = program(folder.path(), "compiler", "exec cc -O1 \"$@\"");
    assert_eq!([built(&path), built(&path)], [1, 1]);
    // Of the same name and version.
    let path = program(folder.path(), "compiler", "exec cc -O1 -g \"$@\"");
    assert_eq!(built(&path), 2);
}

/// Returns true if a program is on PATH.
fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

#[test]
fn temporary_folders_may_be_relative() {
    let folder = tempfile::tempdir().unwrap();
    let others = [("perl", "perl"), ("python", "python3")];
    let installed = others.iter().filter(|(_, program)| is_installed(program)).map(|(name, _)| *name);
    let mut command = runtimes(folder.path(), &["c"].into_iter().chain(installed).collect::<Vec<_>>());
    command.current_dir(folder.path()).env("TMPDIR", "temporary");
    let rows = rows(&run(command, 0));
    assert!(rows.iter().all(|row| row["available"] == true), "{rows:#?}");
    assert_tidy(folder.path());
}

/// Processes that a shell has started before it became the command are its own business.
#[test]
#[ignore = "runs the languages that are installed"]
fn what_was_there_before_is_spared() {
    let folder = tempfile::tempdir().unwrap();
    let quick = program(folder.path(), "quick", &format!("echo '{LINE}'"));
    let mut shell = Command::new("sh");
    let script = "(sleep 5; touch \"$1/survived\") & echo $! >\"$1/pid\"; exec \"$0\" runtimes ruby --runtime \"ruby=$2\" --quiet";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_clockscope")]).arg(folder.path()).arg(&quick);
    shell.env("XDG_CACHE_HOME", folder.path()).stdout(Stdio::null());
    run(shell, 0);
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    let is_there = Path::new(&format!("/proc/{}", pid.trim())).exists();
    assert!(is_there || folder.path().join("survived").exists(), "it was ended");
    Command::new("kill").arg(pid.trim()).status().ok();
}

#[test]
fn wrong_arguments_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, hint) in [
        (&["pyhton"] as &[&str], "unknown runtime: pyhton; did you mean python? `clockscope"),
        (&[""], "a runtime's name is empty; `clockscope runtimes --list` shows all runtimes"),
        (&["--runtime", "python"], "expected a runtime and its program"),
        (&["--runtime", "=x"], "expected a runtime and its program"),
        (&["--runtime", "cobol=/bin/true"], "unknown runtime: cobol"),
        (&["--duration", "2min"], "for 120 s: expected 1ms to 1min"),
        (&["--duration", "0.1ms"], "for 100 µs: expected 1ms to 1min"),
        (&["--list", "--timeout", "1s"], "cannot be used with"),
    ] {
        let output = run(runtimes(folder.path(), arguments), 2);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty() && said.contains(hint), "{arguments:?}: {said}");
    }
    let rows = rows(&run(runtimes(folder.path(), &["ruby", "--runtime", "ruby=/nowhere/ruby"]), 3));
    assert!(reason(&rows[0]).starts_with("/nowhere/ruby is not a program"), "{}", rows[0]);
    assert_tidy(folder.path());
}

/// Processes that have this variable in their environment.
fn marked(mark: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let variables = entries.map(|entry| fs::read(entry.path().join("environ")).unwrap_or_default());
    variables.filter(|all| all.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())).count()
}

#[test]
fn interrupted_it_leaves_no_process_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    // What is started moves out of the group and the session, and ignores what it may.
    let stubborn = "trap '' INT TERM HUP; setsid sh -c \"trap '' INT TERM; touch $TMPDIR/left; sleep 98764; sleep 98764\" & \
                    touch \"$1.started\"; cp \"$1.started\" \"$MARK_FOLDER/started\"; wait; sleep 98764";
    let stubborn = program(folder.path(), "stubborn", stubborn);
    let first = program(folder.path(), "first", &format!("echo '{LINE}'"));
    let mark = format!("CLOCKSCOPE_TEST_MARK={}", folder.path().display());
    let (name, value) = mark.split_once('=').unwrap();
    for sign in [Signal::INT, Signal::TERM, Signal::HUP] {
        let arguments =
            [format!("perl={}", stubborn.display()), format!("php={}", first.display()), "perl".into(), "php".into()];
        let arguments = ["--runtime", &arguments[0], "--runtime", &arguments[1], &arguments[2], &arguments[3]];
        let mut command = with_default(sign, &runtimes(folder.path(), &arguments));
        command.env(name, value).env("MARK_FOLDER", folder.path()).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        until("the probe is started", || folder.path().join("started").exists());
        signal(&child, sign);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{sign:?}");
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_valid(&record);
        assert_eq!(record["interrupted"], true);
        let rows = rows(&output);
        let reasons: Vec<(&str, &str)> =
            rows.iter().map(|row| (row["runtime"].as_str().unwrap(), reason(row))).collect();
        assert_eq!(reasons, [("php", ""), ("perl", "the probe was interrupted")], "{sign:?}");
        assert_eq!(marked(&mark), 0, "{sign:?}: processes are left");
        assert_tidy(folder.path());
        fs::remove_file(folder.path().join("started")).unwrap();
    }
}

/// Killed, the command can end nothing itself.
#[test]
fn killed_it_leaves_no_probe() {
    let folder = tempfile::tempdir().unwrap();
    let probe =
        program(folder.path(), "lasting", "touch \"$MARK_FOLDER/started\"; trap '' INT TERM HUP; exec sleep 98765");
    let mark = format!("CLOCKSCOPE_TEST_MARK={}", folder.path().display());
    let (name, value) = mark.split_once('=').unwrap();
    let runtime = format!("perl={}", probe.display());
    let mut command = runtimes(folder.path(), &["--runtime", &runtime, "perl"]);
    command.env(name, value).env("MARK_FOLDER", folder.path()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("the probe is started", || folder.path().join("started").exists());
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    until("the probe is gone", || marked(&mark) == 0);
}
