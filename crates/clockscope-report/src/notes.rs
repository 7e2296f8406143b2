//! What stands below a table: why a `?` is a `?`, what failed, and which clocks there are not.

use std::collections::BTreeMap;

use clockscope_records::{ClockIdentity, ClockRecord, Listed};

use crate::cells;

/// Why figures of measured clocks are unknown, and what disturbed them: a line a reason.
pub(crate) fn of_measured(clocks: &[ClockRecord]) -> Vec<String> {
    let mut lines = Vec::new();
    for clock in clocks.iter().filter(|clock| clock.available) {
        if let Some(reason) = &clock.reason {
            lines.push(format!("{}: {reason}", clock.identity.label()));
        }
        let hidden = clock.events.as_ref().and_then(|events| events.hidden_regression).unwrap_or(0);
        if hidden > 0 {
            let name = clock.identity.label();
            lines.push(format!(
                "{name}: {hidden} hidden regressions (h): the clock advanced by less than the reference did"
            ));
        }
    }
    lines.extend(unknown_figures(clocks));
    lines.extend(interval(clocks));
    lines.extend(jumps(clocks));
    lines
}

/// What the interval of the costs is of.
fn interval(clocks: &[ClockRecord]) -> Option<String> {
    let costs = || clocks.iter().filter_map(|clock| clock.cost_ns.as_ref());
    if let Some(between) = costs().find_map(|cost| cost.between_runs) {
        return Some(format!("±95 %: where another run's median lies, by {} runs", between.runs));
    }
    let of_this_run = "±95 %: of this run; other runs may differ by more (--repeat 10 shows by how much)";
    costs().any(|cost| cost.ci95.is_some()).then(|| of_this_run.to_owned())
}

/// From which size on jumps are counted, and from which on most are found wherever they fall: of the finest clocks.
fn jumps(clocks: &[ClockRecord]) -> Option<String> {
    let sizes = || {
        let events = clocks.iter().filter_map(|clock| clock.events.as_ref());
        events.filter_map(|events| Some((events.threshold_ns?, events.sure_ns?)))
    };
    let least_ns = sizes().map(|(least_ns, _)| least_ns).min_by(f64::total_cmp)?;
    let sure_ns = sizes().filter(|(ns, _)| *ns <= least_ns).map(|(_, sure_ns)| sure_ns).max_by(f64::total_cmp)?;
    let [least, sure] = [least_ns, sure_ns].map(cells::time);
    Some(format!(
        "Jump: counts steps of {least} and more, 9 of 10 from {sure} on; more for a clock that costs or steps more (events.sure_ns in JSON)"
    ))
}

/// A reason, and the heads of the columns that lack a figure for it.
type Lack<'a> = (&'a str, Vec<&'a str>);

/// One line for each set of figures that the same clocks lack for the same reason.
fn unknown_figures(clocks: &[ClockRecord]) -> Vec<String> {
    // In the order in which they are met.
    let mut lines: Vec<(Lack, Vec<String>)> = Vec::new();
    for clock in clocks.iter().filter(|clock| clock.available) {
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let bounded = clock.tick_evidence.as_ref().is_some_and(|evidence| evidence.at_most_ns.is_some());
        // The interval that is shown is the one between runs, then.
        let repeated = clock.cost_ns.as_ref().is_some_and(|cost| cost.between_runs.is_some());
        let is_shown = |field: &str| !(bounded && field == "tick_ns" || repeated && field == "cost_ns.ci95");
        for (field, reason) in clock.unknown.iter().filter(|(field, _)| is_shown(field)) {
            if let Some(figure) = figure(field) {
                by_reason.entry(reason).or_default().push(figure);
            }
        }
        for figures in by_reason.values_mut() {
            figures.sort_by_key(|figure| cells::MEASURED.iter().position(|head| head == figure));
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

/// The head of the column that shows a field; `None` for fields that no column shows.
fn figure(field: &str) -> Option<&'static str> {
    Some(match field {
        "cost_ns" => "Cost(ns)",
        "cost_ns.ci95" | "cost_ns.between_runs.interval95" => "±95 %",
        "ratio_to_fastest" => "×",
        "nominal_resolution_ns" => "Nominal",
        "observed_resolution_ns" => "Observed",
        "tick_ns" => "Tick",
        "monotonic" => "Mono",
        "events.warp" => "Warp",
        "events.jump" => "Jump",
        "events.gap" => "Gap",
        _ => return None,
    })
}

/// Clocks that could not be read, of those with whether they could and why not: a line a reason.
pub(crate) fn of_unavailable<'a>(
    clocks: impl Iterator<Item = (&'a ClockIdentity, bool, Option<&'a str>)>,
) -> Vec<String> {
    let missing = clocks.filter(|(_, available, _)| !available);
    by_reason(missing.map(|(identity, _, reason)| (identity.label(), reason)))
}

/// Why the nominal resolutions of listed clocks are unknown: a line a reason.
pub(crate) fn of_listed(clocks: &[Listed]) -> Vec<String> {
    let unknown = clocks.iter().filter(|clock| clock.available);
    by_reason(
        unknown.filter_map(|clock| {
            Some((clock.identity.label(), Some(clock.unknown.get("nominal_resolution_ns")?.as_str())))
        }),
    )
}

/// Measured clocks, for [`of_unavailable`].
pub(crate) fn measured(clocks: &[ClockRecord]) -> impl Iterator<Item = (&ClockIdentity, bool, Option<&str>)> {
    clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_deref()))
}

/// Listed clocks, for [`of_unavailable`].
pub(crate) fn listed(clocks: &[Listed]) -> impl Iterator<Item = (&ClockIdentity, bool, Option<&str>)> {
    clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_deref()))
}

fn by_reason<'a>(clocks: impl Iterator<Item = (String, Option<&'a str>)>) -> Vec<String> {
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, reason) in clocks {
        let reason = reason.unwrap_or("no reason was recorded");
        match lines.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => lines.push((reason, vec![name])),
        }
    }
    lines.iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}
