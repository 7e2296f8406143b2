//! Pages, charts and curves of the command.

use crate::support::{clockscope, fixture, run};

/// Several records are one page; one chart is an image; what has no effect is refused.
#[test]
fn reports_have_pages_and_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (steps, rates) = (path("steps.json"), path("rate.json"));
    run(clockscope(&["steps", "monotonic", "--reads", "3000", "--format", "json", "-o", &steps]), 0);
    run(clockscope(&["rate", "monotonic", "--duration", "50ms", "--format", "json", "-o", &rates]), 0);
    let page = path("page.html");
    run(clockscope(&["report", &steps, &rates, "--format", "html", "--output", &page]), 0);
    let page = std::fs::read_to_string(page).unwrap();
    for part in ["<!doctype html>", "clockscope steps", "clockscope rate", "Differences of monotonic", "<svg"] {
        assert!(page.contains(part), "{part}");
    }
    let image = run(clockscope(&["report", &steps, "--format", "svg", "--chart", "histogram:monotonic"]), 0).stdout;
    assert!(String::from_utf8(image).unwrap().starts_with("<?xml"));
    for (arguments, said) in [
        (&["report", &steps, &rates][..], "several records need --format html"),
        (&["report", &steps, "--chart", "ecdf"], "--chart: needs --format svg"),
        (
            &["report", &steps, "--format", "svg", "--chart", "cost"],
            "expected one of ecdf, staircase:monotonic, histogram:monotonic",
        ),
        (&["report", &steps, "--format", "html", "--open"], "--output"),
    ] {
        let message = String::from_utf8(run(clockscope(arguments), 2).stderr).unwrap();
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
}

/// A record of a run ends as the run would have ended; one without events is refused.
#[test]
fn findings_of_a_recorded_run_are_found() {
    for (record, finding, code) in [
        ("healthy", "regression", 0),
        ("healthy", "unavailable", 1),
        ("broken", "regression", 130),
        ("steps", "jump", 0),
        ("switched", "regression", 0),
        ("check", "regression", 2),
    ] {
        run(clockscope(&["report", &fixture(record), "--fail-on", finding]), code);
    }
    run(clockscope(&["report", &fixture("broken")]), 0);
    let folder = tempfile::tempdir().unwrap();
    let switched = folder.path().join("switched.json");
    let text = std::fs::read_to_string(fixture("switched")).unwrap();
    for (former, changed, code) in
        [("\"regression\": 0", "\"regression\": 1", 1), ("\"error\": null", "\"error\": \"it ended\"", 4)]
    {
        std::fs::write(&switched, text.replacen(former, changed, 1)).unwrap();
        run(clockscope(&["report", switched.to_str().unwrap(), "--fail-on", "regression"]), code);
    }
}

/// Curves in characters where they were asked for, in ASCII where that was.
#[test]
fn curves_are_drawn_in_characters() {
    let drawn = |arguments: &[&str]| String::from_utf8(run(clockscope(arguments), 0).stdout).unwrap();
    let recorded = "../clockscope-report/tests/fixtures/rate.json";
    for (arguments, title) in [
        (&["report", recorded][..], "Allan deviation, over: "),
        (&["steps", "monotonic", "--reads", "3000"], "Share of differences up to this one, over: "),
    ] {
        let plotted = drawn(&[arguments, &["--plot"]].concat());
        assert!(plotted.contains(title) && plotted.contains(" │"), "{plotted}");
        let ascii = drawn(&[arguments, &["--plot", "--ascii"]].concat());
        assert!(ascii.contains(title) && !ascii.contains(" │") && !ascii.contains('●'), "{ascii}");
        assert!(!drawn(arguments).contains(title));
    }
    // How many intervals there are depends on the time that the machine grants.
    drawn(&["rate", "monotonic", "--duration", "50ms", "--plot", "--ascii"]);
}

/// A disk that is full while a page is written, as a limit on the size of files is: the former file
/// stays, and nothing else does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_page() {
    use crate::support::is_emulated;
    use clockscope_testing::skip;

    if is_emulated() {
        return skip("the shell runs the command itself");
    }
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    std::fs::write(&page, "former").unwrap();
    let record = "../clockscope-report/tests/fixtures/steps.json";
    let limited = |blocks: &str, code: i32| {
        let mut command = std::process::Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" report {record} -f html -o \"$1\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_clockscope")]).arg(&page);
        String::from_utf8(run(command, code).stderr).unwrap()
    };
    let said = limited("8", 4);
    assert!(said.contains("cannot write to --output"), "{said}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "former");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    limited("unlimited", 0);
    assert!(std::fs::read_to_string(&page).unwrap().ends_with("</html>\n"));
}

/// `--open` hands the written file to the desktop, and says what went wrong with that.
#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn a_written_page_is_opened() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (record, page, opener) = (path("info.json"), path("page.html"), path("xdg-open"));
    run(clockscope(&["info", "--format", "json", "-o", record.to_str().unwrap()]), 0);
    let arguments = ["report", record.to_str().unwrap(), "-f", "html", "-o", page.to_str().unwrap(), "--open"];
    let opened = |script: &str, code: i32| {
        std::fs::write(&opener, script).unwrap();
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = clockscope(&arguments);
        let others = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{others}", folder.path().display()));
        String::from_utf8(run(command, code).stderr).unwrap()
    };
    opened("#!/bin/sh\necho \"$1\" > \"$1.opened\"\n", 0);
    let named = std::fs::read_to_string(path("page.html.opened")).unwrap();
    assert_eq!(named.trim(), page.to_str().unwrap());
    assert!(opened("#!/bin/sh\nexit 3\n", 4).contains("cannot open"));
}

/// Pages are as wide as COLUMNS says, 80 columns otherwise, and in ASCII where the locale has
/// nothing else.
#[test]
fn pages_fit_what_the_environment_says() {
    let file = fixture("check");
    let page = |variable: (&str, &str)| {
        let mut command = clockscope(&["report", &file, "--verbose", "--machine"]);
        String::from_utf8(run(command.env(variable.0, variable.1), 0).stdout).unwrap()
    };
    let widest = |page: &str| page.lines().map(|line| line.chars().count()).max().unwrap();
    let usual = page(("COLUMNS", ""));
    assert!((75..=80).contains(&widest(&usual)) && !usual.is_ascii(), "{usual}");
    for (columns, least, most) in [("60", 55, 60), ("100", 95, 100), ("none", 75, 80)] {
        let page = page(("COLUMNS", columns));
        assert!((least..=most).contains(&widest(&page)), "{columns}: {page}");
    }
    for locale in ["C", "POSIX", "de_DE.ISO-8859-1"] {
        let page = page(("LC_ALL", locale));
        assert!(page.is_ascii() && page.contains("ns"), "{locale}: {page}");
    }
    assert_eq!(page(("LC_ALL", "en_US.utf8")), usual);
}
