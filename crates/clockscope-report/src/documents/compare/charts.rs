//! Costs of two sides, and their ratios, as charts.

use clockscope_records::{ClockComparison, Comparison};

use crate::chart::{Axis, Chart, ChartRow, Mark, RowPlot, RowSeries, Unit};
use crate::units::percent;

/// Draws the costs of each clock, and the ratios of the new costs to those of the base.
pub(super) fn charts(found: &Comparison) -> [Chart; 2] {
    let compared: Vec<&ClockComparison> = found.clocks.iter().filter(|clock| clock.ratio.is_known()).collect();
    [costs(&compared), ratios(found, &compared)]
}

fn costs(compared: &[&ClockComparison]) -> Chart {
    let rows: Vec<ChartRow> = compared
        .iter()
        .map(|clock| {
            let sides = [clock.base_ns.get(), clock.new_ns.get()].into_iter().enumerate();
            let marks = sides.filter_map(|(series, ns)| Some(Mark::at(series, ns?)));
            ChartRow::new(clock.name.as_str(), marks.collect())
        })
        .collect();
    let values = rows.iter().flat_map(|row| row.marks.iter().map(|mark| mark.value));
    let axis = Axis::fitting("Cost per read", Unit::Time, values);
    let series = vec![RowSeries::points("Base", ""), RowSeries::points("New", "")];
    Chart::new("costs", "Costs of base and new", RowPlot::new(axis, "clocks", series, rows))
}

/// Draws ratios with their bounds beside the margin.
fn ratios(found: &Comparison, compared: &[&ClockComparison]) -> Chart {
    let mut rows = Vec::new();
    for clock in compared {
        let ratios = [clock.ratio.get(), clock.own.get()].into_iter().enumerate();
        let marks = ratios.filter_map(|(series, ratio)| {
            let ratio = ratio?;
            Some(Mark { spread: Some([ratio.low, ratio.high]), ..Mark::at(series, ratio.estimate) })
        });
        let row = ChartRow::new(clock.name.as_str(), marks.collect());
        rows.push(ChartRow { word: clock.change.as_str().into(), ..row });
    }
    let values = rows.iter().flat_map(|row| &row.marks).flat_map(|mark| mark.spread.into_iter().flatten());
    let axis = Axis::of_ratios("New cost / base cost (below 1 faster, above 1 slower)", values);
    let series =
        vec![RowSeries::points("Ratio", "Its bounds"), RowSeries::points("Relative to the machine", "Its bounds")];
    let plot = RowPlot { words: "Change".into(), ..RowPlot::new(axis, "clocks", series, rows) };
    let margin = 1.0 + found.margin;
    let plot = plot.with_band(format!("Margin of {}", percent(found.margin * 100.0)), [margin.recip(), margin]);
    Chart::new("ratios", "Ratios of the costs, and the margin", plot)
}
