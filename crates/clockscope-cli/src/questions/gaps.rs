//! The question *gaps*: interruptions of a thread, and their causes.

use anyhow::Result;
use clap::Args;
use clockscope_measure::{GapsRequest, MeasureError};
use clockscope_records::Gaps;
use clockscope_records::units::time;

use crate::duration::{self, Seconds};
use crate::ending::{ALWAYS, Ending, Exits, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::numbers::{self, Cpus};
use crate::options::OutputArgs;
use crate::run::{Run, warn_of_switched_clocksource};
use crate::usage::{UsageError, explained};

/// Shortest threshold of a gap, in seconds: no loop that reads a clock is much faster.
const MIN_GAP_S: f64 = 100e-9;

#[derive(Args, Debug)]
pub(crate) struct GapsArgs {
    /// Shortest time between two reads that counts as a gap
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) threshold: Seconds,
    /// Time for observing
    #[arg(long, short, value_name = "TIME", default_value = "2s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// CPUs to observe, all at once, e.g. 0-3,8 [default: the current one]
    #[arg(long, visible_alias = "cpu", value_name = "LIST", value_parser = numbers::cpus, allow_negative_numbers = true)]
    pub(crate) cpus: Option<Cpus>,
    /// Observe all CPUs that this process may run on
    #[arg(long, conflicts_with = "cpus")]
    pub(crate) all_cpus: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl GapsArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[("gaps", "this CPU"), ("gaps --all-cpus --threshold 10us", "all CPUs, long gaps only")],
        exits: Exits { undecided: "a CPU could not be observed", ..ALWAYS },
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        if self.threshold.0 < MIN_GAP_S {
            let requested = time(self.threshold.0 * 1e9);
            let expected = "expected at least 100ns, since reading a clock takes as long";
            return Err(UsageError(format!("--threshold: {requested} is too short: {expected}")).into());
        }
        let cpus = if self.all_cpus {
            let allowed = clockscope_system::affinity::allowed().map_err(MeasureError::from);
            Some(allowed.map_err(|error| explained(error, "--all-cpus"))?)
        } else {
            self.cpus.as_ref().map(Cpus::list)
        };
        let request = GapsRequest { threshold_s: self.threshold.0, duration_s: self.duration.0, cpus };
        let run = Run::open("clockscope.gaps", &self.output, &Inputs::default())?;
        warn_of_switched_clocksource();
        let found = run.ask("--cpus", |session, progress| clockscope_measure::gaps(session, &request, progress))?;
        run.finish(found, completeness)
    }
}

/// Exit of `gaps`: the losses of a CPU that could not be looked at, or not at all, were not
/// determined.
fn completeness(gaps: &Gaps) -> Exit {
    if gaps.gaps.iter().all(|cpu| cpu.seconds == 0.0) {
        Exit::Unanswered
    } else if gaps.gaps.iter().any(|cpu| cpu.seconds == 0.0 || cpu.reason.is_some()) {
        Exit::Undetermined
    } else {
        Exit::Success
    }
}
