//! Bins of equal ratio.

/// Bins of equal ratio, `per_octave` for each doubling. Bin 0 is the one that begins at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OctaveBins {
    /// Bins for each doubling.
    pub per_octave: i64,
}

/// Bins of an eighth of a doubling, for people to look at.
pub const OCTAVE_EIGHTHS: OctaveBins = OctaveBins { per_octave: 8 };

/// Bins of costs, whose counts are added over machines: a bin is 2.2 % wide, so that its middle is
/// within 1.1 % of all that it holds.
const COST_BINS: OctaveBins = OctaveBins { per_octave: 32 };

impl OctaveBins {
    /// Returns the bin of a positive number.
    #[must_use]
    pub fn bin(self, value: f64) -> i64 {
        // A number on an edge belongs to the bin above, whichever way the logarithm was rounded.
        (value.log2() * self.per_octave as f64 + 1e-9).floor() as i64
    }

    /// Returns the value at which a bin begins.
    #[must_use]
    pub fn edge(self, bin: i64) -> f64 {
        (bin as f64 / self.per_octave as f64).exp2()
    }
}

/// Values that a histogram of costs represents at most.
const MAX_HISTOGRAM_COSTS: usize = 256;

/// Returns a histogram of sorted costs in bins of 1/32 of a doubling, as pairs of a bin and a
/// count, in ascending order. Of more than 256 costs it has 256 quantiles of equal distance, so
/// that a quantile's rank is off by 0.2 % at most. What is not positive is left out.
#[must_use]
pub fn cost_histogram(sorted: &[f64]) -> Vec<(i64, u64)> {
    let wanted = sorted.len().min(MAX_HISTOGRAM_COSTS);
    let chosen = (0..wanted).map(|index| sorted[(2 * index + 1) * sorted.len() / (2 * wanted)]);
    let mut histogram: Vec<(i64, u64)> = Vec::new();
    for bin in chosen.filter(|cost| *cost > 0.0).map(|cost| COST_BINS.bin(cost)) {
        match histogram.last_mut() {
            Some((last, count)) if *last == bin => *count += 1,
            _ => histogram.push((bin, 1)),
        }
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_belong_to_the_bin_that_they_begin() {
        for bins in [OCTAVE_EIGHTHS, COST_BINS] {
            for bin in -100..300 {
                assert_eq!(bins.bin(bins.edge(bin)), bin);
                assert_eq!(bins.bin(bins.edge(bin) * 1.02), bin);
                assert_eq!(bins.bin(bins.edge(bin) * 0.99), bin - 1);
            }
        }
    }

    #[test]
    fn the_middle_of_a_bin_of_costs_is_near_all_that_it_holds() {
        for cost in (1..100_000).map(|step| f64::from(step) * 0.37) {
            let [(bin, 1)] = cost_histogram(&[cost])[..] else { panic!("{cost}") };
            let middle = (COST_BINS.edge(bin) * COST_BINS.edge(bin + 1)).sqrt();
            assert!((middle / cost - 1.0).abs() < 0.011, "{cost} {middle}");
        }
    }

    #[test]
    fn few_costs_are_counted_and_what_is_not_one_is_left_out() {
        assert_eq!(cost_histogram(&[-1.0, 0.0, 1.0, 32.0, 32.1]), [(0, 1), (160, 2)]);
        assert_eq!(cost_histogram(&[]), []);
    }

    #[test]
    fn many_costs_are_represented_by_ranks_of_equal_distance() {
        let costs: Vec<f64> = (0..4096).map(|rank| if rank < 4055 { 10.0 } else { 1000.0 }).collect();
        let [(fast, 253), (slow, 3)] = cost_histogram(&costs)[..] else { panic!("{:?}", cost_histogram(&costs)) };
        assert_eq!([fast, slow], [10.0, 1000.0].map(|cost| COST_BINS.bin(cost)));
    }
}
