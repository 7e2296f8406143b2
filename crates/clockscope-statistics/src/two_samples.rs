//! Bounds of the difference between two samples: of its size, or of the ratio of their values.
//!
//! The estimates are those of Pragmastat (Akinshin, *Pragmastat: Pragmatic Statistical Toolkit*,
//! <https://pragmastat.dev>): the median of all pairwise differences (Hodges & Lehmann 1963), of
//! logarithms for a ratio. The bounds are made of two intervals, because runs of a measurement are
//! few:
//!
//! - by rank: from the k-th of the pairwise differences to the k-th last, without an assumption
//!   about the distribution (Lehmann 1963; the null distribution of Mann & Whitney's U);
//! - by Student's t with Welch's degrees of freedom, which assumes that values are nearly normal.
//!
//! Samples that are large enough for the error rate, and about as large as each other, are bounded
//! by rank alone, so that a few values far from the others do not widen the bounds. The rate holds
//! for samples of the same shape. Where one varies far more than the other, more bounds miss: of
//! twelve values a side, up to 0.63 % at a stated 0.19 %. Of samples of different sizes it would be
//! worse: Welch's interval allows for that. Five values a side are ordered in 252 ways, so that
//! by rank alone no error rate below 2/252 can be stated. The t interval states it. The rank's
//! interval is then the whole range, so that no difference is stated unless all values of one
//! sample are beyond all of the other. With fewer than five values a side that are far from normal,
//! neither bounds the errors well.

use clockscope_records::Bounds;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::quantile;

/// Most pairs whose ranks are counted exactly. The normal approximation of more is nearly exact,
/// and its tails are heavier.
const MAX_EXACT_PAIRS: usize = 2_500;

/// Returns the shift from the values of `base` to those of `new`. The bounds miss it with a
/// probability of `misrate` at most. `None` for fewer than three values in all, for an empty
/// sample, and for values that are not finite.
#[must_use]
pub fn shift_bounds(base: &[f64], new: &[f64], misrate: f64) -> Option<Bounds> {
    let ranked = by_rank(base, new, misrate)?;
    let are_alike = base.len().max(new.len()) * 2 <= base.len().min(new.len()) * 3;
    if are_alike && by_chance(base.len(), new.len()) <= misrate {
        return Some(ranked);
    }
    let assumed = by_student(base, new, misrate)?;
    Some(Bounds { low: ranked.low.min(assumed.low), high: ranked.high.max(assumed.high), ..ranked })
}

/// Returns how many times as large the values of `new` are as those of `base`: [`shift_bounds`] of
/// their logarithms. `None` for values that are not positive, too.
#[must_use]
pub fn ratio_bounds(base: &[f64], new: &[f64], misrate: f64) -> Option<Bounds> {
    shift_bounds(&logarithms(base)?, &logarithms(new)?, misrate).map(exponential)
}

/// Returns the same ratio with the bounds of all values: from the smallest of `new` by the largest
/// of `base` to the largest by the smallest. For values of one run, which depend on each other.
/// `None` for an empty sample and for values that are not positive.
#[must_use]
pub fn ratio_range(base: &[f64], new: &[f64]) -> Option<Bounds> {
    by_rank(&logarithms(base)?, &logarithms(new)?, 0.0).map(exponential)
}

fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().map(|value| Some(value.ln()).filter(|log| log.is_finite())).collect()
}

fn exponential(Bounds { estimate, low, high }: Bounds) -> Bounds {
    Bounds { estimate: estimate.exp(), low: low.exp(), high: high.exp() }
}

/// The bounds by rank; the whole range where the samples are too small for the rate of errors.
fn by_rank(base: &[f64], new: &[f64], misrate: f64) -> Option<Bounds> {
    let mut differences: Vec<f64> = new.iter().flat_map(|new| base.iter().map(move |base| new - base)).collect();
    if differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    differences.sort_unstable_by(f64::total_cmp);
    let estimate = quantile(&differences, 0.5)?;
    let left_out = left_out(base.len(), new.len(), misrate);
    Some(Bounds { estimate, low: differences[left_out], high: differences[differences.len() - 1 - left_out] })
}

/// Returns how many pairwise differences may be left out on either side: the most for which the
/// truth lies beyond the next one with a probability of at most half of `misrate`. Pragmastat
/// 14.0.1 leaves out the first number that *reaches* that probability, which is one too many.
fn left_out(base: usize, new: usize, misrate: f64) -> usize {
    let pairs = base * new;
    let most = pairs.saturating_sub(1) / 2;
    if pairs > MAX_EXACT_PAIRS {
        let mean = pairs as f64 / 2.0;
        let deviation = (pairs as f64 * (base + new + 1) as f64 / 12.0).sqrt();
        let least = Normal::standard().inverse_cdf(misrate / 2.0);
        return ((mean + least * deviation - 0.5).floor().max(0.0) as usize).min(most);
    }
    let mut below = 0.0;
    let within = ranks(base, new).into_iter().take_while(|probability| {
        below += probability;
        below <= misrate / 2.0
    });
    within.count().saturating_sub(1).min(most)
}

/// The probability that all values of one of two samples of one population are beyond all of the
/// other: the lowest rate of errors that ranks can state.
fn by_chance(base: usize, new: usize) -> f64 {
    // 2 by the number of orders, the binomial coefficient.
    (1..=base).fold(2.0, |share, i| share * i as f64 / (new + i) as f64)
}

/// The probabilities that 0, 1, 2, … of all pairs have the larger value in the same sample, for two
/// samples of one population (Mann & Whitney 1947): the largest of all values is of either sample,
/// and the rest are two smaller samples.
fn ranks(base: usize, new: usize) -> Vec<f64> {
    let mut rows = vec![vec![1.0]; new + 1];
    for i in 1..=base {
        for j in 1..=new {
            let share = i as f64 / (i + j) as f64;
            let mut probabilities = vec![0.0; i * j + 1];
            // Row j still has samples of i - 1 values, row j - 1 those of i.
            rows[j].iter().enumerate().for_each(|(count, above)| probabilities[count + j] += share * above);
            rows[j - 1].iter().zip(&mut probabilities).for_each(|(left, sum)| *sum += (1.0 - share) * left);
            rows[j] = probabilities;
        }
    }
    rows.pop().unwrap_or_default()
}

/// The bounds by Student's t. A sample of one value varies as the other one does.
fn by_student(base: &[f64], new: &[f64], misrate: f64) -> Option<Bounds> {
    let (base, new) = (Moments::from_values(base)?, Moments::from_values(new)?);
    let (error, freedom) = match (base.variance, new.variance) {
        (Some(of_base), Some(of_new)) => {
            let parts = [of_base / base.count, of_new / new.count];
            let error = parts[0] + parts[1];
            let spread = parts[0].powi(2) / (base.count - 1.0) + parts[1].powi(2) / (new.count - 1.0);
            (error, if spread > 0.0 { error.powi(2) / spread } else { base.count + new.count - 2.0 })
        }
        (Some(variance), None) => (variance * (1.0 / base.count + 1.0), base.count - 1.0),
        (None, Some(variance)) => (variance * (1.0 / new.count + 1.0), new.count - 1.0),
        (None, None) => return None,
    };
    let half = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - misrate / 2.0) * error.sqrt();
    let estimate = new.mean - base.mean;
    Some(Bounds { estimate, low: estimate - half, high: estimate + half })
}

struct Moments {
    count: f64,
    mean: f64,
    /// `None` of one value.
    variance: Option<f64>,
}

impl Moments {
    fn from_values(values: &[f64]) -> Option<Self> {
        let count = Some(values.len() as f64).filter(|count| *count > 0.0)?;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Some(Self { count, mean, variance: (count > 1.0).then(|| squares / (count - 1.0)) })
    }
}

#[cfg(test)]
mod tests;
