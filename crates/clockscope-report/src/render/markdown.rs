//! For a page or an issue on a forge (GitHub's tables).

use std::fmt::Display;

use clockscope_records::Bin;

use super::histogram;
use super::renderer::{RenderError, Renderer};
use crate::model::{Block, Conclusion, Table};
use crate::report::Report;
use crate::style::Style;
use crate::text::Text;

/// Columns of a histogram.
const WIDTH: usize = 100;

pub(super) struct Markdown;

impl Renderer for Markdown {
    /// Blocks with an empty line between each two.
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        let blocks = report.blocks();
        let blocks: Vec<String> =
            blocks.iter().map(|block| self::block(block, style)).filter(|text| !text.is_empty()).collect();
        Ok(blocks.join("\n"))
    }
}

fn block(block: &Block, style: Style) -> String {
    match block {
        Block::Heading(text) => format!("## {}\n", capitalized(text)),
        Block::Table(table) => self::table(table, style),
        Block::KeyValue { title, pairs } => list(title, &joined(pairs)),
        Block::Series(bins) => series(bins, style),
        Block::Notes { title, lines } => list(title, lines),
        Block::Section { title, lines } => format!("### {title}\n\n{}", list("", lines)),
        Block::Prose(lines) => paragraphs(lines, ""),
        Block::Environment(pairs) => list("Environment", &joined(pairs)),
        Block::Conclusion(Conclusion { caveats, findings, lines }) => {
            let parts = [paragraphs(caveats, ""), list("", findings), paragraphs(lines, "**")];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
        }
    }
}

fn table(table: &Table, style: Style) -> String {
    let mut parts = Vec::new();
    if !table.title.is_empty() {
        parts.push(format!("{}\n", table.title));
    }
    if !table.rows.is_empty() {
        let (rows, left_out) = table.shown(style.most_rows());
        let rule = (0..table.head.len()).map(|index| if index < table.left { ":--" } else { "--:" });
        let rows = rows.into_iter().map(|row| self::row(&row.cells));
        parts.push([self::row(&table.head), self::row(rule)].into_iter().chain(rows).collect());
        if let Some(what) = table.omitted.filter(|_| left_out > 0) {
            parts.push(format!("and {left_out} {what}\n"));
        }
    }
    if !table.below.is_empty() {
        parts.push(paragraphs(&table.below, ""));
    }
    parts.join("\n")
}

fn row<C: Display>(cells: impl IntoIterator<Item = C>) -> String {
    // A bar would end the cell.
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.to_string().replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn series(bins: &[Bin], style: Style) -> String {
    let lines = histogram::draw(bins, WIDTH, style.ascii);
    format!("```\n{}\n```\n", lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"))
}

/// Writes a list, one line per entry, below a title if there is any.
fn list(title: &str, lines: &[impl Display]) -> String {
    let head = if title.is_empty() { String::new() } else { format!("{}:\n\n", title.trim_end_matches(':')) };
    head + &lines.iter().map(|line| format!("- {line}\n")).collect::<String>()
}

/// Writes one paragraph per line, with a mark around each.
fn paragraphs(lines: &[Text], mark: &str) -> String {
    lines.iter().map(|line| format!("{mark}{line}{mark}\n")).collect::<Vec<_>>().join("\n")
}

fn joined(pairs: &[(Text, Text)]) -> Vec<String> {
    pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect()
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
