//! What the answers to all questions across CPUs and over time have in common.

use clockscope_records::Answer;
use serde_json::Value;

use super::environment::Head;
use crate::model::Block;
use crate::report::{Describe, Lines};
use crate::sheet::Sheet;

/// Describes the part of an answer that depends on the question.
pub(super) trait Found {
    /// Lists whose entries are lines of NDJSON, and the types of these.
    const LINES: &'static [(&'static str, &'static str)];

    /// Returns the blocks above the environment.
    fn blocks(&self) -> Vec<Block>;

    /// Returns the conclusion; its first line makes sense alone.
    fn conclusion(&self) -> Vec<String>;

    fn sheet(&self, record: &Value) -> Sheet;
}

impl<F: Found> Describe for Answer<F> {
    fn blocks(&self) -> Vec<Block> {
        let head = Head::of_run(&self.environment, self.recorded_at.as_deref(), &self.run);
        let mut blocks = self.found.blocks();
        blocks.extend([head.block(), head.conclusion(self.found.conclusion())]);
        blocks
    }

    fn sheet(&self, record: &Value) -> Sheet {
        self.found.sheet(record)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(F::LINES)
    }
}
