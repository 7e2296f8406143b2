//! Texts in ASCII, for terminals that show nothing else.

use crate::model::{Block, Cell, Conclusion, Line, Row, Table};
use crate::words::Text;

/// Writes a text in ASCII. Characters without a replacement become question marks.
#[must_use]
pub fn ascii(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut is_raised = false;
    for letter in text.chars() {
        let digit = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".chars().zip("0123456789-".chars()).find(|(raised, _)| *raised == letter);
        if digit.is_some() && !is_raised {
            written.push('^');
        }
        is_raised = digit.is_some();
        match digit.map_or(letter, |(_, digit)| digit) {
            '−' | '–' => written.push('-'),
            'µ' | 'μ' => written.push('u'),
            '±' => written.push_str("+/-"),
            '≤' => written.push_str("<="),
            '≥' => written.push_str(">="),
            '×' => written.push('x'),
            '…' => written.push_str("..."),
            '→' => written.push_str("->"),
            '·' => written.push('*'),
            'τ' => written.push_str("tau"),
            '∞' => written.push_str("infinity"),
            '√' => written.push_str("sqrt "),
            letter if letter.is_ascii() => written.push(letter),
            _ => written.push('?'),
        }
    }
    written
}

/// Writes all texts of a block in ASCII, except charts and histograms, which `plot` and `histogram`
/// draw in ASCII.
pub(super) fn in_ascii(block: Block) -> Block {
    match block {
        Block::Heading(title) => Block::Heading(text(&title)),
        Block::Table(table) => Block::Table(in_table(table)),
        Block::KeyValue { title, pairs } => Block::KeyValue { title: text(&title), pairs: ascii_pairs(&pairs) },
        Block::Series(bins) => Block::Series(bins),
        Block::Bars(bars) => Block::Bars(bars),
        Block::Chart(chart) => Block::Chart(chart),
        Block::Notes { title, lines } => {
            let lines = lines.iter().map(|line| Line { text: text(&line.text), tone: line.tone }).collect();
            Block::Notes { title: text(&title), lines }
        }
        Block::Section { title, lines } => Block::Section { title: text(&title), lines: texts(&lines) },
        Block::Prose(lines) => Block::Prose(texts(&lines)),
        Block::Environment { machine, recording } => {
            Block::Environment { machine: ascii_pairs(&machine), recording: ascii_pairs(&recording) }
        }
        Block::Folded { title, blocks } => {
            Block::Folded { title: text(&title), blocks: blocks.into_iter().map(in_ascii).collect() }
        }
        Block::Conclusion(Conclusion { caveats, lines, findings }) => {
            let [caveats, lines, findings] = [caveats, lines, findings].map(|lines| texts(&lines));
            Block::Conclusion(Conclusion { caveats, lines, findings })
        }
    }
}

fn text(text: &Text) -> Text {
    ascii(text).into()
}

fn texts(lines: &[Text]) -> Vec<Text> {
    lines.iter().map(text).collect()
}

fn ascii_pairs(pairs: &[(Text, Text)]) -> Vec<(Text, Text)> {
    pairs.iter().map(|(key, value)| (text(key), text(value))).collect()
}

fn in_table(table: Table) -> Table {
    Table {
        title: text(&table.title),
        head: texts(&table.head),
        below: texts(&table.below),
        rows: table.rows.into_iter().map(in_row).collect(),
        ..table
    }
}

fn in_row(row: Row) -> Row {
    Row { cells: row.cells.into_iter().map(cell).collect(), heading: text(&row.heading), ..row }
}

fn cell(cell: Cell) -> Cell {
    match cell {
        Cell::Text(line) => Cell::Text(text(&line)),
        Cell::Word(line) => Cell::Word(Line { text: text(&line.text), tone: line.tone }),
        Cell::Time(_) => ascii(&cell.to_string()).into(),
        Cell::Measure { figure, unit, bar } => {
            Cell::Measure { figure: text(&figure), unit: if unit == "µs" { "us" } else { unit }, bar }
        }
        Cell::Count(_) | Cell::Unknown | Cell::Empty => cell,
    }
}
