//! Lines below the table of a measurement.

use std::collections::BTreeMap;

use clockscope_records::ClockRecord;

use super::columns::{UNCERTAINTY, columns};
use crate::style::Columns;
use crate::units::time;

/// Explains unknown figures of measured clocks, and what disturbed them: a line a reason.
pub(super) fn notes(clocks: &[&ClockRecord], which: Option<Columns>) -> Vec<String> {
    let mut lines = Vec::new();
    for clock in clocks.iter().filter(|clock| clock.available) {
        let name = clock.identity.label();
        lines.extend(clock.reason.iter().map(|reason| format!("{name}: {}", reason)));
        lines.extend(hidden(clock, which).map(|hidden| format!("{name}: {hidden}")));
    }
    lines.extend(unknown_figures(clocks, which));
    lines.extend(interval(clocks, which));
    lines.extend(jumps(clocks).filter(|_| which == Some(Columns::All)));
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
        None => Some(format!("{hidden} of the regressions are hidden: {why}")),
    }
}

/// Explains the interval of the costs.
fn interval(clocks: &[&ClockRecord], which: Option<Columns>) -> Option<String> {
    let head = match which {
        None => UNCERTAINTY,
        Some(Columns::All) => "±95%",
        Some(Columns::Clockperf) => "+/-",
    };
    let costs = || clocks.iter().filter_map(|clock| clock.cost_ns.known());
    if let Some(between) = costs().find_map(|cost| cost.between_runs.as_ref()) {
        return Some(format!("{head}: where another run's median lies, by {} runs", between.runs));
    }
    let of_this_run = || format!("{head}: of this run; other runs may differ by more (--repeat 10 shows by how much)");
    costs().any(|cost| cost.ci95.is_known()).then(of_this_run)
}

/// States from which size on jumps are counted, and from which on most are found wherever they
/// fall: of the finest clocks.
fn jumps(clocks: &[&ClockRecord]) -> Option<String> {
    let sizes = || {
        let events = clocks.iter().filter_map(|clock| clock.events.as_ref());
        events.filter_map(|events| Some((events.threshold_ns.get()?, events.sure_ns.get()?)))
    };
    let least_ns = sizes().map(|(least_ns, _)| least_ns).min_by(f64::total_cmp)?;
    let sure_ns = sizes().filter(|(ns, _)| *ns <= least_ns).map(|(_, sure_ns)| sure_ns).max_by(f64::total_cmp)?;
    let [least, sure] = [least_ns, sure_ns].map(time);
    Some(format!(
        "Jump: counts steps of {least} and more, from {sure} on in 9/10 of the time; more for a clock of a larger cost or tick (events.sure_ns in JSON)"
    ))
}

/// A reason, and the heads of the columns that lack a figure for it.
type Lack = (String, Vec<&'static str>);

/// One line for each set of figures that the same clocks lack for the same reason.
fn unknown_figures(clocks: &[&ClockRecord], which: Option<Columns>) -> Vec<String> {
    // In the order in which they are met.
    let mut lines: Vec<(Lack, Vec<String>)> = Vec::new();
    for clock in clocks.iter().filter(|clock| clock.available) {
        let mut by_reason: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        for column in columns(which) {
            if let Some(reason) = (column.reason)(clock) {
                by_reason.entry(reason).or_default().push(column.head);
            }
        }
        for key in by_reason {
            let name = clock.identity.label();
            match lines.iter_mut().find(|(known, _)| *known == key) {
                Some((_, names)) => names.push(name),
                None => lines.push((key, vec![name])),
            }
        }
    }
    lines
        .iter()
        .map(|((reason, figures), names)| format!("? {} of {}: {reason}", figures.join(", "), names.join(", ")))
        .collect()
}
