//! Proof that readings lie on a lattice because the clock ticks so, and not because reads of a few
//! constant costs happen to be multiples of something.

use std::collections::{BTreeMap, HashMap};

use statrs::distribution::{Binomial, DiscreteCDF};

use super::lattice::{self, StepProfile};
use super::phase;
use super::result::{Lattice, PRIMES};

/// Share of the steps that a number of ticks must have to be more than an exception.
const MIN_OFTEN_STEP_SHARE: f64 = 0.005;
/// Probability below which something is no accident.
const MAX_CHANCE_PROBABILITY: f64 = 1e-3;
/// Units that the period's error may make up across a step without any effect.
const MAX_PERIOD_DRIFT_UNITS: f64 = 0.1;
/// Share of the period that it may make up across a longer step.
const MAX_PERIOD_DRIFT_SHARE: f64 = 0.05;
/// Longest cycle of costs that is looked for, in reads.
const MAX_CYCLE_READS: usize = 16;
/// Reads after which a cycle must still be one.
const CYCLE_DISTANCE_READS: usize = 256;
/// Share of the steps, or of the distances between unusual ones, that must repeat for a cycle.
const MIN_CYCLIC_SHARE: f64 = 0.9;
/// Readings from one to another that is far apart.
const COHERENCE_LAGS: [usize; 6] = [512, 256, 128, 64, 32, 16];
/// Pairs of these that nothing must have come between.
const MIN_UNDISTURBED_PAIRS: f64 = 100.0;
/// Share of the coherence of neighboring readings that must be left between distant ones.
const MIN_REMAINING_COHERENCE: f64 = 0.9;
/// Share of the steps that must have neighbors, for a clock that is finer than the steps show.
const MIN_NEIGHBOR_STEP_SHARE: f64 = 0.3;
/// Of four neighboring whole numbers, the rarest must occur as often as this part of the most
/// frequent one: exceptions are rarer.
const MAX_NEIGHBOR_RATIO: u64 = 5;
/// The rarest of four neighboring numbers must occur as often as this part of the most frequent one
/// where steps are several ticks, if a tick is three units or more: no reading falls into the tick
/// of the one before and is one more than that.
const MAX_LONG_NEIGHBOR_RATIO: u64 = 16;
const MIN_LONG_STEP_UNITS: u64 = 12;
/// Steps that are looked at together for that.
const NEIGHBOR_PART_STEPS: usize = 4096;
/// Readings from one to another that is looked at for that, where neighbors are too regular.
const NEIGHBOR_LAGS: [usize; 4] = [32, 256, 1024, 2048];
/// Number of these that are looked at together: neighboring ones overlap, and are nearly alike.
const LAGGED_PART_STEPS: usize = 4 * NEIGHBOR_PART_STEPS;
/// Longest usual step, in units, for which that is done: a read of a few counts of a counter.
const MAX_SHORT_STEP_UNITS: u64 = 16;

/// Returns true if the clock both stood still and went a single tick, often: no cost of a read does
/// that.
pub(super) fn is_often_unchanged(repeats: u64, one_tick: usize, steps: usize) -> bool {
    let often = MIN_OFTEN_STEP_SHARE * steps as f64;
    repeats as f64 >= often && one_tick as f64 >= often
}

/// Returns true if more different steps have the divisor than by accident.
pub(super) fn divides(steps: &[u64], divisor: u64) -> bool {
    let different = counts(steps.iter().copied()).len();
    (divisor as f64).powi(1 - different.min(1000) as i32) < MAX_CHANCE_PROBABILITY * MAX_CHANCE_PROBABILITY
}

/// Returns whether all but a few of the steps are multiples of the divisor times one prime, so that
/// the divisor may be the doing of those few: one reading that was moved changes two steps.
pub(super) fn are_most_wider(steps: &[u64], divisor: u64) -> bool {
    let few = (steps.len() / 10).max(2);
    PRIMES.iter().any(|prime| steps.iter().filter(|step| !(*step / divisor).is_multiple_of(*prime)).count() <= few)
}

/// Returns true if readings went different numbers of ticks: neighboring numbers, or none and one.
pub(super) fn is_diverse(repeats: u64, steps: &Counts, period: f64) -> bool {
    let mut counts = Counts::from([(0, repeats)]);
    for (step, count) in steps {
        *counts.entry((*step as f64 / period).round() as u64).or_insert(0) += count;
    }
    let enough = MIN_OFTEN_STEP_SHARE * steps.values().sum::<u64>() as f64;
    // Where hundreds of numbers occur, none of them does often.
    let are_many = counts.len() > 100;
    counts.retain(|_, count| *count as f64 >= enough);
    are_many || counts.keys().any(|ticks| counts.contains_key(&(ticks + 1)))
}

/// Returns true if a lattice, the n-th that was tried, is more than a cost.
pub(super) fn is_proved(values: &[u64], profile: StepProfile, repeats: u64, lattice: &Lattice, tried: usize) -> bool {
    let inside = lattice::steps_on(values, profile, lattice);
    let one_tick = inside.iter().filter(|step| lattice.periods(**step) == 1).count();
    if is_often_unchanged(repeats, one_tick, inside.len()) {
        return true;
    }
    if !is_diverse(repeats, &counts(inside.iter().copied()), lattice.period) {
        return false;
    }
    let all: Vec<u64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    accident(&all, profile.usual, lattice) * (tried as f64) < MAX_CHANCE_PROBABILITY
        || !is_cyclic(&all.iter().map(|step| lattice.periods(*step)).collect::<Vec<_>>())
            && is_coherent(values, profile.usual, lattice)
}

/// The probability that as many different steps are multiples of the period, if it has nothing to
/// do with them: of all steps across which the period's own error does not show, or of long ones
/// alone, with more room for that error.
fn accident(steps: &[u64], usual: u64, lattice: &Lattice) -> f64 {
    let of_all = accident_of(steps, usual, lattice, MAX_PERIOD_DRIFT_UNITS, |step| lattice.periods(step));
    // From one batch of readings to the next a program does something else, which no loop of
    // constant cost explains; but a pause of constant length that begins anywhere in a cycle of
    // costs is one trial, not several.
    let long: Vec<u64> = steps.iter().copied().filter(|step| *step > 4 * usual).collect();
    let drift = MAX_PERIOD_DRIFT_UNITS.max(MAX_PERIOD_DRIFT_SHARE * lattice.period);
    let of_long = accident_of(&long, usual, lattice, drift, |step| step / (2 * usual).max(1));
    2.0 * of_all.min(of_long)
}

/// The probability that as many different steps are multiples of the period by accident: of those
/// up to the length at which the period's error is `drift` units. Those of one kind are one trial,
/// however often it occurs; one of them made the period. Once for all of them, and once for those
/// that occur often: the others may be interruptions that moved the clock between its ticks.
fn accident_of(steps: &[u64], usual: u64, lattice: &Lattice, drift: f64, kind: impl Fn(u64) -> u64) -> f64 {
    // Steps of the usual length are trials in any case.
    let longest = (drift / lattice.error.max(1e-12)).max(4.0 * usual as f64);
    let slack = lattice.spread + (longest * lattice.error).min(drift).max(4.0 * usual as f64 * lattice.error);
    let mut kinds: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for step in steps.iter().filter(|step| **step as f64 <= longest) {
        let off = *step as f64 - (*step as f64 / lattice.period).round() * lattice.period;
        let (on, all) = kinds.entry(kind(*step)).or_default();
        *on += u64::from(off.abs() <= slack);
        *all += 1;
    }
    let chance = (2.0 * slack / lattice.period).min(1.0);
    let kinds: Vec<(u64, u64)> = kinds.into_values().collect();
    by_chance(&kinds, 0.0, chance).min(by_chance(&kinds, MIN_OFTEN_STEP_SHARE * steps.len() as f64, chance))
}

/// The probability that as many kinds of steps, of those that occur `least` times and more, lie on
/// the lattice, if one does by `chance`. Each kind has its steps on the lattice, and all of them.
fn by_chance(kinds: &[(u64, u64)], least: f64, chance: f64) -> f64 {
    let kinds = kinds.iter().filter(|(_, all)| *all as f64 >= least);
    let (hits, all) = kinds.fold((0u64, 0u64), |sum, (on, all)| (sum.0 + u64::from(2 * on > *all), sum.1 + 1));
    match (Binomial::new(chance, all.saturating_sub(1)), hits) {
        (Ok(binomial), 2..) => binomial.sf(hits - 2),
        _ => 1.0,
    }
}

/// Returns true if the numbers of ticks repeat in a cycle, or what is unusual comes at equal
/// distances. A read of nearly constant cost on a true lattice repeats them, too, for a while, but
/// not after many turns.
fn is_cyclic(ticks: &[u64]) -> bool {
    let frequencies = counts(ticks.iter().copied());
    let usual = frequencies.iter().max_by_key(|(_, count)| **count).map_or(0, |(ticks, _)| *ticks);
    let unusual: Vec<usize> = (0..ticks.len()).filter(|index| ticks[*index] != usual).collect();
    let cycles = (2..=MAX_CYCLE_READS.min(ticks.len() / 2)).filter(|cycle| repeats_after(*cycle, ticks, &unusual));
    let mut lags = cycles.map(|cycle| (CYCLE_DISTANCE_READS.min(ticks.len() / 2) / cycle).max(1) * cycle);
    if lags.any(|lag| repeats_after(lag, ticks, &unusual)) {
        return true;
    }
    let distances = counts(unusual.windows(2).map(|pair| (pair[1] - pair[0]) as u64));
    let equal = distances.values().max().copied().unwrap_or(0) as f64;
    equal >= MIN_CYCLIC_SHARE * (unusual.len().saturating_sub(1)) as f64
}

/// Returns true if the unusual numbers repeat themselves `lag` numbers later: the usual number
/// follows itself in any case.
fn repeats_after(lag: usize, ticks: &[u64], unusual: &[usize]) -> bool {
    let again = unusual.iter().filter(|index| ticks.get(*index + lag) == Some(&ticks[**index])).count();
    again as f64 >= MIN_CYCLIC_SHARE * unusual.iter().filter(|index| *index + lag < ticks.len()).count() as f64
}

/// Returns true if readings that are far apart keep the phase that neighbors have, where nothing
/// came between them.
fn is_coherent(values: &[u64], usual: u64, lattice: &Lattice) -> bool {
    // As far apart as there are readings that nothing came between.
    let mut lags = COHERENCE_LAGS.into_iter().filter(|lag| *lag <= values.len() / 8);
    let far = lags.find_map(|lag| coherence(values, lag, usual, lattice));
    far.zip(coherence(values, 1, usual, lattice)).is_some_and(|(far, near)| far >= MIN_REMAINING_COHERENCE * near)
}

/// Returns the length of the mean phase of differences between readings that are `lag` apart: 1
/// where all have one phase. `None` if there are too few that nothing came between.
fn coherence(values: &[u64], lag: usize, usual: u64, lattice: &Lattice) -> Option<f64> {
    let pairs = values.iter().zip(&values[lag..]).map(|(from, to)| to - from);
    let unbroken = pairs.filter(|apart| *apart <= 2 * lag as u64 * usual.max(1));
    let phases = unbroken.map(|apart| phase::vector(phase::fraction(apart as f64 / lattice.period)));
    let (cosine, sine, count) =
        phases.fold((0.0, 0.0, 0.0), |sum, (cosine, sine)| (sum.0 + cosine, sum.1 + sine, sum.2 + 1.0));
    if count >= MIN_UNDISTURBED_PAIRS { Some(f64::hypot(sine, cosine) / count) } else { None }
}

/// Returns true if the steps prove that no tick is longer than [`super::SHORTEST`]: of four
/// neighboring whole numbers at most three can be steps on such a lattice, one for the truncation
/// and one because a reading may be one more than it should be. Nor does such a clock both repeat
/// itself and go one or two units on. In each part of the readings, lest a drift should have spread
/// the steps.
pub(super) fn is_fine(repeats: u64, steps: &[u64]) -> bool {
    let short = steps.iter().filter(|step| **step <= 2).count();
    let long = if (short as f64) < MIN_OFTEN_STEP_SHARE * steps.len() as f64 { MIN_LONG_STEP_UNITS } else { u64::MAX };
    is_often_unchanged(repeats, short, steps.len()) || is_dense_throughout(steps, NEIGHBOR_PART_STEPS, long)
}

/// Returns true if distances between readings that are further apart prove that no tick is longer
/// than [`super::SHORTEST`]. A read that takes nearly the same few units each time makes few
/// different steps, which lie on the lattice of its own cost as well. Its noise adds up over many
/// reads, whereas readings on a lattice stay on it.
pub(super) fn is_fine_across(values: &[u64], usual: u64) -> bool {
    let mut lags = NEIGHBOR_LAGS.into_iter().filter(|lag| *lag <= values.len() / 8);
    usual <= MAX_SHORT_STEP_UNITS
        && lags.any(|lag| {
            let distances: Vec<u64> = values.iter().zip(&values[lag..]).map(|(from, to)| to - from).collect();
            is_dense_throughout(&distances, LAGGED_PART_STEPS, u64::MAX)
        })
}

/// Returns true if all parts of `size` steps are dense. Steps from `long` on are several ticks.
fn is_dense_throughout(steps: &[u64], size: usize, long: u64) -> bool {
    // What is left after the whole parts is too little to ask, but where it is all there is.
    let mut parts = steps.chunks(size).filter(|part| part.len() >= size / 2 || part.len() == steps.len());
    parts.all(|part| is_dense(part, long))
}

fn is_dense(steps: &[u64], long: u64) -> bool {
    let counts = counts(steps.iter().copied());
    let dense = counts.iter().filter(|(step, _)| has_neighbors(**step, &counts, long)).map(|(_, count)| count);
    dense.sum::<u64>() as f64 >= MIN_NEIGHBOR_STEP_SHARE * steps.len() as f64
}

/// Returns true if a step is one of four neighboring numbers that all occur, about as often.
fn has_neighbors(step: u64, counts: &Counts, long: u64) -> bool {
    (0..4).filter_map(|before| step.checked_sub(before)).any(|first| {
        let four = [0, 1, 2, 3].map(|further| counts.get(&first.saturating_add(further)).copied().unwrap_or(0));
        let (least, most) = (four.iter().min().copied().unwrap_or(0), four.iter().max().copied().unwrap_or(0));
        let rarest = if first < long { MAX_NEIGHBOR_RATIO } else { MAX_LONG_NEIGHBOR_RATIO };
        least >= 5 && rarest * least >= most
    })
}

/// Number of times that each number occurs.
pub(super) type Counts = HashMap<u64, u64>;

pub(super) fn counts(numbers: impl Iterator<Item = u64>) -> Counts {
    let mut counts = Counts::new();
    for number in numbers {
        *counts.entry(number).or_insert(0) += 1;
    }
    counts
}
