//! Tables.

use std::fmt::Display;

use super::tone::tone;
use crate::model::{Cell, Row, Table};
use crate::render::markup::Markup;
use crate::text::grouped;

/// Most rows of a table: a page of more is slow in browsers. Those of least weight are left out.
pub(super) const MOST_ROWS: usize = 2000;

/// Adds a table of so many rows at most. It scrolls where it is too wide, under a name of its own.
pub(super) fn add(markup: &mut Markup, table: &Table, name: &str, most: usize) {
    let (rows, left_out) = table.weightiest(most);
    let scroll: [(&'static str, &dyn Display); 4] =
        [("class", &"scroll"), ("role", &"group"), ("aria-label", &name), ("tabindex", &0)];
    markup.element("div", &scroll, |scroll| {
        scroll.element("table", &[], |element| {
            if !table.title.is_empty() {
                element.leaf("caption", &[], table.title.trim_end_matches(':'));
            }
            element.element("thead", &[], |head| head_of(head, table)).line();
            bodies(element, table, &rows);
        });
    });
    if left_out > 0 {
        let what = table.omitted.unwrap_or("more rows");
        let more = format!("and {} {what}: --format json has all", grouped(left_out as u64));
        markup.leaf("p", &[("class", &"context")], more);
    }
}

fn head_of(head: &mut Markup, table: &Table) {
    head.element("tr", &[], |row| {
        for (column, name) in table.head.iter().enumerate() {
            // A head without a word is no head.
            match (name.is_empty(), is_words(table, column)) {
                (true, _) => row.leaf("td", &[], ""),
                (false, true) => row.leaf("th", &[("scope", &"col")], name),
                (false, false) => row.leaf("th", &[("scope", &"col"), ("class", &"n")], name),
            };
        }
    });
}

/// Adds the rows. A heading of several rows is a group of its own.
fn bodies(element: &mut Markup, table: &Table, rows: &[&Row]) {
    let mut remaining = rows;
    while let Some(first) = remaining.first() {
        if !first.heading.is_empty() {
            let span = table.head.len();
            element.element("tbody", &[("class", &"group")], |body| {
                body.element("tr", &[], |row| {
                    row.leaf("th", &[("scope", &"colgroup"), ("colspan", &span)], &first.heading);
                });
            });
        }
        let count = 1 + remaining.iter().skip(1).take_while(|row| row.heading.is_empty()).count();
        let (group, others) = remaining.split_at(count);
        element.element("tbody", &[], |body| {
            for row in group {
                self::row(body, table, row);
            }
        });
        remaining = others;
    }
}

fn row(body: &mut Markup, table: &Table, row: &Row) {
    let cells = |element: &mut Markup| {
        for (column, cell) in row.cells.iter().enumerate() {
            self::cell(element, table, column, cell);
        }
    };
    if row.is_faulty {
        body.element("tr", &[("class", &"fault")], cells).line();
    } else {
        body.element("tr", &[], cells).line();
    }
}

fn cell(row: &mut Markup, table: &Table, column: usize, cell: &Cell) {
    let tone = match cell {
        Cell::Word(line) => tone(line.tone),
        _ => "",
    };
    match (column < table.keys && is_words(table, column), is_words(table, column), tone) {
        (true, ..) => row.leaf("th", &[("scope", &"row")], cell),
        (false, true, "") => row.leaf("td", &[], cell),
        (false, true, tone) => row.leaf("td", &[("class", &tone)], cell),
        (false, false, "") => row.leaf("td", &[("class", &"n")], cell),
        (false, false, tone) => row.leaf("td", &[("class", &format_args!("n {tone}"))], cell),
    };
}

/// Returns whether a column holds words, which begin on the left.
fn is_words(table: &Table, column: usize) -> bool {
    column < table.left || table.wraps && column + 1 == table.head.len()
}
