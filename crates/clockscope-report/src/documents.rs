//! One file a document: its blocks, its columns, its lines.
//!
//! To add a document, add a type and a row of `documents!` in `clockscope-records`, and here one
//! file with its `mod` line. A test fails until the document has a fixture.

mod advise;
mod all_clocks;
mod bounds;
mod check;
mod clocks;
mod clocksource;
mod compare;
mod environment;
mod fleet;
mod gaps;
mod groups;
mod info;
mod list;
mod measure;
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

use clockscope_records::{Document, with_envelope};

use crate::report::Report;

/// Describes a document.
pub(crate) fn report(document: &Document) -> Report<'_> {
    Report { document, page: with_envelope!(document, envelope => envelope) }
}
