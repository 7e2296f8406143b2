//! The distribution of a clock's differences, as records in ns.

use clockscope_records::{Bin, DifferenceRecord, Summary, Unknown, texts};
use clockscope_statistics::{Difference, OCTAVE_EIGHTHS};

/// Share of all differences that the table of distinct ones covers.
const COVERED_SHARE: f64 = 0.9999;
/// Largest differences that are reported singly.
const MAX_LARGEST: usize = 10;

/// Returns the usual figures in ns.
///
/// # Errors
/// There are no differences, for this reason, or the unit has no fixed length.
pub(crate) fn summary(found: Option<Summary>, ns_per_unit: Option<f64>, without: Unknown) -> Result<Summary, Unknown> {
    let ns = ns_per_unit.ok_or(texts::NO_LENGTH)?;
    Ok(found.ok_or(without)?.scaled(ns))
}

/// The distinct differences in ascending order until they cover 99.99 % of all, and the largest
/// ten.
pub(crate) fn distinct(
    entries: &[Difference],
    ns_per_unit: Option<f64>,
) -> (Vec<DifferenceRecord>, Vec<DifferenceRecord>) {
    let all = entries.iter().map(|entry| entry.count).sum::<u64>() as f64;
    let mut seen = 0;
    let covering = entries.iter().take_while(|entry| {
        let wanted = (seen as f64) < COVERED_SHARE * all;
        seen += entry.count;
        wanted
    });
    let largest = entries.iter().rev().take(MAX_LARGEST);
    (
        covering.map(|entry| record(entry, ns_per_unit)).collect(),
        largest.map(|entry| record(entry, ns_per_unit)).collect(),
    )
}

fn record(entry: &Difference, ns_per_unit: Option<f64>) -> DifferenceRecord {
    let ns = ns_per_unit.map(|ns| entry.value as f64 * ns);
    DifferenceRecord { units: entry.value, ns, count: entry.count }
}

/// All differences in bins of equal ratio, those that hold none left out.
pub(crate) fn histogram(entries: &[Difference], ns_per_unit: Option<f64>) -> Vec<Bin> {
    let Some(ns) = ns_per_unit else { return Vec::new() };
    let mut bins: Vec<Bin> = Vec::new();
    for entry in entries {
        let (from_ns, to_ns) = bounds(entry.value, ns);
        match bins.last_mut() {
            Some(bin) if bin.from_ns == from_ns => bin.count += entry.count,
            _ => bins.push(Bin { from_ns, to_ns, count: entry.count }),
        }
    }
    bins
}

/// The bin of a difference: below 0, 0, or an eighth of a doubling of 1 ns.
fn bounds(value: i64, ns: f64) -> (Option<f64>, f64) {
    match value {
        ..0 => (None, 0.0),
        0 => (Some(0.0), 0.0),
        _ => {
            let bin = OCTAVE_EIGHTHS.bin(value as f64 * ns);
            (Some(OCTAVE_EIGHTHS.edge(bin)), OCTAVE_EIGHTHS.edge(bin + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(values: &[(i64, u64)]) -> Vec<Difference> {
        values.iter().map(|(value, count)| Difference { value: *value, count: *count }).collect()
    }

    #[test]
    fn the_table_ends_at_99_99_percent() {
        let (covering, largest) =
            distinct(&entries(&[(0, 500_000), (10, 499_900), (20, 90), (30, 9), (40, 1)]), Some(2.0));
        assert_eq!(covering.iter().map(|entry| entry.units).collect::<Vec<_>>(), [0, 10]);
        assert_eq!(largest.iter().map(|entry| entry.units).collect::<Vec<_>>(), [40, 30, 20, 10, 0]);
        assert_eq!(covering[1].ns, Some(20.0));
        assert_eq!(distinct(&[], Some(1.0)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn every_difference_is_in_the_bin_that_holds_it() {
        let values: Vec<(i64, u64)> = (-3..5000).map(|value| (value, 1)).collect();
        let bins = histogram(&entries(&values), Some(0.385));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 5003);
        assert_eq!((bins[0].from_ns, bins[0].count), (None, 3));
        assert_eq!((bins[1].from_ns, bins[1].to_ns, bins[1].count), (Some(0.0), 0.0, 1));
        assert!(bins[2..].windows(2).all(|pair| pair[0].to_ns <= pair[1].from_ns.unwrap() * (1.0 + 1e-9)));
    }
}
