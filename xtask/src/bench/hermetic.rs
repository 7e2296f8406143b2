//! Repeats of the step `quick`, which has to pass every time on machines that grant little: beside
//! four busy loops, and on one CPU.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::{BusyLoops, allowed_cpus, figure};
use crate::run;

/// Busy loops beside which the tests have to pass, and on how many CPUs.
const LOOPS: usize = 4;
const CPUS: usize = 2;

/// Runs the tests so often beside busy loops, and half as often on one CPU.
pub(crate) fn measure(runs: u32) -> Result<()> {
    run::cargo(&["test", "--no-run", "--quiet"])?;
    let cpus = allowed_cpus()?;
    let [.., cpu] = cpus.as_slice() else { bail!("no CPU") };
    let Some(two) = cpus.len().checked_sub(CPUS).map(|from| cpus[from..].join(",")) else {
        bail!("{LOOPS} loops have to run on {CPUS} CPUs, and this process may use {} only", cpus.len());
    };
    let busy = repeat(&format!("beside {LOOPS} busy loops on {CPUS} CPUs"), runs, LOOPS, &two)?;
    let alone = repeat("on one CPU", runs.div_ceil(2), 0, cpu)?;
    if busy + alone > 0 { bail!("{} of {} runs failed", busy + alone, runs + runs.div_ceil(2)) } else { Ok(()) }
}

/// Runs the tests so often on these CPUs, beside loops there; returns how many runs failed.
fn repeat(how: &str, runs: u32, loops: usize, cpus: &str) -> Result<u32> {
    let _busy = BusyLoops::start(loops, Some(cpus))?;
    let (mut failed, mut tests, mut skipped, start) = (0, BTreeMap::new(), BTreeMap::new(), Instant::now());
    for run in 1..=runs {
        let began = Instant::now();
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", cpus, "cargo", "test", "--no-fail-fast"]);
        let output = command.output().context("cannot run taskset: apt-get install util-linux")?;
        failed += u32::from(!output.status.success());
        // The whole may take hours, and be ended before.
        eprintln!("{how}, run {run}: {} after {:.0} s", output.status, began.elapsed().as_secs_f64());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        for test in printed.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED")) {
            eprintln!("  failed: {test}");
            *tests.entry(test.to_owned()).or_insert(0) += 1;
        }
        if !output.status.success() {
            panics(&printed).for_each(|line| eprintln!("  {line}"));
        }
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        for location in complaints.lines().filter_map(|line| line.strip_prefix("skipped: ")?.split(": ").next()) {
            *skipped.entry(location.to_owned()).or_insert(0) += 1;
        }
    }
    figure(&format!("{how}: runs that passed"), &format!("{runs} of {runs}"), &format!("{} of {runs}", runs - failed));
    figure(
        &format!("{how}: a run, on average"),
        "-",
        &format!("{:.0} s", start.elapsed().as_secs_f64() / f64::from(runs)),
    );
    for (what, counts) in [("failed", tests), ("skipped", skipped)] {
        for (name, count) in counts {
            println!("  {what} {count} times in {runs} runs: {name}");
        }
    }
    Ok(failed)
}

/// Lines that say where a test panicked, each with the one after it, which says why.
fn panics(printed: &str) -> impl Iterator<Item = &str> {
    let after = printed.lines().skip(1).chain([""]);
    printed.lines().zip(after).filter(|(line, _)| line.contains(" panicked at ")).flat_map(|(line, why)| [line, why])
}
