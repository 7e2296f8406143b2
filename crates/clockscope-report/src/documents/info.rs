//! Facts about the machine.

use clockscope_records::{CounterFlags, Envelope, Figures, Info};
use serde_json::Value;

use super::environment::{DocumentHead, flags};
use crate::model::Block;
use crate::report::{Blocks, Describe, Lines};
use crate::sheet::Sheet;

impl Describe for Envelope<Info> {
    fn blocks(&self) -> Blocks {
        let reasons = self.environment.reasons().into_iter().map(|(field, reason)| format!("{field}: {reason}"));
        let flags = Block::key_value(
            "TSC flags: * present, - absent, ? unknown",
            self.environment.counter_flags.known().into_iter().flat_map(marked),
        );
        Blocks::around(DocumentHead::of(self).block(), Vec::new(), vec![flags, Block::notes("Unknown:", reasons)])
    }

    /// Makes one row per fact, without context: the facts are the context.
    fn sheet(&self, _: &Value) -> Sheet {
        let mut sheet = Sheet::bare(&["fact", "value"]);
        DocumentHead::of(self)
            .facts()
            .into_iter()
            .for_each(|(fact, value)| sheet.push(vec![fact.into(), value.into()]));
        sheet
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[])
    }
}

/// Shows each flag, whether it is present, and its meaning.
fn marked(found: &CounterFlags) -> impl Iterator<Item = (&'static str, String)> {
    let mark = |flag: Option<bool>| match flag {
        Some(true) => "*",
        Some(false) => "-",
        None => "?",
    };
    flags(found).into_iter().map(move |(name, flag, meaning)| (name, format!("{}  {meaning}", mark(flag))))
}
