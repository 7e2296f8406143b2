//! The questions across CPUs and over time.

use anyhow::Result;
use clockscope_measure::{
    GapsRequest, Live, MeasureError, OffsetsRequest, OrderRequest, Progress, RateRequest, Session, SleepRequest,
    ThisMachine,
};
use clockscope_records::units::{PpmBound, time};
use clockscope_records::{
    Contents, CpuGaps, CpuLimit, Document, Envelope, Gaps, Offsets, Order, PairsReason, RateRecord, Rates, Unknown,
};

use super::common::{Drawing, RequestedTimer, selected, stop_on_signals, write};
use crate::args::{GapsArgs, OffsetsArgs, OrderArgs, OutputArgs, RateArgs, SleepArgs};
use crate::exit::Exit;
use crate::findings::Shows;
use crate::numbers::Cpus;
use crate::output::Destination;
use crate::progress::Bar;
use crate::usage::{UsageError, explained};

/// Time for which `rate` compares if nothing else is said, in seconds; and the longest time if a
/// bound is asked for.
const RATE_S: f64 = 2.0;
const RATE_UNTIL_S: f64 = 60.0;
/// Shortest threshold of a gap, in seconds: no loop that reads a clock is much faster.
const SHORTEST_GAP_S: f64 = 100e-9;

pub(super) fn order(args: &OrderArgs) -> Result<Exit> {
    let catalog = selected(&args.clocks)?;
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let request = OrderRequest {
            duration_s: args.duration.0,
            cpus: list(args.pairs.cpus.as_ref()),
            serial: args.pairs.serial,
            handoff: args.handoff.into(),
        };
        clockscope_measure::order(session, catalog, &request, progress)
    };
    let end = |found: &Order| {
        let is_tested = found.sequences.iter().any(|sequence| sequence.handoffs > 0);
        of_pairs(is_tested, found.untestable.as_ref()).or(found.exit(&args.fail_on))
    };
    answer(ask, (&args.output, Drawing::default()), "--cpus", end, Document::Order)
}

pub(super) fn offsets(args: &OffsetsArgs) -> Result<Exit> {
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let request = OffsetsRequest {
            duration_s: args.duration.0,
            cpus: list(args.pairs.cpus.as_ref()),
            serial: args.pairs.serial,
        };
        clockscope_measure::offsets(session, &request, progress)
    };
    let end = |found: &Offsets| {
        let is_tested = found.pairs.iter().any(|pair| pair.apart.is_known());
        of_pairs(is_tested, found.untestable.as_ref()).or(found.exit(&args.fail_on))
    };
    answer(ask, (&args.output, Drawing::default()), "--cpus", end, Document::Offsets)
}

/// Returns the end of a question about pairs of CPUs. One that tested no pair is undetermined, but
/// where there is one CPU no other can disagree.
fn of_pairs(is_tested: bool, why: Option<&Unknown>) -> Exit {
    let is_alone = |why: &Unknown| match why {
        Unknown::Pairs(PairsReason::OneCpu { limit, .. }) => *limit == Some(CpuLimit::Machine),
        _ => false,
    };
    if is_tested || why.is_some_and(is_alone) { Exit::Success } else { Exit::Undetermined }
}

pub(super) fn gaps(args: &GapsArgs) -> Result<Exit> {
    if args.threshold.0 < SHORTEST_GAP_S {
        let asked = time(args.threshold.0 * 1e9);
        let expected = "expected at least 100ns, since reading a clock takes as long";
        return Err(UsageError(format!("--threshold: {asked} is too short: {expected}")).into());
    }
    let cpus = match (&args.cpus, args.all_cpus) {
        (_, true) => Some(
            clockscope_system::affinity::allowed()
                .map_err(MeasureError::from)
                .map_err(|error| explained(error, "--all-cpus"))?,
        ),
        (cpus, false) => list(cpus.as_ref()),
    };
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let (threshold_s, duration_s) = (args.threshold.0, args.duration.0);
        clockscope_measure::gaps(session, &GapsRequest { threshold_s, duration_s, cpus }, progress)
    };
    answer(ask, (&args.output, Drawing::default()), "--cpus", looked, Document::Gaps)
}

/// Exit of `gaps`: the losses of a CPU that could not be looked at, or not at all, were not
/// determined.
fn looked(gaps: &Gaps) -> Exit {
    let is_unseen = |cpu: &CpuGaps| cpu.seconds == 0.0 || cpu.reason.is_some();
    if gaps.gaps.iter().any(is_unseen) { Exit::Undetermined } else { Exit::Success }
}

pub(super) fn sleep(args: &SleepArgs) -> Result<Exit> {
    let timer = RequestedTimer::of(&args.timer)?;
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let request = SleepRequest { duration_s: args.duration.0, cpu: args.cpu };
        let mut answer = clockscope_measure::sleep(session, &request, progress)?;
        timer.note(&mut answer);
        Ok(answer)
    };
    answer(ask, (&args.output, Drawing::default()), "--cpu", |found| found.exit(&args.fail_on), Document::Sleep)
}

pub(super) fn rate(args: &RateArgs) -> Result<Exit> {
    let default = if args.until.is_some() { RATE_UNTIL_S } else { RATE_S };
    let destination = Destination::open(args.output.output.as_deref())?;
    let stop = stop_on_signals()?;
    let session = Session::new(&ThisMachine, &stop);
    let mut bar = Bar::new(args.output.quiet, session.environment().counter_readable.get());
    let request = RateRequest {
        clocks: args.clocks.all(),
        paths: args.clocks.path.into(),
        reference: args.reference.clone(),
        duration_s: args.duration.map_or(default, |duration| duration.0),
        until_ppm: args.until.map(|until| until.0),
        cpu: args.cpu,
    };
    let asked = clockscope_measure::rate(&session, &request, &mut |live| bar.describe(live.share, || line(live)));
    drop(bar);
    finish(
        asked.map_err(|error| explained(error, "--cpu"))?,
        (&args.output, Drawing { ascii: args.ascii, plot: args.plot, ..Drawing::default() }),
        destination,
        |found| end_of_rate(found, args),
        Document::Rates,
    )
}

/// A bound that was asked for and not reached could not be determined. Of clocks that were not
/// named, those count that could be read.
fn end_of_rate(found: &Rates, args: &RateArgs) -> Exit {
    let reached = |until: f64| {
        let is_asked = |clock: &&RateRecord| clock.available || !args.clocks.all().is_empty();
        let bounds: Vec<Option<f64>> =
            found.clocks.iter().filter(is_asked).map(|clock| clock.bound_ppm.get()).collect();
        !bounds.is_empty() && bounds.iter().all(|bound| bound.is_some_and(|bound| bound <= until))
    };
    match found.exit(&args.fail_on) {
        Exit::Success if found.until_ppm.get().is_some_and(|until| !reached(until)) => Exit::Undetermined,
        exit => exit,
    }
}

/// The line that shows what is known while a comparison runs.
fn line(live: &Live) -> String {
    match (live.ppm, live.bound_ppm) {
        (Some(ppm), Some(bound)) => {
            format!("{:.1} s, {}: {ppm:+.3} ± {} ppm", live.seconds, live.clock, PpmBound(bound))
        }
        (None, Some(bound)) => format!("{:.1} s, {}: ± {} ppm", live.seconds, live.clock, PpmBound(bound)),
        _ => format!("{:.1} s", live.seconds),
    }
}

fn list(cpus: Option<&Cpus>) -> Option<Vec<u32>> {
    cpus.map(|cpus| cpus.0.clone())
}

/// Asks a question, and writes its answer so. `cpu` is the option that names CPUs.
pub(super) fn answer<F: Contents>(
    ask: impl FnOnce(&Session<'_>, &mut Progress<'_>) -> Result<Envelope<F>, MeasureError>,
    (output, drawing): (&OutputArgs, Drawing),
    cpu: &str,
    exit: impl FnOnce(&F) -> Exit,
    document: fn(Envelope<F>) -> Document,
) -> Result<Exit> {
    let destination = Destination::open(output.output.as_deref())?;
    finish(asked(ask, output, cpu)?, (output, drawing), destination, exit, document)
}

/// Asks a question of this machine.
pub(super) fn asked<F: Contents>(
    ask: impl FnOnce(&Session<'_>, &mut Progress<'_>) -> Result<Envelope<F>, MeasureError>,
    output: &OutputArgs,
    cpu: &str,
) -> Result<Envelope<F>> {
    let stop = stop_on_signals()?;
    let session = Session::new(&ThisMachine, &stop);
    let mut bar = Bar::new(output.quiet, session.environment().counter_readable.get());
    let asked = ask(&session, &mut |share| bar.show(share));
    drop(bar);
    asked.map_err(|error| explained(error, cpu))
}

fn finish<F: Contents>(
    answer: Envelope<F>,
    (output, drawing): (&OutputArgs, Drawing),
    destination: Destination,
    exit: impl FnOnce(&F) -> Exit,
    document: fn(Envelope<F>) -> Document,
) -> Result<Exit> {
    let exit = if answer.is_interrupted() { Exit::Interrupted } else { exit(&answer.found) };
    write(&document(answer), output, drawing, destination)?;
    Ok(exit)
}
