//! The parts that every document gives, and every format renders.

use clockscope_records::Document;
use serde_json::Value;

use crate::chart::Chart;
use crate::model::Block;
use crate::sheet::Sheet;
use crate::style::View;
use crate::words::Text;

/// A document, as all formats take it. Every method is required, so that no format can forget a
/// document; but the title, which most have in common.
pub(crate) trait Page {
    /// Returns its title, unless that names the document, the processor and the time.
    fn title(&self) -> Option<Text> {
        None
    }

    /// Returns the parts of a page, for readers: the terminal and Markdown.
    fn blocks(&self, view: View) -> Blocks;

    /// Returns the rows of a spreadsheet: CSV. `record` is the document as JSON.
    fn sheet(&self, record: &Value) -> Sheet;

    /// Returns the lists whose entries become lines of their own: NDJSON.
    fn lines(&self) -> Lines;
}

/// The parts of a page. There is one at least, so that no document prints nothing.
pub(crate) struct Blocks {
    above: Vec<Block>,
    needed: Block,
    below: Vec<Block>,
}

impl Blocks {
    /// Makes a page of a block that is always there, and of those above and below it.
    pub(crate) fn around(needed: Block, above: Vec<Block>, below: Vec<Block>) -> Self {
        Self { above, needed, below }
    }
}

impl IntoIterator for Blocks {
    type Item = Block;
    type IntoIter = std::iter::Chain<std::vec::IntoIter<Block>, std::vec::IntoIter<Block>>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { mut above, needed, below } = self;
        above.push(needed);
        above.into_iter().chain(below)
    }
}

/// A document with its page, as a renderer gets it.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    /// The data itself.
    pub(crate) document: &'a Document,
    page: &'a dyn Page,
}

impl<'a> Report<'a> {
    pub(crate) fn new(document: &'a Document, page: &'a dyn Page) -> Self {
        Self { document, page }
    }

    /// Returns the blocks that have anything to show.
    pub(crate) fn blocks(&self, view: View) -> Vec<Block> {
        let blocks = visible(self.page.blocks(view), view);
        if view.is_brief { brief(blocks) } else { blocks }
    }

    /// Returns the charts that have anything to show.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let view = View { has_charts: true, ..View::whole(false) };
        let chart = |block| if let Block::Chart(chart) = block { Some(chart) } else { None };
        self.blocks(view).into_iter().filter_map(chart).collect()
    }

    /// Names the question, the processor and the time.
    pub(crate) fn title(&self) -> Text {
        if let Some(title) = self.page.title() {
            return title;
        }
        let of = self.document.schema().replace(['.', '_'], " ");
        let cpu = self.document.environment().cpu.name();
        let facts = [cpu.as_deref(), self.document.recorded_at()].into_iter().flatten().collect::<Vec<_>>().join(", ");
        if facts.is_empty() { of.into() } else { format!("{of}: {facts}").into() }
    }

    pub(crate) fn sheet(&self, record: &Value) -> Sheet {
        self.page.sheet(record)
    }

    pub(crate) fn lines(&self) -> Lines {
        self.page.lines()
    }
}

/// Returns the blocks that a view shows, without folds where it has none.
fn visible(blocks: impl IntoIterator<Item = Block>, view: View) -> Vec<Block> {
    let visible = |block| match block {
        Block::Folded { title, blocks } => match visible(blocks, view) {
            blocks if view.has_folds && !blocks.is_empty() => vec![Block::Folded { title, blocks }],
            blocks => blocks,
        },
        Block::Chart(_) if !view.has_charts => Vec::new(),
        block if block.is_empty() => Vec::new(),
        block => vec![block],
    };
    blocks.into_iter().flat_map(visible).collect()
}

/// Returns the conclusion and the main block: the first table, or the first list of names and
/// values where there is none.
fn brief(blocks: Vec<Block>) -> Vec<Block> {
    let kinds: [fn(&Block) -> bool; 2] = [
        |block| matches!(block, Block::Table(table) if !table.rows.is_empty()),
        |block| matches!(block, Block::KeyValue { .. } | Block::Environment { .. }),
    ];
    let position = kinds.iter().find_map(|is| blocks.iter().position(is));
    let is_visible = |at: usize, block: &Block| matches!(block, Block::Conclusion(_)) || Some(at) == position;
    blocks.into_iter().enumerate().filter(|(at, block)| is_visible(*at, block)).map(|(_, block)| block).collect()
}

/// Parts of a JSON document that are lines of their own. The rest is the first line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lines {
    /// The entries of lists: the name of each list and the type of its entries.
    Entries(&'static [(&'static str, &'static str)]),
    /// The entries of a list that are whole documents, each of which becomes lines in turn.
    Documents { list: &'static str, schema: &'static str, entries: &'static [(&'static str, &'static str)] },
}
