//! Recorded documents, and how they are rendered.
#![allow(dead_code, reason = "each test uses a part of it")]

use clockscope_records::Document;
use clockscope_report::{Format, Style, render};

/// All documents that are recorded in `fixtures`.
pub(crate) const FIXTURES: [&str; 24] = [
    "healthy",
    "broken",
    "thorough",
    "steps",
    "advise",
    "order",
    "offsets",
    "rate",
    "gaps",
    "sleep",
    "check",
    "shootout",
    "compare",
    "compare_checks",
    "clocksource",
    "clocksource_windows",
    "switched",
    "runtimes",
    "runtimes_switched",
    "runtimes_found",
    "list",
    "all_clocks",
    "info",
    "info_windows",
];

pub(crate) fn text_of(fixture: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/fixtures/{fixture}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub(crate) fn document(fixture: &str) -> Document {
    Document::from_json(&text_of(fixture)).unwrap()
}

pub(crate) fn rendered(document: &Document, format: Format) -> String {
    render(document, format, Style::default()).unwrap()
}

/// Removes the sequences that color a text.
pub(crate) fn plain(colored: &str) -> String {
    let mut parts = colored.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}
