//! Test that `check` calls a healthy machine trusted every time, beside busy loops as well, and the
//! time that it takes. On a machine that is not healthy these figures say nothing.

use std::collections::BTreeMap;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{BusyLoops, PROGRAM, figure};
use crate::run;

/// Measures so many runs of each kind.
pub(crate) fn measure(runs: &str) -> Result<()> {
    let runs: u32 = runs.parse().with_context(|| format!("{runs} is no number of runs"))?;
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    let cpus = available_parallelism().map_or(1, usize::from);
    checks("quiet", runs, 0)?;
    checks("beside a busy loop a CPU", runs, cpus)?;
    checks("beside two busy loops a CPU", runs, 2 * cpus)
}

/// Checks so often, and reports how often all clocks were trusted, what spoke against which
/// otherwise, and the longest run.
fn checks(when: &str, runs: u32, busy: usize) -> Result<()> {
    let _busy = BusyLoops::start(busy, None)?;
    let (mut trusted, mut longest_s, mut others) = (0, 0.0f64, BTreeMap::new());
    for _ in 0..runs {
        let start = Instant::now();
        let found: Value =
            serde_json::from_str(&run::output(&run::built(PROGRAM), &["check", "--quiet", "--format", "json"])?)?;
        longest_s = longest_s.max(start.elapsed().as_secs_f64());
        let verdicts = found["verdicts"].as_array().cloned().unwrap_or_default();
        let doubted: Vec<String> = verdicts.iter().filter_map(untrusted_reason).collect();
        trusted += u32::from(doubted.is_empty() && !verdicts.is_empty());
        doubted.into_iter().for_each(|reason| *others.entry(reason).or_insert(0) += 1);
    }
    figure(&format!("{when}: runs in which every clock was trusted"), "all", &format!("{trusted} of {runs}"));
    figure(&format!("{when}: longest run"), "<= 5 s", &format!("{longest_s:.2} s"));
    for (reason, count) in others {
        println!("  {count} times {reason}");
    }
    Ok(())
}

/// A clock that is not trusted for intervals, and why: how well civil time is known is not the
/// machine's matter.
fn untrusted_reason(verdict: &Value) -> Option<String> {
    let evidence = verdict["evidence"].as_array().into_iter().flatten();
    let deciding = evidence.filter(|one| one["decides"] == true);
    let because: Vec<String> = deciding.map(|one| format!("{}: {}", one["check"], one["text"])).collect();
    let interval = &verdict["uses"]["interval"];
    (interval != "trusted").then(|| format!("{} {interval}, because of {}", verdict["clock"], because.join("; ")))
}
