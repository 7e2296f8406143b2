//! Costs of reads, with the percentile and the histogram that belong to each.

use std::sync::LazyLock;

use clockscope_records::EvidenceData;

/// Quantiles of a histogram.
const QUANTILES: usize = 256;
/// Share of the batches that nothing delays.
const QUIET: f64 = 0.94;
/// Bins for each doubling of the cost.
const BINS: f64 = 32.0;

/// A clock's batches: how much their costs differ from the median, as natural logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Width of the bulk.
    pub(super) width: f64,
    /// Length of the tail.
    pub(super) tail: f64,
}

/// The bulk and the tail of each quantile, for a width and a length of 1.
static SHAPE: LazyLock<Vec<(f64, f64)>> =
    LazyLock::new(|| (0..QUANTILES).map(|at| shape((at as f64 + 0.5) / QUANTILES as f64)).collect());

/// The logistic distribution, which has its median at 0, and a tail that begins above [`QUIET`].
fn shape(share: f64) -> (f64, f64) {
    ((share / (1.0 - share)).ln() / 1.7, ((share - QUIET).max(0.0) / (1.0 - QUIET)).powi(2))
}

impl Spread {
    fn p99(self) -> f64 {
        let (bulk, tail) = shape(0.99);
        (bulk * self.width + tail * self.tail).exp()
    }

    fn histogram(self, ns: f64) -> Vec<(i64, u64)> {
        let middle = ns.log2();
        let mut found: Vec<(i64, u64)> = Vec::new();
        for (bulk, tail) in SHAPE.iter() {
            let log = (bulk * self.width + tail * self.tail) * std::f64::consts::LOG2_E;
            let bin = (BINS * (middle + log)).floor() as i64;
            match found.last_mut() {
                Some((last, count)) if *last == bin => *count += 1,
                _ => found.push((bin, 1)),
            }
        }
        found
    }
}

/// Makes a piece of evidence that of a cost.
pub(super) fn set(data: &mut EvidenceData, ns: f64, spread: Spread) {
    if let EvidenceData::Cost { cost_ns, p99_ns, histogram, .. } = data {
        (*cost_ns, *p99_ns, *histogram) = (Some(ns), Some(ns * spread.p99()), spread.histogram(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_holds_the_median_and_the_percentile() {
        for ns in [7.3, 30.0, 1_234.5] {
            let spread = Spread { width: 0.01, tail: 0.2 };
            let histogram = spread.histogram(ns);
            let below = |ns: f64| histogram.iter().filter(|(bin, _)| 2f64.powf(*bin as f64 / BINS) <= ns).count();
            assert_eq!(histogram.iter().map(|(_, count)| count).sum::<u64>(), 256);
            assert!(histogram.is_sorted() && below(ns * spread.p99()) > below(ns), "{histogram:?}");
            let half = histogram[..below(ns)].iter().map(|(_, count)| count).sum::<u64>();
            assert!(half >= 128 && half - histogram[below(ns) - 1].1 <= 128, "{histogram:?}");
        }
    }
}
