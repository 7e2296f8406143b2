//! The question *info*: facts about the machine that clocks depend on.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Session, ThisMachine};
use clockscope_records::Document;

use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::OutputArgs;
use crate::run::{Run, warn_of_switched_clocksource};

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    output: OutputArgs,
}

impl InfoArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("info", "the processor, the kernel, its clocksource, the hypervisor"),
            ("info --json", "for a program"),
        ],
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let run = Run::open("clockscope.info", &self.output, &Inputs::default())?;
        warn_of_switched_clocksource();
        let info = clockscope_measure::info(&Session::new(&ThisMachine, &AtomicBool::new(false)))?;
        run.write(&Document::Info(info), Exit::Success)
    }
}
