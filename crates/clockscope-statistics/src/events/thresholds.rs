//! The size that a jump has to exceed to be counted, over time.

use crate::quantile;

/// The most thresholds that are kept.
const MAX_THRESHOLDS: usize = 1024;
/// The spacing of the samples at first, in ns. It doubles whenever they are too many.
const FIRST_SPACING_NS: f64 = 100.0;
/// The share of the time that the reported threshold covers.
const COVERED_TIME_SHARE: f64 = 0.9;

/// JumpThresholds, sampled at moments of equal spacing: a jump falls into a long batch more often
/// than into a short one. Memory is taken once.
#[derive(Clone, Debug)]
pub(super) struct JumpThresholds {
    spacing_ns: f64,
    values: Vec<f64>,
}

impl JumpThresholds {
    pub(super) fn new() -> Self {
        Self { spacing_ns: FIRST_SPACING_NS, values: Vec::with_capacity(MAX_THRESHOLDS) }
    }

    /// Adds what a jump had to exceed between these two moments, once for each sample between them.
    /// Bounded in time however far they are apart.
    pub(super) fn add(&mut self, from_ns: f64, until_ns: f64, threshold_ns: f64) {
        while self.samples(from_ns, until_ns) > MAX_THRESHOLDS - self.values.len() {
            self.thin_out();
        }
        self.values.extend(std::iter::repeat_n(threshold_ns, self.samples(from_ns, until_ns)));
    }

    /// Returns how many samples fall between these two moments.
    fn samples(&self, from_ns: f64, until_ns: f64) -> usize {
        ((until_ns / self.spacing_ns).floor() - (from_ns / self.spacing_ns).floor()) as usize
    }

    /// Drops every other sample.
    fn thin_out(&mut self) {
        let mut is_retained = false;
        self.values.retain(|_| {
            is_retained = !is_retained;
            is_retained
        });
        self.spacing_ns *= 2.0;
    }

    /// The threshold that a jump had to exceed in nine tenths of the time, in ns.
    pub(super) fn most(mut self) -> Option<f64> {
        self.values.sort_by(f64::total_cmp);
        quantile(&self.values, COVERED_TIME_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_counts_by_the_time_that_it_was_there() {
        let mut thresholds = JumpThresholds::new();
        let mut now_ns = 0.0;
        // Of 10,000 batches every tenth takes 60 % of the time.
        for batch in 0..10_000 {
            let (took_ns, threshold_ns) = if batch % 10 == 9 { (27_000.0, 5.0) } else { (2_000.0, 1.0) };
            thresholds.add(now_ns, now_ns + took_ns, threshold_ns);
            now_ns += took_ns;
        }
        let highest = thresholds.values.iter().filter(|threshold| **threshold == 5.0).count() as f64
            / thresholds.values.len() as f64;
        assert!((highest - 0.6).abs() < 0.05, "{highest}");
        assert_eq!(thresholds.most(), Some(5.0));
    }

    /// The reported threshold held for nine tenths of the time: one that held for a seventh counts,
    /// one that held for a twentieth does not.
    #[test]
    fn a_threshold_of_nine_tenths_of_the_time_is_reported() {
        for (share, expected) in [(0.15, 5.0), (0.05, 1.0)] {
            let mut thresholds = JumpThresholds::new();
            thresholds.add(0.0, (1.0 - share) * 1e6, 1.0);
            thresholds.add((1.0 - share) * 1e6, 1e6, 5.0);
            assert_eq!(thresholds.most(), Some(expected), "{share}");
        }
    }

    #[test]
    fn a_long_time_takes_no_more_memory() {
        let mut thresholds = JumpThresholds::new();
        thresholds.add(0.0, 1e3, 1.0);
        thresholds.add(1e3, 1e18, 2.0);
        assert!(thresholds.values.len() <= MAX_THRESHOLDS && thresholds.values.capacity() <= MAX_THRESHOLDS);
        assert_eq!(thresholds.most(), Some(2.0));
    }

    #[test]
    fn times_that_run_back_add_nothing() {
        let mut thresholds = JumpThresholds::new();
        thresholds.add(5e3, 1e3, 1.0);
        assert_eq!(thresholds.most(), None);
    }
}
