//! Measures with one clocksource after the other.

use anyhow::Result;
use clockscope_measure::{Session, SwitchedRequest, ThisMachine};
use clockscope_records::{Document, Envelope};

use super::arguments::MeasureArgs;
use crate::answer::{Drawing, exit, write};
use crate::changes::own_findings;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::output::Destination;
use crate::progress::Bar;
use crate::signals::stop_gently;
use crate::usage::explained;

/// Measures with each of the clocksources that were asked for.
pub(super) fn measure(args: &MeasureArgs) -> Result<Exit> {
    // Before anything is switched: these signals only ask for an end.
    let stop = stop_gently()?;
    let destination = Destination::open(args.output.output.as_deref(), &Inputs::default())?;
    let session = Session::new(&ThisMachine, &stop);
    let mut bar = Bar::new(args.output.quiet, session.environment().counter_readable.get());
    let request = SwitchedRequest {
        clocksources: args.clocksource.clone(),
        clocks: args.clocks.all(),
        paths: args.clocks.path.into(),
        duration_s: args.duration.0,
        cpu: args.cpu,
        extended: args.extended,
    };
    let measured = clockscope_measure::switched(&session, &request, &mut |share| bar.show(share));
    drop(bar);
    let switched = measured.map_err(|error| explained(error, "--cpu"))?;
    let found = &switched.found;
    let is_interrupted =
        found.measurements.len() < args.clocksource.len() || found.measurements.iter().any(Envelope::is_interrupted);
    let clocks = found.measurements.iter().flat_map(|measurement| &measurement.found.clocks);
    let exit = exit(is_interrupted, clocks, &own_findings(&args.fail_on));
    let error = found.error.clone();
    let drawing = Drawing { columns: args.columns, all: args.shows_all(), machine: args.verbose, ..Drawing::default() };
    let exit = write(&Document::Switched(switched), &args.output, drawing, destination, exit)?;
    match error {
        Some(error) => Err(anyhow::anyhow!("what was measured until then was written; {error}")),
        None => Ok(exit),
    }
}
