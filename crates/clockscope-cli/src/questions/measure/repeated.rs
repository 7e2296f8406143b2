//! The same measurement several times, each in a process of its own: what differs from run to run.

mod child;

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use clockscope_measure::MIN_INTERVAL_RUNS;
use clockscope_records::{Document, Envelope, Figure, Measurement};
use clockscope_report::{Format, Style};

use super::arguments::{MeasureArgs, Runs};
use crate::error_text;
use crate::output::warn;
use crate::run::Run;
use crate::signals::stop_gently;
use crate::usage::Interrupted;
use child::Ended;

/// Measures as often as that. `None` if this program cannot be run again, and nobody has asked for
/// several runs.
pub(super) fn measure(args: &MeasureArgs, runs: Runs, run: &Run) -> Result<Option<Envelope<Measurement>>> {
    let environment = clockscope_system::environment();
    if !runs.is_wanted && !environment.emulation.is_empty() {
        // Systems do not start programs of another architecture, which the emulator does.
        return Ok(None);
    }
    // timeout(1) sends its signal twice, to the process and to its group; a run ends at once.
    let stop = stop_gently()?;
    let mut bar = run.bar(&environment);
    let mut found: Vec<Envelope<Measurement>> = Vec::new();
    for number in 0..runs.count {
        let cpu = args.cpu.or_else(|| found.first().and_then(cpu_of));
        let once = child::run(args, runs, number, cpu, &stop);
        let is_interrupted = stop.load(Ordering::Relaxed);
        match once {
            Ok(measurement) => found.push(measurement),
            // The signal ended it before it could report anything.
            Err(_) if is_interrupted && !found.is_empty() => break,
            Err(_) if is_interrupted => return Err(Interrupted.into()),
            Err(Ended::NotStarted(error)) if !runs.is_wanted && found.is_empty() => {
                let why = "the record does not show how much runs differ, because this program cannot be run again";
                warn(&format!("{why}: {}", error_text::text(&error)));
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        }
        let is_interrupted = is_interrupted || found.last().is_some_and(Envelope::is_interrupted);
        bar.show(f64::from(number + 1) / f64::from(runs.count));
        if is_interrupted {
            break;
        }
        if let [first] = found.as_slice() {
            bar.provisional(|| Some(format!("So far, 1 of {} runs:\n{}", runs.count, provisional(first, run)?)));
        }
    }
    drop(bar);
    joined(found, runs).map(Some)
}

/// Makes one record of the runs.
fn joined(mut found: Vec<Envelope<Measurement>>, wanted: Runs) -> Result<Envelope<Measurement>> {
    // What was cut short is no run like the others.
    let was_interrupted = found.len() < wanted.count as usize || found.last().is_some_and(Envelope::is_interrupted);
    if found.len() > 1 && found.last().is_some_and(Envelope::is_interrupted) {
        found.pop();
    }
    let mut whole = clockscope_measure::between_runs(found).context("no run was made")?;
    if let Some(run) = &mut whole.run {
        run.interrupted |= was_interrupted;
    }
    let runs = whole.run.as_ref().and_then(|run| run.runs);
    if wanted.is_wanted && !was_interrupted && runs.is_some_and(|runs| runs < MIN_INTERVAL_RUNS) {
        warn(&format!("fewer than {MIN_INTERVAL_RUNS} runs have no interval: ask for more by --repeat"));
    }
    Ok(whole)
}

/// The CPU that a run was measured on.
fn cpu_of(run: &Envelope<Measurement>) -> Option<u32> {
    run.run.as_ref().and_then(|run| Figure::get(&run.cpu))
}

/// The brief page of the first run, for a terminal.
fn provisional(first: &Envelope<Measurement>, run: &Run) -> Option<String> {
    if run.format != Format::Table || !run.destination.is_stdout() || run.baseline.is_some() {
        return None;
    }
    let style = Style { brief: true, width: run.style.width, ascii: run.style.ascii, ..Style::default() };
    clockscope_report::render(&Document::Measurement(first.clone()), Format::Table, style).ok()
}
