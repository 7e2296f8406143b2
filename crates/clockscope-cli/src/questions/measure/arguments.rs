//! Arguments of `measure`.

use clap::{Args, FromArgMatches, ValueEnum};

use crate::baseline::{BaselineArgs, SaveArgs};
use crate::changes::{OrChange, or_change};
use crate::duration::{self, Seconds};
use crate::findings::FailOn;
use crate::numbers::{self};
use crate::options::{ClockArgs, ColumnsArg, OutputArgs, TimerArgs};
use crate::usage::UsageError;

/// Time for which `measure` samples by default: its answer takes less than 2 s in all.
const MEASURE_DURATION: &str = "1.8s";

#[derive(Args, Debug)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Time for all clocks together
    ///
    /// With a unit (ns, us, ms, s, min, h); a bare number is seconds.
    #[arg(long, short, value_name = "TIME", default_value = MEASURE_DURATION, value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Switch the kernel to each of these clocksources in turn, measure, and restore the original;
    /// needs root
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with_all = ["timer_period", "baseline", "save"],
        hide_short_help = true
    )]
    pub(crate) clocksource: Vec<String>,
    #[command(flatten)]
    pub(crate) timer: TimerArgs,
    /// Measure across CPUs and over time too, for 2.5 s
    ///
    /// Adds a line on each of order, offsets and rates.
    #[arg(long, hide_short_help = true)]
    pub(crate) extended: bool,
    /// Run N times, each in its own process and for the whole duration
    ///
    /// By default, sixteen runs share a duration of 1.6 s or more: the record shows where another
    /// run's median lies. 1 stands for one run, in this process.
    #[arg(long, value_name = "N", value_parser = numbers::runs, allow_hyphen_values = true, conflicts_with_all = ["extended", "clocksource", "timer_period"], hide_short_help = true)]
    pub(crate) repeat: Option<u32>,
    /// Exit with 1 if a measured clock shows any of these, with 3 if that could not be determined
    ///
    /// The changes (slower, verdict, clocksource, events) need --baseline.
    #[arg(long, value_name = "EVENT", value_parser = or_change::<FailOn>(), value_delimiter = ',', hide_short_help = true)]
    pub(crate) fail_on: Vec<OrChange<FailOn>>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
    /// Show all clocks, not only those that programs compare
    ///
    /// These are also the C library's older calls, and those of language runtimes. JSON, CSV and
    /// Markdown always have all clocks.
    #[arg(long)]
    pub(crate) all: bool,
    /// Show everything: --all and --machine together
    ///
    /// With --version: the commit and the target of the build.
    #[arg(long, short, conflicts_with = "brief", hide_short_help = true)]
    pub(crate) verbose: bool,
    /// Columns of the table [default: the most important ones]
    ///
    /// JSON, CSV and Markdown always have all figures.
    #[arg(long, value_name = "COLUMNS", value_enum, hide_short_help = true)]
    pub(crate) columns: Option<ColumnsArg>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Runs of one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Runs {
    pub(crate) count: u32,
    /// Time of each, in seconds; of a default record, of those that find no ticks.
    pub(crate) duration_s: f64,
    /// True if the user has asked for them.
    pub(crate) is_wanted: bool,
}

impl Runs {
    /// Returns true if the run with this number, from 0, finds the clocks' ticks: of a default
    /// record, the first ones are enough.
    pub(super) fn finds_ticks(self, number: u32) -> bool {
        self.is_wanted || number < RUNS_WITH_TICKS
    }

    /// Returns the time of the run with this number, from 0, in seconds.
    pub(super) fn duration_of_run_s(self, number: u32) -> f64 {
        let is_longer = !self.is_wanted && self.finds_ticks(number);
        if is_longer { TICK_RUN_FACTOR * self.duration_s } else { self.duration_s }
    }
}

/// Variable of a run that is one of several. Another process of this program has started it, and
/// passes on signals. Its value is [`WITHOUT_TICKS`] for a run that finds no ticks.
pub(crate) const ONE_OF_SEVERAL: &str = "CLOCKSCOPE_ONE_OF_SEVERAL";

/// Returns whether this process makes one of several runs.
pub(crate) fn is_one_of_several() -> bool {
    std::env::var_os(ONE_OF_SEVERAL).is_some()
}

/// Value of [`ONE_OF_SEVERAL`] for a run that finds no ticks.
pub(super) const WITHOUT_TICKS: &str = "without_ticks";

/// Returns whether this process finds the clocks' ticks.
pub(super) fn finds_ticks() -> bool {
    std::env::var_os(ONE_OF_SEVERAL).is_none_or(|value| value != WITHOUT_TICKS)
}

/// Runs, of several, that find the clocks' ticks. A tick that differs between them is unknown.
const RUNS_WITH_TICKS: u32 = 2;
/// Factor by which these sample for longer than the others of a default record: coarse clocks step
/// once in 1 to 10 ms, and a tick takes seven steps.
const TICK_RUN_FACTOR: f64 = 3.0;
/// Runs of a record by default: so many that comparisons leave out two runs that were disturbed,
/// and find a clock that costs 10 % more in 95 of 100 pairs of records beside changing load.
const DEFAULT_RUNS: u32 = 16;
/// The most time for reads around other work, in seconds: of a measurement that takes 2 s, a sixth.
const MAX_WORK_S: f64 = 0.36;
/// Time that the runs of a record take besides sampling, in seconds: they start, calibrate their
/// timers and find ticks.
const RUNS_BESIDES_S: f64 = 0.47;
/// Runs that share a shorter time sample for less than 40 ms: too few batches of a clock among
/// many.
const MIN_SHARED_S: f64 = 1.6;

impl MeasureArgs {
    /// The arguments of a usual measurement of these clocks: all if none is named.
    pub(crate) fn usual(clocks: &[String]) -> Result<Self, UsageError> {
        Self::of_words(std::iter::once("--".to_owned()).chain(clocks.iter().cloned()))
    }

    /// Returns the words that stand behind `measure` for one run of several: JSON of these clocks,
    /// for so many seconds, on this CPU if one is named.
    pub(super) fn words_of_one(&self, duration_s: f64, cpu: Option<u32>) -> Vec<String> {
        let duration = format!("{duration_s}s");
        let mut words: Vec<String> =
            ["--json", "--quiet", "--color", "never", "--duration", &duration].map(str::to_owned).into();
        let path = self.clocks.path.to_possible_value();
        words.extend(path.into_iter().flat_map(|path| ["--via".to_owned(), path.get_name().to_owned()]));
        words.extend(cpu.into_iter().flat_map(|cpu| ["--cpu".to_owned(), cpu.to_string()]));
        words.push("--".to_owned());
        words.extend(self.clocks.all());
        words
    }

    /// The arguments that stand behind `measure`.
    pub(super) fn of_words(words: impl IntoIterator<Item = String>) -> Result<Self, UsageError> {
        let words = std::iter::once("measure".to_owned()).chain(words);
        let matches = Self::augment_args(clap::Command::new("measure")).try_get_matches_from(words);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).map_err(UsageError::from)
    }

    /// Returns the time for reads around other work, in seconds.
    pub(crate) fn work_s(&self) -> f64 {
        MAX_WORK_S.min(self.duration.0 / 6.0)
    }

    /// Returns the time for reads in a loop, in seconds: all of it for one of several runs.
    pub(crate) fn sampling_s(&self) -> f64 {
        if is_one_of_several() { self.duration.0 } else { self.duration.0 - self.work_s() }
    }

    /// Returns the runs that are to be made; `None` for one in this process.
    pub(crate) fn runs(&self) -> Option<Runs> {
        let is_divisible = !self.extended && self.timer.timer_period.is_none() && !is_one_of_several();
        match self.repeat {
            Some(count) => (count > 1).then_some(Runs { count, duration_s: self.duration.0, is_wanted: true }),
            None if is_divisible && self.duration.0 >= MIN_SHARED_S => {
                let shares = f64::from(DEFAULT_RUNS) + (TICK_RUN_FACTOR - 1.0) * f64::from(RUNS_WITH_TICKS);
                let duration_s = (self.sampling_s() - RUNS_BESIDES_S) / shares;
                Some(Runs { count: DEFAULT_RUNS, duration_s, is_wanted: false })
            }
            None => None,
        }
    }

    /// Returns whether all measured clocks are shown: whoever names clocks wants to see them.
    pub(crate) fn shows_all(&self) -> bool {
        self.all || self.verbose || !self.clocks.all().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_of_several_measures_the_same() {
        let of = |words: &[&str]| MeasureArgs::of_words(words.iter().map(|word| (*word).to_owned())).unwrap();
        let args = of(&["tsc", "--via", "all", "--clock", "monotonic", "--cpu", "1"]);
        let one = MeasureArgs::of_words(args.words_of_one(0.15, args.cpu)).unwrap();
        assert_eq!(one.clocks.all(), ["tsc", "monotonic"]);
        assert_eq!((one.clocks.path, one.cpu, one.duration.0), (args.clocks.path, Some(1), 0.15));
        assert_eq!(of(&[]).words_of_one(1.0, None).last().unwrap(), "--");
    }
}
