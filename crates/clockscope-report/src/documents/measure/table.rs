//! The table of a measurement.

use clockscope_records::{ClockRecord, Measurement};

use super::columns::{Column, columns};
use super::events;
use crate::documents::groups::{Group, with_headings};
use crate::model::{Cell, Row, Table};
use crate::style::View;

/// The meaning of the main columns, and the way to others.
const LEGEND: [(&str, &str); 3] = [
    ("×", "cost relative to the cheapest counter read"),
    ("Tick", "the distance between possible readings"),
    ("Events", "what the clock did wrong; repeats within its own tick do not count"),
];
const MORE: &str = "--columns all shows every figure, --all every clock, --machine the machine; \
                    `clockscope help glossary` explains the terms.";
/// Rows of a screen. Longer tables leave out what programs seldom compare.
const MOST_ROWS: usize = 20;

/// The text before each clock's name, and the measurement.
type Named<'a> = (Option<&'a str>, &'a Measurement);

/// The measured clocks that a view shows.
pub(super) fn shown(clocks: &[ClockRecord], view: View) -> Vec<&ClockRecord> {
    let measured = || clocks.iter().filter(|clock| clock.available);
    let is_whole = view.is_all || view.columns.is_some() || measured().count() <= MOST_ROWS;
    let is_shown = |clock: &&ClockRecord| is_whole || Group::of(&clock.identity).is_usual();
    measured().filter(is_shown).collect()
}

/// One table of the measured clocks that a view shows.
pub(super) fn table(found: &[Named<'_>], view: View) -> Table {
    let which = view.columns;
    let columns = columns(which);
    let named = found.iter().any(|(name, _)| name.is_some());
    let mut rows: Vec<(Group, Row)> = Vec::new();
    for (name, measurement) in found {
        let mut of_this = shown(&measurement.clocks, view);
        if which.is_none() {
            of_this.sort_by_key(|clock| Group::of(&clock.identity));
        }
        rows.extend(of_this.iter().map(|clock| {
            let weight = weight(clock, measurement);
            let cells = name.iter().map(|name| (*name).into()).chain(cells(clock, columns)).collect();
            // The main table colors what happened, not all of the row.
            let is_faulty = which.is_some() && events::is_faulty(clock);
            (Group::of(&clock.identity), Row { cells, is_faulty, weight, ..Row::default() })
        }));
    }
    let rows =
        if which.is_none() && !named { with_headings(rows) } else { rows.into_iter().map(|(_, row)| row).collect() };
    let heads = named.then_some("Clocksource").into_iter().chain(columns.iter().map(|column| column.head));
    let keys = 1 + usize::from(named);
    let table = Table { keys, ..Table::new(heads, keys, rows) };
    if which.is_some() {
        return table.whole();
    }
    // Costs differ by a factor of a thousand. They come first after the names.
    let table = Table { wraps: true, ..table.with_bars(keys) }.without_empty_columns();
    let legend = legend(&table);
    let table = table.with_shared_units();
    if table.rows.is_empty() { table } else { table.explained([legend]) }
}

/// Explains the columns that the table has.
fn legend(table: &Table) -> String {
    let has = |column: &str| table.head.iter().any(|head| **head == *column);
    let explained = LEGEND.iter().filter(|(column, _)| has(column));
    let explained: String = explained.map(|(column, meaning)| format!("{column}: {meaning}. ")).collect();
    explained + MORE
}

fn cells<'a>(clock: &'a ClockRecord, columns: &'static [Column]) -> impl Iterator<Item = Cell> + 'a {
    columns.iter().map(|column| (column.cell)(clock))
}

/// A counter sequence that is too expensive for most programs: CPUID traps on virtual machines.
const EXPENSIVE: &str = "tsc_cpuid";

/// Rows that answer most questions stay the longest: what went wrong, the recommended and the
/// cheapest clock, clockscope's own, what programs usually read, and the counter.
fn weight(clock: &ClockRecord, measurement: &Measurement) -> u64 {
    let identity = &clock.identity;
    let is_advised = measurement.advice.clock.as_deref() == Some(identity.label().as_str());
    let fastest = measurement.baseline.fastest_counter.as_ref();
    let is_fastest = fastest.is_some_and(|counter| counter.name == identity.name);
    if events::is_faulty(clock) {
        5
    } else if is_advised || is_fastest || Group::of(identity) == Group::Library {
        4
    } else if identity.is_coarse || identity.name == EXPENSIVE {
        0
    } else if identity.is_usual {
        3
    } else if identity.is_counter() {
        2
    } else {
        u64::from(!identity.is_wrapper)
    }
}
