//! The question *advise*: a clock for an interval.

mod language;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockscope_measure::{AdviceInput, AfterWorkRequest, MeasureRequest, Paths};
use clockscope_records::units::time;
use clockscope_records::{Document, Envelope, Measurement, Work};

use self::language::{LanguageArg, LanguageRequest, readings};
use super::measure::{around_work, fresh};
use crate::duration::{self, Seconds};
use crate::ending::{ALWAYS, Ending, Exits, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::numbers::{self, Share};
use crate::options::{OutputArgs, clocks};
use crate::run::{Run, warn_of_switched_clocksource};
use crate::signals::{stop_gently, stop_on_signals};
use crate::usage::UsageError;

/// Shortest interval that advice is given for, in seconds: no processor does anything in less.
const MIN_INTERVAL_S: f64 = 1e-12;

#[derive(Args, Debug)]
pub(crate) struct AdviseArgs {
    /// Interval to measure, with a unit (ns, us, ms, s, min, h, d) [default: a table of 1ns to 1s]
    #[arg(value_name = "TIME", value_parser = duration::parse, conflicts_with = "interval", allow_hyphen_values = true)]
    pub(crate) time: Option<Seconds>,
    /// The same as naming TIME
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) interval: Option<Seconds>,
    /// Advise on this clock alone; may be repeated
    #[arg(long = "clock", value_name = "CLOCK")]
    pub(crate) clocks: Vec<String>,
    /// Acceptable reading error, as a share of the interval, e.g. 1% or 0.01
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = numbers::share, allow_hyphen_values = true)]
    pub(crate) error: Share,
    /// Work that is measured, which the reads follow
    #[arg(long, value_name = "WORK", value_enum, default_value = "spin")]
    pub(crate) after: WorkArg,
    /// Weigh the clocks that programs in this language read, by its own calls [default: the clocks
    /// of C, C++ and Rust]
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub(crate) lang: Option<LanguageArg>,
    /// Use this program of the language instead of the one on PATH
    #[arg(long, value_name = "PROGRAM", requires = "lang")]
    pub(crate) program: Option<PathBuf>,
    /// Use this recorded document of `measure` or `steps` instead of measuring; - for standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cpu", "duration", "clocks", "lang"])]
    pub(crate) from: Option<PathBuf>,
    /// Show all figures of the clocks, and which were not weighed
    #[arg(long)]
    pub(crate) all: bool,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Time for sampling, all clocks together
    #[arg(long, short, value_name = "TIME", default_value = "2.5s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Work between two reads of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkArg {
    /// a loop that leaves the caches as they are
    Spin,
    /// a walk over 32 kB
    #[value(name = "touch-32k")]
    Touch32K,
    /// a walk over 256 kB
    #[value(name = "touch-256k")]
    Touch256K,
    /// a walk over 4 MB
    #[value(name = "touch-4m")]
    Touch4M,
    /// a sleep of 10 ms
    Sleep,
}

impl From<WorkArg> for Work {
    fn from(arg: WorkArg) -> Self {
        match arg {
            WorkArg::Spin => Self::Spin,
            WorkArg::Touch32K => Self::Touch32K,
            WorkArg::Touch256K => Self::Touch256K,
            WorkArg::Touch4M => Self::Touch4M,
            WorkArg::Sleep => Self::Sleep,
        }
    }
}

impl AdviseArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("advise 100ns --error 1%", "for something that takes 100 ns"),
            ("advise 1us --clock monotonic", "by one clock"),
            ("advise 50us --lang python", "in a program in Python"),
            ("advise --from record.json", "from a recorded measurement"),
        ],
        exits: Exits { undecided: "no clock can be advised", ..ALWAYS },
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let interval = self.time.or(self.interval);
        if let Some(interval) = interval
            && interval.0 < MIN_INTERVAL_S
        {
            let requested = time(interval.0 * 1e9);
            return Err(UsageError(format!("TIME: {requested} is too short: expected at least 0.001ns")).into());
        }
        let mut inputs = Inputs::default();
        let interval_ns = interval.map(|interval| interval.0 * 1e9);
        let after = self.after.into();
        let works = match interval_ns {
            Some(ns) => AfterWorkRequest::Interval { ns, after },
            None => AfterWorkRequest::Intervals,
        };
        let given = match &self.from {
            Some(file) => Some(inputs.read_document(file, "advise from")?),
            None => None,
        };
        if let Some(program) = &self.program {
            inputs.add(program);
        }
        let mut run = Run::open("clockscope.advise", &self.output, &inputs)?;
        run.style.all = self.all;
        if given.is_none() {
            warn_of_switched_clocksource();
        }
        let (language_readings, document);
        let mut is_interrupted = false;
        let input = if let Some(language) = self.lang {
            let stop = stop_gently()?;
            let request = LanguageRequest {
                language: language.into(),
                program: self.program.as_deref(),
                clocks: &self.clocks,
                cpu: self.cpu,
                duration_s: self.duration.0,
                works,
            };
            let Some(readings) = readings(&request, &run, &stop)? else { return Ok(Exit::Interrupted) };
            language_readings = readings;
            AdviceInput::Language(&language_readings)
        } else {
            document = match given {
                Some(document) => document,
                None => {
                    let measurement = self.measure(works, &run)?;
                    is_interrupted = measurement.is_interrupted();
                    Document::Measurement(measurement)
                }
            };
            match &document {
                Document::Measurement(found) => AdviceInput::Measurement(found),
                Document::Steps(found) => AdviceInput::Steps(found),
                _ => anyhow::bail!(
                    "cannot advise: the record holds no measurement; record one with `clockscope measure --json`"
                ),
            }
        };
        let advice = clockscope_measure::advise(input, self.error.0, interval_ns, after);
        let exit = if is_interrupted {
            Exit::Interrupted
        } else if advice.found.rows.is_known() {
            Exit::Success
        } else {
            Exit::Unanswered
        };
        run.write(&Document::Advice(advice), exit)
    }

    /// Measures the clocks, in a loop and around work.
    fn measure(&self, works: AfterWorkRequest, run: &Run) -> Result<Envelope<Measurement>> {
        let catalog = clocks::selected(&self.clocks, Paths::default())?;
        let Self { duration, cpu, .. } = *self;
        let request =
            MeasureRequest { duration_s: duration.0, cpu, extended: false, ticks: true, synchronization: true };
        let stop = stop_on_signals()?;
        let mut measurement = fresh(catalog, &request, run, &stop)?;
        around_work(&mut measurement, works, &stop);
        Ok(measurement)
    }
}
