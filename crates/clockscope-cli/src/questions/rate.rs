//! The question *rate*: frequency offsets with their bounds.

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockscope_measure::{Live, RateRequest, Session, ThisMachine};
use clockscope_records::Rate;
use clockscope_records::units::PpmBound;

use crate::duration::{self, Seconds};
use crate::ending::{Ending, Exits, FINDINGS, NO_MORE};
use crate::exit::Exit;
use crate::findings::{Shows, any, any_of_all};
use crate::inputs::Inputs;
use crate::numbers::{self, Ppm};
use crate::options::{ClockArgs, OutputArgs};
use crate::run::{Run, warn_of_switched_clocksource};
use crate::signals::stop_on_signals;
use crate::usage::explained;

/// Time for which `rate` compares by default, in seconds.
const DEFAULT_DURATION_S: f64 = 2.0;
/// Longest time by default with `--until`, in seconds.
const DEFAULT_UNTIL_S: f64 = 60.0;

#[derive(Args, Debug)]
pub(crate) struct RateArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// The clock that the others are compared with [default: monotonic_raw:vdso]
    #[arg(long, value_name = "CLOCK")]
    pub(crate) reference: Option<String>,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Time for comparing; with --until, the maximum [default: 2s, with --until 60s]
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Option<Seconds>,
    /// Stop as soon as every clock's bound is this small, e.g. 0.1ppm or 20ppb; exit with 3 if the
    /// time was too short
    #[arg(long, value_name = "BOUND", value_parser = numbers::ppm, allow_hyphen_values = true)]
    pub(crate) until: Option<Ppm>,
    /// Show all figures: each clock against each other, Allan deviation, maximum time interval
    /// error, and why clocks were not compared
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<RateFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Something that `rate` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RateFinding {
    /// A rate that changed, or a step
    Changed,
    /// A rate that could not be determined
    Unknown,
}

impl Shows<RateFinding> for Rate {
    fn shows(&self, finding: RateFinding) -> Option<bool> {
        let clocks = self.clocks.iter().filter(|clock| clock.available);
        match finding {
            RateFinding::Changed => any_of_all(clocks.map(|clock| {
                if clock.step.is_known() { Some(true) } else { clock.constant.get().map(|constant| !constant) }
            })),
            RateFinding::Unknown => {
                any(clocks
                    .map(|clock| Some(!clock.bound_ppm.is_known() || clock.reason.is_some() || clock.is_ticked())))
            }
        }
    }
}

impl RateArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("rate", "against CLOCK_MONOTONIC_RAW"),
            ("rate tsc --until 0.1ppm", "until the bound is that small"),
        ],
        exits: Exits { undecided: "it could not be determined, or --until was not reached", ..FINDINGS },
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let default = if self.until.is_some() { DEFAULT_UNTIL_S } else { DEFAULT_DURATION_S };
        let mut run = Run::open("clockscope.rate", &self.output, &Inputs::default())?;
        warn_of_switched_clocksource();
        run.style.ascii |= self.ascii;
        run.style.plots |= self.plot;
        run.style.all |= self.all;
        let stop = stop_on_signals()?;
        let session = Session::new(&ThisMachine, &stop);
        let mut bar = run.bar(session.environment());
        let request = RateRequest {
            clocks: self.clocks.all(),
            paths: self.clocks.path.into(),
            reference: self.reference.clone(),
            duration_s: self.duration.map_or(default, |duration| duration.0),
            until_ppm: self.until.map(|until| until.0),
            cpu: self.cpu,
        };
        let result = clockscope_measure::rate(&session, &request, &mut |live| bar.describe(live.share, || line(live)));
        drop(bar);
        run.finish(result.map_err(|error| explained(error, "--cpu"))?, |found| end_of_rate(found, self))
    }
}

/// A bound that was asked for and not reached could not be determined. Of clocks that were not
/// named, those count that could be read.
fn end_of_rate(found: &Rate, args: &RateArgs) -> Exit {
    let mut exit = found.exit(&args.fail_on);
    if let Some(until) = found.until_ppm.get() {
        let is_named = !args.clocks.all().is_empty();
        let mut requested = found.clocks.iter().filter(|clock| is_named || clock.available);
        if !requested.all(|clock| clock.bound_ppm.get().is_some_and(|bound| bound <= until)) {
            exit = exit.or(Exit::Undetermined);
        }
    }
    let is_answered = found.clocks.iter().any(|clock| clock.bound_ppm.is_known());
    if is_answered { exit } else { exit.or(Exit::Unanswered) }
}

/// The line that shows what is known while a comparison runs.
fn line(live: &Live) -> String {
    match (live.ppm, live.bound_ppm) {
        (Some(ppm), Some(bound)) => {
            format!("{:.1} s, {}: {ppm:+.3} ± {} ppm", live.seconds, live.clock, PpmBound(bound))
        }
        (None, Some(bound)) => format!("{:.1} s, {}: ± {} ppm", live.seconds, live.clock, PpmBound(bound)),
        _ => format!("{:.1} s", live.seconds),
    }
}
