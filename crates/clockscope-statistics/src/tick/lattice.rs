//! Fit of readings to a lattice.

use std::f64::consts::TAU;

use super::result::{Lattice, MIN_PERIOD_UNITS, PRIMES};
use super::{phase, spectrum};

/// Readings that are looked at together. Across a block the clock must keep its phase.
const BLOCK_READINGS: usize = 32;
/// Readings that a shorter block must have: all of them lie on the arc of the shortest period by
/// chance in 9 % of all cases.
const MIN_BLOCK_READINGS: usize = 5;
/// Ratio of a step to the usual one above which it is an interruption.
const INTERRUPTION_STEPS: u64 = 20;
/// Share of steps of a single unit that is no exception.
const MIN_SINGLE_UNIT_STEP_SHARE: f64 = 0.005;
/// Periods across which a phase must be predictable: the period is right to 50 ppm then.
const MIN_SHARP_PERIODS: f64 = 2000.0;
/// Share of a cycle by which a phase may be predicted wrongly.
const MAX_PREDICTION_ERROR_CYCLES: f64 = 0.1;
/// Largest error of the phase within a block, as part of a unit.
const MAX_BLOCK_DRIFT_UNITS: f64 = 0.05;
/// Part of a unit by which a mean phase may be off, however many readings it is of: those that are
/// just within reach may be so because they were truncated.
const MEAN_PHASE_ERROR_UNITS: f64 = 0.005;
/// Readings that a mean phase needs.
const MIN_PHASE_READINGS: f64 = 16.0;
/// Share of the blocks that must lie on the lattice. Not one in a billion does so by chance; those
/// of a CPU-time clock that was interrupted in their midst do not.
pub(super) const MIN_BLOCK_SHARE: f64 = 0.5;
/// Share that leaves no doubt.
pub(super) const CERTAIN_BLOCK_SHARE: f64 = 0.95;
/// Readings of the first look.
const FIRST_READINGS: usize = 256;
/// Share of the blocks at the first look.
const MIN_FIRST_BLOCK_SHARE: f64 = 0.4;
/// Blocks in a row that may lie off it.
const MAX_BLOCKS_OFF_IN_A_ROW: usize = 16;
/// By what share the periods of the quarters may differ.
const MAX_QUARTER_PERIOD_DIFFERENCE_SHARE: f64 = 2e-4;
/// Share of the length that the truncation leaves to the mean phase, from 0 to 1. Less of it says
/// that the phase was moved between many of the readings, which would move the frequency, too.
const MIN_COHERENCE_SHARE: f64 = 0.5;

/// Outcome for a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fit {
    On(Lattice),
    /// Some quarters of the readings lie on a lattice, but not all, or not on the same.
    Changing,
    Nowhere,
}

/// Facts that the steps show before any lattice is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepProfile {
    /// The length that half of the steps do not exceed: what passes between two reads that nothing
    /// came between.
    pub(super) usual: u64,
    /// A counter answers further reads within its tick with one more each, or something else makes
    /// steps of one unit.
    one_more: bool,
}

impl StepProfile {
    /// `steps` are not empty.
    pub(super) fn from_steps(steps: &[u64]) -> Self {
        let mut sorted = steps.to_vec();
        let middle = sorted.len() / 2;
        let usual = *sorted.select_nth_unstable(middle).1;
        let ones = steps.iter().filter(|step| **step == 1).count();
        Self { usual, one_more: ones as f64 >= MIN_SINGLE_UNIT_STEP_SHARE * steps.len() as f64 }
    }

    /// Returns true if so long a step is an interruption: across it the phase may be lost.
    pub(super) fn is_interruption(self, step: u64) -> bool {
        step > INTERRUPTION_STEPS.saturating_mul(self.usual)
    }

    /// Readings may be this far from each other within a period, in units: one for the truncation
    /// to whole units, and for a period that has room for it a little for the error of the
    /// frequency, and one more for further reads.
    fn band(self, period: f64) -> f64 {
        let further = if self.one_more { (0.25 * period - 1.1).clamp(0.0, 1.0) } else { 0.0 };
        1.1 + (0.02 * (period - MIN_PERIOD_UNITS)).clamp(0.0, 0.4) + further
    }
}

/// Refines a frequency, in cycles a unit, by the first readings; `None` if these lie on no lattice
/// near it.
pub(super) fn refined_by_first(values: &[u64], profile: StepProfile, frequency: f64) -> Option<f64> {
    let first = &values[..values.len().min(FIRST_READINGS)];
    let sharpened = refine(first, profile, frequency);
    (agreement(first, profile, sharpened).share >= MIN_FIRST_BLOCK_SHARE).then_some(sharpened.frequency)
}

/// Refines the frequency that the first readings gave, and returns whether the readings lie on its
/// lattice: the first `most` of every quarter.
pub(super) fn fit(values: &[u64], profile: StepProfile, frequency: f64, most: usize) -> Fit {
    let quarters = values.chunks(values.len().div_ceil(4)).map(|quarter| &quarter[..quarter.len().min(most)]);
    let quarters: Vec<Part> = quarters.map(|quarter| Part::fit(quarter, profile, frequency)).collect();
    let agreement = quarters.iter().map(|part| part.on.share).sum::<f64>() / quarters.len() as f64;
    let frequencies: Vec<f64> = quarters.iter().map(|part| part.frequency).collect();
    let mean = frequencies.iter().sum::<f64>() / frequencies.len() as f64;
    let off = frequencies.iter().map(|frequency| (frequency / mean - 1.0).abs()).fold(0.0, f64::max);
    if !quarters.iter().all(Part::is_on) || off > MAX_QUARTER_PERIOD_DIFFERENCE_SHARE {
        // A part of the readings lies on it for certain, and another does not.
        let certain = quarters.iter().any(|part| part.on.share >= CERTAIN_BLOCK_SHARE);
        return if certain { Fit::Changing } else { Fit::Nowhere };
    }
    // Interruptions say nothing, since the phase may be lost across them.
    let quiet = values.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| !profile.is_interruption(*step));
    let span = quiet.sum::<u64>() as f64 / 4.0;
    let sharpness = quarters.iter().map(|part| part.error).sum::<f64>() / quarters.len() as f64;
    let spread = quarters.iter().map(|part| part.on.spread).fold(0.0, f64::max);
    Fit::On(Lattice {
        period: 1.0 / mean,
        error: off.max(1.0 / span).max(sharpness),
        spread,
        steps: values.len() as u64 - 1,
        agreement,
    })
}

/// The lattice, or the widest that it is part of, of those that the readings lie on as well and
/// that are confirmed.
pub(super) fn widest(
    values: &[u64],
    profile: StepProfile,
    mut lattice: Lattice,
    is_confirmed: impl Fn(&Lattice) -> bool,
) -> Lattice {
    for prime in PRIMES {
        loop {
            let period = lattice.period * prime as f64;
            if period > 2.0 * profile.usual as f64 {
                return lattice;
            }
            match refined_by_first(values, profile, 1.0 / period)
                .map(|frequency| fit(values, profile, frequency, usize::MAX))
            {
                // Refining may have led elsewhere.
                Some(Fit::On(wider)) if (wider.period / period - 1.0).abs() < 0.01 && is_confirmed(&wider) => {
                    lattice = wider;
                }
                _ => break,
            }
        }
    }
    lattice
}

/// The differences of readings that follow one another in blocks that lie on the lattice.
pub(super) fn steps_on(values: &[u64], profile: StepProfile, lattice: &Lattice) -> Vec<u64> {
    let frequency = 1.0 / lattice.period;
    let on = blocks(values, INTERRUPTION_STEPS * profile.usual)
        .filter(|block| band(block, frequency) <= profile.band(lattice.period));
    on.flat_map(|block| block.windows(2).map(|pair| pair[1] - pair[0])).collect()
}

/// A part of the readings with the frequency that fits it.
struct Part {
    frequency: f64,
    /// By what share the frequency may be off.
    error: f64,
    on: Agreement,
}

impl Part {
    fn is_on(&self) -> bool {
        self.on.share >= MIN_BLOCK_SHARE && self.on.longest_off <= MAX_BLOCKS_OFF_IN_A_ROW
    }

    fn fit(values: &[u64], profile: StepProfile, frequency: f64) -> Self {
        let sharpened = refine(values, profile, frequency);
        let mut on = agreement(values, profile, sharpened);
        // A period that is not sharp enough is none, nor one that only seems to be.
        if sharpened.reach * sharpened.frequency < MIN_SHARP_PERIODS
            || !keeps_phase(values, profile, sharpened.frequency)
        {
            on.share = 0.0;
        }
        Self { frequency: sharpened.frequency, error: sharpened.error(), on }
    }
}

/// Share that truncation to whole units leaves of the mean phase of two readings, whose truncations
/// are independent: sinc².
fn truncated(frequency: f64) -> f64 {
    let half_turn = std::f64::consts::PI * frequency;
    (half_turn.sin() / half_turn).powi(2)
}

/// Facts on a frequency that pairs of readings show.
struct MeanPhase {
    /// Mean phase by which the frequency is off, in cycles.
    mean: f64,
    /// Length of the mean as a vector: 1 if all phases are the same.
    length: f64,
    /// Mean distance of the readings, in units.
    distance: f64,
    count: f64,
}

/// The mean phase of each reading and the one `lag` after it, of those no further apart than
/// `reach`; `None` if these are few.
fn mean_phase(values: &[u64], lag: usize, reach: f64, frequency: f64) -> Option<MeanPhase> {
    let distances =
        values.iter().zip(&values[lag..]).map(|(from, to)| (to - from) as f64).filter(|apart| *apart <= reach);
    let (mut cosine, mut sine, mut distance, mut count) = (0.0, 0.0, 0.0, 0.0_f64);
    for apart in distances.clone() {
        let (c, s) = phase::vector(phase::fraction(frequency * apart));
        (cosine, sine, distance, count) = (cosine + c, sine + s, distance + apart, count + 1.0);
    }
    if count < MIN_PHASE_READINGS {
        return None;
    }
    // The direction of the vectors is biased where truncations are few and skewed: steps of a
    // single tick of 4.19 units are of 4 units four times in five. Around it the phases themselves
    // are averaged, in which truncations cancel: what a reading lost as the first of a pair it lost
    // as the second of another.
    let direction = sine.atan2(cosine) / TAU;
    let off = distances.map(|apart| phase::fraction(frequency * apart - direction));
    let mean = direction + off.sum::<f64>() / count;
    Some(MeanPhase { mean, length: cosine.hypot(sine) / count, distance: distance / count, count })
}

/// A frequency, in cycles a unit, and how far apart readings may be for it to predict their phase.
#[derive(Clone, Copy, Debug)]
struct Sharpened {
    frequency: f64,
    reach: f64,
}

impl Sharpened {
    /// By what share the frequency may be off.
    fn error(self) -> f64 {
        MAX_PREDICTION_ERROR_CYCLES / (self.reach * self.frequency)
    }
}

/// Sharpens a frequency by the phases of readings that are 1, 2, 4, ... apart: each step halves the
/// error or better, and readings are compared only as far apart as the frequency that is known so
/// far allows. The mean phase over the mean distance is taken, since least squares would be drawn
/// to whichever end has more readings.
fn refine(values: &[u64], profile: StepProfile, mut frequency: f64) -> Sharpened {
    let mut reach = spectrum::reach(profile.usual);
    let start = frequency;
    let mut lag = 1;
    while lag <= values.len() / 2 {
        let Some(phase) = mean_phase(values, lag, reach, frequency) else { break };
        let sharper = frequency - phase.mean / phase.distance;
        if phase.length < MIN_COHERENCE_SHARE * truncated(frequency) || !(0.5 * start..2.0 * start).contains(&sharper) {
            break;
        }
        frequency = sharper;
        // Deviation of a single phase, in cycles, from the length of the mean (Mardia & Jupp 2000,
        // circular deviation).
        let deviation = ((-2.0 * phase.length.min(1.0).ln()).sqrt() / TAU).max(0.01);
        let error = (deviation / phase.count.sqrt()).max(MEAN_PHASE_ERROR_UNITS * frequency);
        reach = f64::max(reach, phase.distance * MAX_PREDICTION_ERROR_CYCLES / error);
        lag *= 2;
    }
    Sharpened { frequency, reach }
}

/// Agreement of readings with a lattice.
#[derive(Clone, Copy, Debug)]
struct Agreement {
    /// Share of the blocks that do.
    share: f64,
    /// The band that nine in ten of them lie in, in units.
    spread: f64,
    /// The most blocks in a row that do not.
    longest_off: usize,
}

fn agreement(values: &[u64], profile: StepProfile, Sharpened { frequency, reach }: Sharpened) -> Agreement {
    let limit = profile.band(1.0 / frequency);
    let reach = reach * frequency * MAX_BLOCK_DRIFT_UNITS / MAX_PREDICTION_ERROR_CYCLES;
    let (mut on, mut all, mut off, mut longest_off) = (Vec::new(), 0, 0, 0);
    for band in blocks(values, reach as u64).map(|block| band(block, frequency)) {
        all += 1;
        if band <= limit {
            on.push(band);
            off = 0;
        } else {
            off += 1;
            longest_off = longest_off.max(off);
        }
    }
    on.sort_unstable_by(f64::total_cmp);
    let spread = on.get(on.len() * 9 / 10).copied().unwrap_or(0.0);
    Agreement { share: on.len() as f64 / f64::from(all.max(1)), spread, longest_off }
}

/// Returns true if readings keep their phase as far as a sharp frequency has to predict it to a
/// twentieth of a unit. A short block of readings with a short period lies on any lattice near by.
/// Readings without such a span say nothing against it.
fn keeps_phase(values: &[u64], profile: StepProfile, frequency: f64) -> bool {
    let reach = MIN_SHARP_PERIODS * MAX_BLOCK_DRIFT_UNITS / MAX_PREDICTION_ERROR_CYCLES;
    if BLOCK_READINGS as u64 * profile.usual >= reach as u64 {
        return true;
    }
    let (mut on, mut all) = (0, 0);
    for block in spans(values, reach as u64).filter(|block| block.len() >= MIN_BLOCK_READINGS) {
        all += 1;
        on += usize::from(band(block, frequency) <= profile.band(1.0 / frequency));
    }
    on as f64 >= MIN_BLOCK_SHARE * all as f64
}

/// The readings in blocks that are so long at most.
fn spans(mut values: &[u64], most: u64) -> impl Iterator<Item = &[u64]> {
    std::iter::from_fn(move || {
        let first = *values.first()?;
        let (block, others) = values.split_at(values.partition_point(|value| value - first <= most));
        values = others;
        Some(block)
    })
}

/// The readings in blocks without a step longer than `reach`. A rest that is too short for a block
/// is left out.
fn blocks(values: &[u64], reach: u64) -> impl Iterator<Item = &[u64]> {
    let runs = values.chunk_by(move |from, to| to - from <= reach);
    runs.flat_map(|run| run.chunks(BLOCK_READINGS)).filter(|block| block.len() >= MIN_BLOCK_READINGS)
}

/// Width of the arc, in units, on which the readings lie within the period.
fn band(values: &[u64], frequency: f64) -> f64 {
    let phases = values.iter().map(|value| phase::fraction(frequency * (value - values[0]) as f64));
    let vectors = phases.clone().map(phase::vector);
    let (cosine, sine) = vectors.fold((0.0, 0.0), |sum, (cosine, sine)| (sum.0 + cosine, sum.1 + sine));
    let middle = sine.atan2(cosine) / TAU;
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for phase in phases {
        let off = phase::fraction(phase - middle);
        (low, high) = (low.min(off), high.max(off));
    }
    (high - low) / frequency
}
