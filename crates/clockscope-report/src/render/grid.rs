//! The rows of a table as lines of characters.

use comfy_table::{CellAlignment, ColumnConstraint, ContentLineStyle, LineStyle, TableStyle, Width};
use textwrap::core::display_width;

use super::histogram;
use crate::model::{Cell, Row, Table, Tone};

/// Blanks between columns.
pub(super) const BETWEEN: usize = 2;
/// Columns of a bar.
const BAR: usize = 8;
/// The narrowest that a column of words becomes.
pub(super) const NARROWEST: usize = 12;
/// Separate cells and rows in what comfy-table draws, so that each is colored by its meaning; no
/// text contains them.
const CELLS: char = '\u{1f}';
const ROWS: char = '\u{1e}';

/// A part of a line, and its meaning.
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

/// Draws columns of a table. One whose last column wraps gives up its bars before that column
/// becomes too narrow.
pub(super) fn draw(table: &Table, rows: &[&Row], indices: &[usize], drawing: GridStyle) -> Grid {
    let GridStyle { width, mut bars, ascii } = drawing;
    let is_bar = |row: &&Row, index: usize| matches!(row.cells[index], Cell::Measure { bar: Some(_), .. });
    let has_bars = |index: &&usize| rows.iter().any(|row| is_bar(row, **index));
    let (last, others) = indices.split_last().map_or((0, indices), |(last, others)| (*last, others));
    let mut room = width.saturating_sub(others.iter().map(|index| column_width(table, rows, *index) + BETWEEN).sum());
    let longest = column_width(table, rows, last);
    if table.wraps && bars {
        let of_bars = others.iter().filter(has_bars).count() * (1 + BAR);
        bars = room >= of_bars + longest.min(NARROWEST);
        room -= if bars { of_bars } else { 0 };
    }
    let column = |index: &usize| {
        let bar = (bars && has_bars(&index)).then_some(GridColumn { index: *index, is_bar: true });
        [GridColumn { index: *index, is_bar: false }].into_iter().chain(bar)
    };
    let columns: Vec<GridColumn> = indices.iter().flat_map(column).collect();
    let pieces_of = |row: &&Row| columns.iter().map(|column| column.piece(row, ascii)).collect();
    let cells: Vec<Vec<Piece>> = rows.iter().map(pieces_of).collect();

    let between = ContentLineStyle::none().junction(CELLS);
    let style = TableStyle::new().header_lines(between).content_lines(between);
    let mut grid = comfy_table::Table::new();
    grid.load_style(style.row_separator(LineStyle::none().fill(ROWS)));
    grid.set_header(columns.iter().map(|column| if column.is_bar { "" } else { &table.head[column.index] }));
    grid.add_rows(cells.iter().map(|pieces| pieces.iter().map(|(text, _)| text)));
    for (at, (column, drawn)) in columns.iter().zip(grid.column_iter_mut()).enumerate() {
        let wraps = table.wraps && column.index == last;
        let is_words = column.is_bar || wraps || column.index < table.left;
        drawn.set_cell_alignment(if is_words { CellAlignment::Left } else { CellAlignment::Right });
        let before = if column.is_bar { 1 } else { BETWEEN * at.min(1) };
        drawn.set_padding((before as u16, 0));
        let fixed = |width: usize| ColumnConstraint::Absolute(Width::Fixed((before + width) as u16));
        if column.is_bar {
            drawn.set_constraint(fixed(BAR));
        } else if wraps {
            drawn.set_constraint(fixed(longest.min(room.max(NARROWEST))));
        }
    }

    let mut lines = grid.lines();
    let head = lines.next().unwrap_or_default().replace(CELLS, "");
    let lines: Vec<String> = lines.collect();
    let drawn = |(pieces, lines): (&Vec<Piece>, &[String])| {
        let tones = pieces.iter().map(|(_, tone)| *tone);
        lines.iter().map(|line| line.split(CELLS).map(str::to_owned).zip(tones.clone()).collect()).collect()
    };
    let rows = cells.iter().zip(lines.split(|line| line.starts_with(ROWS))).map(drawn).collect();
    Grid { head, rows, has_bars: columns.iter().any(|column| column.is_bar) }
}

impl GridColumn {
    /// The cell or its bar.
    fn piece(self, row: &Row, ascii: bool) -> Piece {
        match &row.cells[self.index] {
            Cell::Measure { bar: Some(length), .. } if self.is_bar => {
                (histogram::bar(length * BAR as f64, ascii), Tone::Context)
            }
            _ if self.is_bar => (String::new(), Tone::Context),
            cell => (cell.to_string(), tone(cell)),
        }
    }
}

/// The widest text of a column, its head included.
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
