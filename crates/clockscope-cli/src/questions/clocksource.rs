//! The question *clocksource*: the basis of the kernel's clocks.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::Args;
use clockscope_measure::{Session, ThisMachine};
use clockscope_records::Document;
use clockscope_system::clocksource;

use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::OutputArgs;
use crate::output;
use crate::run::Run;

#[derive(Args, Debug)]
pub(crate) struct ClocksourceArgs {
    /// Restore the clocksource that a killed run has left switched; needs root
    #[arg(long)]
    pub(crate) restore: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ClocksourceArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("clocksource", "what is available, and why this one"),
            ("measure --clocksource hpet,acpi_pm", "measure with others; needs root"),
            ("clocksource --restore", "after a run that was killed; needs root"),
        ],
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let run = Run::open("clockscope.clocksource", &self.output, &Inputs::default())?;
        if self.restore {
            restore()?;
        }
        let found = clockscope_measure::clocksources(&Session::new(&ThisMachine, &AtomicBool::new(false)))?;
        run.write(&Document::Clocksources(found), Exit::Success)
    }
}

fn restore() -> Result<()> {
    match clocksource::restore().context("cannot restore the clocksource")? {
        Some(clocksource::Restoration { from, to }) => {
            output::say(&format!("the clocksource was {from}, and is {to} again"))
        }
        None => output::say("no run has left the clocksource switched"),
    }
    Ok(())
}
