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
/// The same of steps that are several ticks, if a tick is three units or more, where no reading
/// falls into the tick of the one before and is one more than that.
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

/// Returns true if so many different steps have the divisor that it is no accident.
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
    let often = |ticks: u64| counts.get(&ticks).is_some_and(|count| *count as f64 >= enough);
    // Where hundreds of numbers occur, none of them does often.
    counts.len() > 100 || counts.keys().any(|ticks| often(*ticks) && often(ticks + 1))
}

/// Returns true if a lattice, the n-th that was tried, is more than a cost.
pub(super) fn is_proved(values: &[u64], profile: StepProfile, repeats: u64, lattice: &Lattice, tried: usize) -> bool {
    let inside = lattice::steps_on(values, profile, lattice);
    let ticks = |step: u64| (step as f64 / lattice.period).round() as u64;
    let one_tick = inside.iter().filter(|step| ticks(**step) == 1).count();
    if is_often_unchanged(repeats, one_tick, inside.len()) {
        return true;
    }
    if !is_diverse(repeats, &counts(inside.iter().copied()), lattice.period) {
        return false;
    }
    let all: Vec<u64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    accident(&all, profile.usual, lattice) * (tried as f64) < MAX_CHANCE_PROBABILITY
        || !is_cyclic(&all.iter().map(|step| ticks(*step)).collect::<Vec<_>>())
            && is_coherent(values, profile.usual, lattice)
}

/// The probability that as many different steps are multiples of the period, if it has nothing to
/// do with them: of all steps across which the period's own error does not show, or of long ones
/// alone, with more room for that error.
fn accident(steps: &[u64], usual: u64, lattice: &Lattice) -> f64 {
    let ticks = |step: u64| (step as f64 / lattice.period).round() as u64;
    let of_all = accident_of(steps, usual, lattice, MAX_PERIOD_DRIFT_UNITS, ticks);
    // From one batch of readings to the next a program does something else, which no loop of
    // constant cost explains; but a pause of constant length that begins anywhere in a cycle of
    // costs is one trial, not several.
    let long: Vec<u64> = steps.iter().copied().filter(|step| *step > 4 * usual).collect();
    let alike = |step: u64| step / (2 * usual).max(1);
    let of_long =
        accident_of(&long, usual, lattice, MAX_PERIOD_DRIFT_UNITS.max(MAX_PERIOD_DRIFT_SHARE * lattice.period), alike);
    2.0 * of_all.min(of_long)
}

/// The same of steps so long that the period's error is so many units there. Those of one kind are
/// one trial, however often it occurs; one of them made the period. Once for all of them, and once
/// for those that occur often: the others may be interruptions that moved the clock between its
/// ticks.
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
    let by_chance = |least: f64| {
        let kinds = kinds.values().filter(|(_, all)| *all as f64 >= least);
        let (hits, all) = kinds.fold((0u64, 0u64), |sum, (on, all)| (sum.0 + u64::from(2 * on > *all), sum.1 + 1));
        match (Binomial::new(chance, all.saturating_sub(1)), hits) {
            (Ok(binomial), 2..) => binomial.sf(hits - 2),
            _ => 1.0,
        }
    };
    by_chance(0.0).min(by_chance(MIN_OFTEN_STEP_SHARE * steps.len() as f64))
}

/// Returns true if the numbers of ticks repeat in a cycle, or what is unusual comes at equal
/// distances. A read of nearly constant cost on a true lattice repeats them, too, for a while, but
/// not after many turns.
fn is_cyclic(ticks: &[u64]) -> bool {
    let frequencies = counts(ticks.iter().copied());
    let usual = frequencies.iter().max_by_key(|(_, count)| **count).map_or(0, |(ticks, _)| *ticks);
    let unusual: Vec<usize> = (0..ticks.len()).filter(|index| ticks[*index] != usual).collect();
    // Of the unusual ones: the usual number follows itself in any case.
    let repeats_after = |lag: usize| {
        let again = unusual.iter().filter(|index| ticks.get(*index + lag) == Some(&ticks[**index])).count();
        again as f64 >= MIN_CYCLIC_SHARE * unusual.iter().filter(|index| *index + lag < ticks.len()).count() as f64
    };
    let cycles = (2..=MAX_CYCLE_READS.min(ticks.len() / 2)).filter(|cycle| repeats_after(*cycle));
    if cycles.map(|cycle| (CYCLE_DISTANCE_READS.min(ticks.len() / 2) / cycle).max(1) * cycle).any(repeats_after) {
        return true;
    }
    let distances = counts(unusual.windows(2).map(|pair| (pair[1] - pair[0]) as u64));
    let equal = distances.values().max().copied().unwrap_or(0) as f64;
    equal >= MIN_CYCLIC_SHARE * (unusual.len().saturating_sub(1)) as f64
}

/// Returns true if readings that are far apart keep the phase that neighbors have, where nothing
/// came between them.
fn is_coherent(values: &[u64], usual: u64, lattice: &Lattice) -> bool {
    let length = |lag: usize| {
        let pairs = values.iter().zip(&values[lag..]).map(|(from, to)| to - from);
        let unbroken = pairs.filter(|apart| *apart <= 2 * lag as u64 * usual.max(1));
        let phases = unbroken.map(|apart| phase::vector(phase::fraction(apart as f64 / lattice.period)));
        let (cosine, sine, count) =
            phases.fold((0.0, 0.0, 0.0), |sum, (cosine, sine)| (sum.0 + cosine, sum.1 + sine, sum.2 + 1.0));
        (count >= MIN_UNDISTURBED_PAIRS).then(|| f64::hypot(sine, cosine) / count)
    };
    // As far apart as there are readings that nothing came between.
    let far = COHERENCE_LAGS.iter().filter(|lag| **lag <= values.len() / 8).find_map(|lag| length(*lag));
    far.zip(length(1)).is_some_and(|(far, near)| far >= MIN_REMAINING_COHERENCE * near)
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

/// The same of distances between readings that are further apart. A read that takes nearly the same
/// few units each time makes few different steps, which lie on the lattice of its own cost as well.
/// Its noise adds up over many reads, whereas readings on a lattice stay on it.
pub(super) fn is_fine_across(values: &[u64], usual: u64) -> bool {
    let distances =
        |lag: &usize| -> Vec<u64> { values.iter().zip(values.iter().skip(*lag)).map(|(from, to)| to - from).collect() };
    let lags = NEIGHBOR_LAGS.iter().filter(|lag| **lag <= values.len() / 8);
    usual <= MAX_SHORT_STEP_UNITS
        && lags.map(distances).any(|distances| is_dense_throughout(&distances, LAGGED_PART_STEPS, u64::MAX))
}

/// Returns true if all parts of so many steps are dense. Steps from `long` on are several ticks.
fn is_dense_throughout(steps: &[u64], size: usize, long: u64) -> bool {
    // What is left after the whole parts is too little to ask, but where it is all there is.
    let mut parts = steps.chunks(size).filter(|part| part.len() >= size / 2 || part.len() == steps.len());
    parts.all(|part| is_dense(part, long))
}

fn is_dense(steps: &[u64], long: u64) -> bool {
    let counts = counts(steps.iter().copied());
    let count = |step: u64| counts.get(&step).copied().unwrap_or(0);
    let has_neighbors = |step: u64| {
        (0..4).filter_map(|before| step.checked_sub(before)).any(|first| {
            let four = [0, 1, 2, 3].map(|further| count(first.saturating_add(further)));
            let (least, most) = (four.iter().min().copied().unwrap_or(0), four.iter().max().copied().unwrap_or(0));
            let rarest = if first < long { MAX_NEIGHBOR_RATIO } else { MAX_LONG_NEIGHBOR_RATIO };
            least >= 5 && rarest * least >= most
        })
    };
    let dense: u64 = counts.iter().filter(|(step, _)| has_neighbors(**step)).map(|(_, count)| count).sum();
    dense as f64 >= MIN_NEIGHBOR_STEP_SHARE * steps.len() as f64
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
