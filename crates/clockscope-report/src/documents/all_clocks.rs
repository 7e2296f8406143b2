//! Which clocks every system has.

use clockscope_records::{AllClocks, Envelope, SystemClock};
use serde_json::Value;

use super::clocks::kind;
use super::environment::DocumentHead;
use crate::model::{Block, Cell, Table};
use crate::reason::why;
use crate::report::{Blocks, Describe, Lines};
use crate::sheet::Sheet;
use crate::style::View;
use crate::text::by_reason;

const HEAD: [&str; 5] = ["System", "Name", "Kind", "Nominal", "What"];

/// Columns of a spreadsheet.
const COLUMNS: [&str; 7] = ["system", "name", "aliases", "kind", "nominal_resolution_ns", "description", "unknown"];

impl Describe for Envelope<AllClocks> {
    fn blocks(&self, _: View) -> Blocks {
        let (head, found) = (DocumentHead::of(self), &self.found);
        let here = found.here.as_deref().unwrap_or("a system whose clocks are not known");
        let contents = vec![
            Table::new(HEAD, HEAD.len(), found.clocks.iter().map(cells)).whole().into(),
            Block::notes("", lacking(&found.clocks)),
        ];
        let conclusion = format!("This is {here}: `clockscope list` shows what can be read here.");
        head.page(vec![conclusion], Vec::new(), contents)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", &COLUMNS)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("clocks", "clock")])
    }
}

fn cells(clock: &SystemClock) -> Vec<Cell> {
    let aliases = if clock.aliases.is_empty() { String::new() } else { format!(" ({})", clock.aliases.join(", ")) };
    vec![
        clock.system.as_str().into(),
        (clock.name.clone() + &aliases).into(),
        kind(clock.kind).into(),
        Cell::time(clock.nominal_resolution_ns.get()),
        clock.description.as_str().into(),
    ]
}

/// Explains unknown nominal resolutions, each reason once.
fn lacking(clocks: &[SystemClock]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    by_reason(clocks.iter().filter_map(|clock| {
        let reason = why(&clock.nominal_resolution_ns)?;
        let is_new = !seen.contains(&clock.name.as_str());
        seen.push(&clock.name);
        is_new.then(|| (format!("? Nominal of {}", clock.name), reason))
    }))
}
