//! The rate of CPU-time clocks: a thread spins for short times, each of which wall time and all
//! CPU-time clocks measure.
//!
//! The CPU time of a thread is never longer than wall time, and as long while the thread keeps its
//! CPU. A clock that counts more runs fast. One that counts less is slow only if another CPU-time
//! clock counted the time; otherwise the thread may have lost its CPU. Both need an agreement of
//! several spins. The process has no other thread meanwhile, so its clocks count the same.

use std::hint::black_box;

use clockscope_records::{Finding, Unknown, checks, texts};

use super::evidence::{STEERABLE_PPM, Severity, WeighedEvidence};
use crate::instrument::bench::{Bench, Setup};
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths};
use crate::instrument::error::MeasureError;
use crate::instrument::timer::{Timer, read};
use crate::platform::{Platform, ReferenceClock};

/// The most spins.
const MAX_SPINS: usize = 32;
/// The fewest spins that a rate is found from.
const MIN_SPINS: usize = 4;
/// The shortest and longest spin, in ns: less than a thread runs between two others.
const MIN_SPIN_NS: f64 = 0.25e6;
const MAX_SPIN_NS: f64 = 1e6;
/// Steps of work between two looks at the time.
const STEPS_PER_TURN: u32 = 512;
/// The kernel's scheduler may count by a rate that differs by so much from an unsteered clock's, in
/// ppm.
const SLEW_PPM: f64 = 500.0;
/// A clock that counts this share of a time has counted it.
const COUNTED_SHARE: f64 = 0.9;
/// A clock that counts less than this share of the time that another one counted is slow: they are
/// read within some microseconds of each other.
const MIN_SHARE_OF_PEER: f64 = 0.98;
/// The two largest shares of spins in which a thread keeps its CPU differ by no more than this.
const MAX_SPREAD: f64 = 0.01;
/// Two ticks of a clock may be this share of a spin, and of the whole time, for a result.
const MAX_TICKS_OF_SPIN: f64 = 0.01;
const MAX_TICKS_OF_WHOLE: f64 = 0.1;
/// Spins, at least, in which a fast clock counts too much.
const MIN_FAST_SPINS: usize = 2;
/// The clock that counts user time alone. The spin also enters the kernel.
const USER_TIME_CLOCK: &str = "virtual";

/// CPU-time clocks beside wall time, while the thread spun.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuTimes {
    /// The clock of wall time.
    reference: String,
    /// Share by which wall time may be off.
    slack: f64,
    /// Error of a wall time by the steps of its clock, in ns.
    wall_step_ns: f64,
    /// True if the counter measured wall time, too: the longer of both counts.
    by_counter: bool,
    clocks: Vec<SpunClock>,
}

/// A CPU-time clock in all spins.
#[derive(Clone, Debug)]
struct SpunClock {
    label: String,
    /// Length of its unit, and the step that its interface states, in ns.
    ns_per_unit: f64,
    nominal_ns: f64,
    /// The times that it counted: of each spin, and from the first to the last one.
    spins: Vec<Span>,
    whole: Span,
    /// Reason why it was not compared.
    reason: Option<Unknown>,
}

/// Time that one clock counted.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    counted_ns: f64,
    /// Wall time from before the first reading until after the last one.
    outer_ns: f64,
    /// Wall time from after the first reading until before the last one.
    inner_ns: f64,
}

/// One reading of a CPU-time clock between two of wall time.
#[derive(Clone, Copy, Debug)]
struct Reading {
    before: WallReading,
    counted: u64,
    after: WallReading,
}

/// Wall time by both clocks that measure it.
#[derive(Clone, Copy, Debug)]
struct WallReading {
    timer: u64,
    reference: u64,
}

/// Rate of a clock as a factor: between these.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RateRange {
    lowest: f64,
    highest: f64,
}

/// A rate that was found, and whether it is right.
struct FoundRate {
    finding: Finding,
    range: RateRange,
    reference: String,
}

/// Lets the thread spin, if one of these clocks counts CPU time. Takes `longest_ns`, or four short
/// spins.
pub(crate) fn find<P: Platform>(
    setup: &Setup<'_, P>,
    names: &[String],
    longest_ns: f64,
) -> Result<CpuTimes, MeasureError> {
    let (bench, mut catalog) = (&setup.bench, Catalog::new(setup.session.platform));
    let mut indices = names.iter().flat_map(|name| catalog.indices(name, Paths::Libc).unwrap_or_default());
    if !indices.any(|index| catalog.entries[index].info.is_cpu_time()) {
        return Ok(CpuTimes::default());
    }
    let marks: Vec<bool> = catalog.entries.iter().map(|entry| entry.info.is_cpu_time()).collect();
    catalog.keep(&marks);
    let catalog = catalog.tried(setup.session)?;
    let mut times = CpuTimes::new(bench, &catalog);
    let spin_ns = (longest_ns / MIN_SPINS as f64).clamp(MIN_SPIN_NS, MAX_SPIN_NS);
    let start = bench.calibrate();
    let first = readings(bench, &catalog);
    let mut from = first.clone();
    for spin in 1..=MAX_SPINS {
        spin_for(bench, spin_ns);
        let until = readings(bench, &catalog);
        if bench.is_stopped() {
            break;
        }
        times.add(bench, &first, &from, &until);
        let is_over = times.are_known() || bench.elapsed_ns(&start) >= longest_ns;
        if spin >= MIN_SPINS && is_over {
            break;
        }
        from = readings(bench, &catalog);
    }
    Ok(times)
}

/// Reads all clocks; `None` where that fails.
fn readings<P: Platform>(bench: &Bench<'_, P>, catalog: &Catalog<P>) -> Vec<Option<Reading>> {
    catalog.entries.iter().map(|entry| Reading::take(bench, entry)).collect()
}

/// Works for so long, mostly in user mode.
fn spin_for<P: Platform>(bench: &Bench<'_, P>, ns: f64) {
    let mut deadline = bench.deadline(ns as u64);
    while !deadline.is_over() {
        for step in 0..STEPS_PER_TURN {
            black_box(step);
        }
        deadline.hurry();
    }
}

impl CpuTimes {
    fn new<P: Platform>(bench: &Bench<'_, P>, catalog: &Catalog<P>) -> Self {
        let slack_ppm = if bench.reference.is_steered() { STEERABLE_PPM } else { SLEW_PPM };
        Self {
            reference: bench.reference.name().to_owned(),
            slack: (slack_ppm + bench.facts.first_rate.bound_ppm) * 1e-6,
            wall_step_ns: 2.0 * bench.facts.reference_tick_ns,
            by_counter: matches!(bench.timer, Timer::Counter(_)),
            clocks: catalog.entries.iter().map(SpunClock::new).collect(),
        }
    }

    /// Adds a spin, by the readings of all clocks before the first one, before this one and after
    /// it.
    fn add<P: Platform>(
        &mut self,
        bench: &Bench<'_, P>,
        first: &[Option<Reading>],
        from: &[Option<Reading>],
        until: &[Option<Reading>],
    ) {
        for (index, clock) in self.clocks.iter_mut().enumerate().filter(|(_, clock)| clock.reason.is_none()) {
            match (&first[index], &from[index], &until[index]) {
                (Some(first), Some(from), Some(until)) => {
                    clock.spins.push(Span::new(bench, from, until, clock.ns_per_unit));
                    clock.whole = Span::new(bench, first, until, clock.ns_per_unit);
                }
                _ => clock.reason = Some(texts::CPU_TIME_READ_FAILED.into()),
            }
        }
    }

    /// Returns true if no other spin is needed.
    fn are_known(&self) -> bool {
        self.clocks.iter().filter(|clock| clock.reason.is_none()).all(|clock| clock.keeps_up(false))
    }

    /// Evidence on the rate of a CPU-time clock with this step of its readings.
    pub(super) fn evidence(&self, label: &str, step_ns: Option<f64>) -> WeighedEvidence {
        let found = self.rate(label, step_ns);
        let range = found.as_ref().ok().map(|found| found.range);
        let finding = found.as_ref().map_or(Finding::Unknown, |found| found.finding);
        let check = checks::Rate {
            ppm: range.map(RateRange::ppm),
            bound_ppm: range.map(RateRange::bound_ppm),
            reference: found.as_ref().ok().map(|found| found.reference.clone()),
            lasting_ppm: None,
            constant: None,
            steerable: false,
            reference_shares_hardware: None,
            reason: found.err(),
        };
        WeighedEvidence::new(check, finding, Severity::Forbids)
    }

    /// Returns the rate of a clock with this step of its readings, or why it is unknown.
    fn rate(&self, label: &str, step_ns: Option<f64>) -> Result<FoundRate, Unknown> {
        let clock = self.clocks.iter().find(|clock| clock.label == label).ok_or(texts::NOT_MEASURED)?;
        if let Some(reason) = &clock.reason {
            return Err(reason.clone());
        }
        if clock.spins.len() < MIN_SPINS {
            return Err(texts::INTERRUPTED.into());
        }
        let step_ns = step_ns.ok_or(texts::CPU_TIME_COARSE)?.max(clock.nominal_ns);
        let is_whole = clock.spins.iter().any(|span| 2.0 * step_ns > MAX_TICKS_OF_SPIN * span.outer_ns);
        let spans = clock.spans(is_whole);
        if self.is_fast(clock, is_whole, step_ns) {
            if !self.is_wall_confirmed() {
                return Err(texts::CPU_TIME_BEYOND_WALL.into());
            }
            let range = self.range(&best(spans), step_ns);
            return Ok(FoundRate { finding: Finding::Against, range, reference: self.reference.clone() });
        }
        if is_whole && 2.0 * step_ns > MAX_TICKS_OF_WHOLE * clock.whole.outer_ns {
            return Err(texts::CPU_TIME_COARSE.into());
        }
        if let Some(peer) = self.clocks.iter().find(|peer| self.is_behind(clock, peer, is_whole, step_ns)) {
            let both = spans.iter().zip(peer.spans(is_whole));
            let (span, other) =
                both.max_by(|(_, one), (_, other)| one.share().total_cmp(&other.share())).ok_or(texts::NOT_MEASURED)?;
            let range = span.range_beside(other, step_ns, peer.nominal_ns);
            return Ok(FoundRate { finding: Finding::Against, range, reference: peer.label.clone() });
        }
        if !clock.keeps_up(is_whole) {
            return Err(texts::CPU_TIME_LOST.into());
        }
        let range = self.range(&best(spans), step_ns);
        // The thread may have lost its CPU for the rest.
        let range = RateRange { highest: range.highest.max(1.0 + self.slack), ..range };
        Ok(FoundRate { finding: Finding::For, range, reference: self.reference.clone() })
    }

    /// Returns true if two clocks measured wall time, or a CPU-time clock does not count more. A
    /// single clock that all CPU-time clocks contradict may be slow.
    fn is_wall_confirmed(&self) -> bool {
        let mut compared = self.clocks.iter().filter(|clock| clock.is_compared());
        self.by_counter || compared.any(|clock| !self.is_fast(clock, false, clock.nominal_ns))
    }

    /// Returns true if a clock counts more than wall time.
    fn is_fast(&self, clock: &SpunClock, is_whole: bool, step_ns: f64) -> bool {
        let spans = clock.spans(is_whole);
        let error_ns = 2.0 * step_ns + self.wall_step_ns;
        let fast = spans.iter().filter(|span| span.counted_ns > span.outer_ns * (1.0 + self.slack) + error_ns);
        fast.count() >= MIN_FAST_SPINS.min(spans.len())
    }

    /// Returns true if another clock counted the wall time, and this one always less than that.
    fn is_behind(&self, clock: &SpunClock, peer: &SpunClock, is_whole: bool, step_ns: f64) -> bool {
        if !peer.is_compared() || !peer.keeps_up(is_whole) || self.is_fast(peer, is_whole, peer.nominal_ns) {
            return false;
        }
        clock.spans(is_whole).iter().zip(peer.spans(is_whole)).all(|(span, other)| {
            let (most_ns, least_ns) = (span.counted_ns + 2.0 * step_ns, other.counted_ns - 2.0 * peer.nominal_ns);
            most_ns < MIN_SHARE_OF_PEER * least_ns
        })
    }

    /// Returns the rate of a clock in a time in which the thread kept its CPU.
    fn range(&self, span: &Span, step_ns: f64) -> RateRange {
        let error_ns = 2.0 * step_ns;
        let outer_ns = span.outer_ns * (1.0 + self.slack) + self.wall_step_ns;
        let inner_ns = (span.inner_ns * (1.0 - self.slack) - self.wall_step_ns).max(1.0);
        RateRange { lowest: (span.counted_ns - error_ns) / outer_ns, highest: (span.counted_ns + error_ns) / inner_ns }
    }
}

impl SpunClock {
    fn new<P: Platform>(entry: &CatalogEntry<P>) -> Self {
        let ns_per_unit = entry.info.ns_per_unit(1.0);
        let reason = match entry.failure_reason() {
            Some(reason) => Some(reason.clone().into()),
            None if ns_per_unit.is_none() => Some(texts::NO_LENGTH.into()),
            None if entry.info.name == USER_TIME_CLOCK => Some(texts::CPU_TIME_OF_USER.into()),
            None => None,
        };
        Self {
            label: entry.label(),
            ns_per_unit: ns_per_unit.unwrap_or(1.0),
            nominal_ns: entry.info.nominal_resolution_ns(None).get().unwrap_or(0.0),
            spins: Vec::new(),
            whole: Span::default(),
            reason,
        }
    }

    fn is_compared(&self) -> bool {
        self.reason.is_none() && !self.spins.is_empty()
    }

    /// The whole time as one, or each spin.
    fn spans(&self, is_whole: bool) -> &[Span] {
        if is_whole { std::slice::from_ref(&self.whole) } else { &self.spins }
    }

    /// Returns true if it counts wall time while the thread keeps its CPU. Where the thread lost it
    /// in every spin, no two lost as much.
    fn keeps_up(&self, is_whole: bool) -> bool {
        let mut shares: Vec<f64> = self.spans(is_whole).iter().map(Span::share).collect();
        shares.sort_unstable_by(|one, other| other.total_cmp(one));
        match shares[..] {
            [] => false,
            [share] => share >= COUNTED_SHARE,
            [first, second, ..] => second >= COUNTED_SHARE && first - second <= MAX_SPREAD,
        }
    }
}

/// The time of which the largest share was counted.
fn best(spans: &[Span]) -> Span {
    spans.iter().copied().max_by(|one, other| one.share().total_cmp(&other.share())).unwrap_or_default()
}

impl Span {
    fn new<P: Platform>(bench: &Bench<'_, P>, from: &Reading, until: &Reading, ns_per_unit: f64) -> Self {
        Self {
            counted_ns: until.counted.wrapping_sub(from.counted) as i64 as f64 * ns_per_unit,
            outer_ns: until.after.ns_since(bench, from.before),
            inner_ns: until.before.ns_since(bench, from.after),
        }
    }

    fn share(&self) -> f64 {
        self.counted_ns / self.outer_ns.max(1.0)
    }

    /// Returns the clock's rate relative to another one that measured the same time.
    fn range_beside(&self, other: &Self, step_ns: f64, other_step_ns: f64) -> RateRange {
        let (error_ns, other_error_ns) = (2.0 * step_ns, 2.0 * other_step_ns);
        // They were not read at the same time.
        let apart = self.outer_ns.max(1.0) / self.inner_ns.max(1.0);
        RateRange {
            lowest: (self.counted_ns - error_ns) / (other.counted_ns + other_error_ns).max(1.0) / apart,
            highest: (self.counted_ns + error_ns) / (other.counted_ns - other_error_ns).max(1.0) * apart,
        }
    }
}

impl Reading {
    fn take<P: Platform>(bench: &Bench<'_, P>, entry: &CatalogEntry<P>) -> Option<Self> {
        let sampler = entry.sampler.as_ref().ok()?;
        let before = WallReading::take(bench);
        let counted = sampler.now().ok()?;
        Some(Self { before, counted, after: WallReading::take(bench) })
    }
}

impl WallReading {
    fn take<P: Platform>(bench: &Bench<'_, P>) -> Self {
        Self { timer: bench.timer.now(), reference: read(&bench.reference) }
    }

    /// Returns the longer of both times since then: one of the two clocks may be slow.
    fn ns_since<P: Platform>(self, bench: &Bench<'_, P>, earlier: Self) -> f64 {
        let by_reference = self.reference.wrapping_sub(earlier.reference) as i64 as f64;
        by_reference.max(bench.facts.ns_between(earlier.timer, self.timer))
    }
}

impl RateRange {
    fn ppm(self) -> f64 {
        ((self.lowest + self.highest) / 2.0 - 1.0) * 1e6
    }

    fn bound_ppm(self) -> f64 {
        (self.highest - self.lowest) / 2.0 * 1e6
    }
}

#[cfg(test)]
pub(crate) mod tests;
