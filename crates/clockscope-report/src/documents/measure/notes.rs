//! Lines below the table of a measurement.

use clockscope_records::{ClockRecord, Cost};

use super::columns::{UNCERTAINTY, columns};
use crate::style::Columns;
use crate::units::time;
use crate::words::unknown_figures;

/// Lists disturbances of measured clocks and the reasons of unknown figures, a line each.
pub(super) fn notes(clocks: &[&ClockRecord], which: Option<Columns>) -> Vec<String> {
    let mut lines = Vec::new();
    for clock in clocks.iter().filter(|clock| clock.available) {
        let name = clock.identity.label();
        lines.extend(clock.reason.iter().map(|reason| format!("{name}: {}", reason)));
        lines.extend(hidden(clock, which).map(|hidden| format!("{name}: {hidden}")));
    }
    lines.extend(unknown_figures(clocks.iter().filter(|clock| clock.available).map(|clock| {
        let unknown = columns(which).iter().filter_map(|column| Some((column.head, (column.reason)(clock)?)));
        (clock.identity.label(), unknown.collect())
    })));
    lines.extend(interval(clocks, which));
    if which == Some(Columns::All) {
        lines.extend(jumps(clocks));
    }
    lines
}

/// Explains hidden regressions as the columns show them.
fn hidden(clock: &ClockRecord, which: Option<Columns>) -> Option<String> {
    let hidden =
        clock.events.as_ref().and_then(|events| events.hidden_regression.get()).filter(|hidden| *hidden > 0)?;
    let why = "the clock advanced by less than the reference did";
    match which {
        Some(Columns::All) => Some(format!("{hidden} hidden regressions (h): {why}")),
        Some(Columns::Clockperf) => None,
        None | Some(Columns::Relative) => Some(format!("{hidden} of the regressions are hidden: {why}")),
    }
}

/// Explains the interval of the costs.
fn interval(clocks: &[&ClockRecord], which: Option<Columns>) -> Option<String> {
    let head = match which {
        None | Some(Columns::Relative) => UNCERTAINTY,
        Some(Columns::All) => "±95%",
        Some(Columns::Clockperf) => "+/-",
    };
    let costs: Vec<&Cost> = clocks.iter().filter_map(|clock| clock.cost_ns.known()).collect();
    if let Some(between) = costs.iter().find_map(|cost| cost.between_runs.as_ref()) {
        return Some(format!("{head}: where another run's median lies, by {} runs", between.runs));
    }
    costs.iter().find(|cost| cost.ci95.is_known())?;
    Some(format!("{head}: of this run; other runs may differ by more (--repeat 10 shows by how much)"))
}

/// States the sizes from which on jumps of the finest clocks are counted, and from which on most
/// are detected.
fn jumps(clocks: &[&ClockRecord]) -> Option<String> {
    let events = clocks.iter().filter_map(|clock| clock.events.as_ref());
    let sizes = events.filter_map(|events| Some((events.threshold_ns.get()?, events.sure_ns.get()?)));
    let (least_ns, sure_ns) = sizes.min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)))?;
    let [least, sure] = [least_ns, sure_ns].map(time);
    Some(format!(
        "Jump: counts steps of {least} and more, from {sure} on in 9/10 of the time; more for a clock of a larger cost or tick (events.sure_ns in JSON)"
    ))
}
