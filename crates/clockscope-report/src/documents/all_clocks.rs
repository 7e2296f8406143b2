//! The clocks of every system.

use std::collections::BTreeMap;

use clockscope_records::{AllClocks, Envelope, SystemClock};
use serde_json::{Value, json};

use super::clocks::word;
use super::environment::DocumentHead;
use crate::model::{Block, Cell, Table};
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;
use crate::words::by_reason;

const HEAD: [&str; 5] = ["System", "Name", "Kind", "Nominal", "What"];

/// Columns of a spreadsheet.
const COLUMNS: &str = "system name aliases kind nominal_resolution_ns description unknown";

impl Page for Envelope<AllClocks> {
    fn blocks(&self, view: View) -> Vec<Block> {
        let (head, found) = (DocumentHead::new(self), &self.found);
        let here = found.here.as_deref().unwrap_or("a system whose clocks are not known");
        let contents = vec![
            Table { wraps: true, ..Table::new(HEAD, HEAD.len(), found.clocks.iter().map(cells)) }.into(),
            Block::notes("", missing(&found.clocks)),
        ];
        let conclusion = format!("This is {here}: `clockscope list` shows what can be read here.");
        head.page(view, vec![conclusion], Vec::new(), contents)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", COLUMNS)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("clocks", "clock")])
    }
}

fn cells(clock: &SystemClock) -> Vec<Cell> {
    let aliases =
        if clock.aliases.is_empty() { String::new() } else { format!(" (also {})", clock.aliases.join(", ")) };
    vec![
        clock.system.as_str().into(),
        clock.name.as_str().into(),
        word(&json!(clock.kind)).into(),
        Cell::time(clock.nominal_resolution_ns.get()),
        (clock.description.clone() + &aliases).into(),
    ]
}

/// Explains unknown nominal resolutions: a line a reason. A clock that other systems have as well
/// is named with the systems for which the reason holds.
fn missing(clocks: &[SystemClock]) -> Vec<String> {
    let mut systems: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for clock in clocks {
        if let Some(reason) = clock.nominal_resolution_ns.why() {
            systems.entry((&clock.name, reason)).or_default().push(&clock.system);
        }
    }
    let named = systems.into_iter().map(|((name, reason), systems)| {
        let mut same_name = clocks.iter().filter(|clock| clock.name == name);
        let is_on_others = same_name.any(|clock| !systems.contains(&clock.system.as_str()));
        let suffix = if is_on_others { format!(" ({})", systems.join(", ")) } else { String::new() };
        (format!("{name}{suffix}"), reason)
    });
    by_reason(named).into_iter().map(|note| format!("? Nominal of {note}")).collect()
}

#[cfg(test)]
mod tests {
    use clockscope_records::{ClockKind, Figure};

    use super::*;

    fn clock(system: &str, name: &str, unknown: Option<&str>) -> SystemClock {
        let because = |words: &str| Figure::unknown(words.to_owned());
        SystemClock {
            system: system.to_owned(),
            name: name.to_owned(),
            aliases: Vec::new(),
            kind: ClockKind::Wall,
            nominal_resolution_ns: unknown.map_or(Figure::Known(1.0), because),
            description: String::new(),
        }
    }

    #[test]
    fn a_note_names_the_systems_for_which_it_holds() {
        let clocks = [
            clock("Linux", "realtime", None),
            clock("FreeBSD", "realtime", Some("one count")),
            clock("WASI", "realtime", Some("the host decides")),
            clock("FreeBSD", "uptime", Some("one count")),
            clock("OpenBSD", "uptime", Some("one count")),
        ];
        let notes = missing(&clocks);
        assert_eq!(
            notes,
            ["? Nominal of realtime (FreeBSD), uptime: one count", "? Nominal of realtime (WASI): the host decides"]
        );
    }
}
