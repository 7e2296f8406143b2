//! The question *measure*: costs, and in the same pass the events between readings. Every reading
//! that is paid for is checked.
//!
//! Batches of all clocks are interleaved, so that a drift of the machine's speed hits all alike. A
//! batch is timed as a whole, and its readings are judged after it.

pub(crate) mod extended;
pub(crate) mod repeat;

use clockscope_records::{Baseline, ClockRecord, Envelope, Figure, Measurement, TimerRate, TimerRecord, texts};

use crate::instrument::bench::{Bench, Progress, Sampling, Setup};
use crate::instrument::catalog::{Catalog, CatalogEntry, ErasedClock};
use crate::instrument::error::MeasureError;
use crate::instrument::measured_clock::{MIN_COST_BATCHES, MeasuredClock, TickBudget, is_counter};
use crate::instrument::record;
use crate::instrument::sampler::{MAX_BATCH_READS, Probe};
use crate::instrument::session::Session;
use crate::instrument::timer::TimerCalibration;
use crate::platform::Platform;
use crate::questions::{across, advise};

/// Readings of a clock that its tick is found from.
const TICK_READINGS: usize = 1 << 13;
/// Intended duration of a batch, in ns: 20 µs, less the time that an unusually slow one may take
/// longer.
const BATCH_NS: f64 = 19_000.0;
/// Into how many turns the batches of a clock that adapts to its use are put. Alone between others
/// they are too rare for it.
const TURNS: f64 = 8.0;
/// Time for which it is read before each turn, in ns: it adapts within a millisecond or two.
const ADAPTED_NS: f64 = 3e6;
/// The most batches that this takes, where the timer shows no time.
const MAX_ADAPTING_BATCHES: usize = 1 << 9;
/// Rounds without time passing from which on the timer stands still: of 0.1 ms and more each.
const STALL_ROUNDS: u32 = 1 << 10;

/// Request to measure clocks: what to measure, and how.
#[derive(Clone, Debug)]
pub struct MeasureRequest {
    /// Time for sampling and for finding ticks, in seconds, all clocks together. At least seven
    /// rounds are made.
    pub duration_s: f64,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
    /// True to look across CPUs and over time as well, which takes some 2.5 s more.
    pub extended: bool,
    /// True to find the clocks' ticks, which takes a third of a short run. Else they are unknown.
    pub ticks: bool,
    /// True to ask what keeps the clocks' rates right: the kernel, chronyd on the loopback and PTP
    /// clocks. This reads the system's clocks some times more.
    pub synchronization: bool,
}

/// Measures every clock of the catalog. Pins the calling thread meanwhile.
///
/// # Errors
/// The CPU cannot be used, or no clock answers that others could be measured against.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn measure<P: Platform>(
    session: &Session<'_, P>,
    catalog: Catalog<P>,
    request: &MeasureRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Measurement>, MeasureError> {
    let MeasureRequest { duration_s, cpu, extended, ticks, synchronization } = *request;
    // Before this thread is pinned. Where the system does not show them, what needs them says that
    // it could not be tested.
    let cpus = across::cpus(session.platform, None).unwrap_or_default();
    let mut setup = Setup::new(session, catalog, cpu)?;
    let CostResult { clocks, baseline, sampling, timer } = find(&mut setup, duration_s, ticks, progress);
    let mut run = setup.run_by(sampling, timer);
    let environment = session.environment.clone();
    let advice = advise::recommend(&clocks, &environment);
    let synchronization = synchronization.then(|| session.platform.synchronization());
    let is_wanted = extended && !setup.bench.is_stopped();
    let extended = is_wanted.then(|| extended::find(&setup, cpus)).transpose()?;
    run.interrupted |= setup.bench.is_stopped();
    let found = Measurement { baseline, clocks, extended, synchronization, advice };
    Ok(Envelope::of_run(setup.recorded_at, environment, run, found))
}

/// Findings of one pass over all clocks.
pub(crate) struct CostResult {
    pub(crate) clocks: Vec<ClockRecord>,
    pub(crate) baseline: Baseline,
    pub(crate) sampling: Sampling,
    /// The timer, by whose rate the figures are.
    pub(crate) timer: TimerRecord,
}

/// Measures the clocks of a setup, which has none left after that.
pub(crate) fn find<P: Platform>(
    setup: &mut Setup<'_, P>,
    duration_s: f64,
    finds_ticks: bool,
    progress: &mut Progress<'_>,
) -> CostResult {
    let rows = std::mem::take(&mut setup.catalog.entries);
    let counters = std::mem::take(&mut setup.counters.entries);
    let bench = &setup.bench;
    let duration_ns = duration_s * 1e9;
    let clocks = rows.iter().filter(|row| row.sampler.is_ok()).count().max(1) as f64;
    let ticks = if finds_ticks { TickBudget::for_share(duration_ns / clocks, TICK_READINGS) } else { TickBudget::NONE };
    let mut measured_clocks: Vec<_> =
        rows.into_iter().map(|row| MeasuredClock::new(row, bench, ticks.readings)).collect();
    let mut baselines = Baselines::new(&measured_clocks, counters, bench);
    let sampling = bench.calibrate();
    let waited_before = bench.platform.thread_wait_ns();
    rounds(bench, &mut measured_clocks, &mut baselines, &sampling, duration_ns - clocks * ticks.ns, progress);
    let waited = waited_before.zip(bench.platform.thread_wait_ns());
    let waited_s = waited.map(|(before_ns, after_ns)| after_ns.saturating_sub(before_ns) as f64 / 1e9);
    let sampling = Sampling { waited_s, ..Sampling::of_time(duration_s, &sampling, bench) };
    let context = setup.context();
    let baseline = baselines.baseline(&measured_clocks, context.timer.rate());
    let timer = context.timer_record();
    let mut clocks: Vec<ClockRecord> =
        measured_clocks.into_iter().map(|measured_clock| record::clock(measured_clock, &context, &baseline)).collect();
    if !finds_ticks {
        for clock in clocks.iter_mut().filter(|clock| clock.available) {
            clock.tick_ns = Figure::unknown(texts::NO_TICK_SEARCH);
        }
    }
    CostResult { clocks, baseline, sampling, timer }
}

/// Finds how many reads fill a batch, then goes round all clocks, a batch each, until the time is
/// over and the median of each clock's batches withstands an interruption. Clocks that adapt to
/// their use have their batches in a few turns.
fn rounds<P: Platform>(
    bench: &Bench<'_, P>,
    measured_clocks: &mut [MeasuredClock<P>],
    baselines: &mut Baselines<P>,
    sampling: &TimerCalibration<P>,
    duration_ns: f64,
    progress: &mut Progress<'_>,
) {
    // Twice: a clock that calibrates itself in its first milliseconds shows only then what it
    // costs.
    for _ in 0..2 {
        for measured_clock in measured_clocks.iter_mut().chain(baselines.measured_clocks()) {
            if bench.is_stopped() {
                return;
            }
            fit(bench, measured_clock);
        }
    }
    let (mut furthest_ns, mut stalled) = (0.0_f64, 0);
    let (mut turns, mut owed) = (0.0, 0);
    for round in 1.. {
        let steady = measured_clocks.iter_mut().filter(|measured_clock| !measured_clock.row.info.is_adaptive);
        for measured_clock in steady.chain(baselines.measured_clocks()) {
            if bench.is_stopped() {
                return;
            }
            if measured_clock.is_short() {
                measured_clock.batch(bench, false);
            }
            measured_clock.batch(bench, true);
        }
        owed += 1;
        let elapsed_ns = bench.elapsed_ns(sampling);
        stalled = if elapsed_ns > furthest_ns { 0 } else { stalled + 1 };
        furthest_ns = furthest_ns.max(elapsed_ns);
        let is_over = elapsed_ns >= duration_ns && round >= MIN_COST_BATCHES || stalled >= STALL_ROUNDS;
        if is_over || elapsed_ns >= (turns + 1.0) / TURNS * duration_ns {
            turns = (elapsed_ns / duration_ns * TURNS).floor();
            for measured_clock in
                measured_clocks.iter_mut().filter(|measured_clock| measured_clock.row.info.is_adaptive)
            {
                turn(bench, measured_clock, owed);
            }
            owed = 0;
        }
        if is_over {
            return;
        }
        progress((elapsed_ns / duration_ns).min(1.0));
    }
}

/// Makes the batches of several rounds in a row, after the clock was read often for a while.
fn turn<P: Platform>(bench: &Bench<'_, P>, measured_clock: &mut MeasuredClock<P>, batches: u64) {
    let mut read_ns = 0.0;
    for _ in 0..MAX_ADAPTING_BATCHES {
        if read_ns >= ADAPTED_NS || bench.is_stopped() {
            break;
        }
        read_ns += measured_clock.batch(bench, false).unwrap_or(0.0);
    }
    for _ in 0..batches {
        if bench.is_stopped() {
            return;
        }
        measured_clock.batch(bench, true);
    }
}

/// Doubles the reads of a batch until it is half as long as it should be, then sets their number.
fn fit<P: Platform>(bench: &Bench<'_, P>, measured_clock: &mut MeasuredClock<P>) {
    if let Some(state) = &mut measured_clock.state {
        state.reads_per_batch = 1;
    }
    loop {
        // The shortest of three: the first is cold, and any may be interrupted.
        let taken_ns = (0..3).filter_map(|_| measured_clock.batch(bench, false)).min_by(f64::total_cmp);
        let (Some(taken_ns), Some(state)) = (taken_ns, &mut measured_clock.state) else { return };
        let reads = state.reads_per_batch;
        if taken_ns >= BATCH_NS / 2.0 || reads == MAX_BATCH_READS {
            let cost_ns = taken_ns / reads as f64;
            // A timer too coarse to show any time gives an infinite number, of which the longest
            // batch is made.
            state.reads_per_batch = ((BATCH_NS / cost_ns) as usize).clamp(1, MAX_BATCH_READS);
            return;
        }
        state.reads_per_batch = (reads * 2).min(MAX_BATCH_READS);
    }
}

/// Clocks that are measured beside the clocks that were asked for, to compare their costs with.
struct Baselines<P: Platform> {
    empty_loop: MeasuredClock<P>,
    /// The cheapest counter, where none was asked for.
    counter: Option<MeasuredClock<P>>,
}

impl<P: Platform> Baselines<P> {
    fn new(measured_clocks: &[MeasuredClock<P>], counters: Vec<CatalogEntry<P>>, bench: &Bench<'_, P>) -> Self {
        let empty = CatalogEntry {
            info: record::empty_loop(),
            sampler: Ok(Box::new(Probe::empty_loop()) as Box<dyn ErasedClock<P>>),
        };
        let has_counter = measured_clocks
            .iter()
            .any(|measured_clock| is_counter(&measured_clock.row) && measured_clock.state.is_some());
        // The plain sequence comes first on every architecture, and it is the cheapest.
        let counter = counters.into_iter().find(|row| !has_counter && row.sampler.is_ok());
        Self {
            empty_loop: MeasuredClock::new(empty, bench, 0),
            counter: counter.map(|row| MeasuredClock::new(row, bench, 0)),
        }
    }

    fn measured_clocks(&mut self) -> impl Iterator<Item = &mut MeasuredClock<P>> {
        std::iter::once(&mut self.empty_loop).chain(&mut self.counter)
    }

    fn baseline(&self, measured_clocks: &[MeasuredClock<P>], rate: TimerRate) -> Baseline {
        let counters =
            measured_clocks.iter().chain(&self.counter).filter(|measured_clock| is_counter(&measured_clock.row));
        let fastest = counters
            .filter_map(|measured_clock| {
                Some((measured_clock.row.info.name.to_string(), measured_clock.median_cost_ns(rate)?))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        Baseline {
            empty_loop_ns: self.empty_loop.median_cost_ns(rate),
            fastest_counter: fastest.map(|(name, cost_ns)| clockscope_records::FastestCounter { name, cost_ns }),
            runs: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use clockscope_system::{ClockInfo, ClockKind, Errno, RawClock, ReadPath, Resolution};

    use super::*;
    use crate::platform::ThisMachine;

    /// Whose reading was the last, and how often one clock's followed another's.
    #[derive(Default)]
    struct Readers {
        last: AtomicU64,
        changes: AtomicU64,
        ns: AtomicU64,
    }

    #[derive(Clone)]
    struct Counted(Arc<Readers>, u64);

    impl RawClock for Counted {
        type Raw = u64;

        fn read(&self, raw: &mut u64) -> Result<(), Errno> {
            if self.0.last.swap(self.1, Ordering::Relaxed) != self.1 {
                self.0.changes.fetch_add(1, Ordering::Relaxed);
            }
            *raw = self.0.ns.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn value(&self, raw: &u64) -> u64 {
            *raw
        }
    }

    /// A clock that is cheaper where it is read often is not measured by a few reads at a time.
    #[test]
    fn an_adaptive_clock_is_measured_in_a_few_turns() {
        let stop = AtomicBool::new(false);
        let session = Session::new(&ThisMachine, &stop);
        let measured = |duration_s: f64| {
            let readers = Arc::<Readers>::default();
            let row = |name: &'static str, number: u64| {
                let info = ClockInfo::new(
                    name,
                    ClockKind::Monotonic,
                    ReadPath::Library,
                    Resolution::Nanoseconds(1.0),
                    "of a test",
                );
                let probe = Probe::new(Counted(Arc::clone(&readers), number));
                let sampler = Box::new(probe) as Box<dyn ErasedClock<ThisMachine>>;
                CatalogEntry { info: ClockInfo { is_adaptive: number == 2, ..info }, sampler: Ok(sampler) }
            };
            let entries = vec![row("steady", 1), row("adaptive", 2)];
            let found =
                find(&mut Setup::untried(&session, Catalog { entries }).unwrap(), duration_s, true, &mut |_| ());
            let batches = |clock: &ClockRecord| clock.cost_ns.known().unwrap().batches;
            (found.clocks.iter().map(batches).collect::<Vec<_>>(), readers)
        };
        // A busy machine grants fewer batches than there are turns; then it has longer.
        let mut tries = (0..8).map(|doublings| measured(0.05 * f64::from(1 << doublings)));
        let (batches, readers) =
            tries.find(|(batches, _)| batches[0] > 7).expect("a clock has more than seven batches");
        assert_eq!(batches[0], batches[1]);
        // Into each turn and out of it, of those while batches are fitted, too.
        let changes = readers.changes.load(Ordering::Relaxed);
        assert!(changes <= 2 * (TURNS as u64 + 1 + 2), "{changes} for {batches:?} batches");
    }
}
