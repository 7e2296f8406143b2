//! The table of a measurement.

use clockscope_records::{ClockRecord, Measurement};

use super::columns::columns;
use super::events;
use crate::documents::groups::{Group, with_headings};
use crate::model::{Row, Table};
use crate::style::View;

/// The meaning of the main columns.
const LEGEND: [(&str, &str); 3] = [
    ("×", "cost relative to the cheapest counter read"),
    ("Tick", "the distance between possible readings"),
    ("Events", "what the clock did wrong; repeats within its own tick do not count"),
];
const MORE: &str = "--columns all shows every figure, --all every clock, --machine the machine; \
                    `clockscope help glossary` explains the terms.";
/// Most rows that fit on a screen. Longer tables leave out clocks that programs seldom compare.
const MAX_ROWS: usize = 20;

/// The clocksource of a measurement, if the table shows it, and the measurement.
type Named<'a> = (Option<&'a str>, &'a Measurement);

/// Returns the measured clocks that a view shows.
pub(super) fn visible(clocks: &[ClockRecord], view: View) -> Vec<&ClockRecord> {
    let mut visible: Vec<&ClockRecord> = clocks.iter().filter(|clock| clock.available).collect();
    if !view.is_all && view.columns.is_none() && visible.len() > MAX_ROWS {
        visible.retain(|clock| Group::from_identity(&clock.identity).is_usual());
    }
    visible
}

/// Makes one table of the measured clocks that a view shows.
pub(super) fn table(found: &[Named<'_>], view: View) -> Table {
    let which = view.columns;
    let columns = columns(which);
    let named = found.iter().any(|(name, _)| name.is_some());
    let mut rows: Vec<(Group, Row)> = Vec::new();
    for (name, measurement) in found {
        let mut clocks = visible(&measurement.clocks, view);
        if which.is_none() {
            clocks.sort_by_key(|clock| Group::from_identity(&clock.identity));
        }
        rows.extend(clocks.iter().map(|clock| {
            let weight = weight(clock, measurement);
            let cells = columns.iter().map(|column| (column.cell)(clock));
            let cells = name.iter().map(|name| (*name).into()).chain(cells).collect();
            // The main table colors the events, not the row.
            let is_faulty = which.is_some() && events::is_faulty(clock);
            (Group::from_identity(&clock.identity), Row { cells, is_faulty, weight, ..Row::default() })
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
    let explained = LEGEND.iter().filter(|(column, _)| table.head.iter().any(|head| **head == **column));
    let explained: String = explained.map(|(column, meaning)| format!("{column}: {meaning}. ")).collect();
    explained + MORE
}

/// A counter sequence that is too expensive for most programs: CPUID traps on virtual machines.
const EXPENSIVE: &str = "tsc_cpuid";

/// Returns the weight of a clock's row. Faulty clocks weigh most, then the recommended, the
/// cheapest and clockscope's own clock, then usual clocks, then counters.
fn weight(clock: &ClockRecord, measurement: &Measurement) -> u64 {
    let identity = &clock.identity;
    let is_advised = measurement.advice.clock.as_deref() == Some(identity.label().as_str());
    let fastest = measurement.baseline.fastest_counter.as_ref();
    let is_fastest = fastest.is_some_and(|counter| counter.name == identity.name);
    if events::is_faulty(clock) {
        5
    } else if is_advised || is_fastest || Group::from_identity(identity) == Group::Library {
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
