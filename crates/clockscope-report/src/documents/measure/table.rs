//! The table of a measurement.

use clockscope_records::{ClockRecord, Measurement};

use super::columns::columns;
use super::events;
use super::fold::{Fold, alike};
use crate::documents::groups::{Group, with_headings};
use crate::model::{Row, Table};
use crate::style::{Columns, View};

/// The meaning of the columns of relative costs.
const RELATIVE_LEGEND: &str = "×: cost relative to the cheapest counter read.";
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
    let is_main = matches!(which, None | Some(Columns::Relative));
    let named = found.iter().any(|(name, _)| name.is_some());
    // Pages and long lists have a row for each clock, and headings instead.
    let is_listed = view.is_all || view.has_folds;
    let mut rows: Vec<(Group, Row)> = Vec::new();
    for (name, measurement) in found {
        let mut clocks = visible(&measurement.clocks, view);
        if is_main {
            clocks.sort_by_key(|clock| Group::from_identity(&clock.identity));
        }
        let folds = if is_main && !is_listed { alike(&clocks, measurement) } else { Fold::single(&clocks) };
        rows.extend(folds.iter().map(|fold| {
            let clock = fold.shown;
            let cells = columns.iter().skip(1).map(|column| (column.cell)(clock));
            let cells = name.iter().map(|name| (*name).into()).chain([fold.names().into()]).chain(cells).collect();
            let row = Row {
                cells,
                // The main table colors the events, not the row.
                is_faulty: !is_main && events::is_faulty(clock),
                is_recommended: is_recommended(clock, measurement),
                weight: fold.clocks.iter().map(|clock| weight(clock, measurement)).max().unwrap_or(0),
                ..Row::default()
            };
            (Group::from_identity(&clock.identity), row)
        }));
    }
    let rows = if is_main && is_listed && !named {
        with_headings(rows)
    } else {
        rows.into_iter().map(|(_, row)| row).collect()
    };
    let heads = named.then_some("Clocksource").into_iter().chain(columns.iter().map(|column| column.head));
    let keys = 1 + usize::from(named);
    let table = Table { keys, ..Table::new(heads, keys, rows) };
    if !is_main {
        return table;
    }
    let table = Table { wraps: true, ..table };
    match which {
        // Costs differ by a factor of a thousand. They come first after the names.
        Some(_) if !table.rows.is_empty() => {
            table.with_bars(keys).without_empty_columns().with_shared_units().explained([RELATIVE_LEGEND])
        }
        _ => table.without_empty_columns().with_shared_units(),
    }
}

/// Returns whether it is the clock that the measurement recommends.
pub(super) fn is_recommended(clock: &ClockRecord, measurement: &Measurement) -> bool {
    measurement.advice.clock.as_deref() == Some(clock.identity.label().as_str())
}

/// A counter sequence that is too expensive for most programs: CPUID traps on virtual machines.
const EXPENSIVE: &str = "tsc_cpuid";

/// Returns the weight of a clock's row. Faulty clocks weigh most, then the recommended, the
/// cheapest and clockscope's own clock, then usual clocks, then counters.
fn weight(clock: &ClockRecord, measurement: &Measurement) -> u64 {
    let identity = &clock.identity;
    let fastest = measurement.baseline.fastest_counter.as_ref();
    let is_fastest = fastest.is_some_and(|counter| counter.name == identity.name);
    if events::is_faulty(clock) {
        5
    } else if is_recommended(clock, measurement) || is_fastest || Group::from_identity(identity) == Group::Library {
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
