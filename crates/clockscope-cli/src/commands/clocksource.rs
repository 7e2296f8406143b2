//! The kernel's clocksources, and measuring with one after the other.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clockscope_measure::{Session, SwitchedRequest, ThisMachine};
use clockscope_records::{Document, Envelope};
use clockscope_system::clocksource;

use super::common::{Drawing, exit, write};
use crate::args::{ClocksourceArgs, MeasureArgs};
use crate::changes::own_findings;
use crate::exit::Exit;
use crate::output::{self, Destination};
use crate::progress::Bar;
use crate::usage::explained;

pub(super) fn list(args: &ClocksourceArgs) -> Result<Exit> {
    let destination = Destination::open(args.output.output.as_deref())?;
    if args.restore {
        restore()?;
    }
    let found = clockscope_measure::clocksources(&Session::new(&ThisMachine, &AtomicBool::new(false)))?;
    write(&Document::Clocksources(found), &args.output, Drawing::default(), destination)?;
    Ok(Exit::Success)
}

fn restore() -> Result<()> {
    match clocksource::restore().context("cannot restore the clocksource")? {
        Some(clocksource::Restoration { from, to }) => {
            output::say(&format!("the clocksource was {from}, and is {to} again"))
        }
        None => output::say("no run has left the clocksource switched"),
    }
    Ok(())
}

/// Measures with each of the clocksources that were asked for.
pub(super) fn measure(args: &MeasureArgs) -> Result<Exit> {
    // Before anything is switched: these signals only ask for an end.
    let stop = stop_gently()?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let session = Session::new(&ThisMachine, &stop);
    let mut bar = Bar::new(args.output.quiet, session.environment().counter_readable.get());
    let request = SwitchedRequest {
        clocksources: args.clocksource.clone(),
        clocks: args.clocks.all(),
        paths: args.clocks.path.into(),
        duration_s: args.duration.0,
        cpu: args.cpu,
        thorough: args.thorough,
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
    let drawing = Drawing { columns: args.columns, ..Drawing::default() };
    write(&Document::Switched(switched), &args.output, drawing, destination)?;
    match error {
        Some(error) => Err(anyhow::anyhow!("what was measured until then was written; {error}")),
        None => Ok(exit),
    }
}

/// A flag that every signal sets by which a user might end the program, as often as it comes; but a
/// lost terminal, where that is to be ignored (nohup).
#[cfg(unix)]
pub(super) fn stop_gently() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals::ENDING.iter().copied().filter(|signal| !signals::is_ignored(*signal)) {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot watch for signals")?;
    }
    Ok(stop)
}

/// A flag that Ctrl-C sets, as often as it comes. Ctrl-Break, and closing the window, end the
/// program.
#[cfg(windows)]
pub(super) fn stop_gently() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    clockscope_system::stop_on_ctrl_c(Arc::clone(&stop), clockscope_system::SecondCtrlC::IsIgnored)
        .context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// Signals by which a user might end the program.
#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};

    pub(super) const ENDING: &[i32] = &[SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

    /// Returns whether the signal is a lost terminal, and the parent has the program ignore that
    /// (proc(5), SigIgn).
    pub(super) fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        signal == SIGHUP && mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
    }
}
