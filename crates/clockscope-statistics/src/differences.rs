//! The distribution of the differences between successive readings, in memory that does not grow
//! with their number.

mod difference;
mod modes;

use std::collections::BTreeMap;

use clockscope_records::{Mode, Summary};
pub use difference::Difference;

/// Differences from 0 to this are counted in a table.
const TABLE_LEN: usize = 1 << 13;
/// Other differences that are counted exactly; what is new after these is rounded.
const MAX_EXACT_VALUES: usize = 1 << 15;
/// Significant bits of a rounded difference: 0.1 %.
const ROUNDED_BITS: u32 = 11;

/// Counts differences. Exact but for differences that come when 32,768 others beyond the table are
/// known already: these are rounded down to 0.1 %, and how many they are is reported.
#[derive(Clone, Debug)]
pub struct Differences {
    /// Two counts a difference, used in turn: most differences are like the one before, and to
    /// count on at the same place would have to wait for the count before.
    table: Vec<[u64; 2]>,
    beyond: BTreeMap<i64, u64>,
    rounded: u64,
    count: u64,
    sum_beyond: i128,
    extremes: Option<(i64, i64)>,
}

/// Returns the usual figures of counted differences in ascending order, in the clock's unit; `None`
/// without any. Quantiles are interpolated as [`crate::quantile()`] does.
#[must_use]
pub fn summary(entries: &[Difference]) -> Option<Summary> {
    let sum = entries.iter().map(|entry| i128::from(entry.value) * i128::from(entry.count)).sum();
    summary_of_sum(entries, entries.iter().map(|entry| entry.count).sum(), sum)
}

fn summary_of_sum(entries: &[Difference], count: u64, sum: i128) -> Option<Summary> {
    let (first, last) = (entries.first()?, entries.last()?);
    let mean = sum as f64 / count as f64;
    let squares: f64 = entries.iter().map(|entry| (entry.value as f64 - mean).powi(2) * entry.count as f64).sum();
    let [p25, p50, p75, p99, p999] = [0.25, 0.5, 0.75, 0.99, 0.999].map(|q| quantile(entries, count, q));
    Some(Summary {
        count,
        mean,
        std: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
        min: first.value as f64,
        p25,
        p50,
        p75,
        p99,
        p999,
        max: last.value as f64,
    })
}

impl Default for Differences {
    fn default() -> Self {
        Self {
            table: vec![[0; 2]; TABLE_LEN],
            beyond: BTreeMap::new(),
            rounded: 0,
            count: 0,
            sum_beyond: 0,
            extremes: None,
        }
    }
}

impl Differences {
    /// Counts the differences between the readings of a batch, which must have been made one right
    /// after the other.
    pub fn push(&mut self, readings: &[u64]) {
        let Some(pairs) = readings.len().checked_sub(1) else { return };
        for (turn, pair) in readings.windows(2).enumerate() {
            let difference = pair[1].wrapping_sub(pair[0]);
            match self.table.get_mut(difference as usize) {
                Some(counts) => counts[turn % 2] += 1,
                None => self.push_beyond(difference as i64),
            }
        }
        self.count += pairs as u64;
    }

    #[cold]
    fn push_beyond(&mut self, difference: i64) {
        let (least, most) = self.extremes.unwrap_or((difference, difference));
        self.extremes = Some((least.min(difference), most.max(difference)));
        self.sum_beyond += i128::from(difference);
        if let Some(count) = self.beyond.get_mut(&difference) {
            *count += 1;
            return;
        }
        let mut key = difference;
        if self.beyond.len() >= MAX_EXACT_VALUES {
            self.rounded += 1;
            let excess = (u64::BITS - difference.unsigned_abs().leading_zeros()).saturating_sub(ROUNDED_BITS);
            key = difference >> excess << excess;
        }
        *self.beyond.entry(key).or_insert(0) += 1;
    }

    /// Number of differences that were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of those that were rounded.
    #[must_use]
    pub fn rounded(&self) -> u64 {
        self.rounded
    }

    /// All differences that were seen, in ascending order.
    #[must_use]
    pub fn entries(&self) -> Vec<Difference> {
        let below = self.beyond.range(..0).map(|(value, count)| (*value, *count));
        let table = (0..).zip(&self.table).map(|(value, [even, odd])| (value, even + odd));
        let above = self.beyond.range(0..).map(|(value, count)| (*value, *count));
        let seen = below.chain(table.filter(|(_, count)| *count > 0)).chain(above);
        seen.map(|(value, count)| Difference { value, count }).collect()
    }

    /// The usual figures of all differences; `None` if there are none.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        self.summary_of(&self.entries(), self.count)
    }

    /// The usual figures of the differences other than 0; `None` if there are none.
    #[must_use]
    pub fn summary_nonzero(&self) -> Option<Summary> {
        let entries: Vec<Difference> = self.entries().into_iter().filter(|entry| entry.value != 0).collect();
        self.summary_of(&entries, self.count - self.table[0][0] - self.table[0][1])
    }

    fn summary_of(&self, entries: &[Difference], count: u64) -> Option<Summary> {
        // Zeros add nothing to the sum.
        let table = self.table.iter().map(|[even, odd]| i128::from(even + odd));
        let sum = self.sum_beyond + table.zip(0..).map(|(count, value)| count * value).sum::<i128>();
        let summary = summary_of_sum(entries, count, sum)?;
        // What was rounded is known exactly at the ends.
        let (least, most) = self.extremes.unwrap_or((i64::MAX, i64::MIN));
        Some(Summary { min: summary.min.min(least as f64), max: summary.max.max(most as f64), ..summary })
    }

    /// The values around which the differences gather: one for a plain distribution. `period` is
    /// the clock's tick, if it is known, so that the gaps between its multiples are not taken for
    /// gaps between modes.
    #[must_use]
    pub fn modes(&self, period: Option<f64>, ns_per_unit: f64) -> Vec<Mode> {
        modes::find(&self.entries(), self.count, period.unwrap_or(1.0), ns_per_unit)
    }
}

/// The quantile of counted values, interpolated between neighbors (Hyndman & Fan's type 7).
fn quantile(entries: &[Difference], count: u64, q: f64) -> f64 {
    let position = q * (count - 1) as f64;
    let rank = position as u64;
    let mut seen = 0;
    for (index, entry) in entries.iter().enumerate() {
        seen += entry.count;
        if seen > rank {
            let next = if seen > rank + 1 { Some(entry) } else { entries.get(index + 1) };
            let next = next.unwrap_or(entry).value as f64;
            return entry.value as f64 + (next - entry.value as f64) * position.fract();
        }
    }
    entries.last().map_or(0.0, |entry| entry.value as f64)
}

#[cfg(test)]
mod tests;
