//! The question *runtimes*: the stopwatches of language runtimes and browsers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use clockscope_measure::{MeasureError, PerClocksource, Session, ThisMachine};
use clockscope_records::units::time;
use clockscope_records::{Document, Envelope, RuntimeRecord, Runtimes, RuntimesFound};
use clockscope_runtimes::{Chosen, Prepared, ProbeRequest, ProbeRunner};
use clockscope_system::clocksource;

use crate::duration::{self, Seconds};
use crate::ending::{Ending, Exits, FINDINGS};
use crate::exit::Exit;
use crate::findings::{Shows, any};
use crate::inputs::Inputs;
use crate::options::OutputArgs;
use crate::output;
use crate::progress::Bar;
use crate::run::{Run, warn_of_switched_clocksource};
use crate::signals::stop_gently;
use crate::usage::{UsageError, explained, nearest};

#[derive(Args, Debug)]
pub(crate) struct RuntimesArgs {
    /// Runtimes by name, as --list shows them [default: all that are found]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Use this program of a runtime instead of the one on PATH; may be repeated, also for one
    /// runtime
    #[arg(long = "runtime", value_name = "NAME=PROGRAM", value_parser = program)]
    pub(crate) programs: Vec<(String, PathBuf)>,
    /// List the runtimes that are found, and how to get the others
    #[arg(long, conflicts_with_all = ["clocksource", "duration", "timeout", "fail_on", "all"])]
    pub(crate) list: bool,
    /// Switch the kernel to each of these clocksources in turn, measure, and restore the original;
    /// needs root
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1)]
    pub(crate) clocksource: Vec<String>,
    /// Time for which each API is read, 1ms to 1min
    #[arg(long, short, value_name = "TIME", default_value = "300ms", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Time limit of a probe [default: 20s and 10 times --duration]; a build may take 2min, a
    /// query of the version 10s
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Seconds>,
    /// Show all columns
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<RuntimesFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Parses a runtime's name and its program.
fn program(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("expected a runtime and its program, such as python=/opt/python/bin/python3".to_owned()),
    }
}

/// Something that `runtimes` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuntimesFinding {
    /// A reading that went back
    Regression,
    /// A runtime that could not be measured, or not to the end
    Unavailable,
    /// A cost, a tick or an observed resolution that could not be determined
    Unknown,
}

impl Shows<RuntimesFinding> for Runtimes {
    fn shows(&self, finding: RuntimesFinding) -> Option<bool> {
        let rows = &self.runtimes;
        match finding {
            RuntimesFinding::Regression => any(rows.iter().map(|row| row.regressions.get().map(|count| count > 0))),
            // An API that a runtime does not have is no fault of the machine's.
            RuntimesFinding::Unavailable => any(rows.iter().map(|row| Some(!row.available && row.api.is_none()))),
            // What an API does not state, and how sure a figure is, are no findings: with floats,
            // and in short runs, they always lack.
            RuntimesFinding::Unknown => {
                let available = rows.iter().filter(|row| row.available);
                any(available.map(|row| {
                    let figures = [&row.cost_ns, &row.tick_ns, &row.observed_resolution_ns];
                    Some(figures.into_iter().any(|figure| !figure.is_known()))
                }))
            }
        }
    }
}

impl RuntimesArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("runtimes", "every runtime that is found"),
            ("runtimes --list", "those that are found, and how to get the others"),
            ("runtimes python --runtime python=/opt/python/bin/python3", "another program of a runtime"),
        ],
        more: "Probes are built in a cache (XDG_CACHE_HOME or ~/.cache, clockscope/probes) and
run in a temporary folder; only the cache stays. A runtime that is missing,
crashes, hangs or prints rubbish is a row with the reason.

Figures, and how to add a language:
  clockscope help runtime-clocks",
        exits: Exits { undecided: "it could not be determined, or nothing was measured", ..FINDINGS },
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let chosen = clockscope_runtimes::select(&self.names, &self.programs).map_err(|error| {
            let hint = nearest(&error.name, error.known.iter().map(ToString::to_string));
            UsageError(format!("{error}; {hint}`clockscope runtimes --list` shows all runtimes"))
        })?;
        if !(MIN_DURATION_S..=MAX_DURATION_S).contains(&self.duration.0) {
            let requested = time(self.duration.0 * 1e9);
            return Err(UsageError(format!(
                "--duration: each API cannot be read for {requested}: expected 1ms to 1min"
            ))
            .into());
        }
        // Before anything is started or switched: signals only ask for an end.
        let stop = stop_gently()?;
        let mut inputs = Inputs::default();
        self.programs.iter().for_each(|(_, program)| inputs.add(program));
        if self.list {
            let run = Run::open("clockscope.runtimes_found", &self.output, &inputs)?;
            list(run, &chosen, &stop)
        } else {
            let mut run = Run::open("clockscope.runtimes", &self.output, &inputs)?;
            run.style.all = self.all;
            measure(self, run, &chosen, &stop)
        }
    }
}

/// Shortest and longest time for an API that probes accept, in seconds.
const MIN_DURATION_S: f64 = 0.001;
const MAX_DURATION_S: f64 = 60.0;
const DISABLED_COUNTER: &str = "the counter is disabled for this process (prctl PR_SET_TSC), and for all programs that it starts: a runtime that \
                                reads a clock through the vDSO is killed";
/// Share of the progress bar for preparing the probes.
const PREPARATION_SHARE: f64 = 0.1;
/// Time limit of a probe: these seconds, and this multiple of the time that it reads for.
const BASE_TIMEOUT_S: f64 = 20.0;
const TIMEOUT_FACTOR: f64 = 10.0;

fn list(run: Run, chosen: &[Chosen], stop: &AtomicBool) -> Result<Exit> {
    let runner = ProbeRunner::new().context("cannot run probes")?;
    let info = clockscope_measure::info(&Session::new(&ThisMachine, stop))?;
    let runtimes = runner.list(chosen, stop);
    // Nothing temporary is left when the results are there.
    drop(runner);
    let exit = if stop.load(Ordering::Relaxed) {
        Exit::Interrupted
    } else if runtimes.iter().any(|found| found.available) {
        Exit::Success
    } else {
        Exit::Unanswered
    };
    let found = Envelope::of_facts(info.recorded_at, info.environment, RuntimesFound { runtimes });
    run.write(&Document::RuntimesFound(found), exit)
}

/// Probes that are ready to run, with the progress of the run.
struct ReadyProbes<'a> {
    runner: ProbeRunner,
    prepared: Vec<Prepared<'a>>,
    request: ProbeRequest<'a>,
    bar: Bar,
}

impl ReadyProbes<'_> {
    /// Measures with one clocksource, the one with this number of `count`.
    fn rows(&mut self, clocksource: Option<&str>, number: usize, count: usize) -> Vec<RuntimeRecord> {
        let request = ProbeRequest { clocksource, ..self.request };
        self.runner.measure(&self.prepared, request, &mut |share, title| {
            let share = (number as f64 + share) / count as f64;
            self.bar.describe(PREPARATION_SHARE + (1.0 - PREPARATION_SHARE) * share, || title.to_owned());
        })
    }
}

fn measure(args: &RuntimesArgs, run: Run, chosen: &[Chosen], stop: &AtomicBool) -> Result<Exit> {
    let duration_s = args.duration.0;
    let runner = ProbeRunner::new().context("cannot run probes")?;
    if let Some(warning) = &runner.warning {
        output::warn(warning);
    }
    let info = clockscope_measure::info(&Session::new(&ThisMachine, stop))?;
    let Envelope { recorded_at, environment, .. } = info;
    if environment.counter_readable.get() == Some(false) {
        output::warn(DISABLED_COUNTER);
    }
    if args.clocksource.is_empty() {
        warn_of_switched_clocksource();
    } else {
        // What cannot be switched is said before anything is built. The right is given back at
        // once.
        let right = clocksource::right(&args.clocksource).map_err(MeasureError::from);
        drop(right.map_err(|error| explained(error, "--cpu"))?);
    }
    let mut bar = run.bar(&environment);
    // Before any clocksource is switched: compilers need none.
    let prepared = runner.prepare(chosen, stop, &mut |share, title| {
        bar.describe(share * PREPARATION_SHARE, || title.to_owned());
    });
    let request = ProbeRequest {
        milliseconds: (duration_s * 1e3).round() as u64,
        limit_s: args.timeout.map_or(BASE_TIMEOUT_S + TIMEOUT_FACTOR * duration_s, |timeout| timeout.0),
        clocksource: None,
        works: "",
        stop,
    };
    let mut probes = ReadyProbes { runner, prepared, request, bar };
    let (was, runtimes, error) = if args.clocksource.is_empty() {
        (None, probes.rows(environment.clocksource.as_deref(), 0, 1), None)
    } else {
        let count = args.clocksource.len();
        let each = clockscope_measure::with_each_clocksource(&args.clocksource, stop, &mut |number, name| {
            Ok::<_, MeasureError>(probes.rows(Some(name), number, count))
        });
        let PerClocksource { was, found, error } = each.map_err(|error| explained(error, "--cpu"))?;
        (Some(was), found.concat(), error)
    };
    // Nothing temporary is left when the results are there.
    drop(probes);
    let found = Runtimes {
        duration_s,
        interrupted: stop.load(Ordering::Relaxed),
        was,
        surprises: clockscope_runtimes::surprises(&runtimes),
        runtimes,
        error: error.clone(),
    };
    let exit = if found.interrupted {
        Exit::Interrupted
    } else if found.runtimes.iter().any(|row| row.available) {
        found.exit(&args.fail_on)
    } else {
        Exit::Unanswered.or(found.exit(&args.fail_on))
    };
    let exit = run.write(&Document::Runtimes(Envelope::of_facts(recorded_at, environment, found)), exit)?;
    match error {
        Some(error) if exit == Exit::Unanswered => Err(anyhow::anyhow!(error)),
        Some(error) => Err(anyhow::anyhow!("what was measured until then was written; {error}")),
        None => Ok(exit),
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Figure, TickReason, texts};

    use super::*;

    #[test]
    fn what_an_api_does_not_state_is_no_finding() {
        let mut found = Runtimes {
            duration_s: 1.0,
            interrupted: false,
            was: None,
            runtimes: Vec::new(),
            surprises: Vec::new(),
            error: None,
        };
        let whole = RuntimeRecord {
            available: true,
            cost_ns: Figure::Known(70.0),
            tick_ns: Figure::Known(10.0),
            observed_resolution_ns: Figure::Known(60.0),
            ..RuntimeRecord::default()
        };
        let float = RuntimeRecord { nominal_resolution_ns: Figure::unknown(texts::NO_NOMINAL_IN_API), ..whole.clone() };
        let mut shows = |row: &RuntimeRecord| {
            found.runtimes = vec![whole.clone(), row.clone()];
            found.shows(RuntimesFinding::Unknown)
        };
        assert_eq!(shows(&float), Some(false));
        assert_eq!(
            shows(&RuntimeRecord { cost_ns: Figure::unknown(texts::COARSE_RUNTIME_TIMER), ..whole.clone() }),
            Some(true)
        );
        assert_eq!(
            shows(&RuntimeRecord { tick_ns: Figure::unknown(TickReason::FewSteps), ..whole.clone() }),
            Some(true)
        );
        assert_eq!(
            shows(&RuntimeRecord { observed_resolution_ns: Figure::unknown(texts::NO_FORWARD_STEP), ..float.clone() }),
            Some(true)
        );
        // A runtime that is missing is another finding.
        assert_eq!(shows(&RuntimeRecord::default()), Some(false));
        found.runtimes = vec![RuntimeRecord::default()];
        assert_eq!(found.shows(RuntimesFinding::Unknown), None);
    }
}
