//! Parts of a page, as every document gives them and every format renders them.

use std::fmt;

use clockscope_records::Bin;

use crate::text::{ABSENT, Text, UNKNOWN, grouped, texts, yes_no};
use crate::units::time;

/// A part of a page. All text in it is clean.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// The subject of the blocks below.
    Heading(Text),
    Table(Table),
    /// Names and their values.
    KeyValue {
        title: Text,
        pairs: Vec<(Text, Text)>,
    },
    /// Counts over bins in ascending order: a histogram.
    Series(Vec<Bin>),
    /// A list, below a title if there is any.
    Notes {
        title: Text,
        lines: Vec<Text>,
    },
    /// A thing's name, and sentences about it. Blocks about the same thing follow.
    Section {
        title: Text,
        lines: Vec<Text>,
    },
    /// Paragraphs.
    Prose(Vec<Text>),
    /// The machine, and how the document was made.
    Environment(Vec<(Text, Text)>),
    Conclusion(Conclusion),
}

/// The conclusion of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conclusion {
    /// Reservations that come first.
    pub(crate) caveats: Vec<Text>,
    /// Conclusions of other questions, a line each.
    pub(crate) findings: Vec<Text>,
    /// A sentence or two a line; the first stands alone.
    pub(crate) lines: Vec<Text>,
}

impl Block {
    pub(crate) fn heading(text: impl Into<Text>) -> Self {
        Self::Heading(text.into())
    }

    pub(crate) fn notes<T: Into<Text>>(title: impl Into<Text>, lines: impl IntoIterator<Item = T>) -> Self {
        Self::Notes { title: title.into(), lines: texts(lines) }
    }

    pub(crate) fn section<T: Into<Text>>(title: impl Into<Text>, lines: impl IntoIterator<Item = T>) -> Self {
        Self::Section { title: title.into(), lines: texts(lines) }
    }

    pub(crate) fn prose<T: Into<Text>>(lines: impl IntoIterator<Item = T>) -> Self {
        Self::Prose(texts(lines))
    }

    pub(crate) fn key_value<K: Into<Text>, V: Into<Text>>(
        title: impl Into<Text>,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self::KeyValue { title: title.into(), pairs: pairs_of(pairs) }
    }

    pub(crate) fn environment<K: Into<Text>, V: Into<Text>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Environment(pairs_of(pairs))
    }

    /// Returns whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Table(table) => table.rows.is_empty() && table.below.is_empty(),
            Self::KeyValue { pairs, .. } | Self::Environment(pairs) => pairs.is_empty(),
            Self::Series(bins) => bins.is_empty(),
            Self::Notes { lines, .. } | Self::Prose(lines) => lines.is_empty(),
            Self::Heading(_) | Self::Section { .. } | Self::Conclusion(_) => false,
        }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

fn pairs_of<K: Into<Text>, V: Into<Text>>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(Text, Text)> {
    pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// Rows and columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Above it; empty for none.
    pub(crate) title: Text,
    pub(crate) head: Vec<Text>,
    pub(crate) rows: Vec<Row>,
    /// Columns that are words, from the left.
    pub(crate) left: usize,
    /// Columns that distinguish the rows, from the left: each part of a table that is too wide
    /// repeats them.
    pub(crate) keys: usize,
    /// Columns that stay together, from the right.
    pub(crate) together: usize,
    /// Whether it stays whole however wide it is.
    pub(crate) is_whole: bool,
    /// What rows are called that may be left out; `None` where all rows are shown.
    pub(crate) omitted: Option<&'static str>,
    /// Lines below it.
    pub(crate) below: Vec<Text>,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Whether it shows a fault.
    pub(crate) is_faulty: bool,
    /// Rows of less weight are left out first.
    pub(crate) weight: u64,
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        Self { cells, ..Self::default() }
    }
}

impl Row {
    /// Makes a row that is marked if it shows a fault.
    pub(crate) fn marked(cells: Vec<Cell>, is_faulty: bool) -> Self {
        Self { cells, is_faulty, ..Self::default() }
    }
}

impl Table {
    /// Makes a table whose first `left` columns are words and whose first column distinguishes its
    /// rows.
    pub(crate) fn new<H, R>(head: impl IntoIterator<Item = H>, left: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        H: Into<Text>,
        R: Into<Row>,
    {
        let rows = rows.into_iter().map(Into::into).collect();
        Self { head: texts(head), rows, left, keys: 1, ..Self::default() }
    }

    pub(crate) fn titled(self, title: impl Into<Text>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Adds lines below it.
    pub(crate) fn below<T: Into<Text>>(mut self, lines: impl IntoIterator<Item = T>) -> Self {
        self.below.extend(texts(lines));
        self
    }

    /// Keeps it whole however wide it is.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// Returns at most `most` rows, and the number of rows left out: those of least weight. Returns
    /// all rows where none may be left out.
    pub(crate) fn shown(&self, most: usize) -> (Vec<&Row>, usize) {
        if self.omitted.is_none() {
            return (self.rows.iter().collect(), 0);
        }
        let mut weights: Vec<u64> = self.rows.iter().map(|row| row.weight).collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let least = weights.get(most.saturating_sub(1)).copied().unwrap_or(0);
        let shown: Vec<&Row> = self.rows.iter().filter(|row| row.weight >= least).take(most).collect();
        let left_out = self.rows.len() - shown.len();
        (shown, left_out)
    }
}

/// A cell of a table or a spreadsheet. `Display` is for readers, [`data`](Self::data) for programs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Text(Text),
    Count(u64),
    /// In ns.
    Time(f64),
    Unknown,
    /// The question does not arise.
    Absent,
}

impl Cell {
    /// Shows a value by `show`, or that it is not known.
    pub(crate) fn known<T, C: Into<Self>>(value: Option<T>, show: impl FnOnce(T) -> C) -> Self {
        value.map_or(Self::Unknown, |value| show(value).into())
    }

    /// Shows a time in ns in a fitting unit.
    pub(crate) fn time(ns: Option<f64>) -> Self {
        ns.map_or(Self::Unknown, Self::Time)
    }

    pub(crate) fn count(count: Option<u64>) -> Self {
        count.map_or(Self::Unknown, Self::Count)
    }

    pub(crate) fn yes_no(whether: Option<bool>) -> Self {
        Self::known(whether, yes_no)
    }

    pub(crate) fn text(text: Option<&str>) -> Self {
        Self::known(text, |text| text)
    }

    /// Returns the value for programs: numbers in full and without a unit, nothing for an unknown
    /// value.
    pub(crate) fn data(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Time(ns) => ns.to_string(),
            Self::Unknown | Self::Absent => String::new(),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(count) => f.write_str(&grouped(*count)),
            Self::Time(ns) => f.write_str(&time(*ns)),
            Self::Unknown => f.write_str(UNKNOWN),
            Self::Absent => f.write_str(ABSENT),
        }
    }
}

impl From<Text> for Cell {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_for_readers_and_for_programs() {
        for (cell, shown, data) in [
            (Cell::from("a\tb"), "a b", "a b"),
            (Cell::Count(1_234_567), "1,234,567", "1234567"),
            (Cell::Time(1234.56), "1.23 µs", "1234.56"),
            (Cell::time(None), "?", ""),
            (Cell::Absent, "-", ""),
        ] {
            assert_eq!((cell.to_string().as_str(), cell.data().as_str()), (shown, data));
        }
    }

    #[test]
    fn rows_of_least_weight_are_left_out() {
        let row = |weight| Row { cells: vec![Cell::Count(weight)], weight, ..Row::default() };
        let mut table = Table::new(["n"], 0, [3, 9, 1, 7].map(row));
        let weights = |table: &Table, most| {
            let (shown, left_out) = table.shown(most);
            (shown.iter().map(|row| row.weight).collect::<Vec<_>>(), left_out)
        };
        assert_eq!(weights(&table, 1), (vec![3, 9, 1, 7], 0), "no row may be left out");
        table.omitted = Some("rows");
        assert_eq!(weights(&table, 2), (vec![9, 7], 2));
        assert_eq!(weights(&table, 0), (vec![], 4));
        assert_eq!(weights(&table, 9), (vec![3, 9, 1, 7], 0));
    }
}
