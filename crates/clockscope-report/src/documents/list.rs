//! The list of clocks.

use clockscope_records::{Envelope, Listed, Listing};
use serde_json::{Value, json};

use super::clocks::{in_order, not_available, word};
use super::environment::DocumentHead;
use super::groups::{Group, with_headings};
use crate::model::{Block, Cell, Table};
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;
use crate::words::counted;

/// Most clocks for which the calls are listed that read them.
const MAX_EXPLAINED: usize = 6;

const HEAD: [&str; 4] = ["Name", "Kind", "Nominal", "What"];

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    name aliases kind path available reason code=reason.code nominal_resolution_ns description unknown";

impl Page for Envelope<Listing> {
    fn blocks(&self, view: View) -> Vec<Block> {
        let clocks = &self.found.clocks;
        let contents = vec![
            table(clocks).into(),
            Block::notes("", missing(clocks)),
            Block::notes("Read by:", callers(clocks)),
            not_available(clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_ref()))),
        ];
        DocumentHead::new(self).page(view, vec![conclusion(clocks)], Vec::new(), contents)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", COLUMNS)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("clocks", "clock")])
    }
}

fn conclusion(clocks: &[Listed]) -> String {
    let available = clocks.iter().filter(|clock| clock.available).count();
    format!("{available} of {} can be read here.", counted(clocks.len() as u64, "clock"))
}

/// Makes the table of the clocks that can be read here, by groups, with their other names below.
fn table(clocks: &[Listed]) -> Table {
    let mut available: Vec<&Listed> = clocks.iter().filter(|clock| clock.available).collect();
    available.sort_by_key(|clock| Group::from_identity(&clock.identity));
    let rows = available.iter().map(|clock| (Group::from_identity(&clock.identity), cells(clock).into())).collect();
    let table = Table { wraps: true, ..Table::new(HEAD, HEAD.len(), with_headings(rows)) };
    let named = available.iter().map(|clock| &clock.identity).filter(|identity| !identity.aliases.is_empty());
    let aliases = named.map(|identity| format!("{} for {}", identity.aliases.join(" and "), identity.label()));
    let aliases = aliases.collect::<Vec<_>>().join(", ");
    if aliases.is_empty() { table } else { table.below([format!("Other names: {aliases}.")]) }
}

fn cells(clock: &Listed) -> Vec<Cell> {
    let identity = &clock.identity;
    vec![
        identity.label().into(),
        word(&json!(identity.kind)).into(),
        Cell::time(clock.nominal_resolution_ns.get()),
        identity.description.as_str().into(),
    ]
}

/// Lists the calls that read each of a few clocks.
fn callers(clocks: &[Listed]) -> Vec<String> {
    let read = clocks.iter().map(|clock| &clock.identity).filter(|identity| !identity.interfaces.is_empty());
    let lines = read.map(|identity| format!("{}: {}", identity.label(), identity.interfaces.join(", ")));
    if clocks.len() <= MAX_EXPLAINED { lines.collect() } else { Vec::new() }
}

/// Explains unknown nominal resolutions of readable clocks.
fn missing(clocks: &[Listed]) -> Vec<String> {
    let available = clocks.iter().filter(|clock| clock.available);
    let named = available.filter_map(|clock| Some((clock.identity.label(), clock.nominal_resolution_ns.why()?)));
    in_order(named).iter().map(|line| format!("? Nominal of {line}")).collect()
}
