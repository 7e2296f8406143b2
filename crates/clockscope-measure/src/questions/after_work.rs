//! Errors of intervals that clocks measure around other work: of reads as programs meet them.
//!
//! A loop that does nothing but read keeps the code and the data of a read in the nearest caches.
//! Here, work of some length lies between two reads of the timer, and these between two of the
//! clock. What the clock shows more than the timer, less what the timer's own reads take, is the
//! error of an interval. All clocks take turns.

use clockscope_core::brackets::{Bracket, narrowest};
use clockscope_records::{AfterWork, Envelope, Figure, Measurement, Work, texts};
use clockscope_statistics::median;
use clockscope_system::{Errno, RawClock};

use crate::instrument::bench::{Bench, Setup};
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths};
use crate::instrument::sampler::Around;
use crate::instrument::session::Session;
use crate::instrument::timer::{Timer, read};
use crate::platform::Platform;
use crate::questions::advise::{finalists, recommend};

/// The most intervals of a clock for one work.
const MAX_INTERVALS: usize = 1000;
/// Most clocks of a measurement that are all read after work.
const MAX_CLOCKS: usize = 4;
/// Share of the time for the work that advice is asked after.
const REQUESTED_SHARE: f64 = 0.65;
/// Share of the time for all other works together.
const OTHERS_SHARE: f64 = 0.3;
/// Bytes from one touched byte to the next: a line of the caches.
const LINE_BYTES: usize = 64;
/// Length of a sleep, in ns.
const SLEEP_NS: f64 = 1e7;
/// The longest spin, in ns: few of them have room, and longer intervals are off by as much.
const MAX_SPIN_NS: f64 = 1e8;
/// The longest spin of clocks other than the usual one, in ns: that suffices for longer intervals.
const MAX_COMMON_SPIN_NS: f64 = 1e6;
/// Brackets that a clock's rate is found from, at either end.
const BRACKETS: u32 = 64;
/// Pairs of reads that the cost of the counter's is found from.
const READ_PAIRS: usize = 1000;

/// The lengths of work that are tried, and the time for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AfterWorkRequest {
    /// For the first screen: spins of 1 to 100 µs, and a few sleeps, in this time in seconds.
    Brief(f64),
    /// For advice on many intervals: spins of 100 ns to 10 ms, three lengths a decade where most
    /// clocks become good enough, walks and sleeps, in a second.
    Intervals,
    /// For advice on one interval: most of a second for the work that it is asked after.
    Interval {
        /// Its length, in ns.
        ns: f64,
        /// The work.
        after: Work,
    },
}

/// Work of one kind and length, and its share of the time, all clocks together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The work.
    pub work: Work,
    /// Its length, in ns; 0 of a walk, which takes what it takes.
    pub ns: f64,
    /// Its share of [`AfterWorkRequest::duration_s`].
    pub share: f64,
}

impl AfterWorkRequest {
    /// Returns the works that are tried.
    #[must_use]
    pub fn trials(self) -> Vec<Trial> {
        let spins: &[(f64, f64)] = match self {
            Self::Brief(_) => &[(1e3, 0.06), (3e3, 0.07), (1e4, 0.14), (3e4, 0.19), (1e5, 0.24)],
            Self::Intervals => &[
                (1e2, 0.01),
                (1e3, 0.02),
                (3e3, 0.03),
                (1e4, 0.06),
                (3e4, 0.08),
                (1e5, 0.12),
                (1e6, 0.14),
                (1e7, 0.18),
            ],
            Self::Interval { ns, .. } => &[(ns.min(MAX_SPIN_NS), 0.1)],
        };
        let spins = spins.iter().map(|&(ns, share)| Trial { work: Work::Spin, ns, share });
        let walks = [(Work::Touch32K, 0.01), (Work::Touch256K, 0.03), (Work::Touch4M, 0.1)];
        let walks = walks.map(|(work, share)| Trial { work, ns: 0.0, share });
        let sleep = Trial { work: Work::Sleep, ns: SLEEP_NS, share: 0.2 };
        let mut trials: Vec<Trial> = spins.chain(walks).chain([sleep]).collect();
        match self {
            Self::Brief(_) => trials.retain(|trial| trial.work.bytes() == 0),
            Self::Intervals => (),
            Self::Interval { after, .. } => {
                let others: f64 = trials.iter().filter(|trial| trial.work != after).map(|trial| trial.share).sum();
                for trial in &mut trials {
                    let is_requested = trial.work == after;
                    trial.share = if is_requested { REQUESTED_SHARE } else { trial.share * OTHERS_SHARE / others };
                }
            }
        }
        trials
    }

    /// Returns the time for all of them, in seconds.
    #[must_use]
    pub fn duration_s(self) -> f64 {
        match self {
            Self::Brief(duration_s) => duration_s,
            Self::Intervals | Self::Interval { .. } => 1.0,
        }
    }
}

/// Reads the clocks of a measurement after other work as well: all of a few, else those that may be
/// advised. Its recommendation is of these errors then. Where that fails, clocks have the reason in
/// place of errors; where it is interrupted, the measurement is. Pins the calling thread meanwhile.
pub fn after_work<P: Platform>(
    session: &Session<'_, P>,
    measurement: &mut Envelope<Measurement>,
    request: AfterWorkRequest,
) {
    let environment = session.environment.clone();
    let clocks = &mut measurement.found.clocks;
    let is_few = clocks.iter().filter(|clock| clock.available).count() <= MAX_CLOCKS;
    let finalists = finalists(clocks, &environment);
    let read = clocks.iter().filter(|clock| {
        let is_time = !clock.identity.is_cpu_time && !clock.identity.is_device;
        clock.available && is_time && (is_few || finalists.contains(&clock.identity.label()))
    });
    let names: Vec<String> = read.map(|clock| clock.identity.label()).collect();
    if !environment.emulation.is_empty() {
        clocks.iter_mut().for_each(|clock| clock.after_work = Figure::unknown(texts::EMULATED));
    }
    if names.is_empty() || !environment.emulation.is_empty() {
        return;
    }
    let Ok(catalog) = Catalog::new(session.platform).select(&names, Paths::default()) else { return };
    let cpu = measurement.run.as_ref().and_then(|run| run.cpu.get());
    let mut setup = match Setup::new(session, catalog, cpu) {
        Ok(setup) => setup,
        Err(error) => {
            let chosen = clocks.iter_mut().filter(|clock| names.contains(&clock.identity.label()));
            chosen.for_each(|clock| clock.after_work = Figure::unknown(error.to_string()));
            return;
        }
    };
    let entries = std::mem::take(&mut setup.catalog.entries);
    let found = find(&setup.bench, &entries, request);
    if setup.bench.is_stopped() {
        measurement.run.iter_mut().for_each(|run| run.interrupted = true);
        return;
    }
    for (entry, found) in entries.iter().zip(found) {
        if let Some(clock) = clocks.iter_mut().find(|clock| clock.identity.label() == entry.label()) {
            clock.after_work = found;
        }
    }
    measurement.found.advice = recommend(clocks, &environment);
}

/// A clock whose intervals are compared with the counter's.
struct Participant<'a, P: Platform> {
    entry: &'a CatalogEntry<P>,
    /// The counter between two reads of the clock at the start.
    start: Option<Bracket>,
    counter: &'a P::Counter,
    /// A read of the counter, in its unit.
    counter_cost: f64,
    /// Intervals after each work.
    intervals: Vec<Vec<Around>>,
    /// Error that ended its readings.
    failed: bool,
}

/// Returns the errors of each clock.
fn find<P: Platform>(
    bench: &Bench<'_, P>,
    entries: &[CatalogEntry<P>],
    request: AfterWorkRequest,
) -> Vec<Figure<Vec<AfterWork>>> {
    let Timer::Counter(counter) = &bench.timer else {
        return entries.iter().map(|_| Figure::unknown(texts::NO_COUNTER_FOR_WORK)).collect();
    };
    let (trials, counter_cost) = (request.trials(), read_cost(counter));
    let mut memory = vec![0; trials.iter().map(|trial| trial.work.bytes()).max().unwrap_or(0)];
    let mut participants: Vec<Participant<'_, P>> =
        entries.iter().map(|entry| Participant::new(entry, counter, counter_cost, trials.len())).collect();
    for (index, trial) in trials.iter().enumerate() {
        let start = bench.calibrate();
        for _ in 0..MAX_INTERVALS {
            for participant in participants.iter_mut().filter(|participant| participant.needs(trial)) {
                participant.measure(bench, trial, index, &mut memory);
            }
            if bench.is_stopped() || bench.elapsed_ns(&start) >= trial.share * request.duration_s() * 1e9 {
                break;
            }
        }
    }
    participants.iter().map(|participant| participant.errors(bench, &trials)).collect()
}

/// Does the work.
fn work<P: Platform>(bench: &Bench<'_, P>, trial: &Trial, memory: &mut [u8]) {
    match trial.work {
        Work::Spin => spin(bench, trial.ns),
        Work::Sleep => bench.platform.sleep(trial.ns as u64),
        Work::Touch32K | Work::Touch256K | Work::Touch4M => {
            for line in memory[..trial.work.bytes()].chunks_mut(LINE_BYTES) {
                line[0] = line[0].wrapping_add(1);
            }
            std::hint::black_box(memory);
        }
    }
}

/// Reads the timer until `ns` nanoseconds have passed. A timer that stands still ends it, too: each
/// read takes a nanosecond at least.
fn spin<P: Platform>(bench: &Bench<'_, P>, ns: f64) {
    let start = bench.timer.now();
    for _ in 0..ns as u64 {
        if bench.ns_since(start) >= ns {
            return;
        }
    }
}

/// Returns what a read of the counter takes, in its unit: the median of what it shows from one read
/// to the next.
fn read_cost<C: RawClock>(counter: &C) -> f64 {
    median((0..READ_PAIRS).map(|_| read_twice(counter) as f64)).unwrap_or(0.0)
}

/// A function of its own: nothing but the reads is between them.
#[inline(never)]
fn read_twice<C: RawClock>(counter: &C) -> u64 {
    let first = read(counter);
    read(counter).wrapping_sub(first)
}

impl<'a, P: Platform> Participant<'a, P> {
    fn new(entry: &'a CatalogEntry<P>, counter: &'a P::Counter, counter_cost: f64, trials: usize) -> Self {
        let mut participant =
            Self { entry, start: None, counter, counter_cost, intervals: vec![Vec::new(); trials], failed: false };
        participant.start = participant.bracket().ok();
        participant
    }

    /// Returns whether the clock may be the best for intervals of such a length.
    fn needs(&self, trial: &Trial) -> bool {
        let is_long = trial.work == Work::Spin && trial.ns > MAX_COMMON_SPIN_NS || trial.work == Work::Sleep;
        !self.failed && (self.entry.info.is_usual || !is_long)
    }

    fn measure(&mut self, bench: &Bench<'_, P>, trial: &Trial, index: usize, memory: &mut [u8]) {
        let Ok(sampler) = &self.entry.sampler else { return };
        match sampler.around(self.counter, &mut || work(bench, trial, memory)) {
            Ok(around) => self.intervals[index].push(around),
            Err(_) => self.failed = true,
        }
    }

    /// The counter between two reads of the clock: the narrowest of several.
    fn bracket(&self) -> Result<Bracket, Errno> {
        let sampler = self.entry.sampler.as_ref().map_err(|_| Errno::UNSUPPORTED)?;
        narrowest(
            || {
                let around = sampler.around(self.counter, &mut || ())?;
                Ok(Bracket { before: around.outer[0], inner: around.inner[0], after: around.outer[1] })
            },
            Bracket::width,
            BRACKETS,
            0,
        )
    }

    /// Returns the errors after each work that was done.
    fn errors(&self, bench: &Bench<'_, P>, trials: &[Trial]) -> Figure<Vec<AfterWork>> {
        let (Some(start), Ok(end), false) = (self.start, self.bracket(), self.failed) else {
            return Figure::unknown("a read around work failed");
        };
        let units_per_unit = end.middle_since(&start) / end.inner_since(&start);
        if !(units_per_unit > 0.0 && units_per_unit.is_finite()) {
            return Figure::unknown(texts::NO_FORWARD_STEP);
        }
        let errors = trials.iter().zip(&self.intervals).filter_map(|(trial, intervals)| {
            let lengths = intervals.iter().map(|around| bench.facts.ns_between(around.inner[0], around.inner[1]));
            let work_ns = if trial.ns > 0.0 { trial.ns } else { median(lengths)? };
            let errors_ns = intervals.iter().map(|around| {
                let [outer, inner] = [around.outer, around.inner].map(|[a, b]| b.wrapping_sub(a) as i64 as f64);
                ((outer / units_per_unit - inner - self.counter_cost) * bench.facts.first_rate.ns_per_unit).abs()
            });
            clockscope_statistics::after_work(trial.work, work_ns, errors_ns.collect())
        });
        let errors: Vec<AfterWork> = errors.collect();
        if errors.is_empty() { Figure::unknown(texts::NO_READINGS) } else { Figure::Known(errors) }
    }
}
