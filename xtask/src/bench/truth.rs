//! What the instrument says of thousands of random machines whose truth is known.

use std::time::Instant;

use anyhow::{Context, Result};

use super::figure;
use crate::run;

/// Asks each question of so many machines, optimized.
pub(crate) fn measure(machines: &str) -> Result<()> {
    let asked: u64 = machines.parse().with_context(|| format!("{machines} is not a number of machines"))?;
    let truth = ["test", "--release", "--package", "clockscope-measure", "--test", "truth"];
    run::cargo(&[&truth[..], &["--no-run"]].concat())?;
    let start = Instant::now();
    run::with(&[("CLOCKSCOPE_MACHINES", machines)], "cargo", &truth)?;
    figure("machines of each question, all of them answered rightly", "2000", &asked.to_string());
    figure("time for all questions", "-", &format!("{:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}
