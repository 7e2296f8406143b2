//! Rates and stability as charts.

use clockscope_records::RateRecord;

use crate::chart::{
    Axis, Chart, ChartRow, Curve, CurvePlot, Form, MAX_SERIES, Mark, Point, RowPlot, RowSeries, Spacing, Unit,
    part_name,
};

/// Draws the rate of each clock with its bounds.
pub(super) fn rates(reference: &str, compared: &[&RateRecord]) -> Chart {
    let rows = compared.iter().map(|clock| {
        let mean = clock.ppm.get().map(|value| {
            let spread = clock.bound_ppm.get().map(|bound| [value - bound, value + bound]);
            Mark { spread, ..Mark::at(0, value) }
        });
        let estimate = clock.estimate_ppm.get().map(|value| Mark::at(1, value));
        ChartRow::new(clock.name.as_str(), mean.into_iter().chain(estimate).collect())
    });
    let axis = Axis::new(format!("Rate against {reference}"), Unit::Named("ppm"), Spacing::Linear);
    let series = vec![
        RowSeries::points("Rate between the first and the last brackets", "Rigorous bounds"),
        RowSeries::points("Least squares", ""),
    ];
    Chart::new("rate", "Rates with their bounds", RowPlot::new(axis, "clocks", series, rows))
}

/// Draws the Allan deviation and the maximum time interval error of all clocks, in as many charts
/// as they need.
pub(super) fn stability(compared: &[&RateRecord]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (part, clocks) in compared.chunks(MAX_SERIES).enumerate() {
        let (mut deviations, mut errors) = (Vec::new(), Vec::new());
        for clock in clocks {
            let allan = clock.allan.iter().map(|allan| Point::at(allan.tau_s * 1e9, allan.adev));
            let mtie = clock.mtie.iter().map(|mtie| Point::at(mtie.tau_s * 1e9, mtie.ns));
            deviations.push(Curve::new(clock.name.as_str(), Form::Line, allan));
            errors.push(Curve::new(clock.name.as_str(), Form::Line, mtie));
        }
        let deviations = plot("Allan deviation", Unit::Number, deviations);
        let errors = plot("Maximum time interval error", Unit::Time, errors);
        charts.push(Chart::new(part_name("allan", part), "Allan deviation", deviations).in_characters());
        charts.push(Chart::new(part_name("mtie", part), "Maximum time interval error", errors));
    }
    charts
}

fn plot(title: &str, unit: Unit, curves: Vec<Curve>) -> CurvePlot {
    let tau = Axis::new("Interval τ", Unit::Time, Spacing::Log);
    CurvePlot::new(tau, Axis::new(title, unit, Spacing::Log), curves)
}
