//! The interval of a median whose values come one after another and are not independent: a
//! machine's speed drifts.

use crate::{median_interval, quantile};

/// Values of a block: fewer are as alike as neighbors are.
const BLOCK_VALUES: usize = 8;
/// Fewest rounds that are worth a comparison.
const MIN_ROUNDS: usize = 8;
/// Most blocks. At this number, two neighbors become one each.
const MAX_BLOCKS: usize = 32;

/// Blocks of a stream in the order in which it came: 16 to 32 of them once it is long enough, of
/// equal length. Memory is taken at the start.
#[derive(Clone, Debug)]
pub struct MedianBlocks {
    /// Values so far of the next group of eight.
    values: Vec<f64>,
    /// Medians of such groups: their sum and number, until they are a block.
    sum: f64,
    groups: usize,
    groups_per_block: usize,
    levels: Vec<f64>,
}

impl Default for MedianBlocks {
    fn default() -> Self {
        Self {
            values: Vec::with_capacity(BLOCK_VALUES),
            sum: 0.0,
            groups: 0,
            groups_per_block: 1,
            levels: Vec::with_capacity(MAX_BLOCKS),
        }
    }
}

impl MedianBlocks {
    /// Takes the stream's next value. Does not allocate.
    pub fn push(&mut self, value: f64) {
        self.values.push(value);
        if self.values.len() < BLOCK_VALUES {
            return;
        }
        self.values.sort_unstable_by(f64::total_cmp);
        self.sum += quantile(&self.values, 0.5).unwrap_or(value);
        self.values.clear();
        self.groups += 1;
        if self.groups < self.groups_per_block {
            return;
        }
        self.levels.push(self.sum / self.groups as f64);
        (self.sum, self.groups) = (0.0, 0);
        if self.levels.len() == MAX_BLOCKS {
            for index in 0..MAX_BLOCKS / 2 {
                self.levels[index] = (self.levels[2 * index] + self.levels[2 * index + 1]) / 2.0;
            }
            self.levels.truncate(MAX_BLOCKS / 2);
            self.groups_per_block *= 2;
        }
    }

    /// Returns the levels of equal parts of the stream, in its order: each is the mean of the
    /// medians of groups of eight values. 8 to 31 of them; none with fewer than 64 values.
    #[must_use]
    pub fn rounds(&self) -> &[f64] {
        if self.levels.len() < MIN_ROUNDS { &[] } else { &self.levels }
    }

    /// The 95 % interval of the stream's median, by the blocks' levels: [`median_interval`] of
    /// these, and no less than the median itself. `None` with fewer than six blocks, that is, 48
    /// values. It covers what drifts within the stream, not what differs from one stream to
    /// another.
    #[must_use]
    pub fn interval(&self, median: f64) -> Option<[f64; 2]> {
        let mut sorted = self.levels.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let [low, high] = median_interval(&sorted)?;
        Some([low.min(median), high.max(median)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stay_few_and_equal() {
        let mut blocks = MedianBlocks::default();
        for value in 0..100_000 {
            assert_eq!(blocks.interval(0.0).is_some(), value >= 48);
            assert!(blocks.rounds().is_empty() == (value < 64) && blocks.rounds().len() < MAX_BLOCKS);
            blocks.push(f64::from(value));
        }
        assert!((16..32).contains(&blocks.levels.len()));
        let lengths: Vec<f64> = blocks.levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(lengths.iter().all(|length| *length == (BLOCK_VALUES * blocks.groups_per_block) as f64));
    }

    /// Speed that drifts from block to block widens the interval, whatever the number of values;
    /// their own jitter does not.
    #[test]
    fn a_drift_is_in_the_interval() {
        let width = |drift: f64| {
            let mut blocks = MedianBlocks::default();
            let value = |n: u32| 100.0 + drift * (f64::from(n) / 9_000.0).sin() + f64::from(n % 7) * 0.01;
            (0..60_000).for_each(|n| blocks.push(value(n)));
            let [low, high] = blocks.interval(100.0).unwrap();
            high - low
        };
        assert!(width(0.0) < 0.05 && width(5.0) > 2.0, "{} {}", width(0.0), width(5.0));
    }
}
