//! The command line's arguments.

mod across;
mod advise;
mod clocks;
mod compare;
mod machine;
mod measure;
mod monitor;
mod output;
mod rate;
mod report;
mod runtimes;
mod steps;
mod thread;
mod trust;

use clap::{Args, Parser, Subcommand};

pub(crate) use across::{OffsetsArgs, OrderArgs};
pub(crate) use advise::AdviseArgs;
pub(crate) use clocks::{ClockArgs, TimerArgs};
pub(crate) use compare::{BaselineArgs, CompareArgs};
pub(crate) use machine::{ClocksourceArgs, ListArgs};
pub(crate) use measure::MeasureArgs;
pub(crate) use monitor::ExitCodes;
pub(crate) use output::{ColorArg, ColumnsArg, OutputArgs, formats_of};
pub(crate) use rate::RateArgs;
pub(crate) use report::{ReportArgs, SchemaArg};
pub(crate) use runtimes::RuntimesArgs;
pub(crate) use steps::{RawFormatArg, RawStyleArg, ReplayArgs, StepsAnswerArgs, StepsArgs};
pub(crate) use thread::{GapsArgs, SleepArgs};
pub(crate) use trust::{CheckArgs, ShootoutArgs};

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

/// Options for the program's version.
#[derive(Args, Debug)]
pub(crate) struct VersionArgs {
    /// Print the version
    ///
    /// With --verbose also the commit and the target of the build.
    #[arg(long = "version", short = 'V', display_order = 1000)]
    pub(crate) wanted: bool,
    /// With --version: print commit and target as well
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Longest time in seconds that an answer takes besides sampling on an idle machine: trial
    /// reads, batches that find their size, the timer's calibration, the search for ticks.
    const BESIDES_S: f64 = 0.2;

    #[test]
    fn the_default_answers_within_two_seconds() {
        let Cli { measure, .. } = Cli::parse_from(["clockscope"]);
        assert!(measure.duration.0 + BESIDES_S <= 2.0, "{:?}", measure.duration);
    }
}
