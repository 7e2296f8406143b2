//! Test that `check` calls a healthy machine trusted every time, beside busy loops as well, and the
//! time that it takes. On a machine that is not healthy these figures say nothing.

use std::collections::BTreeMap;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use super::{BusyLoops, PROGRAM, figure};
use crate::run;

/// Time of a check, in s: by default, and with --one-line.
const DURATION_S: u32 = 5;
const ONE_LINE_DURATION_S: u32 = 2;
/// So many times as long a check may take, with its start and end.
const MOST: f64 = 1.5;

/// Measures so many runs of each kind.
pub(crate) fn measure(runs: u32) -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    let cpus = available_parallelism().map_or(1, usize::from);
    for (when, loops) in [("quiet", 0), ("beside a busy loop a CPU", 1), ("beside two busy loops a CPU", 2)] {
        checks(when, runs, loops * cpus, DURATION_S)?;
    }
    checks("beside two busy loops a CPU, in the time of --one-line", runs, 2 * cpus, ONE_LINE_DURATION_S)
}

/// Checks so often for so long, and reports how often all clocks were trusted, what contradicted
/// which otherwise, and the longest run.
fn checks(when: &str, runs: u32, busy: usize, duration_s: u32) -> Result<()> {
    let duration = format!("{duration_s}s");
    let _busy = BusyLoops::start(busy, None)?;
    let (mut trusted, mut longest_s, mut others) = (0, 0.0f64, BTreeMap::new());
    for _ in 0..runs {
        let start = Instant::now();
        let found = run::document(&run::built(PROGRAM), &["check", "--quiet", "--json", "-d", &duration])?;
        longest_s = longest_s.max(start.elapsed().as_secs_f64());
        let verdicts = found["verdicts"].as_array().cloned().unwrap_or_default();
        let doubted: Vec<String> = verdicts.iter().filter_map(untrusted_reason).collect();
        trusted += u32::from(doubted.is_empty() && !verdicts.is_empty());
        doubted.into_iter().for_each(|reason| *others.entry(reason).or_insert(0) += 1);
    }
    figure(&format!("{when}: runs in which every clock was trusted"), "all", &format!("{trusted} of {runs}"));
    let most_s = f64::from(duration_s) * MOST;
    figure(&format!("{when}: longest run"), &format!("<= {most_s} s"), &format!("{longest_s:.2} s"));
    for (reason, count) in others {
        println!("  {count} times {reason}");
    }
    Ok(())
}

/// A clock that is not trusted for intervals, and why: how well the time of day is known is not the
/// machine's matter.
fn untrusted_reason(verdict: &Value) -> Option<String> {
    let evidence = verdict["evidence"].as_array().into_iter().flatten();
    let deciding = evidence.filter(|one| one["decides"] == true);
    let because: Vec<String> = deciding.map(|one| format!("{}: {}", one["check"], one["text"])).collect();
    let interval = &verdict["uses"]["interval"];
    (interval != "trusted").then(|| format!("{} {interval}, because of {}", verdict["clock"], because.join("; ")))
}
