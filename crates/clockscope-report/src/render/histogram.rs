//! A histogram in characters: a row a bin, bars on a logarithmic scale.

use clockscope_records::Bin;

use clockscope_statistics::OCTAVE_EIGHTHS;

use super::ascii::ascii as in_ascii;
use crate::model::Bar;
use crate::units::{share, time};
use crate::words::{grouped, total};

/// Most rows of a histogram; finer bins are joined.
const MAX_ROWS: usize = 24;
/// Columns of the longest bar, at least.
const MIN_BAR_WIDTH: usize = 6;
/// Columns of the longest bar, at most: a longer one shows nothing more.
const MAX_BAR_WIDTH: usize = 60;
/// Columns from which on a row shows both ends of its bin, and not only the start.
const MIN_WIDTH_OF_ENDS: usize = 64;
/// The eighths of a character.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A row of a histogram, before it is drawn.
struct HistogramRow {
    label: String,
    count: u64,
    /// The number of joined bins between 1 ns and the row; `None` for the rows of 0 and below.
    index: Option<i64>,
}

/// Draws bins, which are in ascending order, in `width` columns, with blocks or in ASCII.
pub(super) fn draw(bins: &[Bin], width: usize, ascii: bool) -> Vec<String> {
    let narrow = width < MIN_WIDTH_OF_ENDS;
    let joined = [1, 2, 4, 8, 16, 32].into_iter().map(|joined| rows(bins, joined, narrow));
    let rows = joined.into_iter().find(|rows| rows.len() <= MAX_ROWS).unwrap_or_else(|| rows(bins, 64, narrow));
    draw_rows(&rows, width, ascii)
}

/// Draws rows that have labels of their own.
pub(super) fn draw_bars(bars: &[Bar], width: usize, ascii: bool) -> Vec<String> {
    let rows: Vec<HistogramRow> =
        bars.iter().map(|bar| HistogramRow { label: bar.label.clone(), count: bar.count, index: None }).collect();
    draw_rows(&rows, width, ascii)
}

fn draw_rows(rows: &[HistogramRow], width: usize, ascii: bool) -> Vec<String> {
    let all = total(rows.iter().map(|row| row.count));
    let most = rows.iter().map(|row| row.count).max().unwrap_or(1);
    let counts: Vec<String> =
        rows.iter().map(|row| format!("{} {:>9}", grouped(row.count), share(row.count, all) + "%")).collect();
    let label_width = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let count_width = counts.iter().map(|count| count.chars().count()).max().unwrap_or(0);
    let bar_width = width.saturating_sub(label_width + count_width + 4).clamp(MIN_BAR_WIDTH, MAX_BAR_WIDTH);
    let mut lines = Vec::new();
    let mut before: Option<i64> = None;
    for (row, count) in rows.iter().zip(&counts) {
        if before.zip(row.index).is_some_and(|(before, here)| here > before + 1) {
            lines.push(format!("{:>label_width$}", if ascii { ":" } else { "⋮" }));
        }
        before = row.index.or(before);
        // A count of 1 still shows: the logarithm of 1 is 0.
        let length = (1.0 + row.count as f64).ln() / (1.0 + most as f64).ln() * bar_width as f64;
        let bar = bar(length, ascii);
        let blank = " ".repeat(bar_width - bar.chars().count());
        lines.push(format!("{:>label_width$}  {bar}{blank}  {count:>count_width$}", row.label));
    }
    if ascii { lines.iter().map(|line| in_ascii(line)).collect() } else { lines }
}

/// Makes the rows, each of `joined` bins.
fn rows(bins: &[Bin], joined: i64, narrow: bool) -> Vec<HistogramRow> {
    let mut rows: Vec<HistogramRow> = Vec::new();
    for bin in bins {
        let from_ns = bin.from_ns.filter(|from| *from > 0.0);
        let index = from_ns.map(|from| OCTAVE_EIGHTHS.bin(from).div_euclid(joined));
        match rows.last_mut() {
            Some(row) if index.is_some() && row.index == index => row.count = row.count.saturating_add(bin.count),
            _ => rows.push(HistogramRow { label: label(bin, index, joined, narrow), count: bin.count, index }),
        }
    }
    rows
}

fn label(bin: &Bin, index: Option<i64>, joined: i64, narrow: bool) -> String {
    match (bin.from_ns, index) {
        (None, _) => "below 0".to_owned(),
        (Some(_), None) => "0".to_owned(),
        (Some(_), Some(index)) => {
            let [start, end] = [index, index + 1].map(|index| time(OCTAVE_EIGHTHS.edge(index * joined)));
            if narrow { start } else { format!("{start} to {end}") }
        }
    }
}

/// Draws a bar of `length` columns.
pub(super) fn bar(length: f64, ascii: bool) -> String {
    let whole = length.floor() as usize;
    if ascii {
        return "#".repeat((length.round() as usize).max(1));
    }
    let eighth = EIGHTHS[((length.fract() * 8.0) as usize).max(usize::from(whole == 0))];
    "█".repeat(whole) + eighth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(counts: &[(i64, u64)]) -> Vec<Bin> {
        let edge = |index: i64| (index as f64 / 8.0).exp2();
        let bin =
            |(index, count): &(i64, u64)| Bin { from_ns: Some(edge(*index)), to_ns: edge(index + 1), count: *count };
        counts.iter().map(bin).collect()
    }

    #[test]
    fn bars_grow_with_the_logarithm() {
        let lines = draw(&bins(&[(32, 999_999), (33, 999), (40, 1)]), 60, true);
        let bars: Vec<usize> = lines.iter().map(|line| line.matches('#').count()).collect();
        assert!(bars[0].abs_diff(2 * bars[1]) <= 1, "{lines:#?}");
        // Nothing lies between the second bin and the last.
        assert!(lines[2].trim() == ":" && bars[3] >= 1, "{lines:#?}");
    }

    #[test]
    fn rows_fit_the_width_and_their_number() {
        let many: Vec<(i64, u64)> = (0..200i64).map(|index| (index, 1 + index.unsigned_abs() * 1000)).collect();
        for (width, ascii) in [(40, true), (80, false), (200, false)] {
            let lines = draw(&bins(&many), width, ascii);
            assert!(
                lines.len() <= MAX_ROWS && lines.iter().all(|line| line.chars().count() <= width.max(40)),
                "{lines:#?}"
            );
            assert_eq!(ascii, lines.iter().all(|line| line.is_ascii()));
        }
        assert!(draw(&[], 80, false).is_empty());
    }

    #[test]
    fn zeros_and_steps_back_have_rows_of_their_own() {
        let mut all =
            vec![Bin { from_ns: None, to_ns: 0.0, count: 3 }, Bin { from_ns: Some(0.0), to_ns: 0.0, count: 5 }];
        all.extend(bins(&[(8, 7)]));
        let lines = draw(&all, 60, true);
        assert!(lines[0].trim_start().starts_with("below 0") && lines[1].trim_start().starts_with("0 "), "{lines:#?}");
    }
}
