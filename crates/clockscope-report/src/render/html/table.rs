//! Tables.

use maud::{Markup, html};

use super::parts::tone;
use crate::model::{Cell, Row, Table};
use crate::words::grouped;

/// Most rows of a table: a page of more is slow in browsers. Those of least weight are left out.
pub(super) const MAX_ROWS: usize = 2000;

/// Makes a table of at most `max_rows` rows, which scrolls where it is too wide. `name` is read
/// aloud.
pub(super) fn scrolling(table: &Table, name: &str, max_rows: usize) -> Markup {
    let (rows, left_out) = table.weightiest(max_rows);
    html! {
        div class="scroll" role="group" aria-label=(name) tabindex="0" {
            table class=[table.wraps.then_some("wraps")] {
                @if !table.title.is_empty() {
                    caption { (table.title.trim_end_matches(':')) }
                }
                thead { (head(table)) } "\n"
                (bodies(table, &rows))
            }
        }
        @if left_out > 0 {
            p class="context" {
                "and " (grouped(left_out as u64)) " " (table.omitted.unwrap_or("more rows")) ": --format json has all"
            }
        }
    }
}

fn head(table: &Table) -> Markup {
    html! {
        tr {
            @for (column, name) in table.head.iter().enumerate() {
                // A column without a name has an empty cell.
                @if name.is_empty() {
                    td {}
                } @else {
                    th scope="col" class=[(!table.is_words(column)).then_some("n")] { (name) }
                }
            }
        }
    }
}

/// Makes the rows. A heading of several rows is a group of its own.
fn bodies(table: &Table, rows: &[&Row]) -> Markup {
    html! {
        @for group in rows.chunk_by(|_, row| row.heading.is_empty()) {
            @if !group[0].heading.is_empty() {
                tbody class="group" {
                    tr { th scope="colgroup" colspan=(table.head.len()) { (group[0].heading) } }
                }
            }
            tbody {
                @for row in group {
                    tr class=[class(row)] {
                        @for (column, cell) in row.cells.iter().enumerate() { (self::cell(table, column, cell)) }
                    } "\n"
                }
            }
        }
    }
}

/// The class of a row's element, if it is marked.
fn class(row: &Row) -> Option<&'static str> {
    if row.is_faulty {
        Some("fault")
    } else if row.is_recommended {
        Some("recommended")
    } else {
        None
    }
}

fn cell(table: &Table, column: usize, cell: &Cell) -> Markup {
    let tone = if let Cell::Word(line) = cell { tone(line.tone) } else { None };
    let is_words = table.is_words(column);
    let class = [if is_words { "" } else { "n" }, tone.unwrap_or_default()].join(" ");
    html! {
        @if column < table.keys && is_words {
            th scope="row" { (cell) }
        } @else {
            td class=[Some(class.trim()).filter(|class| !class.is_empty())] { (cell) }
        }
    }
}
