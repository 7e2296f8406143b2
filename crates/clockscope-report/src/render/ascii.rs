//! Texts in ASCII, for terminals that show nothing else.

use crate::model::{Block, Cell, Conclusion, Line, Row, Table};
use crate::words::Text;

/// Writes a text in ASCII. Characters that names of other programs have become question marks.
#[must_use]
pub fn ascii(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut is_raised = false;
    for letter in text.chars() {
        let raised = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".chars().zip("0123456789-".chars()).find(|(of, _)| *of == letter);
        if raised.is_some() && !is_raised {
            written.push('^');
        }
        is_raised = raised.is_some();
        match raised.map_or(letter, |(_, plain)| plain) {
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

/// Writes all texts of a block in ASCII. Charts and histograms are drawn in it.
pub(super) fn in_ascii(block: Block) -> Block {
    match block {
        Block::Heading(title) => Block::Heading(text(&title)),
        Block::Table(table) => Block::Table(in_table(table)),
        Block::KeyValue { title, pairs: of } => Block::KeyValue { title: text(&title), pairs: pairs(&of) },
        Block::Series(bins) => Block::Series(bins),
        Block::Chart(chart) => Block::Chart(chart),
        Block::Notes { title, lines } => {
            let lines = lines.iter().map(|line| Line { text: text(&line.text), tone: line.tone }).collect();
            Block::Notes { title: text(&title), lines }
        }
        Block::Section { title, lines } => Block::Section { title: text(&title), lines: texts(&lines) },
        Block::Prose(lines) => Block::Prose(texts(&lines)),
        Block::Environment { machine, recording } => {
            Block::Environment { machine: pairs(&machine), recording: pairs(&recording) }
        }
        Block::Folded { title, blocks } => {
            Block::Folded { title: text(&title), blocks: blocks.into_iter().map(in_ascii).collect() }
        }
        Block::Conclusion(of) => {
            let [caveats, lines, findings] = [of.caveats, of.lines, of.findings].map(|lines| texts(&lines));
            Block::Conclusion(Conclusion { caveats, lines, findings })
        }
    }
}

fn text(of: &Text) -> Text {
    ascii(of).into()
}

fn texts(of: &[Text]) -> Vec<Text> {
    of.iter().map(text).collect()
}

fn pairs(of: &[(Text, Text)]) -> Vec<(Text, Text)> {
    of.iter().map(|(key, value)| (text(key), text(value))).collect()
}

fn in_table(table: Table) -> Table {
    let row = |row: Row| {
        let cells = row.cells.into_iter().map(cell).collect();
        Row { cells, heading: text(&row.heading), ..row }
    };
    Table {
        title: text(&table.title),
        head: texts(&table.head),
        below: texts(&table.below),
        rows: table.rows.into_iter().map(row).collect(),
        ..table
    }
}

fn cell(cell: Cell) -> Cell {
    match cell {
        Cell::Text(of) => Cell::Text(text(&of)),
        Cell::Word(line) => Cell::Word(Line { text: text(&line.text), tone: line.tone }),
        Cell::Time(_) => ascii(&cell.to_string()).into(),
        Cell::Measure { figure, unit, bar } => {
            Cell::Measure { figure: text(&figure), unit: if unit == "µs" { "us" } else { unit }, bar }
        }
        Cell::Count(_) | Cell::Unknown | Cell::Empty => cell,
    }
}
