//! What `clockscope measure` found.

use std::collections::BTreeMap;

use clockscope_records::{ClockRecord, Cost, Figure, Measurement, Monotonic};
use serde_json::Value;

use super::clocks::{not_available, tick_cell};
use super::contents::DescribeContents;
use super::environment::Fact;
use crate::model::{Block, Cell, Row, Table};
use crate::recommendation;
use crate::sheet::Sheet;
use crate::units::{significant, time};

const HEAD: [&str; 14] = [
    "Name", "Cost(ns)", "±95 %", "×", "Nominal", "Observed", "Tick", "Mono", "Stuck", "Warp", "Stal", "Regr", "Jump",
    "Gap",
];

/// Columns of a spreadsheet.
pub(super) const COLUMNS: [&str; 31] = [
    "name",
    "kind",
    "path",
    "available",
    "reason",
    "failure",
    "cost_ns_median=cost_ns.median",
    "cost_ns_ci95_low=cost_ns.ci95.0",
    "cost_ns_ci95_high=cost_ns.ci95.1",
    "cost_ns_min=cost_ns.min",
    "cost_ns_p99=cost_ns.p99",
    "ratio_to_fastest",
    "nominal_resolution_ns",
    "observed_resolution_ns",
    "tick_ns",
    "tick_at_most_ns=tick_evidence.at_most_ns",
    "monotonic_strict=monotonic.strict",
    "monotonic_weak=monotonic.weak",
    "reads=events.reads",
    "errors=events.errors",
    "stuck=events.stuck",
    "stall=events.stall",
    "warp=events.warp",
    "jump=events.jump",
    "gap=events.gap",
    "regression=events.regression",
    "hidden_regression=events.hidden_regression",
    "threshold_ns=events.threshold_ns",
    "reference=events.reference",
    "reference_shares_hardware=events.reference_shares_hardware",
    "unknown",
];

impl DescribeContents for Measurement {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock")];

    fn blocks(&self) -> Vec<Block> {
        let measured = self.clocks.iter().filter(|clock| clock.available);
        let rows = measured.map(|clock| Row::marked(cells(clock), is_faulty(clock)));
        vec![
            Table::new(HEAD, 1, rows).whole().into(),
            Block::notes("", notes(&self.clocks)),
            not_available(self.clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_deref()))),
        ]
    }

    fn how(&self) -> Vec<Fact> {
        vec![("empty loop", empty_loop(self.baseline.empty_loop_ns))]
    }

    fn findings(&self) -> Vec<String> {
        thorough(self)
    }

    fn conclusion(&self) -> Vec<String> {
        vec![recommendation::sentence(&self.advice)]
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", &COLUMNS)
    }
}

/// The cells of a measured clock, in the order of [`HEAD`].
fn cells(clock: &ClockRecord) -> Vec<Cell> {
    let cost = clock.cost_ns.known();
    let events = clock.events.as_ref();
    let count = |value: Option<u64>| Cell::known(value, |value| value.to_string());
    vec![
        clock.identity.label().into(),
        Cell::known(cost, |cost| significant(cost.median, 4)),
        Cell::known(cost.and_then(|cost| Some((shown_interval(cost).get()?, cost.median))), |([low, high], median)| {
            format!("{:.2}%", (high - low) / 2.0 / median * 100.0)
        }),
        Cell::known(clock.ratio_to_fastest.get(), |ratio| format!("{ratio:.2}")),
        Cell::time(clock.nominal_resolution_ns.get()),
        Cell::time(clock.observed_resolution_ns.get()),
        tick_cell(clock.tick_ns.get(), clock.tick_evidence.as_ref()),
        Cell::known(clock.monotonic.get(), monotonic),
        count(events.map(|events| events.stuck)),
        count(events.and_then(|events| events.warp.get())),
        count(events.map(|events| events.stall)),
        Cell::known(events, |events| match events.hidden_regression {
            Figure::Known(hidden) if hidden > 0 => format!("{}+{hidden}h", events.regression),
            _ => events.regression.to_string(),
        }),
        count(events.and_then(|events| events.jump.get())),
        count(events.and_then(|events| events.gap.get())),
    ]
}

/// Between runs where there were several, else of this one.
fn shown_interval(cost: &Cost) -> &Figure<[f64; 2]> {
    cost.between_runs.as_ref().map_or(&cost.ci95, |between| &between.interval95)
}

fn monotonic(found: Monotonic) -> &'static str {
    match found {
        Monotonic { strict: true, .. } => "strict",
        Monotonic { weak: true, .. } => "weak",
        _ => "no",
    }
}

/// Whether the clock did something that a clock must not do.
fn is_faulty(clock: &ClockRecord) -> bool {
    clock.events.as_ref().is_some_and(|events| {
        events.regression + events.hidden_regression.get().unwrap_or(0) + events.jump.get().unwrap_or(0) + events.errors
            > 0
    })
}

fn empty_loop(ns: Option<f64>) -> String {
    match ns {
        Some(ns) => format!("{} ns a turn, not subtracted", significant(ns, 3)),
        None => "unknown (no batch was completed)".to_owned(),
    }
}

/// What a thorough measurement found besides: a line a question.
fn thorough(measurement: &Measurement) -> Vec<String> {
    let Some(found) = &measurement.thorough else { return Vec::new() };
    let first = |name: &str, lines: Vec<String>| format!("{name}: {}", lines.first().map_or("", String::as_str));
    vec![
        first("order", found.order.conclusion()),
        first("offsets", found.offsets.conclusion()),
        match &found.rate {
            Figure::Known(rate) => first("rate", rate.conclusion()),
            Figure::Unknown(reason) => format!("rate: unknown: {reason}"),
        },
    ]
}

/// Why figures of measured clocks are unknown, and what disturbed them: a line a reason.
fn notes(clocks: &[ClockRecord]) -> Vec<String> {
    let mut lines = Vec::new();
    for clock in clocks.iter().filter(|clock| clock.available) {
        if let Some(reason) = &clock.reason {
            lines.push(format!("{}: {reason}", clock.identity.label()));
        }
        let hidden = clock.events.as_ref().and_then(|events| events.hidden_regression.get()).unwrap_or(0);
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
    let costs = || clocks.iter().filter_map(|clock| clock.cost_ns.known());
    if let Some(between) = costs().find_map(|cost| cost.between_runs.as_ref()) {
        return Some(format!("±95 %: where another run's median lies, by {} runs", between.runs));
    }
    let of_this_run = "±95 %: of this run; other runs may differ by more (--repeat 10 shows by how much)";
    costs().any(|cost| cost.ci95.is_known()).then(|| of_this_run.to_owned())
}

/// From which size on jumps are counted, and from which on most are found wherever they fall: of
/// the finest clocks.
fn jumps(clocks: &[ClockRecord]) -> Option<String> {
    let sizes = || {
        let events = clocks.iter().filter_map(|clock| clock.events.as_ref());
        events.filter_map(|events| Some((events.threshold_ns.get()?, events.sure_ns.get()?)))
    };
    let least_ns = sizes().map(|(least_ns, _)| least_ns).min_by(f64::total_cmp)?;
    let sure_ns = sizes().filter(|(ns, _)| *ns <= least_ns).map(|(_, sure_ns)| sure_ns).max_by(f64::total_cmp)?;
    let [least, sure] = [least_ns, sure_ns].map(time);
    Some(format!(
        "Jump: counts steps of {least} and more, from {sure} on in 9/10 of the time; more for a clock that costs or steps more (events.sure_ns in JSON)"
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
        for (head, reason) in lacking(clock) {
            by_reason.entry(reason).or_default().push(head);
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

/// The heads of the columns that lack a figure of a clock, each with the reason.
fn lacking(clock: &ClockRecord) -> impl Iterator<Item = (&'static str, &str)> {
    let events = clock.events.as_ref();
    let bounded = clock.tick_evidence.as_ref().is_some_and(|evidence| evidence.at_most_ns.is_some());
    [
        ("Cost(ns)", clock.cost_ns.reason()),
        ("±95 %", clock.cost_ns.known().and_then(|cost| shown_interval(cost).reason())),
        ("×", clock.ratio_to_fastest.reason()),
        ("Nominal", clock.nominal_resolution_ns.reason()),
        ("Observed", clock.observed_resolution_ns.reason()),
        ("Tick", clock.tick_ns.reason().filter(|_| !bounded)),
        ("Mono", clock.monotonic.reason()),
        ("Warp", events.and_then(|events| events.warp.reason())),
        ("Jump", events.and_then(|events| events.jump.reason())),
        ("Gap", events.and_then(|events| events.gap.reason())),
    ]
    .into_iter()
    .filter_map(|(head, reason)| Some((head, reason?)))
}
