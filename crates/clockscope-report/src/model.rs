//! Parts of a page, as every document gives them and every format renders them.

use std::fmt;

use clockscope_records::Bin;

use crate::chart::Chart;
use crate::units::time;
use crate::words::{EMPTY, Text, UNKNOWN, grouped, text_pairs, texts, yes_no};

/// The meaning of a text, which terminals show as a color. The words have it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Normal,
    Good,
    Warning,
    Bad,
    /// Help for reading the rest.
    Context,
}

/// A text with its meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: Text,
    pub(crate) tone: Tone,
}

impl Line {
    pub(crate) fn toned(text: impl Into<Text>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::toned(text, Tone::Normal)
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::toned(text, Tone::Normal)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

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
    /// Counts over bins in ascending order: a histogram in characters.
    Series(Vec<Bin>),
    /// A histogram in characters whose rows have labels of their own.
    Bars(Vec<Bar>),
    /// A chart, for formats that have images.
    Chart(Chart),
    /// A list, below a title if there is any.
    Notes {
        title: Text,
        lines: Vec<Line>,
    },
    /// A title, and sentences about its subject. Blocks about the same subject follow.
    Section {
        title: Text,
        lines: Vec<Text>,
    },
    /// Paragraphs.
    Prose(Vec<Text>),
    /// The machine, and how the document was made.
    Environment {
        machine: Vec<(Text, Text)>,
        recording: Vec<(Text, Text)>,
    },
    Conclusion(Conclusion),
    /// Blocks that a page opens on request. Views without folds have the blocks themselves.
    Folded {
        title: Text,
        blocks: Vec<Block>,
    },
}

/// A row of a histogram in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) count: u64,
}

/// The conclusion of a page, at its top.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conclusion {
    /// One or two sentences a line. The first line is emphasized.
    pub(crate) lines: Vec<Text>,
    /// Reservations, which follow the lines.
    pub(crate) caveats: Vec<Text>,
    /// Conclusions of other questions, a line each.
    pub(crate) findings: Vec<Text>,
}

impl Conclusion {
    /// Returns all lines in their order, with their tone, and true for the emphasized one. In
    /// brief, reservations follow the first line, so that none is left out.
    pub(crate) fn all(&self, is_brief: bool) -> impl Iterator<Item = (&Text, Tone, bool)> {
        let caveats = self.caveats.iter().map(|line| (line, Tone::Warning, false));
        let mut lines: Vec<_> =
            self.lines.iter().enumerate().map(|(index, line)| (line, Tone::Normal, index == 0)).collect();
        let place = if is_brief { lines.len().min(1) } else { lines.len() };
        lines.splice(place..place, caveats);
        lines.into_iter().chain(self.findings.iter().map(|line| (line, Tone::Normal, false)))
    }
}

impl Block {
    pub(crate) fn heading(text: impl Into<Text>) -> Self {
        Self::Heading(text.into())
    }

    pub(crate) fn notes<T: Into<Line>>(title: impl Into<Text>, lines: impl IntoIterator<Item = T>) -> Self {
        Self::Notes { title: title.into(), lines: lines.into_iter().map(Into::into).collect() }
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
        Self::KeyValue { title: title.into(), pairs: text_pairs(pairs) }
    }

    /// Makes a line of help for reading the rest.
    pub(crate) fn context(text: impl Into<Text>) -> Self {
        Self::notes("", [Line::toned(text, Tone::Context)])
    }

    pub(crate) fn folded(title: impl Into<Text>, blocks: impl IntoIterator<Item = Self>) -> Self {
        Self::Folded { title: title.into(), blocks: blocks.into_iter().collect() }
    }

    /// Returns whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Table(table) => table.rows.is_empty() && table.below.is_empty(),
            Self::KeyValue { pairs, .. } => pairs.is_empty(),
            Self::Environment { machine, recording } => machine.is_empty() && recording.is_empty(),
            Self::Folded { blocks, .. } => blocks.iter().all(Self::is_empty),
            Self::Series(bins) => bins.is_empty(),
            Self::Bars(bars) => bars.is_empty(),
            Self::Chart(chart) => chart.is_empty(),
            Self::Notes { lines, .. } => lines.is_empty(),
            Self::Prose(lines) => lines.is_empty(),
            Self::Conclusion(conclusion) => conclusion.all(false).next().is_none(),
            Self::Heading(_) | Self::Section { .. } => false,
        }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Chart> for Block {
    fn from(chart: Chart) -> Self {
        Self::Chart(chart)
    }
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
    /// True if it has one part, however wide it is.
    pub(crate) is_whole: bool,
    /// True if the last column is words, which are wrapped where they do not fit.
    pub(crate) wraps: bool,
    /// The name of the rows that may be left out; `None` where all rows are shown.
    pub(crate) omitted: Option<&'static str>,
    /// Lines below it.
    pub(crate) below: Vec<Text>,
    /// The number of those lines, from the first, that explain the columns.
    pub(crate) explaining: usize,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// True if it shows a fault.
    pub(crate) is_faulty: bool,
    /// True if it is of the clock that is recommended.
    pub(crate) is_recommended: bool,
    /// Rows of less weight are left out first.
    pub(crate) weight: u64,
    /// A heading above it, of the group of rows that it begins; empty for none.
    pub(crate) heading: Text,
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

    /// Adds lines below it that explain its columns.
    pub(crate) fn explained<T: Into<Text>>(mut self, lines: impl IntoIterator<Item = T>) -> Self {
        let lines = texts(lines);
        let start = self.explaining;
        self.explaining += lines.len();
        self.below.splice(start..start, lines);
        self
    }

    /// Keeps it in one part, however wide it is.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// Returns whether a column is words, which are aligned on the left.
    pub(crate) fn is_words(&self, column: usize) -> bool {
        column < self.left || self.wraps && column + 1 == self.head.len()
    }

    /// Returns at most `max_rows` rows, and the number of rows left out: those of least weight.
    /// Returns all rows where none may be left out.
    pub(crate) fn displayed_rows(&self, max_rows: usize) -> (Vec<&Row>, usize) {
        if self.omitted.is_none() { (self.rows.iter().collect(), 0) } else { self.weightiest(max_rows) }
    }

    /// Returns the `max_rows` rows of most weight, in their order, and the number of rows left out.
    pub(crate) fn weightiest(&self, max_rows: usize) -> (Vec<&Row>, usize) {
        let mut indices: Vec<usize> = (0..self.rows.len()).collect();
        indices.sort_by_key(|index| std::cmp::Reverse(self.rows[*index].weight));
        indices.truncate(max_rows);
        indices.sort_unstable();
        let left_out = self.rows.len() - indices.len();
        (indices.into_iter().map(|index| &self.rows[index]).collect(), left_out)
    }

    /// Removes these columns.
    pub(crate) fn without(mut self, columns: std::ops::Range<usize>) -> Self {
        self.head.drain(columns.clone());
        self.rows.iter_mut().for_each(|row| drop(row.cells.drain(columns.clone())));
        self
    }

    /// Removes the columns without a value in any row, except those that distinguish rows.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        for column in (self.keys..self.head.len()).rev() {
            if self.rows.iter().all(|row| matches!(row.cells[column], Cell::Unknown | Cell::Empty)) {
                self.head.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
            }
        }
        self
    }

    /// Gives each figure of a column a bar on a logarithmic scale.
    pub(crate) fn with_bars(mut self, column: usize) -> Self {
        let values: Vec<Option<f64>> = self.rows.iter().map(|row| row.cells.get(column)?.measure()).collect();
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        for (row, value) in self.rows.iter_mut().zip(values) {
            if let (Some(Cell::Measure { bar, .. }), Some(value)) = (row.cells.get_mut(column), value)
                && most > 0.0
            {
                *bar = Some(value.ln_1p() / most.ln_1p());
            }
        }
        self
    }

    /// Moves units that all rows share into the heads: `10 ns` under `Tick` becomes `10` under
    /// `Tick (ns)`.
    pub(crate) fn with_shared_units(mut self) -> Self {
        for column in self.keys..self.head.len() {
            let mut units = Vec::new();
            for row in &mut self.rows {
                if let Cell::Measure { unit, .. } = &mut row.cells[column] {
                    units.push(unit);
                }
            }
            let shared = units.first().map_or("", |unit| **unit);
            if !shared.is_empty() && units.iter().all(|unit| **unit == shared) {
                units.into_iter().for_each(|unit| *unit = "");
                self.head[column] = format!("{} ({shared})", self.head[column]).into();
            }
        }
        self
    }
}

/// A cell of a table or a spreadsheet. `Display` is for readers, [`data`](Self::data) for programs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Text(Text),
    Count(u64),
    /// In ns.
    Time(f64),
    /// A figure, its unit (empty if the head has it), and the length of its bar from 0 to 1, if it
    /// has one.
    Measure {
        figure: Text,
        unit: &'static str,
        bar: Option<f64>,
    },
    /// A word that is good or bad.
    Word(Line),
    Unknown,
    /// The question does not arise.
    Empty,
}

impl Cell {
    /// Shows a value by `show`, or `?` if it is unknown.
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

    /// Shows a word by its meaning.
    pub(crate) fn word(text: impl Into<Text>, tone: Tone) -> Self {
        Self::Word(Line::toned(text, tone))
    }

    /// Returns the number of a measure, unless it is negative.
    fn measure(&self) -> Option<f64> {
        match self {
            Self::Measure { figure, .. } => figure.parse().ok().filter(|value| *value >= 0.0),
            _ => None,
        }
    }

    /// Returns the value for programs: numbers in full and without a unit, nothing for an unknown
    /// value.
    pub(crate) fn data(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Time(ns) => ns.to_string(),
            Self::Measure { figure, .. } => figure.to_string(),
            Self::Word(line) => line.to_string(),
            Self::Unknown | Self::Empty => String::new(),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(count) => f.write_str(&grouped(*count)),
            Self::Time(ns) => f.write_str(&time(*ns)),
            Self::Measure { figure, unit: "", .. } => f.write_str(figure),
            Self::Measure { figure, unit, .. } => write!(f, "{figure} {unit}"),
            Self::Word(line) => line.fmt(f),
            Self::Unknown => f.write_str(UNKNOWN),
            Self::Empty => f.write_str(EMPTY),
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
        for (cell, text, data) in [
            (Cell::from("a\tb"), "a b", "a b"),
            (Cell::Count(1_234_567), "1,234,567", "1234567"),
            (Cell::Time(1234.56), "1.23 µs", "1234.56"),
            (Cell::time(None), "?", ""),
            (Cell::Empty, "-", ""),
        ] {
            assert_eq!((cell.to_string().as_str(), cell.data().as_str()), (text, data));
        }
    }

    #[test]
    fn rows_of_least_weight_are_left_out() {
        let row = |weight| Row { cells: vec![Cell::Count(weight)], weight, ..Row::default() };
        let mut table = Table::new(["n"], 0, [3, 9, 1, 7].map(row));
        let weights = |table: &Table, most| {
            let (displayed, left_out) = table.displayed_rows(most);
            (displayed.iter().map(|row| row.weight).collect::<Vec<_>>(), left_out)
        };
        assert_eq!(weights(&table, 1), (vec![3, 9, 1, 7], 0), "no row may be left out");
        table.omitted = Some("rows");
        assert_eq!(weights(&table, 2), (vec![9, 7], 2));
        assert_eq!(weights(&table, 0), (vec![], 4));
        assert_eq!(weights(&table, 9), (vec![3, 9, 1, 7], 0));
    }

    /// Rows of equal weight do not displace a later row of more weight.
    #[test]
    fn the_weightiest_row_is_displayed_wherever_it_is() {
        let row = |weight| Row { cells: vec![Cell::Count(weight)], weight, ..Row::default() };
        let table = Table::new(["n"], 0, [1, 1, 1, 9].map(row));
        let (displayed, left_out) = table.weightiest(2);
        assert_eq!((displayed.iter().map(|row| row.weight).collect::<Vec<_>>(), left_out), (vec![1, 9], 2));
    }

    #[test]
    fn a_unit_of_all_rows_moves_into_the_head() {
        let measure = |figure: &str, unit| Cell::Measure { figure: figure.into(), unit, bar: None };
        let rows = [
            vec!["a".into(), measure("10", "ns"), measure("4", "ms"), measure("1", "")],
            vec!["b".into(), Cell::Unknown, measure("10", "ns"), measure("2", "")],
        ];
        let table = Table::new(["Name", "Tick", "Step", "×"], 1, rows).with_shared_units();
        assert_eq!(table.head, texts(["Name", "Tick (ns)", "Step", "×"]));
        let printed = |index: usize| table.rows[index].cells.iter().map(Cell::to_string).collect::<Vec<_>>();
        assert_eq!(printed(0), ["a", "10", "4 ms", "1"]);
        assert_eq!(printed(1), ["b", "?", "10 ns", "2"]);
    }

    #[test]
    fn columns_that_say_nothing_disappear() {
        let rows = [
            vec![Cell::Unknown, Cell::Unknown, Cell::Empty, Cell::Unknown],
            vec![Cell::Unknown, Cell::Empty, Cell::Count(0), Cell::Unknown],
        ];
        let table = Table::new(["Name", "a", "b", "c"], 1, rows).without_empty_columns();
        assert_eq!(table.head, texts(["Name", "b"]));
        assert_eq!(table.rows[1].cells, [Cell::Unknown, Cell::Count(0)]);
    }
}
