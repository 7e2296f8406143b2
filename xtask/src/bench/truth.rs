//! Verdicts of the instrument on thousands of random machines whose truth is known.

use std::time::Instant;

use anyhow::{Context, Result};

use super::figure;
use crate::run;

/// Variables with which it is built and asked: optimized, with overflow still an error, and every
/// second busy machine is asked for long.
const VARIABLES: [(&str, &str); 2] = [("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true"), ("CLOCKSCOPE_LONG", "2")];

/// Asks each question of so many machines.
pub(crate) fn measure(machines: &str) -> Result<()> {
    let count: u64 = machines.parse().with_context(|| format!("{machines} is not a number of machines"))?;
    let truth = ["test", "--release", "--package", "clockscope-measure", "--test", "truth"];
    run::with(&VARIABLES, "cargo", &[&truth[..], &["--no-run"]].concat())?;
    let start = Instant::now();
    run::with(&[&VARIABLES[..], &[("CLOCKSCOPE_MACHINES", machines)]].concat(), "cargo", &truth)?;
    figure("machines of each question, all of them answered rightly", "2000", &count.to_string());
    figure("time for all questions", "-", &format!("{:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}
