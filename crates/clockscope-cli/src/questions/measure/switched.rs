//! Measures with one clocksource after the other.

use anyhow::Result;
use clockscope_measure::SwitchedRequest;
use clockscope_records::{Document, Envelope, Switched};

use super::arguments::MeasureArgs;
use crate::exit::Exit;
use crate::findings::{FailOn, judge};
use crate::run::Run;
use crate::signals::stop_gently;

/// Measures with each of the clocksources that were asked for.
pub(super) fn measure(args: &MeasureArgs, fail_on: &[FailOn], run: Run) -> Result<Exit> {
    // Before anything is switched: these signals only ask for an end.
    let stop = stop_gently()?;
    let request = SwitchedRequest {
        clocksources: args.clocksource.clone(),
        clocks: args.clocks.all(),
        paths: args.clocks.path.into(),
        duration_s: args.duration.0,
        cpu: args.cpu,
        extended: args.extended,
    };
    let switched =
        run.ask_until(&stop, "--cpu", |session, progress| clockscope_measure::switched(session, &request, progress))?;
    let is_cut_short = switched.found.measurements.len() < args.clocksource.len();
    let exit = if is_cut_short { Exit::Interrupted } else { exit(&switched.found, fail_on) };
    let error = switched.found.error.clone();
    let exit = run.write(&Document::Switched(switched), exit)?;
    match error {
        Some(error) => Err(anyhow::anyhow!("what was measured until then was written; {error}")),
        None => Ok(exit),
    }
}

/// Returns the exit of a run that has measured with each of its clocksources.
pub(in super::super) fn exit(found: &Switched, fail_on: &[FailOn]) -> Exit {
    if found.error.is_some() {
        return Exit::Failed;
    }
    if found.measurements.iter().any(Envelope::is_interrupted) {
        return Exit::Interrupted;
    }
    judge(found.measurements.iter().flat_map(|measurement| &measurement.found.clocks), fail_on)
}
