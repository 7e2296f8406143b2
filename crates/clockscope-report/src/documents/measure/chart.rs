//! Costs as a chart.

use clockscope_records::{ClockRecord, Measurement};

use super::columns::cost_interval;
use crate::chart::{Axis, Chart, Mark, RowPlot, RowSeries, Unit};

/// Draws the cost of each clock, in the order of the table.
pub(super) fn cost(measurement: &Measurement) -> Chart {
    let measured = || measurement.clocks.iter().filter(|clock| clock.cost_ns.is_known());
    let has_runs = measured().any(|clock| clock.cost_ns.known().is_some_and(|cost| cost.between_runs.is_some()));
    let interval = if has_runs { "95% interval of another run's median" } else { "95% interval of this run's median" };
    let rows: Vec<(String, Vec<Mark>)> = measured().map(|clock| (clock.identity.label(), marks(clock))).collect();
    let values = rows.iter().flat_map(|(_, marks)| marks.iter().map(|mark| mark.value));
    let axis = Axis::fitting("Cost per read", Unit::Time, values);
    let series = vec![RowSeries::points("Median", interval), RowSeries::points("99th percentile of batches", "")];
    Chart::new("cost", "Cost per read", RowPlot::new(axis, "clocks", series, rows))
}

fn marks(clock: &ClockRecord) -> Vec<Mark> {
    let Some(cost) = clock.cost_ns.known() else { return Vec::new() };
    let median = Mark { series: 0, value: cost.median, spread: cost_interval(cost).get() };
    let slow = cost.p99.get().map(|value| Mark { series: 1, value, spread: None });
    [median].into_iter().chain(slow).collect()
}
