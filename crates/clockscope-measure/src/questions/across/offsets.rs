//! The question *offsets*: between the counters of the CPUs.

use std::collections::BTreeMap;

use clockscope_core::brackets::{Bracket, Offset, OffsetBounds, narrowest};
use clockscope_records::{
    ClockReason, CpuOffset, CpusReason, Envelope, Figure, OffsetPair, Offsets, PairsReason, Unknown, texts,
};
use clockscope_system::failure::system_error;
use clockscope_system::{Errno, RawClock};

use super::exchange::{Exchange, Learned};
use super::team::{PairResult, on_each, play_round};
use super::tournament;
use crate::instrument::bench::{Bench, FIRST_WINDOW_NS, Progress, Setup, answering};
use crate::instrument::catalog::Catalog;
use crate::instrument::error::MeasureError;
use crate::instrument::pair::{Rendezvous, Side};
use crate::instrument::session::Session;
use crate::instrument::step;
use crate::instrument::timer::{Timer, read};
use crate::platform::failure_reason::unavailable;
use crate::platform::{Platform, ReferenceClock, ThreadError};

/// Shortest time for one direction of a pair, in ns: some ten thousand exchanges.
const MIN_SLICE_NS: f64 = 2e6;
/// Brackets of the counter and the kernel's clock on a CPU, of which the narrowest counts.
const BRACKETS: u32 = 1000;
/// Largest difference between both directions, as a share of the tightest round trip.
const MAX_ASYMMETRY: f64 = 0.2;
/// Largest ratio of the bounds of two directions, and fewest exchanges of each, for the two to be
/// compared: a direction whose every exchange was interrupted shows no symmetry.
const MAX_BOUND_RATIO: f64 = 2.0;
const MIN_EXCHANGES: u64 = 100;
/// Largest share of its rate by which the kernel steers a clock.
const MAX_STEERING: f64 = 1e-3;
/// Time in which no message reaches another CPU and returns, in ns: each way moves a cache line,
/// which takes several ns. A counter of a finer step that shows none of it stands still.
const MIN_TRIP_NS: f64 = 2.0;
/// Readings that the counter's step is found from.
const STEP_READINGS: usize = 1 << 12;

/// Request for a test of offsets: what to test, and how.
#[derive(Clone, Debug)]
pub struct OffsetsRequest {
    /// Time for all pairs together, in seconds. On many CPUs it takes more: 4 ms a round at least.
    pub duration_s: f64,
    /// CPUs that take part; `None` for all that the process may run on.
    pub cpus: Option<Vec<u32>>,
    /// Test one pair of CPUs at a time.
    pub serial: bool,
}

/// Measures the counter's offset between every two CPUs. Starts two threads a pair and round.
///
/// # Errors
/// A CPU that was asked for cannot be used, or no clock answers that measures time.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn offsets<P: Platform>(
    session: &Session<'_, P>,
    request: &OffsetsRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Offsets>, MeasureError> {
    let OffsetsRequest { duration_s, ref cpus, serial } = *request;
    let platform = session.platform;
    let plan = OffsetsSettings { cpus: super::cpus(platform, cpus.as_deref())?, serial, duration_ns: duration_s * 1e9 };
    let setup = Setup::new(session, Catalog::counters(platform), None)?;
    let sampling = setup.bench.calibrate();
    let found = find(&setup, &setup.catalog, &plan, progress);
    Ok(setup.answer((duration_s, &sampling), Some(&plan.cpus), found))
}

/// CPUs to test, and the time for it.
pub(crate) struct OffsetsSettings {
    pub(crate) cpus: Vec<u32>,
    pub(crate) serial: bool,
    pub(crate) duration_ns: f64,
}

/// Measures, if one of these counters answered when it was tried.
pub(crate) fn find<P: Platform>(
    setup: &Setup<'_, P>,
    counters: &Catalog<P>,
    plan: &OffsetsSettings,
    progress: &mut Progress<'_>,
) -> Offsets {
    let bench = &setup.bench;
    let rounds = tournament::rounds(plan.cpus.len());
    let mut offsets =
        Offsets { cpus: plan.cpus.clone(), rounds: rounds as u32, serial: plan.serial, ..Offsets::default() };
    let counter = match ordered(bench.platform, counters) {
        Ok(counter) => counter,
        Err(reason) => {
            let reason = PairsReason::NoCounter { because: Box::new(reason.into()) };
            offsets.counter = Figure::unknown(reason.clone());
            return untested(offsets, &reason);
        }
    };
    offsets.counter = Figure::Known(counter.name().to_owned());
    if let Some(reason) = super::untestable(&plan.cpus, &setup.session.environment().cpu) {
        return untested(offsets, &reason);
    }
    if let Timer::Reference(reference) = &bench.timer {
        return untested(offsets, &PairsReason::Stuck { reference: reference.name().to_owned() });
    }
    let unit = CounterUnit::from_step(bench, step(&counter));
    offsets.tick_ns = Figure::Known(unit.step * unit.ns);
    let kernel = KernelClock::find(setup.session);
    measure_pairs(bench, &counter, unit, plan, &mut offsets.pairs, progress);
    if let Some(kernel) = kernel {
        offsets.vdso = against_kernel(bench.platform, &kernel, &counter, unit, &plan.cpus);
    }
    summarize(&mut offsets);
    offsets
}

/// The ordered counter, where a plain read of the counter succeeded.
fn ordered<P: Platform>(platform: &P, counters: &Catalog<P>) -> Result<P::Counter, ClockReason> {
    if !counters.entries.iter().any(|row| row.sampler.is_ok()) {
        let mut reasons = counters.entries.iter().filter_map(|row| row.failure_reason().cloned());
        let none = ClockReason::Missing { words: "this architecture has no counter that clockscope knows".to_owned() };
        return Err(reasons.next().unwrap_or(none));
    }
    platform.ordered_counter().map_err(unavailable)
}

fn untested(offsets: Offsets, reason: &PairsReason) -> Offsets {
    Offsets {
        tick_ns: Figure::unknown(reason.clone()),
        within_ns: Figure::unknown(reason.clone()),
        worst_pair: Figure::unknown(reason.clone()),
        closure_ns: Figure::unknown(reason.clone()),
        untestable: Some(reason.clone().into()),
        ..offsets
    }
}

/// The counter's unit in ns, by what share that is uncertain, and the step that the counter moves
/// in, in that unit.
#[derive(Clone, Copy, Debug)]
struct CounterUnit {
    ns: f64,
    uncertain: f64,
    step: f64,
}

impl CounterUnit {
    fn from_step<P: Platform>(bench: &Bench<'_, P>, step: f64) -> Self {
        let ns = bench.facts.first_rate.ns_per_unit;
        // The readings of both ends may be late by a step.
        Self { ns, uncertain: bench.facts.first_rate.bound_ppm * 1e-6 + step * ns / FIRST_WINDOW_NS, step }
    }

    /// Converts an offset and its bound from units to ns. The unit's error adds to the bound.
    fn in_ns(self, Offset { offset, bound }: Offset) -> Offset {
        let bound = bound * (1.0 + self.uncertain) + offset.abs() * self.uncertain;
        Offset { offset: offset * self.ns, bound: bound * self.ns }
    }
}

fn step(counter: &impl RawClock) -> f64 {
    let readings: Vec<u64> = (0..STEP_READINGS).map(|_| read(counter)).collect();
    step::of_readings(&readings).max(1.0)
}

fn measure_pairs<P: Platform>(
    bench: &Bench<'_, P>,
    counter: &P::Counter,
    unit: CounterUnit,
    plan: &OffsetsSettings,
    found: &mut Vec<OffsetPair>,
    progress: &mut Progress<'_>,
) {
    let (players, rounds) = (plan.cpus.len(), tournament::rounds(plan.cpus.len()));
    let turns_in_round = if plan.serial { players / 2 } else { 1 };
    // Each of the two begins for half of the time.
    let slice_ns = (plan.duration_ns / (2 * rounds * turns_in_round) as f64).max(MIN_SLICE_NS) as u64;
    for round in 0..rounds {
        let pairs: Vec<_> = tournament::pairs(players, round).map(|(a, b)| (plan.cpus[a], plan.cpus[b])).collect();
        for together in pairs.chunks(if plan.serial { 1 } else { pairs.len() }) {
            let played = if bench.is_stopped() {
                together.iter().map(|pair| (*pair, Err(ThreadError::Interrupted))).collect()
            } else {
                exchange(bench, [counter.clone(), counter.clone()], together, slice_ns)
            };
            found.extend(played.into_iter().map(|played| pair_record(played, unit)));
        }
        progress((round + 1) as f64 / rounds as f64);
    }
    found.sort_by_key(|pair| (pair.a, pair.b));
}

/// Exchanges on these pairs at once; both sides ask in turn. Each side returns what it learned by
/// asking.
fn exchange<P: Platform, C: RawClock>(
    bench: &Bench<'_, P>,
    counters: [C; 2],
    pairs: &[(u32, u32)],
    slice_ns: u64,
) -> Vec<PairResult<Learned>> {
    let platform = bench.platform;
    let lines: Vec<_> = pairs.iter().map(|_| [Exchange::new(platform), Exchange::new(platform)]).collect();
    play_round(platform, pairs, |index: usize, rendezvous: &Rendezvous<'_, P>, side: Side| {
        let mut learned = Learned::default();
        for (asking, line) in [Side::First, Side::Second].into_iter().zip(&lines[index]) {
            if !rendezvous.meet(side) {
                return Err(ThreadError::Alone);
            }
            let counter = &counters[side.index()];
            if side == asking {
                learned = line.ask(counter, bench, slice_ns);
            } else {
                line.answer(counter);
            }
        }
        Ok(learned)
    })
}

fn pair_record(((a, b), outcome): PairResult<Learned>, unit: CounterUnit) -> OffsetPair {
    let [forward, reverse] = match outcome.map_err(CpusReason::from).and_then(|sides| bounds(sides, unit)) {
        Ok(sides) => sides,
        Err(reason) => return untested_pair((a, b), &reason.into()),
    };
    let all = forward.with_reverse(&reverse);
    let found = all.offset(unit.step).ok_or(texts::NO_CONSTANT_OFFSET);
    let in_ns = found.map(|found| unit.in_ns(found));
    let asymmetry = asymmetry([&forward, &reverse], unit);
    let round_trip = all.round_trip().map(|ticks| ticks as f64).ok_or(texts::NO_EXCHANGE);
    let symmetric = asymmetry.clone().and_then(|differ| Ok(differ <= MAX_ASYMMETRY * round_trip? + 2.0 * unit.step));
    OffsetPair {
        a,
        b,
        offset_ns: in_ns.map(|found| found.offset).into(),
        bound_ns: in_ns.map(|found| found.bound).into(),
        offset_counts: found.map(|found| found.offset).into(),
        exchanges: all.brackets(),
        round_trip_ns: round_trip.map(|ticks| ticks * unit.ns).into(),
        asymmetry_ns: asymmetry.map(|differ| differ * unit.ns).into(),
        symmetric: symmetric.into(),
        // By the units alone: what a unit is uncertain by does not move zero.
        apart: Figure::of(all.is_apart(unit.step), texts::NO_EXCHANGE),
        reason: None,
    }
}

/// Bounds that both sides learned, the first one's exchanges first; or the reason why that says
/// nothing.
fn bounds(sides: [Learned; 2], unit: CounterUnit) -> Result<[OffsetBounds; 2], CpusReason> {
    let has_parted = sides.iter().any(|learned| learned.parted);
    let bounds = sides.map(|learned| learned.bounds);
    let all = bounds[0].with_reverse(&bounds[1]);
    // The reference shows that only after a while.
    let stopped = unit.step * unit.ns < MIN_TRIP_NS && all.round_trip() == Some(0);
    // A change that the exchanges show is more than one that the reference shows.
    let is_explained = all.offset(unit.step).is_some();
    if is_explained && (has_parted || stopped) { Err(CpusReason::ReferenceParted) } else { Ok(bounds) }
}

fn untested_pair((a, b): (u32, u32), reason: &Unknown) -> OffsetPair {
    fn none<T>(reason: &Unknown) -> Figure<T> {
        Figure::unknown(reason.clone())
    }
    OffsetPair {
        a,
        b,
        offset_ns: none(reason),
        bound_ns: none(reason),
        offset_counts: none(reason),
        exchanges: 0,
        round_trip_ns: none(reason),
        asymmetry_ns: none(reason),
        symmetric: none(reason),
        apart: none(reason),
        reason: Some(reason.clone()),
    }
}

/// Difference between the offsets if one or the other CPU begins, in the counter's unit; or why
/// that is unknown.
fn asymmetry([forward, reverse]: [&OffsetBounds; 2], unit: CounterUnit) -> Result<f64, Unknown> {
    let is_few = forward.brackets().min(reverse.brackets()) < MIN_EXCHANGES;
    match (forward.offset(unit.step), reverse.offset(unit.step)) {
        (Some(_), Some(_)) if is_few => Err(texts::FEW_EXCHANGES.into()),
        (Some(forward), Some(reverse))
            if forward.bound.max(reverse.bound) > MAX_BOUND_RATIO * forward.bound.min(reverse.bound) =>
        {
            Err(texts::INTERRUPTED_DIRECTION.into())
        }
        // The reverse direction gives the first CPU's counter against the second's.
        (Some(forward), Some(reverse)) => Ok((forward.offset + reverse.offset).abs()),
        _ => Err("one direction alone was measured, or its offset changed".into()),
    }
}

/// The largest offset that is possible, and whether offsets add up.
fn summarize(offsets: &mut Offsets) {
    offsets.apart = offsets.pairs.iter().filter(|pair| pair.apart.get() == Some(true)).count() as u64;
    let missing = offsets.pairs.iter().find_map(|pair| Some((pair, pair.offset_ns.reason()?)));
    let largest = offsets.pairs.iter().filter_map(largest_ns).max_by(f64::total_cmp);
    offsets.within_ns = match missing {
        Some((pair, reason)) => Figure::unknown(of_pair(pair, reason)),
        None => Figure::of(largest, "no pair of CPUs was tested"),
    };
    // What changed during the run is as far apart as it likes.
    let checked = offsets.pairs.iter().filter(|pair| pair.apart.is_known());
    let sizes = checked.map(|pair| (largest_ns(pair).unwrap_or(f64::INFINITY), [pair.a, pair.b]));
    let worst = sizes.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, pair)| pair);
    if worst.is_none()
        && let Some(reason) = offsets.pairs.iter().find_map(|pair| pair.reason.clone())
    {
        offsets.untestable = Some(PairsReason::AllLost { because: Box::new(reason) }.into());
    }
    offsets.worst_pair = Figure::of(worst, "no pair of CPUs has an offset");
    offsets.closure_ns = Figure::of(closure(offsets), "it takes three CPUs whose offsets are known");
}

/// Returns the largest offset that a pair's counters may have, in ns.
fn largest_ns(pair: &OffsetPair) -> Option<f64> {
    Some(pair.offset_ns.get()?.abs() + pair.bound_ns.get()?)
}

/// The reason of a pair that stands for all of them.
fn of_pair(pair: &OffsetPair, reason: &Unknown) -> CpusReason {
    CpusReason::OfPair { a: pair.a, b: pair.b, because: Box::new(reason.clone()) }
}

/// Largest difference between an offset by way of the first CPU and the direct one, in ns.
fn closure(offsets: &Offsets) -> Option<f64> {
    let first = *offsets.cpus.first()?;
    let (own, others): (Vec<_>, Vec<_>) = offsets.pairs.iter().partition(|pair| pair.a == first);
    let from_first: BTreeMap<u32, f64> =
        own.into_iter().filter_map(|pair| Some((pair.b, pair.offset_ns.get()?))).collect();
    let gaps = others
        .into_iter()
        .filter_map(|pair| Some((from_first.get(&pair.b)? - from_first.get(&pair.a)? - pair.offset_ns.get()?).abs()));
    gaps.max_by(f64::total_cmp)
}

/// The kernel's clock by the vDSO. MONOTONIC_RAW, which nobody steers.
struct KernelClock<P: Platform>(P::Reference);

/// The kernel's clock between two readings of the counter.
#[derive(Clone, Copy, Debug)]
struct Together {
    /// The narrowest of several.
    bracket: Bracket,
    /// The step that the kernel's clock moves in.
    step_ns: f64,
}

impl<P: Platform> KernelClock<P> {
    /// If it answers when it is tried: it may enter the kernel, which may deny that.
    fn find(session: &Session<'_, P>) -> Option<Self> {
        let by_vdso = session.platform.references().into_iter().filter(ReferenceClock::is_vdso);
        answering(session, by_vdso.collect()).ok().map(Self)
    }

    /// On one CPU.
    fn on(&self, platform: &P, cpu: u32, counter: &P::Counter) -> Result<Together, CpusReason> {
        let taken = on_each(platform, &[cpu], |_| self.together(counter)).pop();
        let taken = taken.unwrap_or(Err(ThreadError::NotStarted(Errno::UNSUPPORTED)))?;
        taken.map_err(|errno| CpusReason::ClockRefused { words: system_error(errno).words })
    }

    fn together(&self, counter: &P::Counter) -> Result<Together, Errno> {
        let mut readings = Vec::with_capacity(BRACKETS as usize);
        let take = || {
            let mut raw = Default::default();
            let before = read(counter);
            self.0.read(&mut raw)?;
            let after = read(counter);
            let inner = self.0.value(&raw);
            readings.push(inner);
            Ok::<_, Errno>(Bracket { before, inner, after })
        };
        let bracket = narrowest(take, Bracket::width, BRACKETS, 0)?;
        // One that moves rarely may not be seen to move.
        let step_ns = step::of_readings(&readings).max(self.0.tick_ns()).max(1.0);
        Ok(Together { bracket, step_ns })
    }
}

/// Every other CPU's counter, against the straight line that the first CPU's draws over the
/// kernel's time.
fn against_kernel<P: Platform>(
    platform: &P,
    kernel: &KernelClock<P>,
    counter: &P::Counter,
    unit: CounterUnit,
    cpus: &[u32],
) -> Vec<CpuOffset> {
    let (first, others) = (cpus[0], &cpus[1..]);
    // Right before and after the others: on a longer line, a change of the counter that is too
    // small to be noticed (the machine moved) would bend it by more than the bound.
    let before = kernel.on(platform, first, counter);
    let found: Vec<_> = others.iter().map(|cpu| (*cpu, kernel.on(platform, *cpu, counter))).collect();
    let after = kernel.on(platform, first, counter);
    let mut offsets = Vec::new();
    for (cpu, together) in found {
        let offset = match (&before, together, &after) {
            (Ok(before), Ok(together), Ok(after)) => off_line(before, &together, after, unit),
            (Err(reason), ..) | (_, _, Err(reason)) => Err(reason.clone()),
            (_, Err(reason), _) => Err(reason),
        };
        offsets.push(match offset {
            Ok(Offset { offset, bound }) => {
                CpuOffset { cpu, offset_ns: Some(offset), bound_ns: Some(bound), reason: None }
            }
            Err(reason) => CpuOffset { cpu, offset_ns: None, bound_ns: None, reason: Some(reason.into()) },
        });
    }
    offsets
}

/// Distance of a moment from the line between two others, in ns.
fn off_line(before: &Together, moment: &Together, after: &Together, unit: CounterUnit) -> Result<Offset, CpusReason> {
    let [(ns, ticks), (whole_ns, whole_ticks)] = [moment, after]
        .map(|later| (later.bracket.inner_since(&before.bracket), later.bracket.middle_since(&before.bracket)));
    if whole_ns <= 0.0 {
        return Err(CpusReason::KernelClockStopped);
    }
    let offset = ticks - ns * whole_ticks / whole_ns;
    // Each end of the line may be off by half its bracket, every reading by a step of the counter,
    // on which the kernel's clock may be based as well, and by a step of that clock; beyond the
    // ends of the line all of that grows.
    let share = ns / whole_ns;
    let [own_error, before_error, after_error] = [moment, before, after]
        .map(|at| at.bracket.span() as f64 / 2.0 + 2.0 * unit.step + (1.0 + at.step_ns) / unit.ns);
    let bound = own_error + before_error * (1.0 - share).abs() + after_error * share.abs();
    // The kernel's clock may be steered otherwise than the reference is: 500 ppm and as much of its
    // own.
    let pace_ns = whole_ns * (unit.uncertain + MAX_STEERING) + (before_error + after_error) * unit.ns;
    if (whole_ticks * unit.ns - whole_ns).abs() > pace_ns {
        return Err(CpusReason::KernelClockParted);
    }
    Ok(unit.in_ns(Offset { offset, bound }))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
