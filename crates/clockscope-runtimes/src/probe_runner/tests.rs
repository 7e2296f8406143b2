use super::*;
use crate::programs::select;
use clockscope_records::{AfterWork, ClockKind, MovedBy, ReadPath, Work};
use std::fs;
use std::os::unix::fs::PermissionsExt;

static NEVER: AtomicBool = AtomicBool::new(false);
const LINE: &str = r#"{"clockscope_probe":1,"api":"f","built_on":"CLOCK_MONOTONIC","units_per_second":1000000000,"batch_reads":3,"batches":6,"batch_ns":[60,60,60,60,60,60],"differences":[[20,12]],"steps":[20,20,20]}"#;

fn measured(chosen: &[Chosen], request: ProbeRequest<'_>) -> Vec<RuntimeRecord> {
    let runner = ProbeRunner::new().unwrap();
    let prepared = runner.prepare(chosen, request.stop, &mut |_, _| {});
    runner.measure(&prepared, request, &mut |_, _| {})
}

/// A runtime whose program is this shell script; the folder holds the script.
fn wrapper(name: &str, script: &str) -> (tempfile::TempDir, Vec<Chosen>) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("wrapper");
    fs::write(
        &program,
        format!("#!/bin/sh\ncase \"$1\" in --version|-version) echo \"X version 1.2.3\"; exit 0;; esac\n{script}\n"),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let chosen = select(&[name.to_owned()], &[(name.to_owned(), program)]).unwrap();
    (folder, chosen)
}

/// Records of a runtime whose program is this shell script.
fn with(name: &str, script: &str, limit_s: f64) -> Vec<RuntimeRecord> {
    let (_folder, chosen) = wrapper(name, script);
    let request = ProbeRequest { milliseconds: 10, limit_s, clocksource: Some("tsc"), works: "", stop: &NEVER };
    measured(&chosen, request)
}

/// Clocks of Python, whose program is this shell script, with these works.
fn language_clocks(script: &str, works: &str) -> Result<Vec<LanguageClock>, String> {
    let (_folder, chosen) = wrapper("python", script);
    let runner = ProbeRunner::new().unwrap();
    let prepared = runner.prepare(&chosen, &NEVER, &mut |_, _| {});
    let request = ProbeRequest { milliseconds: 10, limit_s: 30.0, clocksource: Some("tsc"), works, stop: &NEVER };
    runner.language_clocks(&prepared[0], request)
}

#[test]
fn a_languages_clocks_have_their_errors_around_work() {
    let facts =
        r#""kind":"monotonic","is_usual":true,"around_work":[{"work":"spin","work_ns":1000,"errors_ns":[7,9,5]}]"#;
    let line = LINE.replacen("\"api\":\"f\"", &format!("\"api\":\"time.f\",{facts}"), 1);
    let none = r#"{"clockscope_probe":1,"api":"clockscope.now_ns","unavailable":"not installed"}"#;
    // A probe that is asked for no works prints nothing.
    let script = format!("test \"$CLOCKSCOPE_PROBE_WORKS\" = spin:1000:0.1 || exit 1; echo '{line}'; echo '{none}'");
    let clocks = language_clocks(&script, "spin:1000:0.1").unwrap();
    let [usual, package] = &clocks[..] else { panic!("{clocks:?}") };
    assert_eq!((usual.identity.name.as_str(), usual.identity.kind), ("time.f()", ClockKind::Monotonic));
    assert!(usual.identity.is_usual && usual.identity.path.is_usual() && usual.row.available);
    let differences = usual.differences.as_ref().unwrap();
    assert_eq!((differences.count, differences.min, differences.p99, differences.max), (12, 20.0, 20.0, 20.0));
    let expected = AfterWork { work: Work::Spin, work_ns: 1000.0, measurements: 3, median_ns: 7.0, p99_ns: 9.0 };
    assert_eq!(usual.after_work, [expected]);
    assert_eq!((package.identity.name.as_str(), package.identity.path), ("clockscope.now_ns()", ReadPath::Library));
    assert!(!package.row.available && package.differences.is_none() && package.after_work.is_empty());
    assert!(language_clocks(&script, "").unwrap_err().contains("status 1"));
}

#[test]
fn a_clock_of_no_stated_kind_is_of_another_kind() {
    let clocks = language_clocks(&format!("echo '{LINE}'"), "").unwrap();
    let identity = &clocks[0].identity;
    assert!(identity.kind == ClockKind::Counter && !identity.is_counter() && !identity.is_usual);
}

#[test]
fn a_wrapper_may_print_whatever_it_likes_before() {
    let rows = with(
        "ruby",
        &format!("echo 'warning: this is old'; echo noise >&2; printf 'no newline: '; echo '{LINE}'"),
        30.0,
    );
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = &rows[0];
    assert_eq!((row.api.as_deref(), row.available, row.version.as_deref()), (Some("f"), true, Some("1.2.3")));
    assert_eq!(
        (row.cost_ns.get(), row.zeros_percent.get(), row.clocksource.as_deref()),
        (Some(20.0), Some(0.0), Some("tsc"))
    );
}

#[test]
fn what_goes_wrong_is_a_row_with_the_reason() {
    for (script, limit_s, failure, expected) in [
        (
            "echo 'pyenv: ruby: command not found' >&2; exit 127",
            30.0,
            RuntimeFailure::Failed,
            "the probe ended with status 127: pyenv: ruby: command not found",
        ),
        ("kill -SEGV $$", 30.0, RuntimeFailure::Failed, "the probe was killed by signal 11 (SEGV)"),
        ("exec sleep 1000", 0.3, RuntimeFailure::TimedOut, "the probe did not end within 0.3 s"),
        ("echo '<html>'; echo rubbish", 30.0, RuntimeFailure::NoFigures, "the probe printed no figures, but: <html>"),
        ("exit 0", 30.0, RuntimeFailure::NoFigures, "the probe printed nothing"),
        (
            "echo '{\"clockscope_probe\":1,\"api\":'",
            30.0,
            RuntimeFailure::Malformed,
            "a line of the probe cannot be used: it is not what a probe prints",
        ),
        ("echo '{\"clockscope_probe\":7}'", 30.0, RuntimeFailure::Malformed, "version 7 of the protocol"),
    ] {
        let rows = with("ruby", script, limit_s);
        assert_eq!(rows.len(), 1, "{script}: {rows:?}");
        let reason = rows[0].reason.clone().unwrap_or_default();
        assert!(!rows[0].available && reason.contains(expected), "{script}: {reason}");
        assert_eq!(rows[0].failure, Some(failure), "{script}");
    }
}

#[test]
fn what_was_measured_before_a_crash_is_retained() {
    let rows = with("ruby", &format!("echo '{LINE}'; echo 'Error: out of luck' >&2; echo trace >&2; exit 1"), 30.0);
    let results: Vec<_> = rows.iter().map(|row| (row.available, row.api.as_deref())).collect();
    assert_eq!(results, [(true, Some("f")), (false, None)]);
    assert_eq!(rows[1].reason.as_deref(), Some("the probe ended with status 1: Error: out of luck"));
}

#[test]
fn a_line_that_was_cut_off_is_no_row() {
    let script =
        format!("echo '{LINE}'; printf '{{\"clockscope_probe\":1,\"api\":\"g\",\"batch_ns\":[1,2'; exec sleep 1000");
    // A busy machine may not run the probe in a short time.
    let printed = [0.5, 5.0, 50.0].into_iter().find_map(|limit_s| {
        let rows = with("ruby", &script, limit_s);
        rows.iter().any(|row| row.available).then_some((limit_s, rows))
    });
    let (limit_s, rows) = printed.expect("the probe printed a line");
    let results: Vec<_> = rows.iter().map(|row| (row.available, row.reason.as_deref())).collect();
    let reason = format!("the probe did not end within {limit_s} s");
    assert_eq!(results, [(true, None), (false, Some(reason.as_str()))]);
}

#[test]
fn a_shim_that_fails_to_tell_its_version_is_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("shim");
    fs::write(&program, "#!/bin/sh\necho 'shim: no version is set' >&2\nexit 126\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let chosen = select(&[], &[("node".to_owned(), program)]).unwrap();
    let chosen: Vec<Chosen> = chosen.into_iter().filter(|one| one.runtime.name == "node").collect();
    let runner = ProbeRunner::new().unwrap();
    let found = runner.list(&chosen, &NEVER);
    assert!(found.len() == 1 && !found[0].available && found[0].program.is_some());
    let reason = found[0].reason.clone().unwrap();
    assert!(reason.ends_with("shim --version ended with status 126: shim: no version is set"), "{reason}");
}

#[test]
fn a_compiler_that_fails_or_makes_nothing_is_a_row() {
    for (script, failure, expected) in [
        (
            "echo 'probe.c:1: error: no' >&2; echo '1 error' >&2; exit 1",
            RuntimeFailure::NotBuilt,
            "the probe was not built: ",
        ),
        ("exit 0", RuntimeFailure::NoFolder, "the built probe cannot be stored"),
    ] {
        let rows = with("c", script, 30.0);
        let reason = rows[0].reason.clone().unwrap_or_default();
        assert!(rows.len() == 1 && reason.contains(expected), "{reason}");
        assert_eq!(rows[0].failure, Some(failure), "{reason}");
    }
}

#[test]
fn temporary_files_go_and_probes_have_a_folder_for_theirs() {
    let rows = with("ruby", "touch \"$TMPDIR/mine\" ./also; echo \"$PWD $TMPDIR\"", 30.0);
    let reason = rows[0].reason.clone().unwrap();
    let mut folders = reason.rsplit(' ').take(2);
    let (temporary, working) = (folders.next().unwrap(), folders.next().unwrap());
    assert_eq!(temporary, working);
    assert!(temporary.contains("clockscope-") && !Path::new(temporary).exists());
}

#[test]
fn c_is_built_once_and_measured() {
    let Ok(chosen) = select(&["c".to_owned()], &[]) else { panic!("C is known") };
    let runner = ProbeRunner::new().unwrap();
    let request = ProbeRequest { milliseconds: 20, limit_s: 60.0, clocksource: Some("tsc"), works: "", stop: &NEVER };
    let rows = runner.measure(&runner.prepare(&chosen, &NEVER, &mut |_, _| {}), request, &mut |_, _| {});
    assert!(rows.iter().all(|row| row.available && row.cost_ns.get().is_some_and(|ns| ns > 0.0)), "{rows:?}");
    assert!(rows.iter().any(|row| row.api.as_deref() == Some("clock_gettime(CLOCK_MONOTONIC)")));
    let facts = |row: &RuntimeRecord| (row.moved_by.get(), row.documented_coarse.get());
    assert!(rows.iter().all(|row| facts(row) == (Some(MovedBy::Clocksource), Some(false))), "{rows:?}");
}
