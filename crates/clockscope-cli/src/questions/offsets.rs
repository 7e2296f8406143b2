//! The question *offsets*: distances between the counters of CPUs.

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockscope_measure::{OffsetsRequest, Progress, Session};
use clockscope_records::{Document, Offsets};

use crate::answer::{Drawing, Question, answer, of_pairs};
use crate::duration::{self, Seconds};
use crate::ending::{Ending, FINDINGS, NO_MORE};
use crate::exit::Exit;
use crate::findings::Shows;
use crate::numbers::Cpus;
use crate::options::{OutputArgs, PairArgs};

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

/// Something that `offsets` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OffsetsFinding {
    /// Counters that are certainly apart
    Unsynchronized,
    /// A pair of CPUs that could not be tested
    Unknown,
}

impl Shows<OffsetsFinding> for Offsets {
    fn shows(&self, finding: OffsetsFinding) -> Option<bool> {
        match finding {
            OffsetsFinding::Unsynchronized if self.apart > 0 => Some(true),
            OffsetsFinding::Unsynchronized => self.within_ns.get().map(|_| false),
            OffsetsFinding::Unknown => Some(!self.within_ns.is_known()).filter(|_| self.untestable.is_none()),
        }
    }
}

impl OffsetsArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[("offsets", "all CPUs"), ("offsets --serial -d 10s", "one pair at a time")],
        exits: FINDINGS,
        ..NO_MORE
    };
}

impl Question for OffsetsArgs {
    fn document(&self) -> (Option<&'static str>, &OutputArgs) {
        (Some("clockscope.offsets"), &self.output)
    }

    fn run(&self) -> Result<Exit> {
        offsets(self)
    }
}

fn offsets(args: &OffsetsArgs) -> Result<Exit> {
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let request = OffsetsRequest {
            duration_s: args.duration.0,
            cpus: args.pairs.cpus.as_ref().map(Cpus::list),
            serial: args.pairs.serial,
        };
        clockscope_measure::offsets(session, &request, progress)
    };
    let end = |found: &Offsets| {
        let is_checked = found.pairs.iter().any(|pair| pair.apart.is_known());
        of_pairs(is_checked, found.untestable.as_ref()).or(found.exit(&args.fail_on))
    };
    answer(ask, (&args.output, Drawing::default()), "--cpus", end, Document::Offsets)
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Figure, texts};

    use super::*;

    #[test]
    fn counters_that_were_not_all_compared_are_not_known_to_agree() {
        let finding = |apart: u64, within_ns: Option<f64>| {
            let within_ns = Figure::of(within_ns, texts::NO_FORWARD_STEP);
            Offsets { apart, within_ns, ..Offsets::default() }.shows(OffsetsFinding::Unsynchronized)
        };
        assert_eq!([finding(0, Some(80.0)), finding(0, None), finding(1, None)], [Some(false), None, Some(true)]);
    }
}
