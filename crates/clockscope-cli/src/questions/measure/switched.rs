//! Measures with one clocksource after the other.

use anyhow::Result;
use clockscope_measure::SwitchedRequest;
use clockscope_records::{Document, Envelope};

use super::arguments::MeasureArgs;
use crate::exit::Exit;
use crate::findings::{FailOn, judge};
use crate::run::Run;
use crate::signals::stop_gently;

/// Measures with each of the clocksources that were asked for.
pub(super) fn measure(args: &MeasureArgs, fail_on: &[FailOn], run: Run<'_>) -> Result<Exit> {
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
    let found = &switched.found;
    let is_interrupted =
        found.measurements.len() < args.clocksource.len() || found.measurements.iter().any(Envelope::is_interrupted);
    let clocks = found.measurements.iter().flat_map(|measurement| &measurement.found.clocks);
    let exit = if is_interrupted { Exit::Interrupted } else { judge(clocks, fail_on) };
    let error = found.error.clone();
    let exit = run.write(&Document::Switched(switched), exit)?;
    match error {
        Some(error) => Err(anyhow::anyhow!("what was measured until then was written; {error}")),
        None => Ok(exit),
    }
}
