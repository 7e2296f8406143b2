//! For a page or an issue on a forge (GitHub's tables).

use std::fmt::Display;

use clockscope_records::Bin;

use super::renderer::{RenderError, Renderer};
use super::{brief, histogram};
use crate::model::{Block, Cell, Conclusion, Row, Table};
use crate::report::Report;
use crate::style::Style;
use crate::words::{Text, capitalized};

/// Columns of a histogram.
const WIDTH: usize = 100;

pub(super) struct Markdown;

impl Renderer for Markdown {
    /// Blocks with an empty line between each two.
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        let mut page = String::new();
        for block in report.blocks(style.whole_view()) {
            let separator = if page.is_empty() { "" } else { "\n" };
            let room = brief::MAX_LINES.saturating_sub(lines(&page) + separator.len());
            let text = self::block(&block, style, if style.brief { Some(room) } else { None });
            // A series is in a block of code, and has no text of a record.
            let text = if matches!(block, Block::Series(_)) { text } else { without_markup(&text) };
            if !text.is_empty() {
                page.push_str(separator);
                page.push_str(&text);
            }
        }
        Ok(page)
    }
}

/// Escapes the starts of HTML tags and of links, so that Markdown shows a record's text as it is.
fn without_markup(text: &str) -> String {
    let text = text.replace("](", "]\\(").replace("]:", "]\\:").replace("][", "]\\[");
    let mut parts = text.split('<');
    let mut escaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_tag = part.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        escaped.push_str(if is_tag { "\\<" } else { "<" });
        escaped.push_str(part);
    }
    escaped
}

fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

/// Writes a block, in at most `room` lines if there is a limit.
fn block(block: &Block, style: Style, room: Option<usize>) -> String {
    match (block, room) {
        (Block::Heading(text), _) => format!("## {}\n", capitalized(text)),
        (Block::Table(table), None) => self::table(table, style),
        (Block::Table(table), Some(room)) => brief_table(table, room),
        (Block::KeyValue { title, pairs }, room) => list(title, &joined(pairs), room),
        (Block::Series(bins), _) => series(bins, style),
        // `whole_view` has no charts, and the histograms of all bins.
        (Block::Chart(_) | Block::Bars(_), _) => String::new(),
        (Block::Notes { title, lines }, _) => list(title, lines, None),
        (Block::Section { title, lines }, _) => format!("### {title}\n\n{}", list("", lines, None)),
        (Block::Prose(lines), _) => paragraphs(lines),
        (Block::Environment { machine, recording }, room) => {
            list("Environment", &joined(&[&machine[..], recording].concat()), room)
        }
        (Block::Folded { blocks, .. }, _) => blocks.iter().map(|block| self::block(block, style, room)).collect(),
        (Block::Conclusion(conclusion), _) => self::conclusion(conclusion, style),
    }
}

/// Writes the first line in bold, and the conclusions of other questions as a list. In brief,
/// writes as many lines as leave room for a table.
fn conclusion(conclusion: &Conclusion, style: Style) -> String {
    let findings = &conclusion.findings;
    let lines = Conclusion { findings: Vec::new(), ..conclusion.clone() };
    let mut parts: Vec<String> = lines
        .all(style.brief)
        .map(|(line, _, is_lead)| if is_lead { format!("**{line}**\n") } else { format!("{line}\n") })
        .collect();
    if !findings.is_empty() {
        parts.push(list("", findings, None));
    }
    let mut text = String::new();
    for part in parts {
        let separator = if text.is_empty() { "" } else { "\n" };
        let needed = self::lines(&text) + separator.len() + self::lines(&part);
        if style.brief && needed > brief::MAX_CONCLUSION_LINES {
            break;
        }
        text.push_str(separator);
        text.push_str(&part);
    }
    text
}

fn table(table: &Table, style: Style) -> String {
    let mut parts = Vec::new();
    if !table.rows.is_empty() {
        let (rows, left_out) = table.displayed_rows(style.max_rows());
        parts.push(grid(table, &rows));
        if let Some(omitted) = table.omitted
            && left_out > 0
        {
            parts.push(format!("and {left_out} {omitted}\n"));
        }
    }
    if !table.below.is_empty() {
        parts.push(paragraphs(&table.below));
    }
    titled(table, &parts)
}

/// Writes as many rows as there is room for.
fn brief_table(table: &Table, room: usize) -> String {
    for max_rows in (1..=table.rows.len()).rev() {
        let (rows, left_out) = table.weightiest(max_rows);
        let mut parts = vec![grid(table, &rows)];
        if left_out > 0 {
            parts.push(brief::left_out(left_out) + "\n");
        }
        let text = titled(table, &parts);
        if lines(&text) <= room {
            return text;
        }
    }
    String::new()
}

/// Joins the parts of a table below its title.
fn titled(table: &Table, parts: &[String]) -> String {
    let title = if table.title.is_empty() { String::new() } else { format!("{}\n\n", table.title) };
    title + &parts.join("\n")
}

/// Writes rows below the heads. A heading of several rows is a row of its own.
fn grid(table: &Table, rows: &[&Row]) -> String {
    let rule = (0..table.head.len()).map(|column| if table.is_words(column) { ":--" } else { "--:" });
    let mut text = line(&table.head) + &line(rule);
    for row in rows {
        if !row.heading.is_empty() {
            let blank = std::iter::repeat_n(String::new(), table.head.len() - 1);
            text.push_str(&line(std::iter::once(format!("**{}**", row.heading)).chain(blank)));
        }
        if row.is_recommended && !row.is_faulty {
            let first = row.cells.first().map(|name| format!("**{name}**"));
            text.push_str(&line(first.into_iter().chain(row.cells.iter().skip(1).map(Cell::to_string))));
        } else {
            text.push_str(&line(&row.cells));
        }
    }
    text
}

/// Writes a line of a table.
fn line<C: Display>(cells: impl IntoIterator<Item = C>) -> String {
    // A bar would end the cell.
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.to_string().replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn series(bins: &[Bin], style: Style) -> String {
    let lines = histogram::draw(bins, WIDTH, style.ascii);
    format!("```\n{}\n```\n", lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"))
}

/// Writes a list, one line per entry, below a title if there is any; in at most `room` lines if
/// there is a limit.
fn list(title: &str, entries: &[impl Display], room: Option<usize>) -> String {
    let mut text = if title.is_empty() { String::new() } else { format!("{}:\n\n", title.trim_end_matches(':')) };
    let room = room.map_or(usize::MAX, |room| room.saturating_sub(lines(&text)));
    let listed = if entries.len() > room { room.saturating_sub(1) } else { entries.len() };
    text.extend(entries[..listed].iter().map(|entry| format!("- {entry}\n")));
    if listed < entries.len() {
        text.push_str(&format!("- {}\n", brief::left_out(entries.len() - listed)));
    }
    text
}

/// Writes one paragraph per line.
fn paragraphs(lines: &[Text]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().join("\n")
}

fn joined(pairs: &[(Text, Text)]) -> Vec<String> {
    pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_of_a_record_is_text() {
        let page = "| <script>1</script> | < 0.0001 | <!-- |\n```\n<b> | 1\n<";
        let expected = "| \\<script>1\\</script> | < 0.0001 | \\<!-- |\n```\n\\<b> | 1\n<";
        assert_eq!(without_markup(page), expected);
    }
}
