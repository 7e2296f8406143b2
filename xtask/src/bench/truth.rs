//! Verdicts of the instrument on thousands of random machines whose truth is known.

use std::time::Instant;

use anyhow::Result;

use super::figure;
use crate::run;

/// Variables with which it is built and asked: optimized, with overflow still an error, and every
/// second busy machine is asked for long.
const VARIABLES: [(&str, &str); 2] = [("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true"), ("CLOCKSCOPE_LONG", "2")];

/// Asks each question of so many machines.
pub(crate) fn measure(machines: u64) -> Result<()> {
    let machines = machines.to_string();
    let truth = ["test", "--release", "--package", "clockscope-measure", "--test", "truth"];
    run::with(&VARIABLES, "cargo", &[&truth[..], &["--no-run"]].concat())?;
    let start = Instant::now();
    run::with(&[&VARIABLES[..], &[("CLOCKSCOPE_MACHINES", machines.as_str())]].concat(), "cargo", &truth)?;
    figure("machines of each question, all of them answered rightly", "2000", &machines);
    figure("time for all questions", "-", &format!("{:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}
