//! The columns of the table of a measurement: their heads and cells.

use clockscope_records::{ClockRecord, Cost, Events, Figure, Monotonic, Work};

use super::super::clocks::{tick_cell, tick_parts};
use super::events;
use crate::model::Cell;
use crate::style::Columns;
use crate::units::{COST_DIGITS, decimals, fixed, hertz, significant, time};
use crate::words::grouped;

/// Head of the cost's uncertainty.
pub(super) const UNCERTAINTY: &str = "±";
/// Length of the spin for the column of errors after work.
const SPIN_NS: f64 = 1e4;

/// A column of the table.
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) cell: fn(&ClockRecord) -> Cell,
    /// Reason why a figure is unknown; `None` where it is known.
    pub(super) reason: fn(&ClockRecord) -> Option<String>,
}

/// Returns the columns of a choice; the most important ones by default.
pub(super) fn columns(which: Option<Columns>) -> &'static [Column] {
    match which {
        None => &MAIN,
        Some(Columns::Relative) => &RELATIVE,
        Some(Columns::All) => &ALL,
        Some(Columns::Clockperf) => &CLOCKPERF,
    }
}

const fn column(
    head: &'static str,
    cell: fn(&ClockRecord) -> Cell,
    reason: fn(&ClockRecord) -> Option<String>,
) -> Column {
    Column { head, cell, reason }
}

/// The head of the clocks' names.
pub(super) const NAME: Column = column("Name", |clock| clock.identity.label().into(), |_| None);

/// The most important columns.
static MAIN: [Column; 5] = [NAME, EXACT_COST, COST_UNCERTAINTY, TICK, EVENTS];

/// The most important columns, with the costs in relation to the cheapest counter read.
static RELATIVE: [Column; 6] = [
    NAME,
    EXACT_COST,
    COST_UNCERTAINTY,
    column("×", |clock| Cell::known(clock.ratio_to_fastest.get(), |ratio| significant(ratio, 3)), ratio_reason),
    TICK,
    EVENTS,
];

const EXACT_COST: Column =
    column("Cost", |clock| Cell::known(clock.cost_ns.known(), cost), |clock| clock.cost_ns.why());
const COST_UNCERTAINTY: Column =
    column(UNCERTAINTY, |clock| Cell::known(clock.cost_ns.known().and_then(uncertainty), in_ns), interval_reason);
pub(super) const TICK: Column = column("Tick", tick, tick_reason);
const EVENTS: Column = column("Events", events::cell, events::reason);

/// All figures.
static ALL: [Column; 15] = [
    NAME,
    Column { head: "Cost (ns)", ..COST },
    column("±95%", interval, interval_reason),
    column("×", |clock| Cell::known(clock.ratio_to_fastest.get(), |ratio| format!("{ratio:.2}")), ratio_reason),
    column("After-spin", after_work, |clock| clock.after_work.why()),
    column("Nominal", |clock| Cell::time(clock.nominal_resolution_ns.get()), |clock| clock.nominal_resolution_ns.why()),
    column(
        "Observed",
        |clock| Cell::time(clock.observed_resolution_ns.get()),
        |clock| clock.observed_resolution_ns.why(),
    ),
    column("Tick", |clock| tick_cell(clock.tick_ns.get(), clock.tick_evidence.as_ref()), tick_reason),
    column("Mono", |clock| Cell::known(clock.monotonic.get(), monotonic), |clock| clock.monotonic.why()),
    column("Stuck", |clock| count(clock, |events| Some(events.stuck)), |_| None),
    WARP,
    column("Stal", |clock| count(clock, |events| Some(events.stall)), |_| None),
    column("Regr", regressions, |_| None),
    column(
        "Jump",
        |clock| count(clock, |events| events.jump.get()),
        |clock| count_reason(clock, |events| &events.jump),
    ),
    column("Gap", |clock| count(clock, |events| events.gap.get()), |clock| count_reason(clock, |events| &events.gap)),
];

/// The columns of clockperf, under its heads.
static CLOCKPERF: [Column; 9] = [
    NAME,
    COST,
    column("+/-", interval, interval_reason),
    column("Resol", resolution, tick_reason),
    column("Mono", |clock| Cell::known(clock.monotonic.get(), grows), |clock| clock.monotonic.why()),
    column("Fail", |clock| ungrouped_count(clock, |events| Some(events.stuck)), |_| None),
    Column { cell: |clock| ungrouped_count(clock, |events| events.warp.get()), ..WARP },
    column("Stal", |clock| ungrouped_count(clock, |events| Some(events.stall)), |_| None),
    column("Regr", |clock| ungrouped_count(clock, |events| Some(events.regression)), |_| None),
];

const COST: Column = column(
    "Cost(ns)",
    |clock| Cell::known(median(clock), |median| significant(median, 4)),
    |clock| clock.cost_ns.why(),
);

const WARP: Column = column(
    "Warp",
    |clock| count(clock, |events| events.warp.get()),
    |clock| count_reason(clock, |events| &events.warp),
);

fn median(clock: &ClockRecord) -> Option<f64> {
    clock.cost_ns.known().map(|cost| cost.median)
}

/// Shows a cost with two digits of its uncertainty, at most four digits.
fn cost(cost: &Cost) -> Cell {
    in_ns(fixed(cost.median, cost_decimals(cost)))
}

/// Shows the uncertainty of a cost, rounded up to the cost's last digit.
fn uncertainty(cost: &Cost) -> Option<String> {
    let (ns, decimals) = (uncertainty_ns(cost)?, cost_decimals(cost));
    let unit_ns = 10f64.powi(-(decimals as i32));
    Some(fixed((ns / unit_ns).ceil() * unit_ns, decimals))
}

fn uncertainty_ns(cost: &Cost) -> Option<f64> {
    cost_interval(cost).get().map(|[low, high]| (high - cost.median).max(cost.median - low))
}

/// Returns the number of decimals of a cost.
fn cost_decimals(cost: &Cost) -> usize {
    let max_decimals = decimals(cost.median, COST_DIGITS);
    match uncertainty_ns(cost) {
        Some(ns) if ns > 0.0 => max_decimals.min(decimals(ns, 2)),
        _ => max_decimals,
    }
}

fn in_ns(figure: String) -> Cell {
    Cell::Measure { figure: figure.into(), unit: "ns", bar: None }
}

/// Shows the error of intervals around a spin of some 10 µs: the median and the 99th percentile.
fn after_work(clock: &ClockRecord) -> Cell {
    let spins = clock.after_work.as_deref().unwrap_or_default().iter().filter(|after| after.work == Work::Spin);
    let nearest = spins.min_by(|a, b| (a.work_ns / SPIN_NS).ln().abs().total_cmp(&(b.work_ns / SPIN_NS).ln().abs()));
    Cell::known(nearest, |after| format!("{} to {}", time(after.median_ns), time(after.p99_ns)))
}

fn ratio_reason(clock: &ClockRecord) -> Option<String> {
    clock.ratio_to_fastest.why()
}

/// Shows half the width of the cost's interval, in percent.
fn interval(clock: &ClockRecord) -> Cell {
    let known = clock.cost_ns.known().and_then(|cost| Some((cost_interval(cost).get()?, cost.median)));
    Cell::known(known, |([low, high], median)| format!("{:.2}%", (high - low) / 2.0 / median * 100.0))
}

fn interval_reason(clock: &ClockRecord) -> Option<String> {
    clock.cost_ns.known().and_then(|cost| cost_interval(cost).why())
}

/// Returns the interval of the cost between runs, or of the only run.
pub(super) fn cost_interval(cost: &Cost) -> &Figure<[f64; 2]> {
    cost.between_runs.as_ref().map_or(&cost.ci95, |between| &between.interval95)
}

fn monotonic(found: Monotonic) -> &'static str {
    match found {
        Monotonic { strict: true, .. } => "strict",
        Monotonic { weak: true, .. } => "weak",
        _ => "no",
    }
}

/// Shows `Yes` if every reading was larger than the one before.
fn grows(found: Monotonic) -> &'static str {
    if found.strict { "Yes" } else { "No" }
}

fn at_most_ns(clock: &ClockRecord) -> Option<f64> {
    clock.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns)
}

/// Shows the tick, or its upper bound.
fn tick(clock: &ClockRecord) -> Cell {
    let parts = tick_parts(clock.tick_ns.get(), clock.tick_evidence.as_ref());
    Cell::known(parts, |(figure, unit)| Cell::Measure { figure: figure.into(), unit, bar: None })
}

/// Returns the reason why neither the tick nor a bound of it is known.
fn tick_reason(clock: &ClockRecord) -> Option<String> {
    if at_most_ns(clock).is_none() { clock.tick_ns.why() } else { None }
}

/// Shows the ticks per second.
fn resolution(clock: &ClockRecord) -> Cell {
    match (clock.tick_ns.get(), at_most_ns(clock)) {
        (Some(ns), _) => hertz(1e9 / ns).into(),
        (None, Some(ns)) => format!("≥ {}", hertz(1e9 / ns)).into(),
        (None, None) => Cell::Unknown,
    }
}

fn count(clock: &ClockRecord, count: fn(&Events) -> Option<u64>) -> Cell {
    Cell::count(clock.events.as_ref().and_then(count))
}

/// Shows a count without groups of digits, as clockperf prints it.
fn ungrouped_count(clock: &ClockRecord, count: fn(&Events) -> Option<u64>) -> Cell {
    Cell::known(clock.events.as_ref().and_then(count), |count| count.to_string())
}

fn count_reason(clock: &ClockRecord, count: fn(&Events) -> &Figure<u64>) -> Option<String> {
    clock.events.as_ref().and_then(|events| count(events).why())
}

/// Shows the regressions, and hidden ones.
fn regressions(clock: &ClockRecord) -> Cell {
    Cell::known(clock.events.as_ref(), |events| match events.hidden_regression {
        Figure::Known(hidden) if hidden > 0 => format!("{}+{}h", grouped(events.regression), grouped(hidden)),
        _ => grouped(events.regression),
    })
}
