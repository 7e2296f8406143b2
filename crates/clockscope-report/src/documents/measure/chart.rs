//! Costs as a chart.

use clockscope_records::Measurement;

use super::columns::cost_interval;
use crate::chart::{Axis, Chart, ChartRow, Mark, RowPlot, RowSeries, Spacing, Unit};

/// The end of the axis, in medians of the clocks' costs: most clocks are on its left half.
const MAX_RELATIVE_COST: f64 = 3.0;

/// Draws the cost of each clock, in the order of the table. Expensive clocks are at the edge.
pub(super) fn cost(measurement: &Measurement) -> Chart {
    let (mut rows, mut medians, mut has_runs) = (Vec::new(), Vec::new(), false);
    for clock in &measurement.clocks {
        if let Some(cost) = clock.cost_ns.known() {
            let median = Mark { spread: cost_interval(cost).get(), ..Mark::at(0, cost.median) };
            let p99 = cost.p99.get().map(|value| Mark::at(1, value));
            rows.push(ChartRow::new(clock.identity.label(), [median].into_iter().chain(p99).collect()));
            medians.push(cost.median);
            has_runs |= cost.between_runs.is_some();
        }
    }
    let interval = if has_runs { "95% interval of another run's median" } else { "95% interval of this run's median" };
    let series = vec![RowSeries::points("Median", interval), RowSeries::points("99th percentile of batches", "")];
    let axis = Axis::new("Cost per read", Unit::Time, Spacing::FromZero);
    let mut plot = RowPlot { has_values: true, ..RowPlot::new(axis, "clocks", series, rows) };
    medians.sort_by(f64::total_cmp);
    if let Some(median) = medians.get(medians.len() / 2) {
        plot = plot.ending_at(median * MAX_RELATIVE_COST);
    }
    Chart::new("cost", "Cost per read", plot)
}
