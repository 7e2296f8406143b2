//! Differences of two clocks on the same intervals.
//!
//! Both are read one after the other at the start and at the end of an interval, in the same order,
//! so that what lies between two reads is in both lengths alike.

use clockscope_records::Agreement;
use clockscope_statistics::quantile;
use clockscope_system::Unit;

use crate::instrument::bench::Setup;
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths};
use crate::instrument::error::MeasureError;
use crate::instrument::timer::Timer;
use crate::platform::Platform;

/// Share of a run that the fewest intervals of one length may take.
const MAX_LENGTH_SHARE: f64 = 0.1;
/// Lengths in ns, and how many intervals of each: 0.3 s together.
const LENGTHS: [(u64, u32); 4] = [(10_000, 200), (100_000, 200), (1_000_000, 80), (10_000_000, 20)];
/// Fewer intervals of a length show no share of 95 %.
const MIN_INTERVALS: usize = 20;

/// Reads two clocks side by side, in lengths that suit a run of this time. Returns no entry where
/// one cannot be read, or counts in a unit whose length is not known.
pub(crate) fn find<P: Platform>(
    setup: &Setup<'_, P>,
    names: &[String; 2],
    duration_s: f64,
) -> Result<Vec<Agreement>, MeasureError> {
    let catalog = Catalog::new(setup.session.platform).select(names, Paths::Libc)?.tried(setup.session)?;
    let entries = names.each_ref().map(|name| catalog.entries.iter().find(|entry| entry.label() == *name));
    let [Some(a), Some(b)] = entries else { return Ok(Vec::new()) };
    let units = [a, b].map(|entry| unit_ns(setup, entry));
    let [Some(a_ns), Some(b_ns)] = units else { return Ok(Vec::new()) };
    let mut agreements = Vec::new();
    for (length_ns, count) in LENGTHS {
        if length_ns as f64 * MIN_INTERVALS as f64 <= MAX_LENGTH_SHARE * duration_s * 1e9 {
            let pairs = (0..count).map_while(|_| lengths(setup, [a, b], length_ns));
            let differences = pairs.map(|[a, b]| a as f64 * a_ns - b as f64 * b_ns).collect();
            agreements.extend(agreement(length_ns, differences));
        }
    }
    Ok(agreements)
}

/// The length of a clock's unit in ns: a counter's by the timer, whose rate over the run is known
/// by now.
fn unit_ns<P: Platform>(setup: &Setup<'_, P>, entry: &CatalogEntry<P>) -> Option<f64> {
    match entry.info.unit {
        Unit::Counts(None) if !matches!(setup.bench.timer, Timer::Counter(_)) => None,
        Unit::Counts(_) => entry.info.ns_per_unit(setup.context().timer.rate().ns_per_unit),
        Unit::Nanoseconds => Some(1.0),
    }
}

/// The length of one interval by both clocks; `None` if one refuses, or the run is to end.
fn lengths<P: Platform>(setup: &Setup<'_, P>, entries: [&CatalogEntry<P>; 2], length_ns: u64) -> Option<[i64; 2]> {
    let start = read_both(entries)?;
    setup.session.platform.spin(length_ns);
    let end = read_both(entries)?;
    if setup.bench.is_stopped() {
        return None;
    }
    Some([0, 1].map(|clock| end[clock].wrapping_sub(start[clock]) as i64))
}

fn read_both<P: Platform>(entries: [&CatalogEntry<P>; 2]) -> Option<[u64; 2]> {
    let [a, b] = entries.map(|entry| entry.sampler.as_ref().ok().and_then(|sampler| sampler.now().ok()));
    Some([a?, b?])
}

/// Summarizes the differences of one length; `None` for too few.
fn agreement(interval_ns: u64, mut differences: Vec<f64>) -> Option<Agreement> {
    if differences.len() < MIN_INTERVALS {
        return None;
    }
    differences.sort_by(f64::total_cmp);
    let difference_ns = quantile(&differences, 0.5)?;
    let mut sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    Some(Agreement { interval_ns, intervals: sizes.len() as u64, difference_ns, within_ns: quantile(&sizes, 0.95)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_their_sizes_have_none() {
        let found = agreement(1_000, (-10..=90).map(f64::from).collect()).unwrap();
        assert_eq!((found.intervals, found.difference_ns), (101, 40.0));
        assert!((found.within_ns - 85.0).abs() < 1.0, "{found:?}");
        assert_eq!(agreement(1_000, vec![0.0; MIN_INTERVALS - 1]), None);
    }
}
