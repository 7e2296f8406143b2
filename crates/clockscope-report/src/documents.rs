//! One file a document: its blocks, its columns, its lines.

mod answer;
mod clocks;
mod clocksources;
mod environment;
mod gaps;
mod info;
mod listing;
mod measurement;
mod offsets;
mod order;
mod plan;
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
        Document::Measurement(found) => found,
        Document::Steps(found) => found,
        Document::Plan(found) => found,
        Document::Order(answer) => answer,
        Document::Offsets(answer) => answer,
        Document::Rates(answer) => answer,
        Document::Gaps(answer) => answer,
        Document::Sleep(answer) => answer,
        Document::Check(answer) => answer,
        Document::Shootout(answer) => answer,
        Document::Clocksources(found) => found,
        Document::Switched(found) => found,
        Document::Runtimes(found) => found,
        Document::RuntimesFound(found) => found,
        Document::Listing(found) => found,
        Document::Info(found) => found,
    };
    Report::new(document, description)
}
