//! The question *order*: whether a reading that one CPU hands to another is ever larger than the
//! one taken after it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use clockscope_records::{
    ClockReason, CpusReason, Envelope, Figure, HandoffPair, Handoffs, LostPair, Order, PairsReason, Sequence, Unknown,
    texts,
};
use clockscope_system::Errno;

use super::pacing::Pacing;
use super::stores;
use super::team::{PairResult, play_round};
use super::tournament;
use crate::instrument::bench::{Bench, Progress, Setup};
use crate::instrument::catalog::{Catalog, CatalogEntry, ErasedClock};
use crate::instrument::error::MeasureError;
use crate::instrument::pair::handoff::{HandoffState, Received};
use crate::instrument::pair::{Deadline, Rendezvous, Side};
use crate::instrument::session::Session;
use crate::instrument::timer::TimerCalibration;
use crate::platform::{Platform, SharedWord, ThreadError};

/// Intended duration of a round, in ns: long enough that starting its threads does not matter,
/// short enough to show progress.
const ROUND_NS: f64 = 250e6;
/// Shortest time for one clock and pair, in ns: thousands of handoffs.
const MIN_SLICE_NS: f64 = 0.5e6;
/// Handoffs of a clock, in each way, that are waited for at first: fewer show nothing.
pub(crate) const MIN_HANDOFFS: u64 = 1000;
/// The longest time to wait for them at once, in ns: on CPUs that run other programs, both threads
/// run at the same time within a few turns of the scheduler.
const MAX_WAIT_NS: f64 = 30e6;

/// Share of the time for stores before readings, where they are tested.
const STORES_SHARE: f64 = 0.25;

/// Way in which readings are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// Through mailboxes.
    Mailbox,
    /// Under a lock.
    Lock,
}

impl Handoff {
    /// All ways.
    pub const ALL: [Self; 2] = [Self::Mailbox, Self::Lock];
}

/// Request for a test of order: what to test, and how.
#[derive(Clone, Debug)]
pub struct OrderRequest {
    /// Time for all clocks and pairs together, in seconds. On many CPUs it takes more: half a
    /// millisecond for each clock and round at least. On busy ones it takes up to as long again,
    /// until each clock was handed over often enough.
    pub duration_s: f64,
    /// CPUs that take part; `None` for all that the process may run on.
    pub cpus: Option<Vec<u32>>,
    /// Test one pair of CPUs at a time.
    pub serial: bool,
    /// Ways in which readings are handed over, one after the other.
    pub handoffs: &'static [Handoff],
    /// Test also whether a reading is ordered after the thread's own earlier stores, on the first
    /// two CPUs, for a quarter of the time.
    pub stores: bool,
}

/// Tests every clock of the catalog on every pair of CPUs: n - 1 rounds for n CPUs, in memory
/// that grows with n. Starts two threads a pair and round.
///
/// # Errors
/// A CPU that was asked for cannot be used, or no clock answers that measures time.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn order<P: Platform>(
    session: &Session<'_, P>,
    catalog: Catalog<P>,
    request: &OrderRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Order>, MeasureError> {
    let OrderRequest { duration_s, ref cpus, serial, handoffs, stores } = *request;
    let cpus = super::cpus(session.platform, cpus.as_deref())?;
    let stores_share = if stores { STORES_SHARE } else { 0.0 };
    let stores_ns = duration_s * 1e9 * stores_share;
    let duration_ns = duration_s * 1e9 - stores_ns;
    let longest_ns = f64::INFINITY;
    let plan = OrderSettings { cpus, serial, handoffs, duration_ns, longest_ns, longest_missing_ns: duration_ns };
    let mut setup = Setup::new(session, catalog, None)?;
    let rows = std::mem::take(&mut setup.catalog.entries);
    let sampling = setup.bench.calibrate();
    let mut found = find(&setup, &rows, &plan, &mut |share| progress(share * (1.0 - stores_share)));
    if let ([writer, reader, ..], true, None) = (plan.cpus.as_slice(), stores, &found.untestable) {
        found.stores = Some(stores::find(&setup.bench, &rows, (*writer, *reader), stores_ns));
        progress(1.0);
    }
    Ok(setup.answer((duration_s, &sampling), Some(&plan.cpus), found))
}

/// CPUs to test, the manner, and the time for it.
pub(crate) struct OrderSettings {
    pub(crate) cpus: Vec<u32>,
    pub(crate) serial: bool,
    pub(crate) handoffs: &'static [Handoff],
    pub(crate) duration_ns: f64,
    /// Time after which no turn is begun any more, in ns: on busy CPUs the threads wait long for
    /// each other.
    pub(crate) longest_ns: f64,
    /// Time after which no turn is begun any more for clocks that were handed over too rarely to
    /// show anything, in ns.
    pub(crate) longest_missing_ns: f64,
}

/// Tests these clocks.
pub(crate) fn find<P: Platform>(
    setup: &Setup<'_, P>,
    rows: &[CatalogEntry<P>],
    plan: &OrderSettings,
    progress: &mut Progress<'_>,
) -> Order {
    let bench = &setup.bench;
    let rounds = tournament::rounds(plan.cpus.len());
    let mut order = Order { cpus: plan.cpus.clone(), rounds: rounds as u32, serial: plan.serial, ..Order::default() };
    let mut untestable = super::untestable(&plan.cpus, &setup.session.environment().cpu);
    let tasks = tasks(rows, plan.handoffs);
    let mut tallies = vec![Tally::default(); tasks.len()];
    let mut pairs = PairTallies::new();
    if untestable.is_none() {
        let mut seen = Seen { tallies: &mut tallies, pairs: &mut pairs, lost: &mut order.lost };
        order.pairs_checked = play(bench, &tasks, plan, &mut seen, progress);
        let is_idle = tallies.iter().all(|tally| tally.received.handoffs == 0);
        if let Some(lost) = order.lost.first()
            && is_idle
        {
            untestable = Some(PairsReason::AllLost { because: Box::new(lost.reason.clone()) });
        }
    }
    order.untestable = untestable.map(Unknown::from);
    let bare = &tallies[0];
    let reason = if bare.received.handoffs > 0 { texts::UNTIMED } else { texts::NO_HANDOFF_IN_TIME };
    let reason = order.untestable.clone().unwrap_or(reason.into());
    order.bare_handoffs_per_second = Figure::of(bare.timed.per_second(), reason);
    let sequences = rows.iter().enumerate().map(|(index, row)| {
        let ways = Handoff::ALL.map(|way| {
            let tally = tasks.iter().zip(&tallies).find(|(task, _)| task.is_of(index, way));
            tally.map(|(_, tally)| tally)
        });
        record(row, ways, bench, (order.untestable.as_ref(), plan.longest_ns))
    });
    order.sequences = sequences.collect();
    order.pairs = pairs.into_iter().map(|(pair, tally)| tally.record(pair)).collect();
    order
}

/// Returns why a clock was not handed over; `None` if it was.
fn not_handed_over<P: Platform>(row: &CatalogEntry<P>) -> Option<ClockReason> {
    row.failure_reason().cloned().or_else(|| super::unfit(row))
}

/// One clock, handed over in one way, or messages without a clock.
enum HandoffTask<'a, P: Platform> {
    Bare,
    Clock { index: usize, row: &'a CatalogEntry<P>, clock: &'a dyn ErasedClock<P>, way: Handoff },
}

/// The bare messages first, then each clock in each way.
fn tasks<'a, P: Platform>(rows: &'a [CatalogEntry<P>], ways: &'a [Handoff]) -> Vec<HandoffTask<'a, P>> {
    let mut tasks = vec![HandoffTask::Bare];
    for (index, row) in rows.iter().enumerate() {
        if let (Ok(clock), None) = (&row.sampler, super::unfit(row)) {
            tasks.extend(ways.iter().map(|way| HandoffTask::Clock { index, row, clock: &**clock, way: *way }));
        }
    }
    tasks
}

impl<P: Platform> HandoffTask<'_, P> {
    /// Returns whether it is the clock of this row, handed over in this way.
    fn is_of(&self, row: usize, handoff: Handoff) -> bool {
        matches!(self, Self::Clock { index, way, .. } if (*index, *way) == (row, handoff))
    }

    /// Returns true if its reads are ordered; `None` of bare messages.
    fn is_ordered(&self) -> Option<bool> {
        if let Self::Clock { row, .. } = self { Some(row.info.is_ordered) } else { None }
    }

    fn start(&self, handoff: &HandoffState<'_, P>) -> Result<(), Errno> {
        if let Self::Clock { clock, .. } = self { clock.start_handoff(handoff) } else { Ok(()) }
    }

    fn run(&self, handoff: &HandoffState<'_, P>, side: Side, keeper: Option<Deadline<'_, P>>) -> Received {
        match self {
            Self::Bare => handoff.bare(side, keeper),
            Self::Clock { clock, way: Handoff::Mailbox, .. } => clock.mailbox(handoff, side, keeper),
            Self::Clock { clock, way: Handoff::Lock, .. } => clock.lock(handoff, side, keeper),
        }
    }
}

/// Findings of a task so far, all pairs together.
#[derive(Clone, Debug, Default)]
struct Tally {
    received: Received,
    /// From which CPU to which the largest step was.
    worst_pair: Option<[u32; 2]>,
    pace: Pacing,
    timed: Timed,
}

/// Readings that two CPUs have handed to each other so far, all tasks together.
#[derive(Clone, Copy, Debug, Default)]
struct PairTally {
    bare: Timed,
    handoffs: u64,
    ordered_regressions: u64,
    unordered_regressions: u64,
}

/// By the pair, the lower CPU first.
type PairTallies = BTreeMap<(u32, u32), PairTally>;

impl PairTally {
    /// Adds what both sides received in a slice of the bare way, or of a clock that is ordered or
    /// not.
    fn add_slice(&mut self, is_ordered: Option<bool>, sides: [&Received; 2]) {
        let handoffs: u64 = sides.iter().map(|side| side.handoffs).sum();
        let regressions: u64 = sides.iter().map(|side| side.regressions).sum();
        match is_ordered {
            None => self.bare = [self.bare, Timed::from_elapsed(handoffs, sides[0].elapsed_ns)].into_iter().sum(),
            Some(true) => self.ordered_regressions += regressions,
            Some(false) => self.unordered_regressions += regressions,
        }
        self.handoffs += if is_ordered.is_some() { handoffs } else { 0 };
    }

    fn record(self, (a, b): (u32, u32)) -> HandoffPair {
        let Self { bare, handoffs, ordered_regressions, unordered_regressions } = self;
        let reason = if bare.handoffs > 0 { texts::UNTIMED } else { texts::NO_HANDOFF_IN_TIME };
        let handoff_ns = Figure::of(bare.per_second().map(|per_second| 1e9 / per_second), reason);
        HandoffPair { a, b, handoff_ns, handoffs, ordered_regressions, unordered_regressions }
    }
}

/// Findings of a tournament so far.
struct Seen<'a> {
    /// By task.
    tallies: &'a mut [Tally],
    pairs: &'a mut PairTallies,
    lost: &'a mut Vec<LostPair>,
}

/// Handoffs of the slices whose time is known, and that time in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    handoffs: u64,
    ns: u64,
}

impl Timed {
    /// Handoffs that took so long. Those that took an unknown time would make the others look
    /// faster.
    fn from_elapsed(handoffs: u64, elapsed_ns: Option<u64>) -> Self {
        elapsed_ns.map(|ns| Self { handoffs, ns }).unwrap_or_default()
    }

    fn per_second(self) -> Option<f64> {
        (self.handoffs > 0 && self.ns > 0).then(|| self.handoffs as f64 / self.ns as f64 * 1e9)
    }
}

impl std::iter::Sum for Timed {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, timed| Self {
            handoffs: sum.handoffs + timed.handoffs,
            ns: sum.ns.saturating_add(timed.ns),
        })
    }
}

impl Tally {
    /// Returns true while a clock that answers was handed over too rarely to show anything.
    fn lacks_handoffs(&self) -> bool {
        self.received.error.is_none() && self.received.handoffs < MIN_HANDOFFS
    }

    /// Adds what both sides received in a slice of `slice_ns`, of which the first keeps the time.
    fn add_slice(&mut self, (a, b): (u32, u32), [first, second]: [&Received; 2], slice_ns: u64) {
        // What it took longer, a thread may have lost after its last reading.
        self.pace.add(&first.pace, first.elapsed_ns.unwrap_or(0).min(slice_ns));
        self.add(b, a, first);
        self.add(a, b, second);
        self.timed =
            [self.timed, Timed::from_elapsed(first.handoffs + second.handoffs, first.elapsed_ns)].into_iter().sum();
    }

    /// Adds what arrived on `to` from `from`.
    fn add(&mut self, from: u32, to: u32, received: &Received) {
        let all = &mut self.received;
        all.handoffs += received.handoffs;
        all.regressions += received.regressions;
        all.error = all.error.or(received.error);
        if received.regressions > 0 && (self.worst_pair.is_none() || received.worst > all.worst) {
            all.worst = received.worst;
            self.worst_pair = Some([from, to]);
        }
    }
}

/// Plays the whole tournament: first until each clock was handed over often enough, however long
/// the CPUs' other programs keep the threads apart, then several times if there is time. Returns
/// how many pairs were tested.
fn play<P: Platform>(
    bench: &Bench<'_, P>,
    tasks: &[HandoffTask<'_, P>],
    plan: &OrderSettings,
    seen: &mut Seen<'_>,
    progress: &mut Progress<'_>,
) -> u64 {
    let (players, rounds) = (plan.cpus.len(), tournament::rounds(plan.cpus.len()));
    let turns_in_round = if plan.serial { players / 2 } else { 1 };
    let passes = (plan.duration_ns / (ROUND_NS * (rounds * turns_in_round) as f64)).round().max(1.0);
    let since = bench.calibrate();
    let slices = passes * (rounds * turns_in_round * tasks.len()) as f64;
    let slice_ns = (plan.duration_ns / slices).max(MIN_SLICE_NS) as u64;
    let whole = passes * rounds as f64;
    let mut checked = 0;
    let mut missing: Vec<usize> = (0..tasks.len()).collect();
    let each_ns = plan.longest_missing_ns / (rounds * turns_in_round * tasks.len()) as f64;
    let wait_ns = each_ns.clamp(MIN_SLICE_NS, MAX_WAIT_NS) as u64;
    while !missing.is_empty() && !bench.is_stopped() {
        let late_ns = plan.longest_missing_ns;
        let turn = Turn { tasks: &missing, slice_ns: wait_ns, enough: MIN_HANDOFFS, since: &since, late_ns };
        if turn.is_late(bench) {
            break;
        }
        let tested = pass(bench, tasks, plan, &turn, seen, &mut |_| ());
        // No thread could be started there, or the CPUs are gone.
        if tested == 0 {
            break;
        }
        checked = checked.max(tested);
        missing.retain(|index| seen.tallies[*index].lacks_handoffs());
    }
    // However long that took, some time is left for more.
    let late_ns = plan.longest_ns.max(bench.elapsed_ns(&since) + plan.longest_ns / 2.0);
    let all: Vec<usize> = (0..tasks.len()).collect();
    let turn = Turn { tasks: &all, slice_ns, enough: u64::MAX, since: &since, late_ns };
    for number in 0..passes as u64 {
        let before = number as f64 * rounds as f64;
        let tested = pass(bench, tasks, plan, &turn, seen, &mut |done| progress((before + done) / whole));
        checked = checked.max(tested);
    }
    checked
}

/// Tasks that are played on each pair, for how long each, and after how many handoffs it ends
/// before.
struct Turn<'a, P: Platform> {
    tasks: &'a [usize],
    slice_ns: u64,
    enough: u64,
    /// Beginning of the tournament, and the time from then on after which no task begins.
    since: &'a TimerCalibration<P>,
    late_ns: f64,
}

impl<P: Platform> Turn<'_, P> {
    fn is_late(&self, bench: &Bench<'_, P>) -> bool {
        bench.elapsed_ns(self.since) >= self.late_ns
    }
}

/// Plays each pair once, unless it is late. Returns how many pairs were tested.
fn pass<P: Platform>(
    bench: &Bench<'_, P>,
    tasks: &[HandoffTask<'_, P>],
    plan: &OrderSettings,
    turn: &Turn<'_, P>,
    seen: &mut Seen<'_>,
    progress: &mut dyn FnMut(f64),
) -> u64 {
    let players = plan.cpus.len();
    let mut checked = 0;
    for round in 0..tournament::rounds(players) {
        let pairs: Vec<_> = tournament::pairs(players, round).map(|(a, b)| (plan.cpus[a], plan.cpus[b])).collect();
        for together in pairs.chunks(if plan.serial { 1 } else { pairs.len() }) {
            if bench.is_stopped() || turn.is_late(bench) {
                return checked;
            }
            for played in run_handoffs(bench, tasks, turn, together) {
                checked += u64::from(played.1.is_ok());
                // A CPU that is gone loses n - 1 pairs; of more it is enough to know some.
                count(played, turn, tasks, seen, 2 * players);
            }
        }
        progress((round + 1) as f64);
    }
    checked
}

/// Goes through all tasks on these pairs at once; no further when it is late.
fn run_handoffs<P: Platform>(
    bench: &Bench<'_, P>,
    tasks: &[HandoffTask<'_, P>],
    turn: &Turn<'_, P>,
    pairs: &[(u32, u32)],
) -> Vec<PairResult<Vec<Received>>> {
    let platform = bench.platform;
    let over: Vec<P::Word> = pairs.iter().map(|_| platform.word(0)).collect();
    let handoffs: Vec<Vec<_>> =
        pairs.iter().map(|_| turn.tasks.iter().map(|_| HandoffState::new(platform, turn.enough)).collect()).collect();
    play_round(platform, pairs, |index: usize, rendezvous: &Rendezvous<'_, P>, side: Side| {
        let mut received = Vec::with_capacity(turn.tasks.len());
        for (task, handoff) in turn.tasks.iter().map(|task| &tasks[*task]).zip(&handoffs[index]) {
            let started = if side == Side::First { task.start(handoff) } else { Ok(()) };
            if side == Side::First && turn.is_late(bench) {
                over[index].store(1, Ordering::Relaxed);
            }
            if !rendezvous.meet(side) {
                return Err(ThreadError::Alone);
            }
            // One of them decides for both, before they meet.
            if over[index].load(Ordering::Relaxed) != 0 {
                break;
            }
            let keeper = (side == Side::First).then(|| bench.deadline(turn.slice_ns));
            let mut found = task.run(handoff, side, keeper);
            found.error = found.error.or(started.err());
            received.push(found);
        }
        Ok(received)
    })
}

fn count<P: Platform>(
    ((a, b), outcome): PairResult<Vec<Received>>,
    turn: &Turn<'_, P>,
    tasks: &[HandoffTask<'_, P>],
    seen: &mut Seen<'_>,
    most_lost: usize,
) {
    let Seen { tallies, pairs, lost } = seen;
    match outcome {
        Ok([by_first, by_second]) => {
            let pair = pairs.entry((a.min(b), a.max(b))).or_default();
            let sides = by_first.iter().zip(&by_second);
            for (index, (first, second)) in turn.tasks.iter().zip(sides) {
                tallies[*index].add_slice((a, b), [first, second], turn.slice_ns);
                pair.add_slice(tasks[*index].is_ordered(), [first, second]);
            }
        }
        Err(error) => {
            let is_known = lost.iter().any(|lost| (lost.a, lost.b) == (a, b));
            if !is_known && lost.len() < most_lost {
                lost.push(LostPair { a, b, reason: CpusReason::from(error).into() });
            }
        }
    }
}

/// Reason why nothing was handed over of a clock that can be read.
fn not_begun(is_stopped: bool, longest_ns: f64) -> &'static str {
    if is_stopped {
        texts::INTERRUPTED
    } else if longest_ns.is_finite() {
        "the run ended before its turn"
    } else {
        texts::NO_HANDOFF
    }
}

fn record<P: Platform>(
    row: &CatalogEntry<P>,
    ways: [Option<&Tally>; 2],
    bench: &Bench<'_, P>,
    (untestable, longest_ns): (Option<&Unknown>, f64),
) -> Sequence {
    let unfit = not_handed_over(row).map(Unknown::from);
    let ns_per_unit = row.info.ns_per_unit(bench.facts.first_rate.ns_per_unit).unwrap_or(1.0);
    let tallies: Vec<&Tally> = ways.into_iter().flatten().collect();
    let handoffs: u64 = tallies.iter().map(|tally| tally.received.handoffs).sum();
    let regressions: u64 = tallies.iter().map(|tally| tally.received.regressions).sum();
    let untaken = unfit.clone().unwrap_or(texts::NOT_REQUESTED.into());
    let [mailbox, lock] = ways.map(|tally| match tally {
        Some(tally) => Figure::Known(Handoffs {
            handoffs: tally.received.handoffs,
            regressions: tally.received.regressions,
            worst_ns: tally.worst_pair.map(|_| tally.received.worst as f64 * ns_per_unit),
        }),
        None => Figure::unknown(untaken.clone()),
    });
    let step_ns = row.info.nominal_resolution_ns(Some(ns_per_unit)).get().unwrap_or(1.0);
    let is_stuck = tallies.iter().any(|tally| tally.pace.is_stuck(step_ns, ns_per_unit));
    let error = tallies.iter().find_map(|tally| tally.received.error);
    let failed = super::ended(error, is_stuck).map(Unknown::from);
    // Equal readings are in any order.
    let is_one_reading = regressions == 0 && handoffs > 0 && tallies.iter().all(|tally| tally.pace.moved == 0);
    let untaken = not_begun(bench.is_stopped(), longest_ns);
    let nothing = unfit.clone().or(untestable.cloned()).or(failed.clone());
    // Each of these takes the one before it.
    let handed_over = if handoffs > 0 { Ok(()) } else { Err(nothing.unwrap_or(untaken.into())) };
    let counted = handed_over.clone().and(match is_one_reading {
        true => Err("all of its readings were the same".into()),
        false => Ok(regressions),
    });
    let stepped = tallies.iter().filter_map(|tally| Some((tally.received.worst, tally.worst_pair?)));
    let worst = stepped.max_by_key(|(worst, _)| *worst);
    let worst = counted.clone().and(worst.ok_or(Unknown::from("no reading went back")));
    let per_second = tallies.iter().map(|tally| tally.timed).sum::<Timed>().per_second();
    Sequence {
        name: row.label(),
        ordered: row.info.is_ordered,
        available: unfit.is_none(),
        reason: unfit.or(failed),
        handoffs,
        handoffs_per_second: handed_over.and(per_second.ok_or(texts::UNTIMED.into())).into(),
        regressions: counted.clone().into(),
        regressions_per_million: counted.map(|regressions| regressions as f64 / handoffs as f64 * 1e6).into(),
        worst_ns: worst.clone().map(|(worst, _)| worst as f64 * ns_per_unit).into(),
        worst_pair: worst.map(|(_, pair)| pair).into(),
        mailbox,
        lock,
    }
}
