//! The question *compare*: changes since earlier records, and two clocks.

mod two_clocks;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{CompareRequest, ComparedQuestion, ComparedRecord};
use clockscope_records::{Document, printable};

use super::measure;
use crate::baseline::{Baseline, DEFAULT_MARGIN, folder, records, refused, show};
use crate::changes::ChangeFinding;
use crate::duration::{self, Seconds};
use crate::ending::{Ending, Exits};
use crate::error_text;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::numbers::{self, Share};
use crate::options::OutputArgs;
use crate::output::{Destination, say, warn};
use crate::run::{Run, exit, warn_of_switched_clocksource};

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Records to compare with: a file, a folder, a quoted pattern, the name of a baseline, or
    /// several with commas
    ///
    /// Of `clockscope measure --json` or `clockscope check --json`. A record has sixteen runs
    /// where there was time for them (1.6 s); several records a side have more. Without a record,
    /// two clocks that --clock names are measured and compared with each other.
    #[arg(value_name = "BASE", required_unless_present_any = ["clocks", "list"])]
    pub(crate) base: Option<String>,
    /// Records to judge, in the same way [default: measure now]
    #[arg(value_name = "NEW")]
    pub(crate) new: Option<String>,
    /// Compare these clocks alone: fewer have narrower bounds
    ///
    /// Without BASE, one or two clocks: the second is monotonic by default, and "counter" is the
    /// processor's.
    #[arg(long = "clock", value_name = "CLOCK", value_delimiter = ',', num_args = 1)]
    pub(crate) clocks: Vec<String>,
    /// Change of a cost that does not matter, e.g. 2% or 0.02
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_MARGIN, value_parser = numbers::share, allow_hyphen_values = true, requires = "base")]
    pub(crate) margin: Share,
    /// Compare every clock, and show also each ratio relative to the machine's own speed
    #[arg(long, requires = "base")]
    pub(crate) all: bool,
    /// Compare records of different machines
    #[arg(long, requires = "base")]
    pub(crate) across_machines: bool,
    /// Without BASE: CPU to measure two clocks on [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true, conflicts_with = "base")]
    pub(crate) cpu: Option<u32>,
    /// Without BASE: time to measure two clocks
    #[arg(long, short, value_name = "TIME", default_value = "3s", value_parser = duration::parse, allow_hyphen_values = true, conflicts_with = "base")]
    pub(crate) duration: Seconds,
    /// List the records that --save has stored, with their files
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,
    /// Exit with 1 for any of these changes, with 3 if that could not be determined
    #[arg(long, requires = "base", value_name = "CHANGE", value_enum, value_delimiter = ',')]
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
            ("compare before-upgrade", "the same with a record of `clockscope measure --save`"),
            ("compare --list", "the records that were saved, with their files"),
            ("compare --clock counter,monotonic", "two clocks with each other"),
            ("compare base.json new.json -f html -o changes.html", "a page with charts"),
            ("check --baseline trusted.json --fail-on verdict", "exits with 1 if a verdict is worse"),
        ],
        more: "A clock is slower if it is so both in ns and relative to the machine's own
speed.

Saved records are files in XDG_DATA_HOME or ~/.local/share,
clockscope/baselines. Copy a record there to give it a name; delete its file to
remove it.

Method: clockscope help comparison",
        exits: Exits {
            finding: "a change that --fail-on names",
            undecided: "it could not be determined, or the records are of different machines",
        },
    };

    /// Opens the destination of a comparison.
    fn open(&self, inputs: &Inputs) -> Result<Run> {
        let mut run = Run::open("clockscope.compare", &self.output, inputs)?;
        run.style.all = self.all;
        Ok(run)
    }

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let Some(base) = &self.base else { return if self.list { list() } else { two_clocks::compare(self) } };
        let mut inputs = Inputs::default();
        let base = records(base, &mut inputs)?;
        let request = CompareRequest {
            clocks: self.clocks.clone(),
            all: self.all || !self.clocks.is_empty(),
            margin: self.margin.0,
            across_machines: self.across_machines,
        };
        let Some(new) = &self.new else { return with_now(base, request, self, &inputs) };
        let new = records(new, &mut inputs)?;
        let run = self.open(&inputs)?;
        let found = clockscope_measure::compare(&base, &new, &request).map_err(refused)?;
        show(found, &self.fail_on, run, Exit::Success)
    }
}

/// Compares with what is measured now: the clocks that were asked for, or those of the records.
fn with_now(base: Vec<ComparedRecord>, request: CompareRequest, args: &CompareArgs, inputs: &Inputs) -> Result<Exit> {
    let baseline = Baseline::new(base, request, args.fail_on.clone(), ComparedQuestion::Measure)?;
    let clocks = if args.clocks.is_empty() { baseline.clocks() } else { args.clocks.clone() };
    let run = args.open(inputs)?;
    warn_of_switched_clocksource();
    let found = measure::usual(&clocks, baseline.cpu(), &run)?;
    let exit = exit(&found, |_| Exit::Success);
    if exit == Exit::Interrupted {
        warn("interrupted: compared is what was measured until then");
    }
    baseline.show(Document::Measurement(found), run, exit)
}

/// Lists baselines, with the time, the question and the processor of each record, and its file.
fn list() -> Result<Exit> {
    let names = folder::names()?;
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for name in &names {
        let file = folder::file(name)?;
        let about = match Inputs::default().read_document(&file, "list") {
            Ok(document) => about(&document),
            Err(error) => format!("damaged: {}", error_text::text(&error)),
        };
        text.push_str(&format!("{name:longest$}  {about}  {}\n", file.display()));
    }
    Destination::Stdout.write(&text)?;
    if names.is_empty() {
        say("there are no baselines: `clockscope measure --save NAME` measures, and saves the record");
    }
    Ok(Exit::Success)
}

fn about(document: &Document) -> String {
    let question = document.schema().trim_start_matches("clockscope.").to_owned();
    let cpu = document.environment().cpu.name();
    let at = document.recorded_at().map(str::to_owned);
    // The record may be from anywhere.
    printable(&[at, Some(question), cpu].into_iter().flatten().collect::<Vec<_>>().join("  ")).into_owned()
}
