//! Traces that examples of the library write, opened by other programs: babeltrace2, and Perfetto's
//! protobuf definitions. Names, order and times are those that the example printed.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::needs::{self, Need};
use crate::plan::NotInstalled;
use crate::run;

const NEEDS: [Need; 2] = [Need::program("babeltrace2", "babeltrace2"), Need::program("python3", "python3")];
/// Arguments of cargo that build the examples, with the features that they have in the quick tier.
const BUILD: &[&str] = &["build", "--quiet", "--example", "ctf", "--example", "perfetto"];
/// Difference that the time of day may have from the one that std read before and after.
const NEAR: Duration = Duration::from_secs(1);

/// A span, as an example prints it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Span {
    name: String,
    start_ns: u64,
    length_ns: u64,
    /// Time of day in RFC 3339.
    start: String,
}

/// A line that an example prints.
#[derive(Deserialize)]
struct Line {
    #[serde(flatten)]
    span: Span,
    /// Bound on the error of the time of day; that of all lines is the same.
    error_ns: u64,
}

/// One end of a span, as babeltrace2 prints it.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    /// In the unit that it was asked for.
    time: String,
    kind: String,
    name: String,
}

/// Checks both examples.
pub(crate) fn check() -> Result<()> {
    needs::require("checks of traces", &NEEDS)?;
    run::cargo(BUILD)?;
    check_ctf().context("the trace of example ctf")?;
    let perfetto = run::built("tools/perfetto");
    if !Path::new(&perfetto).is_dir() {
        bail!(NotInstalled(format!("perfetto is missing: xtask/fetch-tools.sh {}", run::built("tools"))));
    }
    check_perfetto(&perfetto).context("the trace of example perfetto")
}

fn check_ctf() -> Result<()> {
    let folder = run::built("traces/ctf");
    let (spans, printed) = traced("ctf", &folder)?;
    let shown = |options: &[&str]| -> Result<Vec<Event>> {
        let text = run::output("babeltrace2", &[&["--no-delta"], options, &[&folder]].concat())?;
        text.lines().map(event).collect()
    };
    // CLOCK_MONOTONIC: both ends, in order.
    let cycles = shown(&["--clock-cycles"])?;
    equal(&cycles, &ends(&spans, |ns| format!("{ns:020}")))?;
    // The time of day: that of the first span's start, and the distances of the others.
    let origin = unix_ns(&shown(&["--clock-seconds"])?[0].time)? - i128::from(spans[0].start_ns);
    let with_origin = |ns: u64| {
        let ns = i128::from(ns) + origin;
        format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    };
    equal(&shown(&["--clock-seconds"])?, &ends(&spans, with_origin))?;
    let dates = shown(&["--clock-gmt", "--clock-date"])?;
    let starts = dates.iter().filter(|event| event.kind == "begin");
    let starts: Vec<String> = starts.map(|event| format!("{}Z", event.time.replace(' ', "T"))).collect();
    equal(&starts, &spans.iter().map(|span| span.start.clone()).collect::<Vec<_>>())?;
    printed.contains(u128::try_from(i128::from(spans[0].start_ns) + origin)?)?;
    // The clock's description.
    let details = run::output("babeltrace2", &["--component", "sink.text.details", &folder])?;
    let precision = details.lines().find_map(|line| line.trim().strip_prefix("Precision (cycles): "));
    equal(&precision.context("no precision")?.replace(',', ""), &printed.error_ns.to_string())?;
    println!("   ctf: babeltrace2 shows {} events as they were printed", cycles.len());
    Ok(())
}

fn check_perfetto(modules: &str) -> Result<()> {
    let file = run::built("traces/perfetto.pftrace");
    let (spans, _) = traced("perfetto", &file)?;
    let decoded = run::output_with(&[("PYTHONPATH", modules)], "python3", &["xtask/perfetto/spans.py", &file])?;
    let decoded: Vec<Span> = decoded.lines().map(|line| Ok(serde_json::from_str(line)?)).collect::<Result<_>>()?;
    equal(&decoded, &spans)?;
    println!("   perfetto: Perfetto's protobuf definitions show {} spans as they were printed", spans.len());
    Ok(())
}

/// Facts of a run beside its spans.
struct Printed {
    error_ns: u64,
    before: SystemTime,
    after: SystemTime,
}

impl Printed {
    /// Fails unless this time of day lies within the run.
    fn contains(&self, unix_ns: u128) -> Result<()> {
        let since_epoch = |moment: SystemTime| moment.duration_since(SystemTime::UNIX_EPOCH);
        let before = since_epoch(self.before)?.saturating_sub(NEAR).as_nanos();
        let after = since_epoch(self.after)?.saturating_add(NEAR).as_nanos();
        ensure!((before..=after).contains(&unix_ns), "{unix_ns} is not between {before} and {after}");
        Ok(())
    }
}

/// Runs an example that writes a trace to this path, and returns the spans that it printed.
fn traced(example: &str, path: &str) -> Result<(Vec<Span>, Printed)> {
    // An earlier trace must not be read in place of this one.
    let _ = fs::remove_dir_all(path);
    let _ = fs::remove_file(path);
    fs::create_dir_all(run::built("traces"))?;
    let before = SystemTime::now();
    let printed = run::output(&run::built(&format!("debug/examples/{example}")), &[path])?;
    let after = SystemTime::now();
    let lines: Vec<Line> = printed.lines().map(|line| Ok(serde_json::from_str(line)?)).collect::<Result<_>>()?;
    let error_ns = lines.first().context("nothing was printed")?.error_ns;
    let spans = lines.into_iter().map(|line| line.span).collect();
    Ok((spans, Printed { error_ns, before, after }))
}

/// Returns both ends of each span, in the order in which a trace of one thread has them.
fn ends(spans: &[Span], time: impl Fn(u64) -> String) -> Vec<Event> {
    // Spans begin one after another, and are nested.
    let mut open: Vec<&Span> = Vec::new();
    let mut events = Vec::new();
    let mut push = |kind: &str, ns: u64, span: &Span| {
        events.push(Event { time: time(ns), kind: kind.to_owned(), name: span.name.clone() });
    };
    for span in spans {
        while let Some(ended) = open.pop_if(|last| last.start_ns + last.length_ns <= span.start_ns) {
            push("end", ended.start_ns + ended.length_ns, ended);
        }
        push("begin", span.start_ns, span);
        open.push(span);
    }
    while let Some(ended) = open.pop() {
        push("end", ended.start_ns + ended.length_ns, ended);
    }
    events
}

/// Reads a line such as `[21:01:31.330255336] begin: { name = "parse" }`.
fn event(line: &str) -> Result<Event> {
    let parts = || {
        let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
        let (kind, fields) = rest.split_once(": ")?;
        let name = fields.strip_prefix("{ name = \"")?.strip_suffix("\" }")?;
        Some(Event { time: time.to_owned(), kind: kind.to_owned(), name: name.to_owned() })
    };
    parts().with_context(|| format!("no event: {line}"))
}

/// Reads seconds with nine digits after the point.
fn unix_ns(seconds: &str) -> Result<i128> {
    let (whole, rest) = seconds.split_once('.').context("no fraction")?;
    ensure!(rest.len() == 9, "{seconds} has not nine digits after the point");
    Ok(format!("{whole}{rest}").parse()?)
}

fn equal<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<()> {
    if found != expected {
        bail!("found {found:#?}, expected {expected:#?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_nested_spans_are_in_order() {
        let span = |name: &str, start_ns, length_ns| Span {
            name: name.to_owned(),
            start_ns,
            length_ns,
            start: "2026-11-27T21:01:31.330255336Z".to_owned(),
        };
        let events = ends(&[span("a", 1, 9), span("b", 2, 3), span("c", 5, 1), span("d", 20, 1)], |ns| ns.to_string());
        let events: Vec<_> =
            events.iter().map(|event| format!("{} {} {}", event.time, event.kind, event.name)).collect();
        assert_eq!(
            events,
            ["1 begin a", "2 begin b", "5 end b", "5 begin c", "6 end c", "10 end a", "20 begin d", "21 end d"]
        );
    }

    #[test]
    fn lines_of_babeltrace_are_read() {
        let line = "[1795813291.330255756] begin: { name = \"parse\" }";
        let Event { time, kind, name } = event(line).unwrap();
        assert_eq!(
            (unix_ns(&time).unwrap(), kind.as_str(), name.as_str()),
            (1_795_813_291_330_255_756, "begin", "parse")
        );
        assert!(event("nothing").is_err());
        assert!(unix_ns("1.5").is_err());
    }
}
