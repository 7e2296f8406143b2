//! The figures of sequential reads and of the recovered tick.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{CPU, PEAK, PROGRAM, compile, figure, median, printed_figures, value};
use crate::run;

const READS: &str = "bench-reads";
/// Reads of the comparison.
const MANY: &str = "100000000";
/// Pairs of the comparison, in turn.
const PAIRS: usize = 5;
/// The seed of simulated clocks whose tick is looked for: none of the tests' own.
const SEED: &str = "777000";
/// Number of them.
const CLOCKS: &str = "30000";

/// Measures and prints a line a figure.
pub(crate) fn measure() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    compile("reads.c", READS)?;
    compile("peak.c", PEAK)?;
    recording()?;
    own_tick()?;
    simulated_ticks()
}

/// A whole run of 10^8 reads beside the bare loop of as many, both pinned, in turn; and its peak
/// memory.
fn recording() -> Result<()> {
    let (mut ratios, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let bare = run::document(&run::built(READS), &[&CPU, MANY])?;
        let ours = [&run::built(PROGRAM), "steps", "tsc", "--cpu", &CPU, "--reads", MANY, "--format", "json"];
        let taken = run::document(&run::built(PEAK), &ours)?;
        let seconds = |value: &Value| value.as_f64().context("no time");
        ratios.push(seconds(&taken["wall_s"])? / seconds(&bare["seconds"])?);
        peaks.push(seconds(&taken["peak_mb"])?);
    }
    figure("10^8 differences of rdtsc, whole run / reads alone", "<= 1.5", &format!("{:.2}", median(&mut ratios)));
    figure("10^8 differences of rdtsc, peak memory", "<= 24 MB", &format!("{:.1} MB", median(&mut peaks)));
    Ok(())
}

/// The tick that the instrument finds on this machine.
fn own_tick() -> Result<()> {
    for clock in ["tsc", "monotonic"] {
        let ours = ["steps", clock, "--cpu", &CPU, "--duration", "500ms", "--format", "json"];
        let steps = run::document(&run::built(PROGRAM), &ours)?;
        let found = &steps["clocks"][0];
        let tick = match found["tick_ns"].as_f64() {
            Some(ns) => {
                let evidence = &found["tick_evidence"];
                format!("{ns:.4} ns = {} ({} evidence)", evidence["period"], evidence["strength"])
            }
            None => format!("unknown: {}", found["unknown"]["tick_ns"]["text"]),
        };
        figure(&format!("tick of {clock}"), "-", &tick);
    }
    Ok(())
}

/// Clocks with ticks of 3 to 1000 ns that are simulated with other seeds than those of the tests.
fn simulated_ticks() -> Result<()> {
    let arguments = "test --release --quiet -p clockscope-statistics ticks_of_simulated_clocks -- --nocapture";
    let variables = [("CLOCKSCOPE_TICK_CASES", CLOCKS), ("CLOCKSCOPE_TICK_SEED", SEED)];
    // It fails, and names the clock, if a single tick is wrong.
    let said = run::output_with(&variables, "cargo", &arguments.split(' ').collect::<Vec<_>>())?;
    let said = printed_figures(&said)?;
    let of = |name: &str| value(&said, name);
    let seen = format!(
        "{} right, {} unknown of {}, slowest {} s, seed {SEED}",
        of("right")?,
        of("unknown")?,
        of("cases")?,
        of("slowest_s")?
    );
    figure("ticks of simulated clocks", ">= 99.9 %, 0 wrong", &seen);
    Ok(())
}
