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
use crate::run::{Question, Run};

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
}

impl Question for InfoArgs {
    fn document(&self) -> (Option<&'static str>, &OutputArgs) {
        (Some("clockscope.info"), &self.output)
    }

    fn run(&self) -> Result<Exit> {
        let run = Run::open(&self.output, &Inputs::default())?;
        let info = clockscope_measure::info(&Session::new(&ThisMachine, &AtomicBool::new(false)))?;
        run.write(&Document::Info(info), Exit::Success)
    }
}
