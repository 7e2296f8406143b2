//! One file a document: its blocks, its columns, its lines.

mod advice;
mod all_clocks;
mod clocks;
mod clocksources;
mod comparison;
mod contents;
mod environment;
mod gaps;
mod groups;
mod info;
mod listing;
mod measurement;
mod offsets;
mod order;
mod rate;
mod runtimes;
mod runtimes_found;
mod shootout;
mod sleep;
mod steps;
mod switched;
mod trust;

use clockscope_records::Document;

use crate::report::{Describe, Report};

/// Describes a document.
pub(crate) fn report(document: &Document) -> Report<'_> {
    let description: &dyn Describe = match document {
        Document::Measurement(envelope) => envelope,
        Document::Steps(envelope) => envelope,
        Document::Advice(envelope) => envelope,
        Document::Order(envelope) => envelope,
        Document::Offsets(envelope) => envelope,
        Document::Rates(envelope) => envelope,
        Document::Gaps(envelope) => envelope,
        Document::Sleep(envelope) => envelope,
        Document::Check(envelope) => envelope,
        Document::Shootout(envelope) => envelope,
        Document::Comparison(envelope) => envelope,
        Document::Clocksources(envelope) => envelope,
        Document::Switched(envelope) => envelope,
        Document::Runtimes(envelope) => envelope,
        Document::RuntimesFound(envelope) => envelope,
        Document::Listing(envelope) => envelope,
        Document::AllClocks(envelope) => envelope,
        Document::Info(envelope) => envelope,
    };
    Report::new(document, description)
}
