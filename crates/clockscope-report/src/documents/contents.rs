//! What documents with a conclusion have in common.

use clockscope_records::Envelope;
use serde_json::Value;

use super::environment::{DocumentHead, Fact};
use crate::model::Block;
use crate::report::{Blocks, Describe, Lines};
use crate::sheet::Sheet;

/// Describes the part of a document that depends on the question.
pub(super) trait DescribeContents {
    /// Lists whose entries are lines of NDJSON, and the types of these.
    const LINES: &'static [(&'static str, &'static str)];

    /// Returns the blocks above the environment.
    fn blocks(&self) -> Vec<Block>;

    /// Returns facts about the measurement that follow those of the head.
    fn how(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// Returns whether the user interrupted a measurement that the head has no run of.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Returns the conclusions of other questions, which come first.
    fn findings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the conclusion; its first line makes sense alone.
    fn conclusion(&self) -> Vec<String>;

    fn sheet(&self, record: &Value) -> Sheet;
}

impl<F: DescribeContents> Describe for Envelope<F> {
    fn blocks(&self) -> Blocks {
        let found = &self.found;
        let head = DocumentHead::of(self).measured(found.how(), found.is_interrupted());
        let conclusion = head.conclusion_after(found.findings(), found.conclusion());
        Blocks::around(head.block(), found.blocks(), vec![conclusion])
    }

    fn sheet(&self, record: &Value) -> Sheet {
        self.found.sheet(record)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(F::LINES)
    }
}
