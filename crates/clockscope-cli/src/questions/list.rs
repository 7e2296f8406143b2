//! The question *list*: all clocks.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Catalog, Session, ThisMachine};
use clockscope_records::Document;

use crate::answer::{Drawing, Question, write};
use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::{OutputArgs, PathArg};
use crate::output::Destination;
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
}

impl Question for ListArgs {
    fn document(&self) -> (Option<&'static str>, &OutputArgs) {
        let schema = if self.all_platforms { "clockscope.all_clocks" } else { "clockscope.list" };
        (Some(schema), &self.output)
    }

    fn run(&self) -> Result<Exit> {
        list(self)
    }
}

fn list(args: &ListArgs) -> Result<Exit> {
    if args.all_platforms {
        return list_all(&args.output);
    }
    let catalog = Catalog::new(&ThisMachine).select(&[], args.path.into()).map_err(unknown_clock)?;
    let destination = Destination::open(args.output.output.as_deref(), &Inputs::default())?;
    let never = AtomicBool::new(false);
    let listing = clockscope_measure::list(&Session::new(&ThisMachine, &never), catalog)?;
    write(&Document::Listing(listing), &args.output, Drawing::default(), destination, Exit::Success)
}

/// The clocks of every system.
fn list_all(output: &OutputArgs) -> Result<Exit> {
    let destination = Destination::open(output.output.as_deref(), &Inputs::default())?;
    let never = AtomicBool::new(false);
    let all = clockscope_measure::all_clocks(&Session::new(&ThisMachine, &never))?;
    write(&Document::AllClocks(all), output, Drawing::default(), destination, Exit::Success)
}
