//! The pages of documents, which every format renders.

use clockscope_records::{Document, Envelope, Fleet, Shootout};
use serde_json::Value;

use crate::chart::Chart;
use crate::model::Block;
use crate::sheet::Sheet;
use crate::style::View;
use crate::words::{Text, counted};

/// A document's contents for the formats. Every method is required, so that every format has every
/// document.
pub(crate) trait Page {
    /// Returns the parts of a page, for readers: the terminal and Markdown.
    fn blocks(&self, view: View) -> Vec<Block>;

    /// Returns the rows of a spreadsheet: CSV. `record` is the document as JSON.
    fn sheet(&self, record: &Value) -> Sheet;

    /// Returns the lists whose entries become lines of their own: NDJSON.
    fn lines(&self) -> Lines;
}

/// A document with its page, as a renderer gets it.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    /// The data itself.
    pub(crate) document: &'a Document,
    pub(crate) page: &'a dyn Page,
}

impl Report<'_> {
    /// Returns the blocks that are not empty.
    pub(crate) fn blocks(&self, view: View) -> Vec<Block> {
        let blocks = visible(self.page.blocks(view), view);
        if view.is_brief { brief(blocks) } else { blocks }
    }

    /// Returns the charts that are not empty.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let mut charts = Vec::new();
        for block in self.blocks(View { has_charts: true, ..View::whole(false) }) {
            if let Block::Chart(chart) = block {
                charts.push(chart);
            }
        }
        charts
    }

    /// Names the command, the processor and the time; of a fleet, the hosts and the day.
    pub(crate) fn title(&self) -> Text {
        let command = match self.document {
            Document::Fleet(Envelope { found: Fleet { as_of, recent_hosts, .. }, .. }) => {
                let day = as_of.as_ref().map_or_else(String::new, |day| format!(", {day}"));
                return format!("clockscope fleet: {}{day}", counted(*recent_hosts, "host")).into();
            }
            Document::AllClocks(_) => "clockscope list --all-platforms".to_owned(),
            Document::Offsets(_) => "clockscope order --offsets".to_owned(),
            Document::RuntimesFound(_) => "clockscope runtimes --list".to_owned(),
            Document::Shootout(Envelope { found: Shootout { a, b, .. }, .. }) => {
                format!("clockscope compare --clock {a},{b}")
            }
            Document::Switched(_) => "clockscope measure --clocksource".to_owned(),
            document => document.schema().replace('.', " "),
        };
        let cpu = self.document.environment().cpu.name();
        let facts = [cpu.as_deref(), self.document.recorded_at()].into_iter().flatten().collect::<Vec<_>>().join(", ");
        if facts.is_empty() { command.into() } else { format!("{command}: {facts}").into() }
    }
}

/// Returns the blocks that a view shows, without folds where it has none.
fn visible(blocks: Vec<Block>, view: View) -> Vec<Block> {
    let mut visible_blocks = Vec::new();
    for block in blocks {
        match block {
            Block::Folded { title, blocks } => match visible(blocks, view) {
                blocks if view.has_folds && !blocks.is_empty() => visible_blocks.push(Block::Folded { title, blocks }),
                blocks => visible_blocks.extend(blocks),
            },
            Block::Chart(_) if !view.has_charts => {}
            block if block.is_empty() => {}
            block => visible_blocks.push(block),
        }
    }
    visible_blocks
}

/// Returns the conclusion and the main block: the first table, or the first list of names and
/// values where there is none.
fn brief(mut blocks: Vec<Block>) -> Vec<Block> {
    let table = blocks.iter().position(|block| matches!(block, Block::Table(table) if !table.rows.is_empty()));
    let main = table.or_else(|| {
        blocks.iter().position(|block| matches!(block, Block::KeyValue { .. } | Block::Environment { .. }))
    });
    let mut index = 0..;
    blocks.retain(|block| index.next() == main || matches!(block, Block::Conclusion(_)));
    blocks
}

/// The lists of a JSON document whose entries become lines. The other fields are the first line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lines {
    /// The entries of lists: the name of each list and the type of its entries.
    Entries(&'static [(&'static str, &'static str)]),
    /// The entries of a list of documents, each of which becomes lines in turn.
    Documents { list: &'static str, schema: &'static str, entries: &'static [(&'static str, &'static str)] },
}
