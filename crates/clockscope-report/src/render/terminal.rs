//! For reading on a terminal.

use comfy_table::{CellAlignment, Table as Columns, TableStyle};

use super::histogram;
use super::renderer::{RenderError, Renderer};
use crate::model::{Block, Cell, Conclusion, Row, Table};
use crate::report::Report;
use crate::style::Style;
use crate::text::Text;

/// Prose is wrapped here by default.
const WIDTH: u16 = 100;
/// The narrowest that a page becomes.
const NARROWEST: u16 = 40;
/// Of figures below their name, and of lists below their title.
const INDENT: &str = "  ";
/// Columns of the environment's names.
const NAMES: usize = 18;
/// Blanks between columns.
const BETWEEN: usize = 2;

pub(super) struct Terminal;

impl Renderer for Terminal {
    /// Blocks with an empty line between each two.
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        let mut page = TextBuffer { text: String::new(), style };
        for (place, block) in report.blocks().iter().enumerate() {
            if place > 0 {
                page.line("", Mark::Plain);
            }
            page.block(block);
        }
        Ok(page.text)
    }
}

/// The text so far.
struct TextBuffer {
    text: String,
    style: Style,
}

/// How a line is marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Plain,
    Head,
    Fault,
}

impl TextBuffer {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(text) => self.line(&format!("== {text}"), Mark::Plain),
            Block::Table(table) => self.table(table),
            Block::KeyValue { title, pairs } => {
                self.title(title);
                let longest = pairs.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
                self.pairs(pairs, longest + BETWEEN);
            }
            Block::Series(bins) => {
                for line in histogram::draw(bins, self.width(), self.style.ascii) {
                    self.line(line.trim_end(), Mark::Plain);
                }
            }
            Block::Notes { title, lines } => {
                self.title(title);
                self.wrapped(lines, if title.is_empty() { "" } else { INDENT });
            }
            Block::Section { title, lines } => {
                self.title(title);
                self.wrapped(lines, "");
            }
            Block::Prose(lines) => self.wrapped(lines, ""),
            Block::Environment(pairs) => self.pairs(pairs, NAMES),
            Block::Conclusion(Conclusion { caveats, findings, lines }) => {
                [caveats, findings, lines].into_iter().for_each(|lines| self.wrapped(lines, ""));
            }
        }
    }

    fn table(&mut self, table: &Table) {
        self.title(&table.title);
        let (rows, left_out) = table.shown(self.style.most_rows());
        if !table.rows.is_empty() {
            self.parts(table, &rows);
        }
        if let Some(what) = table.omitted.filter(|_| left_out > 0) {
            self.line(&format!("and {left_out} {what}: --rows, or --format json"), Mark::Plain);
        }
        self.wrapped(&table.below, "");
    }

    /// Prints a table in as many parts as the width requires.
    fn parts(&mut self, table: &Table, rows: &[&Row]) {
        let mut parts = self.that_fit(table, rows, table.keys, 0);
        // Long names leave room for few columns. Instead of many parts, print each name above its
        // figures.
        let mut above: Vec<String> = Vec::new();
        if table.keys > 1 && parts.len() > 1 {
            parts = self.that_fit(table, rows, 0, table.keys);
            let name = |row: &&Row| row.cells[..table.keys].iter().map(Cell::to_string).collect::<Vec<_>>().join(" ");
            above = rows.iter().map(name).collect();
        }
        for (part, columns) in parts.iter().enumerate() {
            if part > 0 {
                self.line("", Mark::Plain);
            }
            self.part(table, rows, columns, &above);
        }
    }

    /// Splits the columns of a table, except the first `without`, into as many parts as the width
    /// requires. The first `keys` columns begin each part, or an indent if there are none.
    fn that_fit(&self, table: &Table, rows: &[&Row], keys: usize, without: usize) -> Vec<Vec<usize>> {
        if table.is_whole {
            return vec![(0..table.head.len()).collect()];
        }
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row.cells[column].to_string().chars().count());
            cells.chain([table.head[column].chars().count()]).max().unwrap_or(0) + BETWEEN
        };
        let first = keys.max(without);
        let together = (table.head.len() - table.together).max(first)..table.head.len();
        let alone = (first..together.start).map(|column| column..column + 1);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        // Columns that are left of the line; the last column has nothing after it.
        let mut left = 0;
        let begin: usize = if keys == 0 { INDENT.len() } else { (0..keys).map(width).sum() };
        for columns in alone.chain([together]) {
            let needed: usize = columns.clone().map(width).sum();
            match parts.last_mut().filter(|_| needed <= left + BETWEEN) {
                Some(part) => {
                    part.extend(columns);
                    left = left.saturating_sub(needed);
                }
                None => {
                    parts.push((0..keys).chain(columns).collect());
                    left = self.width().saturating_sub(begin + needed);
                }
            }
        }
        parts
    }

    /// Prints some columns of a table. Rows with names above them are indented.
    fn part(&mut self, table: &Table, rows: &[&Row], columns: &[usize], above: &[String]) {
        let mut grid = Columns::new();
        grid.load_style(TableStyle::new());
        grid.set_header(columns.iter().map(|column| table.head[*column].to_string()));
        for row in rows {
            grid.add_row(columns.iter().map(|column| row.cells[*column].to_string()));
        }
        for (column, place) in grid.column_iter_mut().zip(columns) {
            column.set_padding((0, BETWEEN as u16));
            column.set_cell_alignment(if *place < table.left { CellAlignment::Left } else { CellAlignment::Right });
        }
        let indent = if above.is_empty() { "" } else { INDENT };
        // One line a row: no cell holds a line break, and nothing asks for a width.
        for (index, line) in grid.lines().enumerate() {
            let row = index.checked_sub(1);
            let mark = match row {
                None => Mark::Head,
                Some(row) if rows.get(row).is_some_and(|row| row.is_faulty) => Mark::Fault,
                Some(_) => Mark::Plain,
            };
            let name = row.and_then(|row| above.get(row));
            for line in name.map(|name| textwrap::wrap(name, self.width())).into_iter().flatten() {
                self.line(&line, mark);
            }
            self.line(format!("{indent}{line}").trim_end(), mark);
        }
    }

    fn title(&mut self, title: &Text) {
        if !title.is_empty() {
            self.line(title, Mark::Head);
        }
    }

    /// Prints names, padded to so many columns, and their values.
    fn pairs(&mut self, pairs: &[(Text, Text)], names: usize) {
        for (key, value) in pairs {
            self.wrapped_after(&format!("{key:<names$} "), value);
        }
    }

    fn wrapped(&mut self, lines: &[Text], indent: &str) {
        for line in lines {
            self.wrapped_after(indent, line);
        }
    }

    fn wrapped_after(&mut self, head: &str, text: &str) {
        // A list's items hang by two columns; values hang below their start; plain prose does not
        // hang.
        let hanging = if head.trim().is_empty() && !head.is_empty() { INDENT.len() } else { 0 };
        let indent = " ".repeat(head.chars().count() + hanging);
        let options = textwrap::Options::new(self.width()).initial_indent(head).subsequent_indent(&indent);
        for line in textwrap::wrap(text, options) {
            self.line(&line, Mark::Plain);
        }
    }

    fn width(&self) -> usize {
        self.style.width.unwrap_or(WIDTH).max(NARROWEST).into()
    }

    fn line(&mut self, line: &str, mark: Mark) {
        let sequence = match mark {
            _ if !self.style.color => "",
            Mark::Plain => "",
            Mark::Head => "\x1b[1m",
            Mark::Fault => "\x1b[31m",
        };
        self.text.push_str(sequence);
        self.text.push_str(line);
        self.text.push_str(if sequence.is_empty() { "\n" } else { "\x1b[0m\n" });
    }
}
