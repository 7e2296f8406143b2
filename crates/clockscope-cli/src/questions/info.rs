//! The question *info*: facts about the machine that clocks depend on.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Paths, Session, ThisMachine};
use clockscope_records::Document;

use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::{OutputArgs, selected};
use crate::run::{Run, warn_of_switched_clocksource};

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// Clocks to list, as `clockscope list` does, before the facts about the machine
    #[arg(value_name = "CLOCK")]
    names: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

impl InfoArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("info", "the processor, the kernel, its clocksource, the hypervisor"),
            ("info tsc", "the clock, and all facts about the machine"),
            ("info --json", "for a program"),
        ],
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let schema = if self.names.is_empty() { "clockscope.info" } else { "clockscope.list" };
        let mut run = Run::open(schema, &self.output, &Inputs::default())?;
        warn_of_switched_clocksource();
        let never = AtomicBool::new(false);
        let session = Session::new(&ThisMachine, &never);
        let document = if self.names.is_empty() {
            Document::Info(clockscope_measure::info(&session)?)
        } else {
            run.style.machine = true;
            Document::Listing(clockscope_measure::list(&session, selected(&self.names, Paths::default())?)?)
        };
        run.write(&document, Exit::Success)
    }
}
