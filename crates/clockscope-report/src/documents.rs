//! One file a document: its blocks, its columns, its lines.

mod advice;
mod all_clocks;
mod clocks;
mod clocksources;
mod comparison;
mod environment;
mod gaps;
mod groups;
mod info;
mod listing;
mod measurement;
mod offsets;
mod order;
mod question_page;
mod rate;
mod runtimes;
mod runtimes_found;
mod shootout;
mod sleep;
mod steps;
mod switched;
mod trust;

use clockscope_records::{Document, with_envelope};

use crate::report::{Page, Report};

/// Describes a document.
pub(crate) fn report(document: &Document) -> Report<'_> {
    let page: &dyn Page = with_envelope!(document, envelope => envelope);
    Report::new(document, page)
}
