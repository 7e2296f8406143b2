//! The question *compare*: changes since earlier records.

use anyhow::Result;
use clap::Args;
use clockscope_measure::{CompareRequest, ComparedQuestion, ComparedRecord};
use clockscope_records::Document;

use super::measure;
use crate::answer::Question;
use crate::baseline::{Baseline, DEFAULT_MARGIN, records, refused, show};
use crate::changes::ChangeFinding;
use crate::ending::{Ending, Exits};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::numbers::{self, Share};
use crate::options::OutputArgs;
use crate::output::{Destination, warn};

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Records to compare with: a file, a folder, a quoted pattern, the name of a baseline, or
    /// several with commas
    ///
    /// Of `clockscope measure --json` or `clockscope check --json`. A record has sixteen runs
    /// where there was time for them (1.6 s); several records a side have more.
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// Records to judge, in the same way [default: measure now]
    #[arg(value_name = "NEW")]
    pub(crate) new: Option<String>,
    /// Compare these clocks alone: fewer have narrower bounds
    #[arg(long = "clock", value_name = "CLOCK", value_delimiter = ',', num_args = 1)]
    pub(crate) clocks: Vec<String>,
    /// Change of a cost that does not matter, e.g. 2% or 0.02
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_MARGIN, value_parser = numbers::share, allow_hyphen_values = true)]
    pub(crate) margin: Share,
    /// Compare every clock, and show also each ratio relative to the machine's own speed
    #[arg(long)]
    pub(crate) all: bool,
    /// Compare records of different machines
    #[arg(long)]
    pub(crate) across_machines: bool,
    /// Exit with 1 for any of these changes, with 3 if that could not be determined
    #[arg(long, value_name = "CHANGE", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<ChangeFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl CompareArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("measure --json -o base.json", "sixteen runs, to compare with later"),
            ("compare base.json new.json", "what is slower, and what else has changed"),
            ("compare base/ new/ --fail-on slower", "all records of two folders; exits with 1 if a clock is slower"),
            ("compare base.json", "measure now, and compare"),
            ("compare before-upgrade", "the same with a record that `clockscope baseline` has stored"),
            ("compare base.json new.json -f html -o changes.html", "a page with charts"),
            ("check --baseline trusted.json --fail-on verdict", "exits with 1 if a verdict is worse"),
        ],
        more: "A clock is slower if it is so both in ns and relative to the machine's own
speed.

Method: clockscope help comparison",
        exits: Exits {
            finding: "a change that --fail-on names",
            undecided: "it could not be determined, or the records are of different machines",
        },
    };
}

impl Question for CompareArgs {
    fn document(&self) -> (Option<&'static str>, &OutputArgs) {
        (Some("clockscope.compare"), &self.output)
    }

    fn is_measuring(&self) -> bool {
        false
    }

    fn run(&self) -> Result<Exit> {
        run(self)
    }
}

fn run(args: &CompareArgs) -> Result<Exit> {
    let mut inputs = Inputs::default();
    let base = records(&args.base, &mut inputs)?;
    let Some(new) = &args.new else { return with_now(base, args, &inputs) };
    let new = records(new, &mut inputs)?;
    let request = CompareRequest {
        clocks: args.clocks.clone(),
        all: args.all || !args.clocks.is_empty(),
        margin: args.margin.0,
        across_machines: args.across_machines,
    };
    let destination = Destination::open(args.output.output.as_deref(), &inputs)?;
    let found = clockscope_measure::compare(&base, &new, &request).map_err(refused)?;
    show(found, &args.fail_on, (&args.output, destination, args.all), Exit::Success)
}

/// Compares with what is measured now: the clocks that were asked for, or those of the records.
fn with_now(base: Vec<ComparedRecord>, args: &CompareArgs, inputs: &Inputs) -> Result<Exit> {
    let mut baseline = Baseline::of(base, args.margin, args.across_machines, ComparedQuestion::Measure)?;
    baseline.compares_all = !args.clocks.is_empty();
    let clocks = if args.clocks.is_empty() { baseline.clocks() } else { args.clocks.clone() };
    let destination = Destination::open(args.output.output.as_deref(), inputs)?;
    let found = measure::usual(&clocks, baseline.cpu(), args.output.quiet)?;
    let exit = if found.is_interrupted() { Exit::Interrupted } else { Exit::Success };
    if exit == Exit::Interrupted {
        warn("interrupted: compared is what was measured until then");
    }
    baseline.show(Document::Measurement(found), &args.fail_on, (&args.output, destination, args.all), exit)
}
