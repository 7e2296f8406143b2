//! Wall times of questions beside the durations that they were asked for.

use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use super::{PROGRAM, figure, median};
use crate::run;

/// The questions to this machine's clocks that have a duration; the first screen is that without a
/// command.
const QUESTIONS: &[&[&str]] = &[
    &[],
    &["measure"],
    &["advise"],
    &["steps"],
    &["rate"],
    &["order"],
    &["offsets"],
    &["gaps"],
    &["sleep"],
    &["shootout"],
    &["check"],
];
/// In seconds: one that users ask for who are in a hurry; and none, for each question's own.
const DURATIONS: &[Option<f64>] = &[Some(0.5), None];
const RUNS: usize = 5;

/// Prints the wall time of whole runs, over the duration that was asked for: medians of five.
pub(crate) fn measure() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    for question in QUESTIONS {
        for duration_s in DURATIONS {
            let duration = duration_s.map(|seconds| format!("{seconds}s"));
            let options: Vec<&str> = duration.iter().flat_map(|duration| ["--duration", duration]).collect();
            let arguments = [question, &options[..]].concat();
            let ratios = (0..RUNS).map(|_| ratio(&arguments, *duration_s)).collect::<Result<Option<Vec<f64>>>>()?;
            // A record of advice does not say how long its measurement usually takes.
            let Some(mut ratios) = ratios else { continue };
            let command = [&["clockscope"], &arguments[..]].concat().join(" ");
            let name = format!("{command}: wall time / duration");
            figure(&name, "<= 1.2", &format!("{:.2}", median(&mut ratios)));
        }
    }
    Ok(())
}

/// The wall time of a run over the duration that it was asked for; `None` if neither the caller nor
/// its record says what that was.
fn ratio(arguments: &[&str], duration_s: Option<f64>) -> Result<Option<f64>> {
    let began = Instant::now();
    let output = run::output(&run::built(PROGRAM), &[arguments, &["--format", "json", "--quiet"]].concat())?;
    let wall_s = began.elapsed().as_secs_f64();
    let record: Value = serde_json::from_str(&output)?;
    Ok(duration_s.or(record["run"]["requested_duration_s"].as_f64()).map(|duration_s| wall_s / duration_s))
}
