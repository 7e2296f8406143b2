//! The rows of a table as lines of characters.

use comfy_table::{CellAlignment, ColumnConstraint, ContentLineStyle, LineStyle, TableStyle, Width};
use textwrap::core::display_width;

use super::histogram;
use crate::model::{Cell, Row, Table, Tone};

/// Blanks between columns.
pub(super) const COLUMN_GAP: usize = 2;
/// Characters of the longest bar.
const BAR_WIDTH: usize = 8;
/// Characters of the narrowest column of words.
pub(super) const MIN_WORDS_WIDTH: usize = 12;
/// Separate cells and rows in comfy-table's output, so that each cell is colored by its tone. No
/// text contains them.
const CELL_SEPARATOR: char = '\u{1f}';
const ROW_SEPARATOR: char = '\u{1e}';

/// A part of a line, and its tone.
pub(super) type Piece = (String, Tone);

/// The style of a drawn grid.
#[derive(Clone, Copy)]
pub(super) struct GridStyle {
    /// Columns of the page.
    pub(super) width: usize,
    pub(super) bars: bool,
    pub(super) ascii: bool,
}

/// A column as it is drawn: of a table's cells, or of their bars.
#[derive(Clone, Copy)]
struct GridColumn {
    index: usize,
    is_bar: bool,
}

/// A drawn grid.
pub(super) struct Grid {
    /// The line of heads.
    pub(super) head: String,
    /// The lines of each row: one, unless its last column is wrapped.
    pub(super) rows: Vec<Vec<Vec<Piece>>>,
    pub(super) has_bars: bool,
}

/// Draws columns of a table. Bars are left out if they would make a last column that wraps too
/// narrow.
pub(super) fn draw(table: &Table, rows: &[&Row], indices: &[usize], drawing: GridStyle) -> Grid {
    let GridStyle { width, mut bars, ascii } = drawing;
    let (last, others) = indices.split_last().map_or((0, indices), |(last, others)| (*last, others));
    let used: usize = others.iter().map(|index| column_width(table, rows, *index) + COLUMN_GAP).sum();
    let mut room = width.saturating_sub(used);
    let longest = column_width(table, rows, last);
    if table.wraps && bars {
        let bar_room = others.iter().filter(|index| has_bars(rows, **index)).count() * (1 + BAR_WIDTH);
        bars = room >= bar_room + longest.min(MIN_WORDS_WIDTH);
        room -= if bars { bar_room } else { 0 };
    }
    let mut columns = Vec::new();
    for index in indices.iter().copied() {
        columns.push(GridColumn { index, is_bar: false });
        if bars && has_bars(rows, index) {
            columns.push(GridColumn { index, is_bar: true });
        }
    }
    let cells: Vec<Vec<Piece>> =
        rows.iter().map(|row| columns.iter().map(|column| column.piece(row, ascii)).collect()).collect();

    let between = ContentLineStyle::none().junction(CELL_SEPARATOR);
    let style = TableStyle::new().header_lines(between).content_lines(between);
    let mut grid = comfy_table::Table::new();
    grid.load_style(style.row_separator(LineStyle::none().fill(ROW_SEPARATOR)));
    grid.set_header(columns.iter().map(|column| if column.is_bar { "" } else { &table.head[column.index] }));
    grid.add_rows(cells.iter().map(|pieces| pieces.iter().map(|(text, _)| text)));
    for (at, (column, drawn)) in columns.iter().zip(grid.column_iter_mut()).enumerate() {
        let wraps = table.wraps && column.index == last;
        let is_words = column.is_bar || wraps || column.index < table.left;
        drawn.set_cell_alignment(if is_words { CellAlignment::Left } else { CellAlignment::Right });
        let before = if column.is_bar { 1 } else { COLUMN_GAP * at.min(1) };
        drawn.set_padding((before as u16, 0));
        if column.is_bar || wraps {
            let width = if column.is_bar { BAR_WIDTH } else { longest.min(room.max(MIN_WORDS_WIDTH)) };
            drawn.set_constraint(ColumnConstraint::Absolute(Width::Fixed((before + width) as u16)));
        }
    }

    let mut lines = grid.lines();
    let head = lines.next().unwrap_or_default().replace(CELL_SEPARATOR, "");
    let lines: Vec<String> = lines.collect();
    let mut rows = Vec::new();
    for (pieces, lines) in cells.iter().zip(lines.split(|line| line.starts_with(ROW_SEPARATOR))) {
        let tones = pieces.iter().map(|(_, tone)| *tone);
        let texts = lines.iter().map(|line| line.split(CELL_SEPARATOR).map(str::to_owned));
        rows.push(texts.map(|texts| texts.zip(tones.clone()).collect()).collect());
    }
    Grid { head, rows, has_bars: columns.iter().any(|column| column.is_bar) }
}

/// Returns whether a cell of the column has a bar.
fn has_bars(rows: &[&Row], index: usize) -> bool {
    rows.iter().any(|row| matches!(row.cells[index], Cell::Measure { bar: Some(_), .. }))
}

impl GridColumn {
    /// Returns the text of a row's cell, or its bar.
    fn piece(self, row: &Row, ascii: bool) -> Piece {
        match &row.cells[self.index] {
            Cell::Measure { bar: Some(length), .. } if self.is_bar => {
                (histogram::bar(length * BAR_WIDTH as f64, ascii), Tone::Context)
            }
            _ if self.is_bar => (String::new(), Tone::Context),
            cell => (cell.to_string(), tone(cell)),
        }
    }
}

/// Returns the width of a column: that of its widest text, its head included.
pub(super) fn column_width(table: &Table, rows: &[&Row], index: usize) -> usize {
    let cells = rows.iter().map(|row| display_width(&row.cells[index].to_string()));
    cells.chain([display_width(&table.head[index])]).max().unwrap_or(0)
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
        let Grid { head, rows, .. } = draw(&table, &rows, &[0, 1, 2], GridStyle { width, bars, ascii: true });
        let joined = |pieces: Vec<Piece>| pieces.into_iter().map(|(text, _)| text).collect::<String>();
        let rows = rows.into_iter().flatten().map(joined);
        std::iter::once(head).chain(rows).map(|line| line.trim_end().to_owned()).collect()
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
