//! What the command line accepts.

mod compare;
mod output;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clockscope_measure::{Handoff, Paths};

use crate::changes::{OrChange, or_change};
use crate::duration::{self, Seconds};
use crate::findings::{CheckFinding, FailOn, OffsetsFinding, OrderFinding, RateFinding, RuntimesFinding, SleepFinding};
use crate::numbers::{self, Cpus, Ppm, Reads, Share};

pub(crate) use compare::{BaselineArgs, CompareArgs};
pub(crate) use output::{ColorArg, ColumnsArg, OutputArgs};

/// See every clock your machine has, know which to trust, and read the fastest
///
/// Without a subcommand, clockscope measures: `clockscope tsc monotonic` is
/// `clockscope measure tsc monotonic`.
#[derive(Debug, Parser)]
#[command(
    name = "clockscope",
    version,
    disable_version_flag = true,
    args_conflicts_with_subcommands = true,
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) version: VersionArgs,
}

/// Which version this is.
#[derive(Args, Debug)]
pub(crate) struct VersionArgs {
    /// Print the version
    ///
    /// With --verbose also the commit, the target and the features of the build.
    #[arg(long = "version", short = 'V', display_order = 1000)]
    pub(crate) wanted: bool,
    /// With --version: print commit, target and features as well
    #[arg(long, requires = "wanted", display_order = 1001, hide_short_help = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure cost, tick and events of every clock (the default)
    ///
    /// Reads every clock in batches, in turns, and shows the cost per read, the tick, and the
    /// events between reads.
    Measure(Box<MeasureArgs>),
    /// Show how readings step: every difference, the tick, events
    ///
    /// Reads clocks in a loop, one after the other, and shows all differences between successive
    /// readings, the tick, and the events with their times.
    Steps(Box<StepsArgs>),
    /// Compute the answer of a recorded run of steps again
    Replay(ReplayArgs),
    /// Choose a clock for an interval: its error, and how many repeats
    ///
    /// Recommends a clock for an interval, and shows the error of a single measurement and how
    /// often to repeat it.
    Advise(AdviseArgs),
    /// Test whether readings go back from CPU to CPU
    ///
    /// Hands readings from CPU to CPU and counts those that go back, for every clock and reading
    /// sequence.
    Order(OrderArgs),
    /// Measure how far apart the CPUs' counters are
    #[command(alias = "sync")]
    Offsets(OffsetsArgs),
    /// Measure how fast clocks run, with bounds, and how steadily
    ///
    /// Shows frequency offsets with their bounds, the counter's frequency, and stability.
    #[command(alias = "drift")]
    Rate(RateArgs),
    /// Measure interruptions and attribute each to its cause
    #[command(alias = "jitter")]
    Gaps(GapsArgs),
    /// Measure how late sleeps end
    Sleep(SleepArgs),
    /// Measure the stopwatches of language runtimes and browsers
    ///
    /// Runs a probe in each runtime that it finds.
    Runtimes(RuntimesArgs),
    /// Judge which clocks can be trusted, with the evidence
    ///
    /// Gives a verdict on each clock, with its evidence and remedies.
    #[command(alias = "doctor")]
    Check(CheckArgs),
    /// Compare two clocks by resolution, accuracy, cost and reliability
    Shootout(ShootoutArgs),
    /// Compare records with earlier ones: what is slower, what changed
    ///
    /// Lists the facts that differ, and says of each clock whether a read costs more than it did.
    Compare(CompareArgs),
    /// Show what the kernel's clocks are based on, and why
    ///
    /// Lists the available clocksources, and why the kernel does not use the processor's counter.
    Clocksource(ClocksourceArgs),
    /// List all clocks, and whether they can be read here
    List(ListArgs),
    /// Show the facts about this machine that clocks depend on
    Info(OutputArgs),
    /// Render a recorded JSON document in any format
    Report(ReportArgs),
    /// Print the JSON Schema of documents, policies or recordings
    Schema {
        /// What the schema describes
        #[arg(value_enum, default_value_t)]
        of: SchemaArg,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Which clocks.
#[derive(Args, Debug)]
pub(crate) struct ClockArgs {
    /// Clocks by name, e.g. tsc or monotonic:vdso [default: all]
    ///
    /// `clockscope list` shows the names. The default is all clocks that the command is for.
    #[arg(value_name = "CLOCK")]
    pub(crate) names: Vec<String>,
    /// The same as naming CLOCK
    #[arg(long = "clock", value_name = "CLOCK", hide_short_help = true)]
    pub(crate) clocks: Vec<String>,
    /// How to read clocks with several paths
    #[arg(long = "via", alias = "path", value_name = "PATH", value_enum, default_value_t)]
    pub(crate) path: PathArg,
}

impl ClockArgs {
    /// All names.
    pub(crate) fn all(&self) -> Vec<String> {
        self.names.iter().chain(&self.clocks).cloned().collect()
    }
}

/// Which CPUs take part in a tournament.
#[derive(Args, Debug)]
pub(crate) struct PairArgs {
    /// CPUs that take part, e.g. 0-3,8 [default: all that this process may run on]
    #[arg(long, value_name = "LIST", value_parser = numbers::cpus)]
    pub(crate) cpus: Option<Cpus>,
    /// Test one pair of CPUs at a time instead of all pairs of a round at once
    #[arg(long)]
    pub(crate) serial: bool,
}

/// The timer interrupt during the run.
#[derive(Args, Debug)]
pub(crate) struct TimerArgs {
    /// Request this period of the timer interrupt during the run, e.g. 1ms; Windows only
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) timer_period: Option<Seconds>,
}

/// How long `measure` samples by default: its answer takes less than 2 s in all.
const MEASURE_DURATION: &str = "1.8s";

#[derive(Args, Debug)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for sampling, all clocks together
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
        conflicts_with = "timer_period",
        hide_short_help = true
    )]
    pub(crate) clocksource: Vec<String>,
    #[command(flatten)]
    pub(crate) timer: TimerArgs,
    /// Measure across CPUs and over time too, for 2.5 s
    ///
    /// Adds a line on each of order, offsets and rates.
    #[arg(long)]
    pub(crate) thorough: bool,
    /// Run N times, each in its own process and for the whole duration, and show where another
    /// run's median lies
    #[arg(long, value_name = "N", value_parser = numbers::runs, allow_hyphen_values = true, conflicts_with_all = ["thorough", "clocksource", "timer_period"], hide_short_help = true)]
    pub(crate) repeat: Option<u32>,
    /// Exit with 1 if a measured clock shows any of these, with 3 if that could not be determined
    #[arg(long, value_name = "EVENT", value_parser = or_change::<FailOn>(), value_delimiter = ',', hide_short_help = true)]
    pub(crate) fail_on: Vec<OrChange<FailOn>>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Columns of the table [default: the most important ones]
    ///
    /// JSON, CSV and Markdown always have all figures.
    #[arg(long, value_name = "COLUMNS", value_enum, hide_short_help = true)]
    pub(crate) columns: Option<ColumnsArg>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct StepsArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// CPU to read on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Number of reads of each clock, e.g. 10000 or 1e8 [default with --raw: 10000]
    #[arg(long, value_name = "N", value_parser = numbers::reads, allow_hyphen_values = true)]
    pub(crate) reads: Option<Reads>,
    /// Time for reading, all clocks together [default: 2s]
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, conflicts_with_all = ["reads", "raw"])]
    pub(crate) duration: Option<Seconds>,
    /// Write every reading to this file, in ns since the clock's first one; a file that ends in
    /// .json is a recording for `clockscope replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) raw: Option<PathBuf>,
    /// Format of that file [default: by its ending, otherwise csv]
    #[arg(long, value_name = "FORMAT", value_enum, requires = "raw")]
    pub(crate) raw_format: Option<RawFormatArg>,
    /// Style of CSV
    #[arg(long, value_name = "STYLE", value_enum, requires = "raw", default_value_t)]
    pub(crate) raw_style: RawStyleArg,
    #[command(flatten)]
    pub(crate) answer: StepsAnswerArgs,
}

/// How an answer of `steps` is shown and judged.
#[derive(Args, Debug)]
pub(crate) struct StepsAnswerArgs {
    /// Maximum number of rows of distinct differences: the most frequent ones
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) rows: usize,
    /// Draw histograms and curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Exit with 1 if a clock shows any of these, with 3 if that could not be determined
    #[arg(long, value_name = "EVENT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The recording, as `clockscope steps --raw FILE.json` wrote it; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) answer: StepsAnswerArgs,
}

#[derive(Args, Debug)]
pub(crate) struct AdviseArgs {
    /// Interval to measure, with a unit (ns, us, ms, s, min) [default: a table of 1ns to 1s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) interval: Option<Seconds>,
    /// Acceptable relative error, e.g. 1% or 0.01
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = numbers::share, allow_hyphen_values = true)]
    pub(crate) error: Share,
    /// Use this recorded document of `measure` or `steps` instead of measuring; - for standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cpu", "duration"])]
    pub(crate) from: Option<PathBuf>,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for sampling, all clocks together
    #[arg(long, short, value_name = "TIME", default_value = "2.5s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// How readings are handed from CPU to CPU
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    pub(crate) handoff: HandoffArg,
    /// Time for all clocks and pairs together; many or busy CPUs take longer
    #[arg(long, short, value_name = "TIME", default_value = "2s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<OrderFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct OffsetsArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Time for all pairs together; many or busy CPUs take longer
    #[arg(long, short, value_name = "TIME", default_value = "1s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<OffsetsFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RateArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// The clock that the others are compared with [default: monotonic_raw:vdso]
    #[arg(long, value_name = "CLOCK")]
    pub(crate) reference: Option<String>,
    /// CPU to measure on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for comparing; with --until, the maximum [default: 2s, with --until 60s]
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Option<Seconds>,
    /// Stop as soon as every clock's bound is this small, e.g. 0.1ppm or 20ppb; exit with 3 if the
    /// time was too short
    #[arg(long, value_name = "BOUND", value_parser = numbers::ppm, allow_hyphen_values = true)]
    pub(crate) until: Option<Ppm>,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<RateFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct GapsArgs {
    /// Shortest time between two reads that counts as a gap
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) threshold: Seconds,
    /// Time for observing
    #[arg(long, short, value_name = "TIME", default_value = "2s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// CPUs to observe, all at once, e.g. 0-3,8 [default: the current one]
    #[arg(long, visible_alias = "cpu", value_name = "LIST", value_parser = numbers::cpus)]
    pub(crate) cpus: Option<Cpus>,
    /// Observe all CPUs that this process may run on
    #[arg(long, conflicts_with = "cpus")]
    pub(crate) all_cpus: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SleepArgs {
    /// CPU to sleep on [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Approximate time for all calls together; each sleeps at least three times, in 2.5s
    #[arg(long, short, value_name = "TIME", default_value = "6s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) timer: TimerArgs,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<SleepFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

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
    #[arg(long, conflicts_with_all = ["clocksource", "duration", "timeout", "fail_on"])]
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

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Clocks by name or alias; "counter" is the processor's [default: the counter and all POSIX
    /// clocks]
    #[arg(value_name = "CLOCK")]
    pub(crate) clocks: Vec<String>,
    /// Demands on the clocks (TOML; `clockscope schema policy`): exit with 1 if one is not met,
    /// with 3 if that is unknown
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// CPU to measure on where one is enough [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for everything
    #[arg(long, short, value_name = "TIME", default_value = "5s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if a clock has any of these findings, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_parser = or_change::<CheckFinding>(), value_delimiter = ',')]
    pub(crate) fail_on: Vec<OrChange<CheckFinding>>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Show all evidence, not only what decides a verdict
    ///
    /// JSON, CSV and Markdown always have all of it.
    #[arg(long, short, conflicts_with = "brief")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ShootoutArgs {
    /// One clock [default: the processor's counter, by an ordered read]
    #[arg(value_name = "A")]
    pub(crate) a: Option<String>,
    /// The other [default: monotonic]
    #[arg(value_name = "B")]
    pub(crate) b: Option<String>,
    /// CPU to measure on where one is enough [default: the current one]
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Time for everything
    #[arg(long, short, value_name = "TIME", default_value = "3s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ClocksourceArgs {
    /// Restore the clocksource that a killed run has left switched; needs root
    #[arg(long)]
    pub(crate) restore: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaArg {
    /// All JSON documents
    #[default]
    Documents,
    /// Policies of `check`
    Policy,
    /// Recordings of `steps`
    Recording,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// List the clocks of every system that clockscope knows, with what each system documents
    #[arg(long, conflicts_with = "path")]
    pub(crate) all_platforms: bool,
    /// List clocks via libc, the vDSO or a system call
    #[arg(long = "via", alias = "path", value_name = "PATH", value_enum, default_value_t)]
    pub(crate) path: PathArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Recorded documents, as --format json wrote them; - for standard input
    ///
    /// Several make one page of --format html.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Chart to draw with --format svg [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
    /// Open the written file in a browser
    #[arg(long, requires = "output")]
    pub(crate) open: bool,
    /// Maximum number of rows of distinct differences [default: 40]
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
    /// Draw histograms and curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Columns of a measurement's table [default: the most important ones]
    #[arg(long, value_name = "COLUMNS", value_enum)]
    pub(crate) columns: Option<ColumnsArg>,
    /// Show all evidence of verdicts, not only what decides them
    #[arg(long, short, conflicts_with = "brief")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Format of raw readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawFormatArg {
    /// One line per reading
    Csv,
    /// One object per line
    Ndjson,
    /// One array per clock, one after the other, for `numpy.load`
    Npy,
    /// Columns `clock` and `ns` (needs the feature `parquet`)
    Parquet,
    /// Everything that the run read, for `clockscope replay`
    Recording,
}

/// How lines of CSV look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawStyleArg {
    /// A header, and `clock,ns`
    #[default]
    Plain,
    /// No header, and `clock ns`
    #[value(alias = "labelled")]
    Labeled,
}

/// By which path to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathArg {
    /// The C library
    #[default]
    Libc,
    /// The vDSO, resolved by clockscope
    Vdso,
    /// The bare system call
    Syscall,
    /// All three, one row each
    All,
}

/// How readings are handed from CPU to CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HandoffArg {
    /// Each CPU publishes its readings and takes the other's newest
    Mailbox,
    /// Each CPU in its turn reads the clock while it holds a lock
    Lock,
    /// One after the other
    #[default]
    Both,
}

impl From<HandoffArg> for Handoff {
    fn from(way: HandoffArg) -> Self {
        match way {
            HandoffArg::Mailbox => Self::Mailbox,
            HandoffArg::Lock => Self::Lock,
            HandoffArg::Both => Self::Both,
        }
    }
}

impl From<PathArg> for Paths {
    fn from(path: PathArg) -> Self {
        match path {
            PathArg::Libc => Self::Libc,
            PathArg::Vdso => Self::Vdso,
            PathArg::Syscall => Self::Syscall,
            PathArg::All => Self::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an answer takes besides sampling on an idle machine, in seconds, at most: trial reads,
    /// batches that find their size, the timer's calibration, the search for ticks.
    const BESIDES_S: f64 = 0.2;

    #[test]
    fn the_default_answers_within_two_seconds() {
        let Cli { measure, .. } = Cli::parse_from(["clockscope"]);
        assert!(measure.duration.0 + BESIDES_S <= 2.0, "{:?}", measure.duration);
    }
}
