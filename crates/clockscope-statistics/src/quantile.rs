//! Quantiles of a sorted sample and the bootstrap interval of its median.

use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// The quantile `q` in [0, 1] of an ascending sample, interpolated linearly between order
/// statistics (Hyndman & Fan 1996, type 7, as numpy and R have by default). `None` for an empty
/// sample.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let (below, fraction) = (position.floor() as usize, position.fract());
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (high - low) * fraction)
}

/// Returns the median of a sample in any order; `None` for an empty one.
#[must_use]
pub fn median(sample: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = sample.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The 95 % bootstrap percentile interval of the median of an ascending sample, `None` under six
/// values (their whole range would cover less than 95 %).
///
/// Exact instead of by resampling: a resample's median is at most the k-th value with the
/// probability that a Binomial(n, k/n) reaches half of n (Efron 1979; Maritz & Jarrett 1978), which
/// a Beta distribution gives. So it is the same at every call and costs two quantiles of a Beta.
/// Assumes that the values are independent.
#[must_use]
pub fn median_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let count = sorted.len();
    if count < 6 {
        return None;
    }
    let half = count.div_ceil(2) as f64;
    let share = Beta::new(half, count as f64 - half + 1.0).ok()?;
    Some([0.025, 0.975].map(|probability| {
        let rank = (share.inverse_cdf(probability) * count as f64).ceil() as usize;
        sorted[rank.clamp(1, count) - 1]
    }))
}

/// Interval in which the next value of an ascending sample lies with 95 %: mean ± t·s·√(1 + 1/n)
/// with Student's t of n − 1 degrees (Hahn & Meeker 1991, prediction interval of one observation of
/// a normal population), and no less than from the lowest to the highest. `None` under six values.
#[must_use]
pub fn next_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let (lowest, highest) = (*sorted.first()?, *sorted.last()?);
    if sorted.len() < 6 {
        return None;
    }
    let count = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let variance = sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let t = StudentsT::new(0.0, 1.0, count - 1.0).ok()?.inverse_cdf(0.975);
    let half = t * (variance * (1.0 + 1.0 / count)).sqrt();
    Some([lowest.min(mean - half), highest.max(mean + half)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_a_known_sample() {
        // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .9, 1]) = 1, 1.75, 3, 6.8, 8
        let sample = [1.0, 2.0, 4.0, 8.0];
        for (q, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            let found = quantile(&sample, q).unwrap();
            assert!((found - expected).abs() < 1e-12, "{q}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn interval_agrees_with_resampling() {
        // 1..=101, resampled 20,000 times: 2.5 % and 97.5 % of the medians are 41 and 61.
        let sample: Vec<f64> = (1..=101).map(f64::from).collect();
        let [low, high] = median_interval(&sample).unwrap();
        assert!((low - 41.0).abs() <= 1.0 && (high - 61.0).abs() <= 1.0, "{low} {high}");
    }

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!(median_interval(&[1.0; 5]), None);
        assert_eq!(median_interval(&[1.0; 6]), Some([1.0, 1.0]));
    }

    #[test]
    fn the_next_of_a_known_sample() {
        // Mean 35, s = 18.708, t(5) = 2.5706: 35 ± 51.94.
        let [low, high] = next_interval(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]).unwrap();
        assert!((low + 16.944).abs() < 0.01 && (high - 86.944).abs() < 0.01, "{low} {high}");
        assert_eq!(next_interval(&[7.0; 6]), Some([7.0, 7.0]));
        assert_eq!(next_interval(&[7.0; 5]), None);
    }

    proptest! {
        #[test]
        fn interval_encloses_the_median(mut sample in prop::collection::vec(-1e9..1e9_f64, 6..300)) {
            sample.sort_by(f64::total_cmp);
            let [low, high] = median_interval(&sample).unwrap();
            let middle = quantile(&sample, 0.5).unwrap();
            prop_assert!(low <= middle && middle <= high);
        }

        #[test]
        fn interval_does_not_depend_on_scale(sample in prop::collection::vec(0.0..1e6_f64, 6..100)) {
            let mut sorted = sample;
            sorted.sort_by(f64::total_cmp);
            let doubled: Vec<f64> = sorted.iter().map(|value| value * 2.0).collect();
            let [low, high] = median_interval(&sorted).unwrap();
            prop_assert_eq!(median_interval(&doubled).unwrap(), [low * 2.0, high * 2.0]);
        }
    }
}
