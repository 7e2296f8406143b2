//! The same measurement several times, each in a process of its own: what differs from run to run.

use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use clockscope_measure::ComparedQuestion;
use clockscope_records::{Document, Envelope, Measurement};

use super::arguments::MeasureArgs;
use super::show::show_measurement;
use crate::answer::selected;
use crate::baseline::Baseline;
use crate::exit::Exit;
use crate::output::Destination;
use crate::output::warn;
use crate::progress::Bar;
use crate::signals::stop_on_signals;
use crate::usage::UsageError;

/// Measures as often as was asked for.
pub(super) fn measure(args: &MeasureArgs, runs: u32) -> Result<Exit> {
    // A clock that there is not is found before anything is measured.
    let _known = selected(&args.clocks)?;
    let baseline = Baseline::read(&args.baseline, &args.fail_on, ComparedQuestion::Measure)?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let stop = stop_on_signals()?;
    let mut bar = Bar::new(args.output.quiet, clockscope_system::environment().counter_readable.get());
    let mut found: Vec<Envelope<Measurement>> = Vec::new();
    for run in 0..runs {
        let once = once(args);
        let is_interrupted = stop.load(Ordering::Relaxed);
        match once {
            Ok(measurement) => found.push(measurement),
            // The signal ended it before it could report anything.
            Err(_) if is_interrupted && !found.is_empty() => break,
            Err(error) => return Err(error),
        }
        let is_interrupted = is_interrupted || found.last().is_some_and(Envelope::is_interrupted);
        bar.show(f64::from(run + 1) / f64::from(runs));
        if is_interrupted {
            break;
        }
    }
    drop(bar);
    // What was cut short is no run like the others.
    let was_interrupted = found.len() < runs as usize || found.last().is_some_and(Envelope::is_interrupted);
    if found.len() > 1 && found.last().is_some_and(Envelope::is_interrupted) {
        found.pop();
    }
    let mut whole = clockscope_measure::between_runs(found).context("no run was made")?;
    if let Some(run) = &mut whole.run {
        run.interrupted |= was_interrupted;
    }
    let runs = whole.run.as_ref().and_then(|run| run.runs);
    if runs.is_some_and(|runs| runs < clockscope_measure::FEWEST_RUNS) {
        warn(&format!(
            "fewer than {} runs have no interval: ask for more by --repeat",
            clockscope_measure::FEWEST_RUNS
        ));
    }
    show_measurement(whole, baseline.as_ref(), args, destination)
}

/// One run, by this very program.
fn once(args: &MeasureArgs) -> Result<Envelope<Measurement>> {
    let program = std::env::current_exe().context("cannot find this program, which has to be run again")?;
    let mut command = Command::new(program);
    command.arg("measure").args(args.clocks.all()).args(["--format", "json", "--quiet", "--color", "never"]);
    let path = args.clocks.path.to_possible_value().context("the path has no name")?;
    command.args(["--via", path.get_name(), "--duration", &format!("{}s", args.duration.0)]);
    if let Some(cpu) = args.cpu {
        command.args(["--cpu", &cpu.to_string()]);
    }
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::piped()).output().context("cannot run this program again")?;
    let message = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    match Document::from_json(&text) {
        Ok(Document::Measurement(measurement)) => Ok(measurement),
        _ => {
            let message = message.trim().trim_start_matches("error: ");
            if output.status.code() == Some(i32::from(Exit::Usage.code())) {
                return Err(UsageError(message.to_owned()).into());
            }
            bail!("a run failed ({}): {message}", output.status)
        }
    }
}
