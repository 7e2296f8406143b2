//! The question *shootout*: the better of two clocks.

use anyhow::Result;
use clap::Args;
use clockscope_measure::{Progress, Session, ShootoutRequest};
use clockscope_records::{Document, Shootout};

use crate::answer::{Drawing, Question, answer};
use crate::duration::{self, Seconds};
use crate::ending::{ALWAYS, Ending, Exits, NO_MORE};
use crate::exit::Exit;
use crate::numbers;
use crate::options::OutputArgs;

#[derive(Args, Debug)]
pub(crate) struct ShootoutArgs {
    /// One clock [default: the processor's counter, by an ordered read]
    #[arg(value_name = "A")]
    pub(crate) a: Option<String>,
    /// The other [default: monotonic]
    #[arg(value_name = "B")]
    pub(crate) b: Option<String>,
    /// CPU to measure on where one is enough [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Time for everything
    #[arg(long, short, value_name = "TIME", default_value = "3s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ShootoutArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("shootout", "the counter and CLOCK_MONOTONIC"),
            ("shootout monotonic monotonic_coarse", "two clocks by name"),
        ],
        exits: Exits { undecided: "they could not be compared", ..ALWAYS },
        ..NO_MORE
    };
}

impl Question for ShootoutArgs {
    fn document(&self) -> (Option<&'static str>, &OutputArgs) {
        (Some("clockscope.shootout"), &self.output)
    }

    fn run(&self) -> Result<Exit> {
        shootout(self)
    }
}

fn shootout(args: &ShootoutArgs) -> Result<Exit> {
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let (a, b, duration_s) = (args.a.clone(), args.b.clone(), args.duration.0);
        clockscope_measure::shootout(session, &ShootoutRequest { a, b, duration_s, cpu: args.cpu }, progress)
    };
    answer(ask, (&args.output, Drawing::default()), "--cpu", end_of_shootout, Document::Shootout)
}

/// A clock that cannot be read leaves nothing to be compared.
fn end_of_shootout(found: &Shootout) -> Exit {
    let is_compared = found.metrics.iter().any(|metric| metric.a.is_known() && metric.b.is_known());
    if is_compared { Exit::Success } else { Exit::Unanswered }
}
