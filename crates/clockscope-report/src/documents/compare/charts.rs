//! Costs of two sides, and their ratios, as charts.

use clockscope_records::{Bounds, ClockComparison, Comparison};

use crate::chart::{Axis, Chart, Mark, RowPlot, RowSeries, Unit};
use crate::units::percent;
use crate::words::Text;

/// Draws the costs of each clock, and how many times as large the new one is.
pub(super) fn charts(found: &Comparison) -> [Chart; 2] {
    let compared: Vec<&ClockComparison> = found.clocks.iter().filter(|clock| clock.ratio.is_known()).collect();
    [costs(&compared), ratios(found, &compared)]
}

fn costs(compared: &[&ClockComparison]) -> Chart {
    let marks = |clock: &ClockComparison| {
        let sides = [clock.base_ns.get(), clock.new_ns.get()].into_iter().enumerate();
        sides.filter_map(|(series, ns)| Some(Mark { series, value: ns?, spread: None })).collect::<Vec<_>>()
    };
    let rows: Vec<(String, Vec<Mark>)> = compared.iter().map(|clock| (clock.name.clone(), marks(clock))).collect();
    let values = rows.iter().flat_map(|(_, marks)| marks.iter().map(|mark| mark.value));
    let axis = Axis::fitting("Cost per read", Unit::Time, values);
    let series = vec![RowSeries::points("Base", ""), RowSeries::points("New", "")];
    Chart::new("costs", "Costs of base and new", RowPlot::new(axis, "clocks", series, rows))
}

/// Draws ratios with their bounds beside the margin.
fn ratios(found: &Comparison, compared: &[&ClockComparison]) -> Chart {
    let mark = |series, Bounds { estimate, low, high }| Mark { series, value: estimate, spread: Some([low, high]) };
    let marks = |clock: &ClockComparison| {
        let sides = [clock.ratio.get(), clock.own.get()].into_iter().enumerate();
        sides.filter_map(|(series, ratio)| Some(mark(series, ratio?))).collect::<Vec<_>>()
    };
    let row = |clock: &&ClockComparison| (clock.name.clone(), Text::from(clock.change.as_str()), marks(clock));
    let rows: Vec<(String, Text, Vec<Mark>)> = compared.iter().map(row).collect();
    let values = rows.iter().flat_map(|(_, _, marks)| marks).flat_map(|mark| mark.spread.into_iter().flatten());
    let axis = Axis::of_ratios("New cost / base cost (below 1 faster, above 1 slower)", values);
    let series =
        vec![RowSeries::points("Ratio", "Its bounds"), RowSeries::points("Relative to the machine", "Its bounds")];
    let margin = 1.0 + found.margin;
    let plot = RowPlot::with_words(axis, "clocks", series, "Change", rows);
    let plot = plot.with_band(format!("Margin of {}", percent(found.margin * 100.0)), [margin.recip(), margin]);
    Chart::new("ratios", "Ratios of the costs, and the margin", plot)
}
