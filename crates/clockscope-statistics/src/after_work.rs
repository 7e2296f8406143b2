//! Figures of the errors of intervals that a clock measured around work.

use clockscope_records::{AfterWork, Work};

use crate::quantile;

/// Measurements that a 99th percentile needs.
const MIN_FOR_P99: usize = 100;

/// Summarizes the errors of intervals around work of this length, in ns; `None` without any. Of
/// fewer than a hundred, the largest stands for the 99th percentile.
#[must_use]
pub fn after_work(work: Work, work_ns: f64, mut errors_ns: Vec<f64>) -> Option<AfterWork> {
    errors_ns.sort_by(f64::total_cmp);
    let largest = errors_ns.last().copied()?;
    let p99_ns = if errors_ns.len() >= MIN_FOR_P99 { quantile(&errors_ns, 0.99)? } else { largest };
    let measurements = errors_ns.len() as u64;
    Some(AfterWork { work, work_ns, measurements, median_ns: quantile(&errors_ns, 0.5)?, p99_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_few_errors_stands_for_the_99th_percentile() {
        let p99_of = |count: u32| after_work(Work::Spin, 1.0, (1..=count).rev().map(f64::from).collect());
        let found = p99_of(1000).unwrap();
        assert_eq!((found.measurements, found.median_ns.round()), (1000, 501.0));
        assert!((989.0..=991.0).contains(&found.p99_ns), "{found:?}");
        assert_eq!(p99_of(99).map(|found| found.p99_ns), Some(99.0));
        assert_eq!(p99_of(0), None);
    }
}
