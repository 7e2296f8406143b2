//! Arguments of `order` and `offsets`.

use clap::{Args, ValueEnum};
use clockscope_measure::Handoff;

use super::clocks::ClockArgs;
use super::output::OutputArgs;
use crate::duration::{self, Seconds};
use crate::findings::{OffsetsFinding, OrderFinding};
use crate::numbers::{self, Cpus};

/// Options that choose the CPUs of a tournament.
#[derive(Args, Debug)]
pub(crate) struct PairArgs {
    /// CPUs that take part, e.g. 0-3,8 [default: all that this process may run on]
    #[arg(long, value_name = "LIST", value_parser = numbers::cpus)]
    pub(crate) cpus: Option<Cpus>,
    /// Test one pair of CPUs at a time instead of all pairs of a round at once
    #[arg(long)]
    pub(crate) serial: bool,
}

#[derive(Args, Debug)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// How readings are handed from CPU to CPU
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    pub(crate) handoff: HandoffArg,
    /// Time for all clocks and pairs together; many or busy CPUs take longer
    #[arg(long, short, value_name = "TIME", default_value = "2s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<OrderFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct OffsetsArgs {
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Time for all pairs together; many or busy CPUs take longer
    #[arg(long, short, value_name = "TIME", default_value = "1s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<OffsetsFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Way in which readings are handed from CPU to CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HandoffArg {
    /// Each CPU publishes its readings and takes the other's newest
    Mailbox,
    /// Each CPU in its turn reads the clock while it holds a lock
    Lock,
    /// One after the other
    #[default]
    Both,
}

impl From<HandoffArg> for Handoff {
    fn from(way: HandoffArg) -> Self {
        match way {
            HandoffArg::Mailbox => Self::Mailbox,
            HandoffArg::Lock => Self::Lock,
            HandoffArg::Both => Self::Both,
        }
    }
}
