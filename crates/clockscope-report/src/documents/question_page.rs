//! Pages with a conclusion of their own.

use clockscope_records::Envelope;
use serde_json::Value;

use super::environment::{DocumentHead, Fact};
use crate::model::Block;
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;

/// The part of a page that depends on the question.
pub(super) trait QuestionPage {
    /// Lists whose entries are lines of NDJSON, and the types of these.
    const LINES: &'static [(&'static str, &'static str)];

    /// Returns the blocks between the conclusion and the environment. The first table is the main
    /// one.
    fn blocks(&self, view: View) -> Vec<Block>;

    /// Returns facts about the measurement that follow those of the head.
    fn how(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// Returns whether the user interrupted a measurement whose document has no run.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Returns the conclusions of other questions, which follow the conclusion.
    fn findings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the conclusion. Its first line can be read without the others.
    fn conclusion(&self) -> Vec<String>;

    fn sheet(&self, record: &Value) -> Sheet;
}

impl<F: QuestionPage> Page for Envelope<F> {
    fn blocks(&self, view: View) -> Vec<Block> {
        let found = &self.found;
        let head = DocumentHead::new(self).measured(found.how(), found.is_interrupted());
        head.page(view, found.conclusion(), found.findings(), found.blocks(view))
    }

    fn sheet(&self, record: &Value) -> Sheet {
        self.found.sheet(record)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(F::LINES)
    }
}
