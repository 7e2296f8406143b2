//! For reading on a terminal.

use textwrap::core::display_width;

use super::ascii::in_ascii;
use super::brief;
use super::grid::{self, COLUMN_GAP, Grid, GridStyle, MIN_WORDS_WIDTH, Piece, column_width};
use super::histogram;
use super::plot;
use super::renderer::{RenderError, Renderer};
use crate::model::{Block, Cell, Conclusion, Line, Row, Table, Tone};
use crate::report::Report;
use crate::style::Style;
use crate::words::Text;

/// Columns of a page by default.
const DEFAULT_WIDTH: u16 = 80;
/// Columns of the narrowest page.
const MIN_WIDTH: u16 = 40;
/// Most columns of prose: longer lines are hard to read.
const MAX_PROSE_WIDTH: usize = 100;
/// Columns of the environment's names.
const NAME_WIDTH: usize = 18;
/// Explains the bars of a table, as [`Table::with_bars`] makes them.
const BARS: &str = "Bars are logarithmic.";
/// Indents figures below their name, and lists below their title.
const INDENT: &str = "  ";
/// Marks the row of the recommended clock, in place of the indent.
const RECOMMENDED: &str = "> ";

pub(super) struct Terminal;

impl Renderer for Terminal {
    /// Blocks with empty lines between them.
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        let mut page = TextBuffer::new(style);
        let mut blocks = report.blocks(style.view());
        if style.ascii {
            blocks = blocks.into_iter().map(in_ascii).collect();
        }
        blocks.retain(|block| !matches!(block, Block::Chart(chart) if !plot::is_drawn(chart)));
        let mut previous: Option<&Block> = None;
        for block in &blocks {
            // Help for reading the rest stands right below a table, and below other help.
            let is_below = is_help(block) && previous.is_some_and(|block| is_help(block) || has_text_below(block));
            if previous.is_some() && !is_below {
                page.line("", Mark::Normal);
            }
            page.block(block);
            previous = Some(block);
        }
        Ok(page.text)
    }
}

/// Returns whether a block is help for reading the rest.
fn is_help(block: &Block) -> bool {
    matches!(block, Block::Notes { title, lines } if title.is_empty() && lines.iter().all(|line| line.tone == Tone::Context))
}

fn has_text_below(block: &Block) -> bool {
    matches!(block, Block::Table(table) if !table.below.is_empty())
}

/// The text so far.
struct TextBuffer {
    text: String,
    lines: usize,
    /// True once figures have bars.
    has_bars: bool,
    style: Style,
}

/// The marking of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Normal,
    Head,
    Toned(Tone),
}

impl TextBuffer {
    fn new(style: Style) -> Self {
        Self { text: String::new(), lines: 0, has_bars: false, style }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(text) => self.line(&format!("== {text}"), Mark::Head),
            Block::Table(table) if self.style.brief => self.brief_table(table),
            Block::Table(table) => self.table(table),
            Block::KeyValue { title, pairs } => {
                self.title(title);
                let longest = pairs.iter().map(|(key, _)| display_width(key)).max().unwrap_or(0);
                self.pairs(pairs, longest + COLUMN_GAP, Tone::Normal);
            }
            Block::Series(bins) => self.lines(&histogram::draw(bins, self.width(), self.style.ascii)),
            Block::Bars(bars) => self.lines(&histogram::draw_bars(bars, self.width(), self.style.ascii)),
            Block::Chart(chart) => {
                self.title(&chart.title);
                for line in plot::draw(chart, self.width(), self.style.ascii) {
                    self.line(line.trim_end(), Mark::Normal);
                }
                self.wrapped(&[plot::key(chart, self.style.ascii).into()], Tone::Context);
            }
            Block::Notes { title, lines } => {
                self.title(title);
                self.notes(lines, if title.is_empty() { "" } else { INDENT });
            }
            Block::Section { title, lines } => {
                self.title(title);
                self.wrapped(lines, Tone::Normal);
            }
            Block::Prose(lines) => self.wrapped(lines, Tone::Normal),
            Block::Environment { machine, recording } => {
                self.pairs(&[&machine[..], recording].concat(), NAME_WIDTH, Tone::Context);
            }
            Block::Folded { blocks, .. } => blocks.iter().for_each(|block| self.block(block)),
            Block::Conclusion(conclusion) => self.conclusion(conclusion),
        }
    }

    fn lines(&mut self, lines: &[String]) {
        for line in lines {
            self.line(line.trim_end(), Mark::Normal);
        }
    }

    /// Prints the first line in bold. In brief, prints as many lines as leave room for a table.
    fn conclusion(&mut self, conclusion: &Conclusion) {
        for (line, tone, stands_out) in conclusion.all(self.style.brief) {
            let mut wrapped = wrap(line, "", "", self.prose_width());
            if self.style.brief {
                let room = brief::MAX_CONCLUSION_LINES.saturating_sub(self.lines);
                if wrapped.len() > room {
                    if !stands_out && self.lines > 0 {
                        break;
                    }
                    brief::cut(&mut wrapped, room);
                }
            }
            let mark = if stands_out { Mark::Head } else { Mark::Toned(tone) };
            wrapped.iter().for_each(|line| self.line(line, mark));
        }
    }

    fn table(&mut self, table: &Table) {
        self.title(&table.title);
        let (rows, left_out) = table.displayed_rows(self.style.max_rows());
        if !table.rows.is_empty() {
            self.parts(table, &rows, usize::MAX);
        }
        if let Some(omitted) = table.omitted
            && left_out > 0
        {
            self.line(&format!("and {left_out} {omitted}: --rows, or --format json"), Mark::Normal);
        }
        let mut below = table.below.clone();
        if std::mem::take(&mut self.has_bars) {
            // One paragraph explains the columns.
            match below.first_mut() {
                Some(first) => *first = format!("{BARS} {first}").into(),
                None => below.push(BARS.into()),
            }
        }
        self.wrapped(&below, Tone::Context);
    }

    /// Prints as many rows as there is room for: in all parts of the table if there is room for
    /// three, otherwise in its first part.
    fn brief_table(&mut self, table: &Table) {
        let count = table.rows.len();
        let in_parts = (count.min(3)..=count).rev().map(|max_rows| (max_rows, usize::MAX));
        let in_one_part = (1..=count).rev().map(|max_rows| (max_rows, 1));
        for (max_rows, max_parts) in in_parts.chain(in_one_part) {
            let (rows, left_out) = table.weightiest(max_rows);
            let mut page = Self::new(self.style);
            page.title(&table.title);
            page.parts(table, &rows, max_parts);
            if left_out > 0 {
                page.line(&brief::left_out(left_out), Mark::Toned(Tone::Context));
            }
            if self.lines + page.lines <= brief::MAX_LINES {
                self.lines += page.lines;
                self.text.push_str(&page.text);
                return;
            }
        }
    }

    /// Prints a table in as many parts as the width requires, and at most `max_parts`.
    fn parts(&mut self, table: &Table, rows: &[&Row], max_parts: usize) {
        let mut parts = self.columns_of_parts(table, rows, table.keys, 0);
        // Long names leave room for few columns. Instead of many parts, print each name above its
        // figures.
        let mut above: Vec<String> = Vec::new();
        if (table.keys > 1 || table.wraps) && parts.len() > 1 {
            parts = self.columns_of_parts(table, rows, 0, table.keys);
            let keys = rows.iter().map(|row| row.cells[..table.keys].iter().map(Cell::to_string));
            above = keys.map(|keys| keys.collect::<Vec<_>>().join(" ")).collect();
        }
        for (part, columns) in parts.iter().take(max_parts).enumerate() {
            if part > 0 {
                self.line("", Mark::Normal);
            }
            self.part(table, rows, columns, &above);
        }
    }

    /// Splits the columns of a table, except the first `without`, into as many parts as the width
    /// requires. The first `keys` columns begin each part, or an indent if there are none.
    fn columns_of_parts(&self, table: &Table, rows: &[&Row], keys: usize, without: usize) -> Vec<Vec<usize>> {
        let count = table.head.len();
        let widths: Vec<usize> = (0..count).map(|column| column_width(table, rows, column) + COLUMN_GAP).collect();
        let before_last: usize = widths[..count.saturating_sub(1)].iter().sum();
        let wraps = table.wraps && keys > 0 && before_last + MIN_WORDS_WIDTH + INDENT.len() <= self.width();
        let is_indented = rows.iter().any(|row| row.is_recommended || !self.style.brief && !row.heading.is_empty());
        if table.is_whole || wraps {
            return vec![(0..count).collect()];
        }
        let first = keys.max(without);
        let together = (count - table.together).max(first)..count;
        let single = (first..together.start).map(|column| column..column + 1);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        // Room that is left in the line; the last column has nothing after it.
        let mut left = 0;
        let indent = if is_indented { INDENT.len() } else { 0 };
        let begin: usize = if keys == 0 { INDENT.len() } else { indent + widths[..keys].iter().sum::<usize>() };
        for columns in single.chain([together]) {
            let needed: usize = widths[columns.clone()].iter().sum();
            match parts.last_mut() {
                Some(part) if needed <= left + COLUMN_GAP => {
                    part.extend(columns);
                    left = left.saturating_sub(needed);
                }
                _ => {
                    parts.push((0..keys).chain(columns).collect());
                    left = self.width().saturating_sub(begin + needed);
                }
            }
        }
        parts
    }

    /// Prints some columns of a table. Rows with names above them are indented.
    fn part(&mut self, table: &Table, rows: &[&Row], columns: &[usize], above: &[String]) {
        let has_headings = !self.style.brief && rows.iter().any(|row| !row.heading.is_empty());
        let has_marks = rows.iter().any(|row| row.is_recommended);
        let indent = if above.is_empty() && !has_headings && !has_marks { "" } else { INDENT };
        let Style { bars, ascii, .. } = self.style;
        let style = GridStyle { width: self.width() - indent.len(), bars, ascii };
        let Grid { head, rows: drawn, has_bars } = grid::draw(table, rows, columns, style);
        self.has_bars |= has_bars;
        self.line(format!("{indent}{head}").trim_end(), Mark::Head);
        for (index, (row, lines)) in rows.iter().zip(drawn).enumerate() {
            if has_headings && !row.heading.is_empty() {
                self.line(&row.heading, Mark::Head);
            }
            let mark = if row.is_faulty { Mark::Toned(Tone::Bad) } else { Mark::Normal };
            for name in above.get(index).map(|name| textwrap::wrap(name, self.width())).into_iter().flatten() {
                self.line(&name, mark);
            }
            for (number, mut pieces) in lines.into_iter().enumerate() {
                let is_marked = row.is_recommended && number == 0;
                pieces.insert(0, (if is_marked { RECOMMENDED } else { indent }.to_owned(), Tone::Normal));
                self.pieces(pieces, mark);
            }
        }
    }

    fn title(&mut self, title: &Text) {
        if !title.is_empty() {
            self.line(title, Mark::Head);
        }
    }

    /// Prints names, padded to `name_width` columns, and their values. In brief, prints one line a
    /// name, and as many as there is room for.
    fn pairs(&mut self, pairs: &[(Text, Text)], name_width: usize, tone: Tone) {
        let room = if self.style.brief { brief::MAX_LINES.saturating_sub(self.lines) } else { usize::MAX };
        let listed = if pairs.len() > room { room.saturating_sub(1) } else { pairs.len() };
        for (key, value) in &pairs[..listed] {
            let mut lines = wrap(value, &format!("{key:<name_width$} "), "", self.width());
            if self.style.brief {
                brief::cut(&mut lines, 1);
            }
            lines.iter().for_each(|line| self.line(line, Mark::Toned(tone)));
        }
        if listed < pairs.len() {
            self.line(&brief::left_out(pairs.len() - listed), Mark::Toned(Tone::Context));
        }
    }

    fn notes(&mut self, lines: &[Line], indent: &str) {
        for Line { text, tone } in lines {
            // A list's items hang by two columns.
            let hanging = if indent.is_empty() { "" } else { INDENT };
            wrap(text, indent, hanging, self.prose_width()).iter().for_each(|line| self.line(line, Mark::Toned(*tone)));
        }
    }

    fn wrapped(&mut self, lines: &[Text], tone: Tone) {
        for line in lines {
            wrap(line, "", "", self.prose_width()).iter().for_each(|line| self.line(line, Mark::Toned(tone)));
        }
    }

    fn width(&self) -> usize {
        self.style.width.unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH).into()
    }

    fn prose_width(&self) -> usize {
        self.width().min(MAX_PROSE_WIDTH)
    }

    fn line(&mut self, line: &str, mark: Mark) {
        self.pieces(vec![(line.to_owned(), Tone::Normal)], mark);
    }

    /// Prints a line made of pieces. A mark of the line outweighs those of its pieces. Blanks at
    /// the end are left out.
    fn pieces(&mut self, mut pieces: Vec<Piece>, mark: Mark) {
        while let Some((text, _)) = pieces.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            pieces.pop();
        }
        if mark != Mark::Normal {
            self.push(pieces.into_iter().map(|(text, _)| text).collect(), mark);
        } else {
            pieces.into_iter().for_each(|(text, tone)| self.push(text, Mark::Toned(tone)));
        }
        self.text.push('\n');
        self.lines += 1;
    }

    fn push(&mut self, text: String, mark: Mark) {
        let sequence = match mark {
            _ if !self.style.color || text.trim().is_empty() => "",
            Mark::Normal | Mark::Toned(Tone::Normal) => "",
            Mark::Head => "\x1b[1m",
            Mark::Toned(Tone::Good) => "\x1b[32m",
            Mark::Toned(Tone::Warning) => "\x1b[33m",
            Mark::Toned(Tone::Bad) => "\x1b[31m",
            Mark::Toned(Tone::Context) => "\x1b[2m",
        };
        let end = if sequence.is_empty() { "" } else { "\x1b[0m" };
        // Spaces around a text have no color.
        let inner = text.trim();
        let (before, after) = text.split_once(inner).unwrap_or_default();
        self.text.extend([before, sequence, inner, end, after]);
    }
}

/// Wraps a text after a head. Lines after the first are indented by the head's width and `hanging`.
fn wrap(text: &str, head: &str, hanging: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(display_width(head)) + hanging;
    // Numbers, options and names of packages have hyphens that are no places to break a line.
    let options = textwrap::Options::new(width)
        .initial_indent(head)
        .subsequent_indent(&indent)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}
