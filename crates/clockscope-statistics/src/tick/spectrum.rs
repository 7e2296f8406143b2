//! Periods that the differences of readings hint at.
//!
//! Two readings on a lattice of period P differ by a multiple of P, plus or minus their
//! truncations, which are independent of each other. So at the frequency 1/P the transform of the
//! histogram of differences has no phase, and the amplitude sinc²(1/P): 0.68 for the shortest
//! period that is looked for. Lines that truncation folds down from multiples of 1/P have at most
//! 0.17.

use rustfft::algorithm::Radix4;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection};

use super::result::MIN_PERIOD_UNITS;

/// Amplitude from which a line is looked at.
const MIN_LINE_AMPLITUDE: f32 = 0.4;
/// Shortest and longest transform.
const MIN_TRANSFORM_LEN: u64 = 256;
const MAX_TRANSFORM_LEN: usize = 1 << 19;
/// Lines that are looked at.
const MAX_LINES: usize = 512;

/// Frequencies, in cycles a unit, at which a lattice may be, the lowest first; `None` if the steps
/// are too long for a transform. `steps` are positive.
pub(super) fn candidates(steps: &[u64], usual: u64) -> Option<Vec<f64>> {
    let cosines = cosines(steps, usual)?;
    let bins = 2 * (cosines.len() - 1);
    // A little further than to the shortest period: its line has a width.
    let end = ((bins as f64 / MIN_PERIOD_UNITS * 1.1) as usize).min(cosines.len() - 1);
    // From frequency 0 the transform falls from 1: that is no line.
    let start = cosines.iter().position(|cosine| *cosine < MIN_LINE_AMPLITUDE).unwrap_or(end);
    let lines = (start.max(1)..end)
        .filter(|bin| {
            let [before, here, after] = [cosines[bin - 1], cosines[*bin], cosines[bin + 1]];
            here >= MIN_LINE_AMPLITUDE && here >= before && here > after
        })
        .map(|bin| bin as f64 / bins as f64)
        .take(MAX_LINES);
    Some(lines.collect())
}

/// Largest distance of readings, in units, for a line to predict their phase to a quarter of a
/// cycle or better.
pub(super) fn reach(usual: u64) -> f64 {
    (2.0 * usual as f64).max(MIN_TRANSFORM_LEN as f64 / 5.0)
}

/// The length of the transform.
fn bins(usual: u64) -> usize {
    let bins = usual.max(1).saturating_mul(4).checked_next_power_of_two().unwrap_or(u64::MAX);
    bins.clamp(MIN_TRANSFORM_LEN, MAX_TRANSFORM_LEN as u64) as usize
}

/// The mean cosine of the differences at the frequencies 0, 1/n, ... 1/2. Differences that are much
/// longer than usual are left out; `None` if that would be most of them.
fn cosines(steps: &[u64], usual: u64) -> Option<Vec<f32>> {
    let bins = bins(usual);
    let mut histogram = vec![Complex::<f32>::default(); bins];
    let mut counted = 0;
    for step in steps.iter().filter(|step| **step < bins as u64 / 2) {
        histogram[*step as usize].re += 1.0;
        counted += 1;
    }
    if counted < steps.len() / 2 {
        return None;
    }
    // The one algorithm, since the length is a power of two: a planner would bring all others into
    // the program.
    Radix4::new(bins, FftDirection::Forward).process(&mut histogram);
    Some(histogram[..=bins / 2].iter().map(|line| line.re / counted as f32).collect())
}
