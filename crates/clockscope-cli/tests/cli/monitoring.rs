//! The command as monitors run it: metrics in a file, a line with an exit code.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::support::{clockscope, fixture, run, under};
use clockscope_testing::{Signal, granted_beside, signal, skip, until_it_catches, until_it_ran};
use serial_test::{parallel, serial};

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// Names of a folder's files.
fn files(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Lets promtool check metrics; `None` where there is none.
fn promtool(metrics: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics");
    fs::write(&file, metrics).unwrap();
    let checked = Command::new("promtool").args(["check", "metrics"]).stdin(File::open(&file).unwrap()).output();
    match checked {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip("there is no promtool (Debian's package prometheus)");
            None
        }
        checked => Some(checked.unwrap()),
    }
}

fn assert_accepted(metrics: &str) {
    if let Some(checked) = promtool(metrics) {
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success() && said.is_empty(), "{said}\n{metrics}");
    }
}

#[test]
#[serial]
fn a_check_writes_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clockscope.prom");
    let words = ["check", "--duration", "500ms", "--quiet", "--format", "prometheus", "--output"];
    run(clockscope(&[&words[..], &[file.to_str().unwrap()]].concat()), 0);
    assert_eq!(files(folder.path()), ["clockscope.prom"]);
    let metrics = fs::read_to_string(&file).unwrap();
    for name in [
        "clockscope_last_success_timestamp_seconds ",
        "clockscope_clock_verdict{clock=\"monotonic\",use=\"interval\",verdict=",
        "clockscope_read_seconds{clock=\"monotonic\",path=\"libc\"} ",
        "clockscope_syscall_seconds ",
    ] {
        assert!(metrics.contains(&format!("\n{name}")), "{name}: {metrics}");
    }
    let series = metrics.lines().filter(|line| !line.starts_with('#')).count();
    assert!((10..=60).contains(&series), "{series}: {metrics}");
    assert_accepted(&metrics);
}

/// Promtool must be able to refuse.
#[test]
#[parallel]
fn recorded_checks_are_metrics_that_promtool_accepts() {
    let metrics = run(clockscope(&["report", &fixture("check"), "--format", "prometheus"]), 0);
    let metrics = stdout(&metrics);
    assert_accepted(metrics);
    if let Some(checked) = promtool(&metrics.replace("# HELP clockscope_tick_seconds ", "# HELP clockscope_else ")) {
        assert!(!checked.status.success());
    }
}

/// A reader has the former file as long as it keeps it open: it is replaced, never written over.
#[test]
#[parallel]
fn a_file_is_replaced_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clockscope.prom");
    let path = file.to_str().unwrap();
    fs::write(&file, "former 1\n").unwrap();
    let former = || {
        let mut text = String::new();
        move |mut file: File| file.read_to_string(&mut text).map(|_| text)
    };
    let (opened, again) = (File::open(&file).unwrap(), File::open(&file).unwrap());
    // Nothing that is refused touches it.
    let refused = run(clockscope(&["report", &fixture("info"), "--format", "prometheus", "--output", path]), 2);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("--format prometheus: the record has no metrics: expected one of check"), "{said}");
    assert_eq!(former()(opened).unwrap(), "former 1\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "former 1\n");
    run(clockscope(&["report", &fixture("check"), "--format", "prometheus", "--output", path]), 0);
    assert_eq!(former()(again).unwrap(), "former 1\n");
    assert!(fs::read_to_string(&file).unwrap().starts_with("# HELP clockscope_"));
    assert_eq!(files(folder.path()), ["clockscope.prom"]);
}

/// Metrics of an interrupted check have no time of success. The former file has one, which gets old
/// until the alert on it fires.
#[test]
#[parallel]
fn an_interrupted_check_leaves_the_former_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clockscope.prom");
    fs::write(&file, "clockscope_last_success_timestamp_seconds 1\n").unwrap();
    let words = ["check", "--duration", "1h", "--quiet", "--format", "prometheus"];
    let interrupted = |words: &[&str], code: i32| {
        let mut command = clockscope(words);
        let (output, _) = granted_beside(&mut command, |child| {
            until_it_catches(child, Signal::INT);
            until_it_ran(child, Duration::from_millis(100));
            signal(child, Signal::INT);
        });
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    for (more, code) in [(&[][..], 130), (&["--exit-codes", "nagios"], 3)] {
        let path = file.to_str().unwrap();
        let (_, said) = interrupted(&[&words[..], &["--output", path], more].concat(), code);
        assert!(said.contains("--output: the check was interrupted: the file is left as it was"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "clockscope_last_success_timestamp_seconds 1\n");
        assert_eq!(files(folder.path()), ["clockscope.prom"]);
    }
    // A reader gets what there is.
    let (metrics, _) = interrupted(&words, 130);
    assert!(metrics.contains("clockscope_clock_verdict"), "{metrics}");
    assert!(!metrics.contains("clockscope_last_success_timestamp_seconds"), "{metrics}");
}

/// One line, of 80 characters at most.
fn line(output: &Output) -> &str {
    let text = stdout(output);
    let line = text.strip_suffix('\n').unwrap_or_else(|| panic!("no line: {text:?}"));
    assert!(line.chars().count() <= 80 && !line.contains('\n'), "{text:?}");
    line
}

/// Reads of one clock are denied: it is unfit on every machine.
fn denied(words: &[&str]) -> Command {
    let variables = [("CLOCKSCOPE_DENY_CLOCK", "2"), ("CLOCKSCOPE_DENY_HOW", "errno")];
    under("deny", &variables, &[&["check", "process", "--duration", "300ms", "--one-line"], words].concat())
}

#[test]
#[parallel]
fn an_unfit_clock_is_critical() {
    const LINE: &str = "clockscope CRITICAL: process unfit (readable)";
    for (words, code) in [
        (&["--exit-codes", "nagios"][..], 2),
        // The usual codes: a finding is one that was asked for.
        (&[], 0),
        (&["--fail-on", "unfit"], 1),
        (&["--fail-on", "unfit", "--exit-codes", "nagios"], 2),
    ] {
        let found = run(denied(words), code);
        let found = line(&found);
        assert!(found.contains(&LINE["clockscope CRITICAL: ".len()..]), "{found}");
        assert!(found.starts_with("clockscope CRITICAL: "), "{found}");
    }
}

/// The states of this machine, whatever they are: code and word agree.
#[test]
#[serial]
fn the_word_and_the_code_agree() {
    let mut command = clockscope(&["check", "--duration", "500ms", "--one-line", "--exit-codes", "nagios"]);
    let output = command.output().unwrap();
    let state = line(&output).split([' ', ':']).nth(1).unwrap().to_owned();
    let expected = ["OK", "WARNING", "CRITICAL", "UNKNOWN"].iter().position(|word| *word == state);
    assert_eq!(output.status.code(), expected.and_then(|code| code.try_into().ok()), "{state}");
}

/// A monitor that asks for something wrong does not learn that the clocks are critical.
#[test]
#[parallel]
fn what_is_wrong_is_unknown_for_nagios() {
    for (words, said) in [
        (&["check", "sundial", "--one-line"][..], "unknown clock: sundial"),
        (&["check", "--sundial", "--one-line"], "unexpected argument '--sundial' found"),
        (&["check", "--one-line", "--output", "/nowhere/line"], "cannot write to --output /nowhere/line"),
    ] {
        let output = run(clockscope(&[words, &["--exit-codes", "nagios"]].concat()), 3);
        let found = line(&output);
        assert!(found.starts_with(&format!("clockscope UNKNOWN: {said}")), "{found}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said));
    }
    // Others have their own code.
    run(clockscope(&["check", "--sundial", "--one-line"]), 2);
    let help = run(clockscope(&["check", "--exit-codes", "nagios", "--help"]), 0);
    assert!(stdout(&help).contains("--one-line"));
}

/// The time that a monitor waits: a check without --duration is asked to take 2 s.
#[test]
#[parallel]
fn one_line_takes_two_seconds_by_default() {
    let help = run(clockscope(&["check", "--help"]), 0);
    assert!(stdout(&help).contains("Time for everything; 2s with --one-line"), "{}", stdout(&help));
    for words in [&["--format", "json"][..], &["--brief"], &["--verbose"], &["--baseline", "x.json"]] {
        run(clockscope(&[&["check", "--one-line"], words].concat()), 2);
    }
}
