//! The modes of a distribution of differences.

use clockscope_records::Mode;

use super::difference::Difference;
use crate::octave::OCTAVE_EIGHTHS;

/// Smallest share of the differences that makes a mode.
const MIN_MODE_SHARE: f64 = 0.001;
/// A valley between two modes is at most this share of the lower one's height.
const MAX_VALLEY_SHARE: f64 = 0.5;

/// One bin: how high it stands, and its most frequent difference.
#[derive(Clone, Copy, Debug, Default)]
struct OctaveBin {
    count: u64,
    /// Ticks, or fractions of a doubling of them, that it covers.
    width: f64,
    top: Option<Difference>,
}

impl OctaveBin {
    fn height(&self) -> f64 {
        self.count as f64 / self.width
    }
}

/// The modes in ascending order, of differences in ascending order, by the tick and the length of
/// the clock's unit. Steps back belong to no mode.
pub(super) fn find(entries: &[Difference], count: u64, period: f64, ns_per_unit: f64) -> Vec<Mode> {
    let mut bins: Vec<OctaveBin> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.value >= 0) {
        let (index, width) = tick_bin(entry.value as f64 / period);
        if bins.len() <= index {
            bins.resize(index + 1, OctaveBin { width: 1.0, ..OctaveBin::default() });
        }
        let bin = &mut bins[index];
        bin.count += entry.count;
        bin.width = width;
        if bin.top.is_none_or(|top| entry.count > top.count) {
            bin.top = Some(*entry);
        }
    }
    let mut modes: Vec<Vec<OctaveBin>> = Vec::new();
    let mut remaining = bins.as_slice();
    while !remaining.is_empty() {
        let (mode, further) = remaining.split_at(end_of_first(remaining, count));
        modes.push(mode.to_vec());
        remaining = further;
    }
    modes.iter().filter_map(|bins| mode(bins, count, ns_per_unit)).filter(|mode| mode.share >= MIN_MODE_SHARE).collect()
}

/// The bin that a number of ticks falls into: one of their own for the first, then an eighth of a
/// doubling.
fn tick_bin(ticks: f64) -> (usize, f64) {
    let ticks = ticks.round();
    if ticks < OCTAVE_EIGHTHS.per_octave as f64 {
        return (ticks as usize, 1.0);
    }
    let bin = OCTAVE_EIGHTHS.bin(ticks);
    // As many whole numbers as lie in it, which for the first bins is one or two.
    let width = OCTAVE_EIGHTHS.edge(bin + 1).ceil() - OCTAVE_EIGHTHS.edge(bin).ceil();
    // The bin that begins at 8 follows the one of 7.
    let first = OCTAVE_EIGHTHS.bin(OCTAVE_EIGHTHS.per_octave as f64) - OCTAVE_EIGHTHS.per_octave;
    ((bin - first) as usize, width.max(1.0))
}

/// Returns true if these bins have enough of `count` values to be a mode.
fn are_enough(bins: &[OctaveBin], count: u64) -> bool {
    bins.iter().map(|bin| bin.count).sum::<u64>() as f64 >= MIN_MODE_SHARE * count as f64
}

/// End of the first mode of these bins: at the lowest bin before one that rises to twice as high.
fn end_of_first(bins: &[OctaveBin], count: u64) -> usize {
    let (mut peak, mut valley, mut lowest) = (0.0_f64, 0, f64::INFINITY);
    for (index, bin) in bins.iter().enumerate() {
        let height = bin.height();
        if height > peak && !are_enough(&bins[..index], count) {
            // Nothing before it was enough to be a mode.
            (peak, valley, lowest) = (height, index, height);
        } else if height < lowest {
            (valley, lowest) = (index, height);
        } else if lowest <= MAX_VALLEY_SHARE * peak.min(height)
            && are_enough(&bins[..valley], count)
            && are_enough(&bins[valley..=index], count)
        {
            return valley.max(1);
        } else if height > peak {
            (peak, valley, lowest) = (height, index, height);
        }
    }
    bins.len()
}

fn mode(bins: &[OctaveBin], count: u64, ns_per_unit: f64) -> Option<Mode> {
    let top = bins.iter().filter_map(|bin| bin.top).max_by_key(|top| top.count)?;
    let share = bins.iter().map(|bin| bin.count).sum::<u64>() as f64 / count as f64;
    Some(Mode { ns: top.value as f64 * ns_per_unit, share })
}
