//! The questions: one file each (arguments, findings, the end of the help, the run), and one row
//! each of the table of commands.
//!
//! # Add a question
//!
//! Start from the one that is most like yours: `sleep` measures, `info` shows facts. The files of a
//! question bear its command's name in every crate; each new one needs a line `mod`.
//!
//! 1. `clockscope-records`: its record and words (`src/documents/sleep.rs`), and a row of
//!    `documents!` (`src/documents.rs`). `CLOCKSCOPE_SCHEMA=write cargo test -p clockscope-records
//!    --lib` writes the schemas.
//! 2. `clockscope-measure`: its arithmetic and run (`src/questions/sleep.rs`). Clocks come from the
//!    catalog: `Catalog::new`, `select`, `tried` (a read in a child process), then each entry's
//!    `sampler`. A figure that a clock refused is unknown for its `ClockReason`. `bracket`
//!    (`src/instrument/bracket.rs`) compares two clocks.
//! 3. `clockscope-report`: its page (`src/documents/sleep.rs`), and a record of it in
//!    `tests/fixtures`. `INSTA_UPDATE=always cargo test -p clockscope-report` writes the snapshots.
//! 4. `clockscope-cli`: arguments, findings, help and run (`src/questions/sleep.rs`), and a row of
//!    `commands!` (this file). If the document has charts, `TRYCMD=overwrite cargo test -p
//!    clockscope-cli --test cli documented` writes the errors that list such documents.
//! 5. `clockscope-python`: a function in `python/clockscope/_questions.py`, or in `_machine.py` for
//!    facts. Its name is twice in `__init__.py` and twice in `__init__.pyi`.
//! 6. A test on simulated machines (`clockscope-measure/tests/truth`), or under a rig that breaks
//!    what it measures (`clockscope-testing/rigs`).
//! 7. Documentation: its figures (docs/reference/method), its terms (docs/reference/glossary.md),
//!    its keys (docs/reference/records/README.md).
//!
//! Tests fail for a question without an example or a Python function, for one that is named like a
//! clock, and for a first page of help with more than 50 lines.

mod advise;
mod bounds;
mod check;
mod clocksource;
mod compare;
mod gaps;
mod info;
mod list;
pub(crate) mod measure;
mod order;
mod rate;
mod report;
mod runtimes;
mod sleep;
mod steps;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::help;
use crate::output::Destination;
use crate::stamps::StampsArgs;
use crate::usage::{self, UsageError};
use measure::MeasureArgs;

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
}

/// The group of commands that the first screen leaves out: packagers need them once.
pub(crate) const HIDDEN: &str = "Hidden";

/// A command, as the help shows it.
#[derive(Debug)]
pub(crate) struct Row {
    /// The group of the first screen in which it is.
    pub(crate) group: &'static str,
    /// Its name with an initial in upper case.
    variant: &'static str,
    /// The end of its help.
    pub(crate) ending: Ending,
}

impl Row {
    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.variant.to_lowercase()
    }
}

/// Declares the commands by groups.
macro_rules! commands {
    ($($group:literal { $($(#[$about:meta])* $name:ident($args:ty),)+ })+) => {
        /// A command with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($($(#[$about])* $name(Box<$args>),)+)+
        }

        impl Command {
            pub(crate) fn run(&self) -> Result<Exit> {
                match self {
                    $($(Self::$name(args) => args.run(),)+)+
                }
            }
        }

        /// All of them, group by group.
        pub(crate) const COMMANDS: &[Row] = &[
            $($(Row { group: $group, variant: stringify!($name), ending: <$args>::HELP },)+)+
        ];
    };
}

commands! {
    "Everyday" {
        /// Measure cost, tick and events of every clock (the default)
        ///
        /// Reads every clock in batches, in turns, and shows the cost per read, the tick, and the
        /// events between reads.
        Measure(measure::MeasureArgs),
        /// Judge which clocks can be trusted, with the evidence
        ///
        /// Gives a verdict on each clock, with its evidence and remedies.
        #[command(alias = "doctor")]
        Check(check::CheckArgs),
        /// Choose a clock for an interval: its error, and how many repeats
        ///
        /// Recommends a clock for an interval, and shows the error of a single measurement and how
        /// often to repeat it.
        Advise(advise::AdviseArgs),
        /// List all clocks, and whether they can be read here
        List(list::ListArgs),
        /// Show the facts about this machine that clocks depend on
        Info(info::InfoArgs),
    }
    "Diagnose" {
        /// Show how readings step: every difference, the tick, events
        ///
        /// Reads clocks in a loop, one after the other, and shows all differences between
        /// successive readings, the tick, and the events with their times.
        Steps(steps::StepsArgs),
        /// Test whether readings go back from CPU to CPU
        ///
        /// Hands readings from CPU to CPU and counts those that go back, for every clock and
        /// reading sequence. With --offsets, measures how far apart the CPUs' counters are.
        Order(order::OrderArgs),
        /// Measure how fast clocks run, with bounds, and how steadily
        ///
        /// Shows frequency offsets with their bounds, the counter's frequency, and stability.
        #[command(alias = "drift")]
        Rate(rate::RateArgs),
        /// Measure interruptions and attribute each to its cause
        #[command(alias = "jitter")]
        Gaps(gaps::GapsArgs),
        /// Measure how late sleeps end
        Sleep(sleep::SleepArgs),
        /// Show what the kernel's clocks are based on, and why
        ///
        /// Lists the available clocksources, and why the kernel does not use the processor's
        /// counter.
        Clocksource(clocksource::ClocksourceArgs),
        /// Show the interval that contains the true time of day
        ///
        /// Shows the earliest and the latest true time, the interval's width, its source and the
        /// condition under which it holds, and how long a commit waits.
        Bounds(bounds::BoundsArgs),
    }
    "Compare" {
        /// Compare with earlier records, or two clocks with each other
        ///
        /// Lists the facts that differ from those of earlier records, and says of each clock
        /// whether a read costs more than it did. Without a record, compares two clocks by
        /// resolution, accuracy, cost and reliability.
        Compare(compare::CompareArgs),
        /// Measure the stopwatches of language runtimes and browsers
        ///
        /// Runs a probe in each runtime that it finds.
        Runtimes(runtimes::RuntimesArgs),
        /// Render a recorded JSON document in any format
        ///
        /// Of a recording (`clockscope steps --raw FILE.json`), the answer is computed again.
        Report(report::ReportArgs),
    }
    "Other" {
        /// Convert the library's stamps to times with bounds
        ///
        /// Reads a file of stamps, and writes CSV: for each count the time, with its bounds.
        Stamps(StampsArgs),
    }
    "Hidden" {
        /// Print the JSON Schema of documents, policies or recordings
        Schema(SchemaArgs),
        /// Print a completion script for a shell
        Completions(CompletionsArgs),
        /// Print the manual page
        Man(ManArgs),
    }
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArgs {
    /// What the schema describes
    #[arg(value_enum, default_value_t)]
    pub(crate) of: SchemaArg,
}

impl SchemaArgs {
    const HELP: Ending = NO_MORE;

    fn run(&self) -> Result<Exit> {
        let schema = match self.of {
            SchemaArg::Documents => clockscope_records::DOCUMENT_SCHEMA,
            SchemaArg::Policy => clockscope_records::POLICY_SCHEMA,
            SchemaArg::Recording => clockscope_records::RECORDING_SCHEMA,
        };
        Destination::Stdout.write(&clockscope_records::indented(schema)?)?;
        Ok(Exit::Success)
    }
}

/// Subject of a schema.
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
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

impl CompletionsArgs {
    const HELP: Ending = Ending {
        examples: &[(
            "completions bash > clockscope.bash",
            "for bash: source it, or put it where bash-completion looks",
        )],
        ..NO_MORE
    };

    fn run(&self) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::completed(), "clockscope", &mut script);
        Destination::Stdout.write(&String::from_utf8(script)?)?;
        Ok(Exit::Success)
    }
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command whose page it is [default: the program's own page]
    #[arg(value_name = "COMMAND")]
    pub(crate) name: Option<String>,
}

impl ManArgs {
    const HELP: Ending = Ending {
        examples: &[
            ("man > clockscope.1", "the page of the program"),
            ("man check > clockscope-check.1", "the page of a command"),
        ],
        ..NO_MORE
    };

    /// Prints a page.
    fn run(&self) -> Result<Exit> {
        let mut command = help::command().disable_help_subcommand(true);
        command.build();
        if let Some(name) = &self.name {
            let known = COMMANDS.iter().map(Row::name);
            command = command.find_subcommand(name).cloned().ok_or_else(|| {
                UsageError(format!("no command {name}: {}`clockscope -h` shows all", usage::nearest(name, known)))
            })?;
        }
        let title = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command)
            .title(title)
            .source(concat!("clockscope ", env!("CARGO_PKG_VERSION")))
            .render(&mut page)?;
        Destination::Stdout.write(&String::from_utf8(page)?)?;
        Ok(Exit::Success)
    }
}
