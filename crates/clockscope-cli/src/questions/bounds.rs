//! The question *bounds*: the time of day as an interval.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Session, ThisMachine};

use crate::ending::{ALWAYS, Ending, Exits, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::OutputArgs;
use crate::run::Run;

#[derive(Args, Debug)]
pub(crate) struct BoundsArgs {
    #[command(flatten)]
    output: OutputArgs,
}

impl BoundsArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("bounds", "earliest and latest true time, and the wait of a commit"),
            ("bounds --json", "for a program"),
        ],
        exits: Exits { undecided: "nothing bounds the time of day", ..ALWAYS },
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let run = Run::open("clockscope.bounds", &self.output, &Inputs::default())?;
        let bounds = clockscope_measure::bounds(&Session::new(&ThisMachine, &AtomicBool::new(false)))?;
        let is_bounded = bounds.found.answers.iter().any(|answer| answer.interval.is_known());
        run.write(&bounds.into(), if is_bounded { Exit::Success } else { Exit::Undetermined })
    }
}
