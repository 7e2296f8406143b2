//! What stands in the answers to questions across CPUs and over time, for every format that has tables.

mod clocksources;
mod gaps;
mod offsets;
mod order;
mod rate;
mod runtimes;
mod runtimes_found;
mod shootout;
mod sleep;
mod trust;

use std::collections::BTreeMap;

use clockscope_records::{
    Clocksources, Document, Gaps, Measurement, Offsets, Order, Rates, Runtimes, RuntimesFound, Shootout, Sleep, Trust,
};

/// A part of a page.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Above it; empty for none.
    pub(crate) title: String,
    /// Heads of a table; none for prose.
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Which rows show a fault.
    pub(crate) faults: Vec<bool>,
    /// Columns that are words, from the left.
    pub(crate) left: usize,
    /// Columns that tell one row from another, from the left: each part of a table that is too wide begins with them. 0 is 1.
    pub(crate) keys: usize,
    /// Below the table, or alone.
    pub(crate) lines: Vec<String>,
}

impl Block {
    fn table(title: &str, head: &[&str], left: usize, rows: Vec<Vec<String>>) -> Self {
        let head = head.iter().map(ToString::to_string).collect();
        Self { title: title.to_owned(), head, rows, left, ..Self::default() }
    }

    fn lines(title: &str, lines: Vec<String>) -> Self {
        Self { title: title.to_owned(), lines, ..Self::default() }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.lines.is_empty()
    }
}

/// An answer, ready to be laid out.
pub(crate) struct Page {
    pub(crate) interrupted: bool,
    pub(crate) blocks: Vec<Block>,
    /// What to take away, a sentence or two a line.
    pub(crate) conclusion: Vec<String>,
}

/// The page of a document that is such an answer.
pub(crate) fn page(document: &Document) -> Option<Page> {
    let (interrupted, (blocks, conclusion)) = match document {
        Document::Order(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Offsets(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Rates(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Gaps(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Sleep(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Check(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Shootout(answer) => (answer.run.interrupted, of(&answer.found)),
        Document::Clocksources(found) => (false, of(found)),
        Document::Runtimes(found) => (found.interrupted, of(found)),
        Document::RuntimesFound(found) => (false, of(found)),
        _ => return None,
    };
    let blocks = blocks.into_iter().filter(|block| !block.is_empty()).collect();
    Some(Page { interrupted, blocks, conclusion })
}

fn of(found: &impl Answered) -> (Vec<Block>, Vec<String>) {
    (found.blocks(), found.conclusion())
}

/// What a thorough measurement found besides: a line a question.
pub(crate) fn thorough(measurement: &Measurement) -> Vec<String> {
    let Some(found) = &measurement.thorough else { return Vec::new() };
    let first = |name: &str, lines: Vec<String>| format!("{name}: {}", lines.first().map_or("", String::as_str));
    vec![
        first("order", found.order.conclusion()),
        first("offsets", found.offsets.conclusion()),
        match &found.rate {
            Some(rate) => first("rate", rate.conclusion()),
            None => {
                format!("rate: unknown: {}", found.unknown.get("rate").map_or("no reason was recorded", String::as_str))
            }
        },
    ]
}

/// How a question's answer is shown.
trait Answered {
    fn blocks(&self) -> Vec<Block>;

    /// The first line stands alone.
    fn conclusion(&self) -> Vec<String>;
}

macro_rules! answered {
    ($($found:ty => $module:ident),+) => {$(
        impl Answered for $found {
            fn blocks(&self) -> Vec<Block> {
                $module::blocks(self)
            }

            fn conclusion(&self) -> Vec<String> {
                $module::conclusion(self)
            }
        }
    )+};
}
answered!(
    Order => order, Offsets => offsets, Rates => rate, Gaps => gaps, Sleep => sleep, Trust => trust, Shootout => shootout,
    Clocksources => clocksources, Runtimes => runtimes, RuntimesFound => runtimes_found
);

/// Names by what they have in common: a line a reason.
fn by_reason<'a>(names: impl Iterator<Item = (String, &'a str)>) -> Vec<String> {
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, reason) in names {
        lines.entry(reason).or_default().push(name);
    }
    lines.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}

/// A sentence that ends with a reason, which may be a question.
fn sentence(text: String) -> String {
    if text.ends_with('?') { text } else { text + "." }
}

/// A number of things, so that it can be read: 12,345,678.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

/// `1 pair`, `2 pairs`.
fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let shown = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "pair"), counted(0, "pair")], ["1 pair", "0 pairs"]);
    }
}
