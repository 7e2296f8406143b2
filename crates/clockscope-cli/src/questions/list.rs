//! The question *list*: all clocks.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Catalog, Session, ThisMachine};
use clockscope_records::Document;

use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::{OutputArgs, PathArg};
use crate::run::{Run, warn_of_switched_clocksource};
use crate::usage::unknown_clock;

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

impl ListArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("list", "names for all other commands"),
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
            let catalog = Catalog::new(&ThisMachine).select(&[], self.path.into()).map_err(unknown_clock)?;
            Document::Listing(clockscope_measure::list(&session, catalog)?)
        };
        run.write(&document, Exit::Success)
    }
}
