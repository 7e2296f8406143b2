//! The cost of CLOCK_MONOTONIC by each path, and the share of a system call's that a vDSO read
//! takes.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{clocks, figure, median};
use crate::run;

/// Runs whose median counts.
const RUNS: usize = 11;
const CLOCK: &str = "monotonic";
/// The paths, and the names that records have for them.
const PATHS: [(&str, &str); 3] = [("C library", "libc"), ("vDSO", "vdso"), ("system call", "syscall")];

/// Measures and prints a line a figure.
pub(crate) fn measure() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    let mut costs: [Vec<f64>; PATHS.len()] = Default::default();
    let mut shares = Vec::new();
    for _ in 0..RUNS {
        let found = clocks(&[CLOCK, "--via", "all", "--duration", "1s"])?;
        let [libc, vdso, syscall] = PATHS.map(|(_, path)| cost_by(&found, path));
        let [libc, vdso, syscall] = [libc?, vdso?, syscall?];
        shares.push(vdso / syscall);
        for (costs, ns) in costs.iter_mut().zip([libc, vdso, syscall]) {
            costs.push(ns);
        }
    }
    for ((path, _), costs) in PATHS.iter().zip(&mut costs) {
        figure(&format!("{CLOCK} by {path}"), "-", &format!("{:.1} ns", median(costs)));
    }
    figure("vDSO / system call", "< 0.7", &format!("{:.2}", median(&mut shares)));
    Ok(())
}

fn cost_by(clocks: &[Value], path: &str) -> Result<f64> {
    let clock = clocks.iter().find(|clock| clock["path"] == path);
    clock
        .and_then(|clock| clock["cost_ns"]["median"].as_f64())
        .with_context(|| format!("{CLOCK} has no cost by {path}: does `clockscope list` show this path?"))
}
