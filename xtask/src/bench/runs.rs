//! Test of the interval between runs that `measure --repeat` shows: the median of as many later
//! runs lies inside.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{PROGRAM, figure};
use crate::run;

/// A counter, a call of the vDSO, and a system call.
const CLOCKS: &[&str] = &["tsc", "monotonic", "monotonic:syscall"];
const DURATION: &str = "150ms";
/// Runs of an interval, and later runs.
const REPEATED: &str = "10";
const LATER: usize = 20;

/// Repeats the experiment so often.
pub(crate) fn measure(times: &str) -> Result<()> {
    let times: u32 = times.parse().with_context(|| format!("{times} is not a number"))?;
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    let mut inside = vec![0; CLOCKS.len()];
    let mut widths = vec![Vec::new(); CLOCKS.len()];
    let mut of_one_run = vec![0; CLOCKS.len()];
    for _ in 0..times {
        let repeated = measured(&["--repeat", REPEATED])?;
        let first = measured(&[])?;
        let later = (0..LATER).map(|_| measured(&[])).collect::<Result<Vec<Value>>>()?;
        for (index, count) in inside.iter_mut().enumerate() {
            let cost = |record: &Value| record["clocks"][index]["cost_ns"].clone();
            let median = median(later.iter().filter_map(|record| cost(record)["median"].as_f64()).collect());
            let [low, high] = ends(&cost(&repeated)["between_runs"]["interval95"])?;
            *count += u32::from((low..=high).contains(&median));
            widths[index].push((high - low) / 2.0 / median * 100.0);
            let [low, high] = ends(&cost(&first)["ci95"])?;
            of_one_run[index] += u32::from((low..=high).contains(&median));
        }
    }
    for (index, clock) in CLOCKS.iter().enumerate() {
        let width = median(widths[index].clone());
        figure(
            &format!("{clock}: median of {LATER} later runs inside the interval of {REPEATED}"),
            ">= 18 of 20",
            &format!("{} of {times}, ±{width:.2} % in the median", inside[index]),
        );
        figure(&format!("{clock}: inside the interval of one run"), "-", &format!("{} of {times}", of_one_run[index]));
    }
    Ok(())
}

fn measured(more: &[&str]) -> Result<Value> {
    let usual = ["measure", "--duration", DURATION, "--format", "json", "--quiet"];
    Ok(serde_json::from_str(&run::output(&run::built(PROGRAM), &[&usual, CLOCKS, more].concat())?)?)
}

fn ends(interval: &Value) -> Result<[f64; 2]> {
    let end = |index: usize| interval[index].as_f64().context("no interval: the machine granted too little");
    Ok([end(0)?, end(1)?])
}

/// The median; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
