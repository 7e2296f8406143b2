//! Costs as a chart.

use clockscope_records::{ClockRecord, Measurement};

use super::columns::cost_interval;
use crate::chart::{Axis, Chart, Mark, RowPlot, RowSeries, Spacing, Unit};

/// The axis ends at so many times the median of the medians: most clocks are on its left half.
const END: f64 = 3.0;

/// Draws the cost of each clock, in the order of the table. Expensive clocks are at the edge.
pub(super) fn cost(measurement: &Measurement) -> Chart {
    let measured = || measurement.clocks.iter().filter(|clock| clock.cost_ns.is_known());
    let has_runs = measured().any(|clock| clock.cost_ns.known().is_some_and(|cost| cost.between_runs.is_some()));
    let interval = if has_runs { "95% interval of another run's median" } else { "95% interval of this run's median" };
    let rows: Vec<(String, Vec<Mark>)> = measured().map(|clock| (clock.identity.label(), marks(clock))).collect();
    let mut medians: Vec<f64> = measured().filter_map(|clock| Some(clock.cost_ns.known()?.median)).collect();
    medians.sort_by(f64::total_cmp);
    let end = medians.get(medians.len() / 2).map(|median| median * END);
    let axis = Axis::new("Cost per read", Unit::Time, Spacing::FromZero);
    let series = vec![RowSeries::points("Median", interval), RowSeries::points("99th percentile of batches", "")];
    let plot = RowPlot::new(axis, "clocks", series, rows).ending_at(end).with_values();
    Chart::new("cost", "Cost per read", plot)
}

fn marks(clock: &ClockRecord) -> Vec<Mark> {
    let Some(cost) = clock.cost_ns.known() else { return Vec::new() };
    let median = Mark { series: 0, value: cost.median, spread: cost_interval(cost).get() };
    let slow = cost.p99.get().map(|value| Mark { series: 1, value, spread: None });
    [median].into_iter().chain(slow).collect()
}
