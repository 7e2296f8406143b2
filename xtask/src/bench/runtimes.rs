//! The figures of `clockscope runtimes`: how long all runtimes take, whether its C probe agrees
//! with the instrument, whether costs repeat.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{PROGRAM, cost_of, figure, median};
use crate::{folder, run};

/// All runtimes that CI installs.
const RUNTIMES: [&str; 13] =
    ["c", "c++", "rust", "go", "java", "dotnet", "mono", "node", "python", "ruby", "php", "perl", "chromium"];
/// Runs that are compared.
const RUNS: usize = 5;
/// By what share a cost may be off in another run.
const REPEATS: f64 = 0.1;
/// The clock that both read.
const CLOCK: &str = "monotonic";
const API: &str = "clock_gettime(CLOCK_MONOTONIC)";

/// Measures and prints a line a figure.
pub(crate) fn measure() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    let folder = std::path::absolute(run::built("runtimes"))?;
    let folder = folder::text(&folder)?;
    run::with(&[], "xtask/fetch-runtimes.sh", &[folder])?;
    against_the_instrument()?;
    whole_runs(folder)
}

/// The C probe beside the instrument's own figure, alternating.
fn against_the_instrument() -> Result<()> {
    let mut ratios = Vec::new();
    for _ in 0..RUNS {
        let own = super::clocks(&[CLOCK, "--duration", "1s"])?;
        let found = record_of(&[], &["c"])?;
        let rows = found["runtimes"].as_array().context("no rows")?;
        let row = rows.iter().find(|row| row["api"] == API).context("C was not measured")?;
        ratios.push(row["cost_ns"].as_f64().context("no cost")? / cost_of(&own, CLOCK)?);
    }
    let formatted: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    let what = format!("C probe / clockscope measure {CLOCK}");
    figure(&what, "1 +- 0.05", &format!("{:.3} ({})", median(&mut ratios), formatted.join(" ")));
    Ok(())
}

/// All runtimes, first with nothing built, and how far an API's costs are apart in the further
/// runs.
fn whole_runs(fetched: &str) -> Result<()> {
    let cache = run::built("bench-runtimes-cache");
    folder::remove(&cache)?;
    let dotnet = format!("dotnet={fetched}/dotnet/dotnetcore2/bin/dotnet");
    let arguments = [RUNTIMES.as_slice(), &["--runtime", &dotnet]].concat();
    let mut costs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut walls = Vec::new();
    for turn in 0..=RUNS {
        let start = Instant::now();
        let found = record_of(&[("XDG_CACHE_HOME", &cache)], &arguments)?;
        let wall_s = start.elapsed().as_secs_f64();
        let rows = found["runtimes"].as_array().context("no rows")?;
        let measured: Vec<&Value> = rows.iter().filter(|row| row["available"] == true).collect();
        if turn == 0 {
            let what = format!("{} APIs of {} runtimes, nothing built", measured.len(), RUNTIMES.len());
            figure(&what, "<= 60 s", &format!("{wall_s:.1} s"));
            continue;
        }
        walls.push(wall_s);
        for row in measured {
            let name = format!("{} {}", row["runtime"], row["api"]).replace('"', "");
            costs.entry(name).or_default().push(row["cost_ns"].as_f64().context("no cost")?);
        }
    }
    figure("the same, built", "<= 60 s", &format!("{:.1} s", median(&mut walls)));
    let (mut all, mut off) = (0, 0);
    let mut lines = Vec::new();
    for (name, costs) in &mut costs {
        let middle = median(costs);
        let far = costs.iter().filter(|cost| (*cost / middle - 1.0).abs() > REPEATS).count();
        (all, off) = (all + costs.len(), off + far);
        if far > 0 {
            let formatted: Vec<String> = costs.iter().map(|cost| format!("{cost:.1}")).collect();
            lines.push(format!("  {name}: {} ns", formatted.join(" ")));
        }
    }
    figure("costs further than 10 % from their API's median of five", "none", &format!("{off} of {all}"));
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn record_of(variables: &[(&str, &str)], names: &[&str]) -> Result<Value> {
    let arguments = [&["runtimes", "--quiet", "--format", "json"], names].concat();
    run::document_with(variables, &run::built(PROGRAM), &arguments)
}
