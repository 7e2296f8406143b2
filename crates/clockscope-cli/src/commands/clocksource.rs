//! The kernel's clocksources, and measuring with one after the other.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clockscope_machine::clocksource;
use clockscope_measure::SwitchedRequest;
use clockscope_records::Document;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{Drawing, exit, explained, write};
use crate::Exit;
use crate::args::{ClocksourceArgs, MeasureArgs};
use crate::output::{self, Destination};
use crate::progress::Bar;

pub(super) fn list(args: &ClocksourceArgs) -> Result<Exit> {
    let destination = Destination::open(args.output.output.as_deref())?;
    if args.restore {
        restore()?;
    }
    let found = clockscope_measure::clocksources(clockscope_machine::environment());
    write(&Document::Clocksources(found), &args.output, Drawing::default(), destination)?;
    Ok(Exit::Success)
}

fn restore() -> Result<()> {
    match clocksource::restore().context("cannot restore the clocksource")? {
        Some(clocksource::Switched { from, to }) => {
            output::say(&format!("the clocksource was {from}, and is {to} again"))
        }
        None => output::say("no run has left the clocksource switched"),
    }
    Ok(())
}

/// Measures with each of the clocksources that were asked for.
pub(super) fn measure(args: &MeasureArgs) -> Result<Exit> {
    // Before anything is switched: from here on no signal but SIGKILL ends the program before the clocksource is put back.
    let stop = stop_gently()?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let environment = clockscope_machine::environment();
    let mut bar = Bar::new(args.output.quiet, environment.counter_readable);
    let request = SwitchedRequest {
        clocksources: args.clocksource.clone(),
        clocks: args.clocks.all(),
        paths: args.clocks.path.into(),
        environment,
        duration_s: args.duration.0,
        cpu: args.cpu,
        thorough: args.thorough,
        stop: &stop,
    };
    let measured = clockscope_measure::switched(request, &mut |share| bar.show(share));
    drop(bar);
    let found = measured.map_err(|error| explained(error, "--cpu"))?;
    let is_interrupted = found.measurements.len() < args.clocksource.len()
        || found.measurements.iter().any(|measurement| measurement.run.interrupted);
    let clocks = found.measurements.iter().flat_map(|measurement| &measurement.clocks);
    let exit = exit(is_interrupted, clocks, &args.fail_on);
    write(&Document::Switched(found), &args.output, Drawing::default(), destination)?;
    Ok(exit)
}

/// A flag that SIGINT, SIGTERM and SIGHUP set, as often as they come.
fn stop_gently() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot watch for signals")?;
    }
    Ok(stop)
}
