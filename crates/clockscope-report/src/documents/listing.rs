//! Which clocks there are.

use clockscope_records::{Envelope, Listed, Listing};
use serde_json::Value;

use super::clocks::{in_order, kind, not_available, path};
use super::environment::DocumentHead;
use crate::model::{Block, Cell, Table};
use crate::reason::why;
use crate::report::{Blocks, Describe, Lines};
use crate::sheet::Sheet;
use crate::style::View;
use crate::text::{counted, yes_no};

const HEAD: [&str; 6] = ["Name", "Kind", "Path", "Nominal", "Available", "What"];

/// Columns of a spreadsheet.
const COLUMNS: [&str; 10] = [
    "name",
    "aliases",
    "kind",
    "path",
    "available",
    "reason",
    "failure",
    "nominal_resolution_ns",
    "description",
    "unknown",
];

impl Describe for Envelope<Listing> {
    fn blocks(&self, _: View) -> Blocks {
        let clocks = &self.found.clocks;
        let contents = vec![
            Table::new(HEAD, HEAD.len(), clocks.iter().map(cells)).whole().into(),
            Block::notes("", lacking(clocks)),
            not_available(clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_deref()))),
        ];
        DocumentHead::of(self).page(vec![conclusion(clocks)], Vec::new(), contents)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", &COLUMNS)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("clocks", "clock")])
    }
}

fn conclusion(clocks: &[Listed]) -> String {
    let available = clocks.iter().filter(|clock| clock.available).count();
    format!("{available} of {} can be read here.", counted(clocks.len() as u64, "clock"))
}

fn cells(clock: &Listed) -> Vec<Cell> {
    let identity = &clock.identity;
    let aliases =
        if identity.aliases.is_empty() { String::new() } else { format!(" ({})", identity.aliases.join(", ")) };
    vec![
        (identity.name.clone() + &aliases).into(),
        kind(identity.kind).into(),
        path(identity.path).into(),
        Cell::time(clock.nominal_resolution_ns.get()),
        yes_no(clock.available).into(),
        identity.description.as_str().into(),
    ]
}

/// Explains unknown nominal resolutions of readable clocks.
fn lacking(clocks: &[Listed]) -> Vec<String> {
    let available = clocks.iter().filter(|clock| clock.available);
    let named = available.filter_map(|clock| Some((clock.identity.label(), why(&clock.nominal_resolution_ns)?)));
    in_order(named).iter().map(|line| format!("? Nominal of {line}")).collect()
}
