//! Whether the step `tests` passes every time on machines that grant little: beside four busy
//! loops, and on one CPU.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::{BusyLoops, figure};
use crate::run;

/// Busy loops beside which the tests have to pass.
const LOOPS: usize = 4;

/// Runs the tests so often in each way.
pub(crate) fn measure(runs: &str) -> Result<()> {
    let runs: u32 = runs.parse().with_context(|| format!("{runs} is not a number of runs"))?;
    run::cargo(&["test", "--workspace", "--no-run", "--quiet"])?;
    let cpu = run::output("sh", &["-c", "taskset --cpu-list --pid $$"])?;
    let cpu = cpu.rsplit([' ', ',', '-']).next().context("no CPU")?.trim().to_owned();
    let busy = repeat("beside four busy loops", runs, LOOPS, &["cargo"])?;
    let alone = repeat("on one CPU", runs, 0, &["taskset", "--cpu-list", &cpu, "cargo"])?;
    if busy + alone > 0 { bail!("{} of {} runs failed", busy + alone, 2 * runs) } else { Ok(()) }
}

/// Runs the tests so often; returns how many runs failed.
fn repeat(how: &str, runs: u32, loops: usize, program: &[&str]) -> Result<u32> {
    let _busy = BusyLoops::start(loops, None)?;
    let (mut failed, mut tests, mut skipped, start) = (0, BTreeMap::new(), 0, Instant::now());
    for _ in 0..runs {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(["test", "--workspace", "--no-fail-fast"]);
        let output = command.output().with_context(|| format!("cannot run {}", program[0]))?;
        failed += u32::from(!output.status.success());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        for test in printed.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED")) {
            *tests.entry(test.to_owned()).or_insert(0) += 1;
        }
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        skipped += complaints.lines().filter(|line| line.starts_with("skipped: ")).count();
    }
    figure(&format!("{how}: runs that passed"), &format!("{runs} of {runs}"), &format!("{} of {runs}", runs - failed));
    figure(
        &format!("{how}: a run, on average"),
        "-",
        &format!("{:.0} s", start.elapsed().as_secs_f64() / f64::from(runs)),
    );
    figure(
        &format!("{how}: parts skipped in a run, on average"),
        "-",
        &format!("{:.1}", skipped as f64 / f64::from(runs)),
    );
    for (test, count) in tests {
        println!("  {count} times {test}");
    }
    Ok(failed)
}
