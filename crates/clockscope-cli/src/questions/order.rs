//! The question *order*: readings that go back from CPU to CPU, and offsets between their counters.

use anyhow::Result;
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use clockscope_measure::{Handoff, OffsetsRequest, OrderRequest};
use clockscope_records::{CpuLimit, Offsets, Order, PairsReason, Unknown};

use crate::duration::{self, Seconds};
use crate::ending::{Ending, FINDINGS, NO_MORE};
use crate::exit::Exit;
use crate::findings::Shows;
use crate::inputs::Inputs;
use crate::numbers::Cpus;
use crate::options::{ClockArgs, OutputArgs, PairArgs};
use crate::run::{Run, warn_of_switched_clocksource};
use crate::usage::UsageError;

/// Time for which offsets are measured by default.
const OFFSETS_DURATION: &str = "1s";

#[derive(Args, Debug)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// How readings are handed from CPU to CPU
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    pub(crate) handoff: HandoffArg,
    /// Also test the order of a thread's own stores and its readings, for a quarter of the time
    #[arg(long)]
    pub(crate) stores: bool,
    /// Measure instead how far apart the CPUs' counters are, with bounds
    #[arg(long, conflicts_with_all = ["names", "clocks", "path", "handoff", "stores"])]
    pub(crate) offsets: bool,
    /// Time for all clocks and pairs together; many or busy CPUs take longer; 1s with --offsets
    #[arg(long, short, value_name = "TIME", default_value = "2s", default_value_if("offsets", ArgPredicate::IsPresent, OFFSETS_DURATION), value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<OrderFinding>,
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

impl HandoffArg {
    const fn ways(self) -> &'static [Handoff] {
        match self {
            Self::Mailbox => &[Handoff::Mailbox],
            Self::Lock => &[Handoff::Lock],
            Self::Both => &Handoff::ALL,
        }
    }
}

/// Something that `order` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderFinding {
    /// A reading of an ordered sequence that went back; unordered ones promise nothing
    Regression,
    /// Counters that are certainly apart; needs --offsets
    Unsynchronized,
    /// A clock that can be read, or a pair of CPUs, that could not be tested, or not to the end
    Unknown,
}

impl Shows<OrderFinding> for Order {
    fn shows(&self, finding: OrderFinding) -> Option<bool> {
        let available: Vec<_> = self.sequences.iter().filter(|sequence| sequence.available).collect();
        let is_untested = self.untestable.is_some()
            || !self.lost.is_empty()
            || available.is_empty()
            || available.iter().any(|sequence| !sequence.regressions.is_known() || sequence.reason.is_some());
        let has_regressed =
            available.iter().any(|sequence| sequence.ordered && sequence.regressions.get().is_some_and(|n| n > 0));
        match finding {
            OrderFinding::Regression if has_regressed => Some(true),
            OrderFinding::Regression if !is_untested => Some(false),
            OrderFinding::Unknown if self.untestable.is_none() => Some(is_untested),
            _ => None,
        }
    }
}

impl Shows<OrderFinding> for Offsets {
    fn shows(&self, finding: OrderFinding) -> Option<bool> {
        match finding {
            OrderFinding::Regression => None,
            OrderFinding::Unsynchronized if self.apart > 0 => Some(true),
            OrderFinding::Unsynchronized => self.within_ns.get().map(|_| false),
            OrderFinding::Unknown => Some(!self.within_ns.is_known()).filter(|_| self.untestable.is_none()),
        }
    }
}

impl OrderArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("order", "all CPUs, and all clocks that step often enough"),
            ("order tsc --cpus 0-3", "one clock on some CPUs"),
            ("order rdtscp monotonic --stores", "also readings after the thread's own stores"),
            ("order --offsets", "how far apart the counters of all CPUs are"),
            ("order --offsets --serial -d 10s", "one pair at a time"),
        ],
        exits: FINDINGS,
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        if self.offsets { offsets(self) } else { order(self) }
    }
}

fn order(args: &OrderArgs) -> Result<Exit> {
    if args.fail_on.contains(&OrderFinding::Unsynchronized) {
        return Err(UsageError("--fail-on unsynchronized: only --offsets finds that: add it".to_owned()).into());
    }
    let mut catalog = args.clocks.selected()?;
    if args.clocks.all().is_empty() {
        let share_ns = args.duration.0 * 1e9 / catalog.size().max(1) as f64;
        catalog = catalog.stepping_within(share_ns);
    }
    let request = OrderRequest {
        duration_s: args.duration.0,
        cpus: args.pairs.cpus.as_ref().map(Cpus::list),
        serial: args.pairs.serial,
        handoffs: args.handoff.ways(),
        stores: args.stores,
    };
    let run = Run::open("clockscope.order", &args.output, &Inputs::default())?;
    warn_of_switched_clocksource();
    let found =
        run.ask("--cpus", |session, progress| clockscope_measure::order(session, catalog, &request, progress))?;
    run.finish(found, |found| {
        let is_tested = found.sequences.iter().any(|sequence| sequence.handoffs > 0);
        let completeness = if is_tested { Exit::Success } else { untested(found.untestable.as_ref()) };
        completeness.or(found.exit(&args.fail_on))
    })
}

fn offsets(args: &OrderArgs) -> Result<Exit> {
    if args.fail_on.contains(&OrderFinding::Regression) {
        let wrong = "--fail-on regression: --offsets hands no readings over: leave one of the two out";
        return Err(UsageError(wrong.to_owned()).into());
    }
    let request = OffsetsRequest {
        duration_s: args.duration.0,
        cpus: args.pairs.cpus.as_ref().map(Cpus::list),
        serial: args.pairs.serial,
    };
    let run = Run::open("clockscope.offsets", &args.output, &Inputs::default())?;
    warn_of_switched_clocksource();
    let found = run.ask("--cpus", |session, progress| clockscope_measure::offsets(session, &request, progress))?;
    run.finish(found, |found| {
        let is_tested = found.pairs.iter().any(|pair| pair.apart.is_known());
        let completeness = if is_tested { Exit::Success } else { untested(found.untestable.as_ref()) };
        completeness.or(found.exit(&args.fail_on))
    })
}

/// Returns the exit of a run that tested no pair of CPUs. It answers nothing; but where there is
/// one CPU, no other can disagree.
fn untested(reason: Option<&Unknown>) -> Exit {
    match reason {
        Some(Unknown::Pairs(PairsReason::OneCpu { limit: Some(CpuLimit::Machine), .. })) => Exit::Success,
        _ => Exit::Unanswered,
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Figure, texts};

    use super::*;

    #[test]
    fn counters_that_were_not_all_compared_are_not_known_to_agree() {
        let finding = |apart: u64, within_ns: Option<f64>| {
            let within_ns = Figure::of(within_ns, texts::NO_FORWARD_STEP);
            Offsets { apart, within_ns, ..Offsets::default() }.shows(OrderFinding::Unsynchronized)
        };
        assert_eq!([finding(0, Some(80.0)), finding(0, None), finding(1, None)], [Some(false), None, Some(true)]);
    }
}
