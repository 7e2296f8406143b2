//! The question *list*: all clocks.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Session, ThisMachine};
use clockscope_records::Document;

use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::{ClockArgs, OutputArgs};
use crate::run::{Run, warn_of_switched_clocksource};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// List the clocks of every system that clockscope knows, with what each system documents
    #[arg(long, conflicts_with_all = ["path", "names", "clocks"])]
    pub(crate) all_platforms: bool,
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ListArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("list", "names for all other commands"),
            ("list monotonic tsc", "these clocks, and the calls that read them"),
            ("list --via all", "one row for each path"),
            ("list --all-platforms", "the clocks of every system"),
        ],
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let schema = if self.all_platforms { "clockscope.all_clocks" } else { "clockscope.list" };
        let run = Run::open(schema, &self.output, &Inputs::default())?;
        warn_of_switched_clocksource();
        let never = AtomicBool::new(false);
        let session = Session::new(&ThisMachine, &never);
        let document = if self.all_platforms {
            Document::AllClocks(clockscope_measure::all_clocks(&session)?)
        } else {
            Document::Listing(clockscope_measure::list(&session, self.clocks.selected()?)?)
        };
        run.write(&document, Exit::Success)
    }
}
