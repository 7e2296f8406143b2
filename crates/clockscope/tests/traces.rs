//! Traces that the examples `ctf` and `perfetto` write, opened by other programs: babeltrace2, and
//! Perfetto's protobuf definitions. Names, order and times are those that the example printed.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use clockscope_testing::skip;
use serde_json::Value;

/// Difference that the time of day may have from the one that std read before and after.
const NEAR: Duration = Duration::from_secs(1);

/// A span, as an example prints it.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    name: String,
    start_ns: u64,
    length_ns: u64,
    /// Time of day in RFC 3339.
    start: String,
}

impl Span {
    fn parse(line: &str) -> Self {
        let span: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| span[key].as_str().unwrap().to_owned();
        let number = |key: &str| span[key].as_u64().unwrap();
        Self { name: text("name"), start_ns: number("start_ns"), length_ns: number("length_ns"), start: text("start") }
    }
}

/// A trace of an example, and what the example printed.
struct Traced {
    path: PathBuf,
    spans: Vec<Span>,
    /// Bound on the error of the time of day; that of all spans is the same.
    error_ns: u64,
    before: SystemTime,
    after: SystemTime,
}

impl Traced {
    /// Builds and runs an example that writes a trace.
    fn new(example: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trace-{example}"));
        // An earlier trace must not be read in place of this one.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(example);
        let before = SystemTime::now();
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(root()).args(["run", "--quiet", "--example", example, "--"]).arg(&path);
        let printed = output(&mut command);
        let after = SystemTime::now();
        let first: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
        let error_ns = first["error_ns"].as_u64().unwrap();
        Self { path, spans: printed.lines().map(Span::parse).collect(), error_ns, before, after }
    }

    /// That this time of day lies within the run.
    fn assert_contains(&self, unix_ns: i128) {
        let since_epoch = |moment: SystemTime| moment.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let before = since_epoch(self.before).saturating_sub(NEAR).as_nanos();
        let after = since_epoch(self.after).saturating_add(NEAR).as_nanos();
        assert!((before..=after).contains(&u128::try_from(unix_ns).unwrap()), "{unix_ns}: {before} to {after}");
    }

    /// Both ends of each span, in the order in which a trace of one thread has them.
    fn ends(&self, time: impl Fn(u64) -> String) -> Vec<Event> {
        // Spans begin one after another, and are nested.
        let mut open: Vec<&Span> = Vec::new();
        let mut events = Vec::new();
        let mut push = |kind: &str, ns: u64, span: &Span| {
            events.push(Event { time: time(ns), kind: kind.to_owned(), name: span.name.clone() });
        };
        for span in &self.spans {
            while let Some(ended) = open.last().filter(|last| last.start_ns + last.length_ns <= span.start_ns) {
                push("end", ended.start_ns + ended.length_ns, ended);
                open.pop();
            }
            push("begin", span.start_ns, span);
            open.push(span);
        }
        while let Some(ended) = open.pop() {
            push("end", ended.start_ns + ended.length_ns, ended);
        }
        events
    }
}

/// One end of a span, as babeltrace2 prints it.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    /// In the unit that it was asked for.
    time: String,
    kind: String,
    name: String,
}

impl Event {
    /// Reads a line such as `[21:01:31.330255336] begin: { name = "parse" }`.
    fn parse(line: &str) -> Self {
        let (time, rest) = line.strip_prefix('[').unwrap().split_once("] ").unwrap();
        let (kind, fields) = rest.split_once(": ").unwrap();
        let name = fields.strip_prefix("{ name = \"").unwrap().strip_suffix("\" }").unwrap();
        Self { time: time.to_owned(), kind: kind.to_owned(), name: name.to_owned() }
    }
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the standard output of a program, which succeeds.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Fails in CI, which has all that there is, and skips the test elsewhere.
#[track_caller]
fn lack(missing: &str) {
    assert!(std::env::var_os("CI").is_none(), "{missing}");
    skip(missing);
}

/// Events that babeltrace2 shows of a trace.
fn events(trace: &Path, options: &[&str]) -> Vec<Event> {
    let text = output(Command::new("babeltrace2").arg("--no-delta").args(options).arg(trace));
    text.lines().map(Event::parse).collect()
}

/// Reads seconds with nine digits after the point.
fn unix_ns(seconds: &str) -> i128 {
    let (whole, rest) = seconds.split_once('.').unwrap();
    assert_eq!(rest.len(), 9, "{seconds}");
    format!("{whole}{rest}").parse().unwrap()
}

#[test]
#[ignore = "needs babeltrace2"]
fn trace_opened_by_babeltrace2() {
    if Command::new("babeltrace2").arg("--version").output().is_err() {
        return lack("there is no babeltrace2: apt-get install babeltrace2");
    }
    let traced = Traced::new("ctf");
    // CLOCK_MONOTONIC: both ends, in order.
    assert_eq!(events(&traced.path, &["--clock-cycles"]), traced.ends(|ns| format!("{ns:020}")));
    // The time of day: that of the first span's start, and the distances of the others.
    let by_seconds = events(&traced.path, &["--clock-seconds"]);
    let first_ns = traced.spans[0].start_ns;
    let first_unix_ns = unix_ns(&by_seconds[0].time);
    traced.assert_contains(first_unix_ns);
    let expected = traced.ends(|ns| {
        let unix_ns = first_unix_ns + i128::from(ns - first_ns);
        format!("{}.{:09}", unix_ns / 1_000_000_000, unix_ns % 1_000_000_000)
    });
    assert_eq!(by_seconds, expected);
    let dates = events(&traced.path, &["--clock-gmt", "--clock-date"]);
    let starts: Vec<String> = dates
        .iter()
        .filter(|event| event.kind == "begin")
        .map(|event| format!("{}Z", event.time.replace(' ', "T")))
        .collect();
    assert_eq!(starts, traced.spans.iter().map(|span| span.start.clone()).collect::<Vec<_>>());
    // The clock's description.
    let details = output(Command::new("babeltrace2").args(["--component", "sink.text.details"]).arg(&traced.path));
    let precision = details.lines().find_map(|line| line.trim().strip_prefix("Precision (cycles): "));
    assert_eq!(precision.map(|cycles| cycles.replace(',', "")), Some(traced.error_ns.to_string()));
}

#[test]
#[ignore = "needs Perfetto's protobuf definitions"]
fn trace_opened_by_perfetto() {
    let modules = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("perfetto");
    if !modules.is_dir() {
        return lack(&format!("there is no {}: xtask/fetch-tools.sh target/tools", modules.display()));
    }
    let traced = Traced::new("perfetto");
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", &modules).arg(root().join("xtask/perfetto/spans.py")).arg(&traced.path);
    assert_eq!(output(&mut command).lines().map(Span::parse).collect::<Vec<_>>(), traced.spans);
}

#[test]
fn ends_of_nested_spans_are_in_order() {
    let span =
        |name: &str, start_ns, length_ns| Span { name: name.to_owned(), start_ns, length_ns, start: String::new() };
    let spans = vec![span("a", 1, 9), span("b", 2, 3), span("c", 5, 1), span("d", 20, 1)];
    let now = SystemTime::now();
    let traced = Traced { path: PathBuf::new(), spans, error_ns: 0, before: now, after: now };
    let ends = traced.ends(|ns| ns.to_string());
    let ends: Vec<_> = ends.iter().map(|event| format!("{} {} {}", event.time, event.kind, event.name)).collect();
    let expected = ["1 begin a", "2 begin b", "5 end b", "5 begin c", "6 end c", "10 end a", "20 begin d", "21 end d"];
    assert_eq!(ends, expected);
}
