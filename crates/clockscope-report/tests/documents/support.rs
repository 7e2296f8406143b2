//! Recorded documents, and how they are rendered.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::LazyLock;

use clockscope_records::{Document, DocumentKind};
use clockscope_report::{Format, RenderError, Style, render};

/// The names of all documents that are recorded in `fixtures`, in their order.
pub(crate) static FIXTURES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let records = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<String> = records.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
});

/// Returns the names of all fixtures.
pub(crate) fn fixtures() -> impl Iterator<Item = &'static str> {
    FIXTURES.iter().map(String::as_str)
}

/// Returns what kind of document a fixture is.
pub(crate) fn kind(fixture: &str) -> DocumentKind {
    let schema = document(fixture).schema();
    *Document::KINDS.iter().find(|kind| kind.schema == schema).unwrap()
}

pub(crate) fn text_of(fixture: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/fixtures/{fixture}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub(crate) fn document(fixture: &str) -> Document {
    Document::from_json(&text_of(fixture)).unwrap()
}

/// The text instead of the image of a document without charts.
pub(crate) const NO_CHART: &str = "(no chart)\n";

/// The text instead of the metrics of a document without any.
pub(crate) const NO_METRICS: &str = "(no metrics)\n";

/// Renders a document. Not every document has a chart.
pub(crate) fn rendered(document: &Document, format: Format) -> String {
    match render(document, format, Style::default()) {
        Err(RenderError::NoChart) if format == Format::Svg => NO_CHART.to_owned(),
        Err(RenderError::NoMetrics) if format == Format::Prometheus => NO_METRICS.to_owned(),
        rendered => rendered.unwrap(),
    }
}

/// Removes the sequences that color a text.
pub(crate) fn uncolored(colored: &str) -> String {
    let mut parts = colored.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

/// Removes styles, script and their hashes, which are the same on every page.
pub(crate) fn without_constants(page: &str) -> String {
    let mut text = page.to_owned();
    for (start, end) in [("<style>", "</style>"), ("<script>", "</script>"), ("'sha256-", "'")] {
        let mut from = 0;
        while let Some(found) = text[from..].find(start) {
            let begin = from + found + start.len();
            let Some(length) = text[begin..].find(end) else { break };
            text.replace_range(begin..begin + length, "");
            from = begin + end.len();
        }
    }
    text
}
