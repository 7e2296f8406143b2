//! Behavior of the stopwatches of language runtimes and browsers.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use clockscope_measure::{MeasureError, PerClocksource, Session, ThisMachine};
use clockscope_records::units::time;
use clockscope_records::{Document, Envelope, Info, RuntimeRecord, Runtimes, RuntimesFound};
use clockscope_runtimes::{Chosen, ProbeRequest, ProbeRunner};
use clockscope_system::clocksource;

use super::clocksource::stop_gently;
use super::common::{Drawing, write};
use crate::args::RuntimesArgs;
use crate::exit::Exit;
use crate::findings::Shows;
use crate::output::{self, Destination};
use crate::progress::Bar;
use crate::usage::{UsageError, explained, nearest};

/// Shortest and longest time for an API that probes accept, in seconds.
const DURATIONS_S: (f64, f64) = (0.001, 60.0);
/// Said where it is so.
const DISABLED: &str = "the counter is disabled for this process (prctl PR_SET_TSC), and so it is for all that it starts: a runtime that \
                        reads a clock through the vDSO is killed";
/// Share of the progress that preparing is.
const TO_PREPARE: f64 = 0.1;
/// Time that a probe may take: so much, and so many times what it is asked to read for.
const TIMEOUT_S: (f64, f64) = (20.0, 10.0);

pub(super) fn run(args: &RuntimesArgs) -> Result<Exit> {
    let chosen = clockscope_runtimes::select(&args.names, &args.programs).map_err(|error| {
        let hint = nearest(&error.name, error.known.iter().map(ToString::to_string));
        UsageError(format!("{error}; {hint}`clockscope runtimes --list` shows all runtimes"))
    })?;
    if args.duration.0 < DURATIONS_S.0 || args.duration.0 > DURATIONS_S.1 {
        let asked = time(args.duration.0 * 1e9);
        return Err(UsageError(format!("--duration: each API cannot be read for {asked}: expected 1ms to 1min")).into());
    }
    // Before anything is started or switched: signals only ask for an end.
    let stop = stop_gently()?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let runner = ProbeRunner::new().context("cannot run probes")?;
    let info = clockscope_measure::info(&Session::new(&ThisMachine, &stop))?;
    let (document, exit) =
        if args.list { list(&runner, &chosen, info, &stop) } else { measure(args, &runner, &chosen, info, &stop)? };
    // Nothing temporary is left when the results are there.
    drop(runner);
    let error = match &document {
        Document::Runtimes(envelope) => envelope.found.error.clone(),
        _ => None,
    };
    write(&document, &args.output, Drawing::default(), destination)?;
    match error {
        Some(error) => Err(anyhow::anyhow!("what was measured until then was written; {error}")),
        None => Ok(exit),
    }
}

fn list(runner: &ProbeRunner, chosen: &[Chosen], info: Envelope<Info>, stop: &AtomicBool) -> (Document, Exit) {
    let runtimes = runner.list(chosen, stop);
    let exit = match () {
        () if stop.load(Ordering::Relaxed) => Exit::Interrupted,
        () if runtimes.iter().any(|found| found.available) => Exit::Success,
        () => Exit::Undetermined,
    };
    let found = RuntimesFound { runtimes };
    (Document::RuntimesFound(Envelope::of_facts(info.recorded_at, info.environment, found)), exit)
}

fn measure(
    args: &RuntimesArgs,
    runner: &ProbeRunner,
    chosen: &[Chosen],
    info: Envelope<Info>,
    stop: &AtomicBool,
) -> Result<(Document, Exit)> {
    if let Some(warning) = &runner.warning {
        output::warn(warning);
    }
    let Envelope { recorded_at, environment, .. } = info;
    if environment.counter_readable.get() == Some(false) {
        output::warn(DISABLED);
    }
    let bar = RefCell::new(Bar::new(args.output.quiet, environment.counter_readable.get()));
    let duration_s = args.duration.0;
    let limit_s = args.timeout.map_or(TIMEOUT_S.0 + TIMEOUT_S.1 * duration_s, |timeout| timeout.0);
    if !args.clocksource.is_empty() {
        // What cannot be switched is said before anything is built. The right is given back at
        // once.
        let right = clocksource::right(&args.clocksource).map_err(MeasureError::from);
        drop(right.map_err(|error| explained(error, "--cpu"))?);
    }
    let show = |share: f64, title: &str| bar.borrow_mut().describe(share, || title.to_owned());
    // Before any clocksource is switched: compilers need none.
    let prepared = runner.prepare(chosen, stop, &mut |share, title| show(share * TO_PREPARE, title));
    let rows = |clocksource: Option<&str>, place: usize, whole: usize| -> Vec<RuntimeRecord> {
        let request = ProbeRequest { milliseconds: (duration_s * 1e3).round() as u64, limit_s, clocksource, stop };
        runner.measure(&prepared, request, &mut |share, title| {
            show(TO_PREPARE + (1.0 - TO_PREPARE) * (place as f64 + share) / whole as f64, title);
        })
    };
    let (was, runtimes, error) = if args.clocksource.is_empty() {
        (None, rows(environment.clocksource.as_deref(), 0, 1), None)
    } else {
        let whole = args.clocksource.len();
        let each = clockscope_measure::with_each_clocksource(&args.clocksource, stop, &mut |place, name| {
            Ok::<_, MeasureError>(rows(Some(name), place, whole))
        });
        let PerClocksource { was, found, error } = each.map_err(|error| explained(error, "--cpu"))?;
        (Some(was), found.concat(), error)
    };
    drop(bar);
    let found = Runtimes {
        duration_s,
        interrupted: stop.load(Ordering::Relaxed),
        was,
        surprises: clockscope_runtimes::surprises(&runtimes),
        runtimes,
        error,
    };
    let exit = match () {
        () if found.interrupted => Exit::Interrupted,
        () if !args.fail_on.is_empty() => found.exit(&args.fail_on),
        () if found.runtimes.iter().any(|row| row.available) => Exit::Success,
        () => Exit::Undetermined,
    };
    Ok((Document::Runtimes(Envelope::of_facts(recorded_at, environment, found)), exit))
}
