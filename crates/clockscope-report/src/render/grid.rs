//! The rows of a table as lines of characters.

use textwrap::core::display_width;

use super::histogram;
use crate::model::{Cell, Row, Table, Tone};

/// Blanks between columns.
pub(super) const BETWEEN: usize = 2;
/// Columns of a bar, and of the blank before it.
const BAR: usize = 8;
/// The narrowest that a column of words becomes.
const NARROWEST: usize = 12;

/// A part of a line, and its meaning.
pub(super) type Piece = (String, Tone);

/// Some columns of some rows.
pub(super) struct Grid<'a> {
    table: &'a Table,
    columns: Vec<GridColumn>,
    ascii: bool,
}

/// A column of a table as it is drawn.
#[derive(Clone, Copy)]
struct GridColumn {
    index: usize,
    /// Without the bar.
    width: usize,
    has_bars: bool,
}

/// The style of a drawn grid.
#[derive(Clone, Copy)]
pub(super) struct GridStyle {
    /// Columns of the page.
    pub(super) width: usize,
    pub(super) bars: bool,
    pub(super) ascii: bool,
}

impl<'a> Grid<'a> {
    /// Lays out these columns. A table whose last column wraps gives up its bars before that column
    /// becomes too narrow.
    pub(super) fn new(table: &'a Table, rows: &[&Row], indices: &[usize], drawing: GridStyle) -> Self {
        let GridStyle { width, bars, ascii } = drawing;
        let is_bar = |row: &&Row, index: usize| matches!(row.cells[index], Cell::Measure { bar: Some(_), .. });
        let column = |index: &usize| GridColumn {
            index: *index,
            width: column_width(table, rows, *index),
            has_bars: bars && rows.iter().any(|row| is_bar(row, *index)),
        };
        let mut grid = Self { table, columns: indices.iter().map(column).collect(), ascii };
        if table.wraps && grid.width() > width {
            if grid.room_for_last(width) < NARROWEST {
                grid.columns.iter_mut().for_each(|column| column.has_bars = false);
            }
            let room = grid.room_for_last(width).max(NARROWEST);
            if let Some(last) = grid.columns.last_mut() {
                last.width = last.width.min(room);
            }
        }
        grid
    }

    /// The width that the other columns leave for the last one.
    fn room_for_last(&self, width: usize) -> usize {
        let others = self.width() - self.columns.last().map_or(0, GridColumn::whole);
        width.saturating_sub(others)
    }

    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(GridColumn::whole).sum();
        columns + self.columns.len().saturating_sub(1) * BETWEEN
    }

    /// The line of heads.
    pub(super) fn head(&self) -> String {
        let mut line = String::new();
        for (at, column) in self.columns.iter().enumerate() {
            let head = &self.table.head[column.index];
            let (before, after) = self.padding(*column, display_width(head));
            line.push_str(&blanks(at, before));
            line.push_str(head);
            // The bars begin where the figures end.
            line.push_str(&" ".repeat(after + column.whole() - column.width));
        }
        line.trim_end().to_owned()
    }

    /// The lines of a row: one, unless its last column is wrapped.
    pub(super) fn row(&self, row: &Row) -> Vec<Vec<Piece>> {
        let mut first: Vec<Piece> = Vec::new();
        let mut further = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let cell = &row.cells[column.index];
            let mut text = cell.to_string();
            if self.table.wraps && at + 1 == self.columns.len() {
                let mut lines = textwrap::wrap(&text, column.width).into_iter().map(String::from);
                let start = lines.next().unwrap_or_default();
                further.extend(lines);
                text = start;
            }
            let (before, after) = self.padding(*column, display_width(&text));
            first.push((blanks(at, before), Tone::Normal));
            first.push((text, tone(cell)));
            first.push((" ".repeat(after) + &self.bar(*column, cell), Tone::Context));
        }
        let indent = self.width() - self.columns.last().map_or(0, GridColumn::whole);
        let last = self.columns.last().map_or(Tone::Normal, |column| tone(&row.cells[column.index]));
        let further = further.into_iter().map(|text| vec![(" ".repeat(indent), Tone::Normal), (text, last)]);
        std::iter::once(first).chain(further).collect()
    }

    /// Blanks before and after a text in its column.
    fn padding(&self, column: GridColumn, text: usize) -> (usize, usize) {
        let free = column.width.saturating_sub(text);
        let is_words = column.index < self.table.left
            || self.table.wraps && self.columns.last().is_some_and(|last| last.index == column.index);
        if is_words { (0, free) } else { (free, 0) }
    }

    /// The bar of a cell, with the blank before it.
    fn bar(&self, column: GridColumn, cell: &Cell) -> String {
        let width = column.whole() - column.width;
        let bar = match cell {
            Cell::Measure { bar: Some(length), .. } if column.has_bars => {
                format!(" {}", histogram::bar(length * BAR as f64, self.ascii))
            }
            _ => String::new(),
        };
        format!("{bar:width$}")
    }
}

impl GridColumn {
    /// The width with the bar.
    fn whole(&self) -> usize {
        self.width + if self.has_bars { 1 + BAR } else { 0 }
    }
}

/// The widest text of a column, its head included.
pub(super) fn column_width(table: &Table, rows: &[&Row], index: usize) -> usize {
    let cells = rows.iter().map(|row| display_width(&row.cells[index].to_string()));
    cells.chain([display_width(&table.head[index])]).max().unwrap_or(0)
}

/// Blanks before the column at this place of the line.
fn blanks(at: usize, before: usize) -> String {
    " ".repeat(before + if at == 0 { 0 } else { BETWEEN })
}

fn tone(cell: &Cell) -> Tone {
    match cell {
        Cell::Word(line) => line.tone,
        Cell::Unknown | Cell::Empty => Tone::Context,
        _ => Tone::Normal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let measure = |figure: &str| Cell::Measure { figure: figure.into(), unit: "ns", bar: None };
        let word = |text: &str| Cell::word(text, Tone::Bad);
        let rows = [
            vec!["a".into(), measure("10"), word("one, two, three, four")],
            vec!["long".into(), measure("1000"), word("ok")],
        ];
        Table { wraps: true, ..Table::new(["Name", "Cost", "Events"], 1, rows).with_bars(1).with_shared_units() }
    }

    fn lines(width: usize, bars: bool) -> Vec<String> {
        let table = table();
        let rows: Vec<&Row> = table.rows.iter().collect();
        let grid = Grid::new(&table, &rows, &[0, 1, 2], GridStyle { width, bars, ascii: true });
        let joined = |pieces: Vec<Piece>| pieces.into_iter().map(|(text, _)| text).collect::<String>();
        let rows = rows.iter().flat_map(|row| grid.row(row)).map(joined);
        std::iter::once(grid.head()).chain(rows).map(|line| line.trim_end().to_owned()).collect()
    }

    #[test]
    fn figures_have_bars_where_there_is_room() {
        let drawn = [
            "Name  Cost (ns)           Events",
            "a            10 ###       one, two, three, four",
            "long       1000 ########  ok",
        ];
        assert_eq!(lines(60, true), drawn);
        assert_eq!(lines(60, false)[2], "long       1000  ok");
    }

    #[test]
    fn bars_go_before_words_become_narrow() {
        // Where there is room for some words, bars stay.
        let second = ["a            10 ###       one, two,", "                          three, four"];
        assert_eq!(lines(40, true)[1..3], second);
        assert_eq!(lines(37, true)[1..3], ["a            10  one, two, three,", "                 four"]);
        let drawn = [
            "Name  Cost (ns)  Events",
            "a            10  one, two,",
            "                 three, four",
            "long       1000  ok",
        ];
        assert_eq!(lines(30, true), drawn);
    }
}
