//! Rates and stability as charts.

use clockscope_records::RateRecord;

use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MOST_SERIES, Mark, Point, RowPlot, RowSeries, Spacing, Unit};

/// Draws the rate of each clock with its bounds.
pub(super) fn rates(reference: &str, compared: &[&RateRecord]) -> Chart {
    let marks = |clock: &RateRecord| {
        let mean = clock.ppm.get().map(|value| {
            let spread = clock.bound_ppm.get().map(|bound| [value - bound, value + bound]);
            Mark { series: 0, value, spread }
        });
        let estimate = clock.estimate_ppm.get().map(|value| Mark { series: 1, value, spread: None });
        mean.into_iter().chain(estimate).collect()
    };
    let rows = compared.iter().map(|clock| (clock.name.clone(), marks(clock)));
    let axis = Axis::new(format!("Rate against {reference}"), Unit::Named("ppm"), Spacing::Linear);
    let series = vec![
        RowSeries::points("Rate between the first and the last brackets", "Rigorous bounds"),
        RowSeries::points("Least squares", ""),
    ];
    Chart::new("rate", "Rates with their bounds", RowPlot::new(axis, "clocks", series, rows))
}

/// Draws the Allan deviation and the maximum time interval error of as many clocks as one chart
/// has room for.
pub(super) fn stability(compared: &[&RateRecord]) -> Vec<Chart> {
    let parts = compared.chunks(MOST_SERIES).enumerate();
    parts
        .flat_map(|(part, clocks)| {
            let name = |kind: &str| if part == 0 { kind.to_owned() } else { format!("{kind}:{}", part + 1) };
            let plot = |title: &str, unit, points: fn(&RateRecord) -> Vec<Point>| {
                let x = Axis::new("Interval τ", Unit::Time, Spacing::Log);
                let curve = |clock: &&RateRecord| Curve::new(clock.name.as_str(), Form::Line, points(clock));
                CurvePlot::new(x, Axis::new(title, unit, Spacing::Log), clocks.iter().map(curve))
            };
            let allan = plot("Allan deviation", Unit::Number, |clock| {
                clock.allan.iter().map(|allan| Point::at(allan.tau_s * 1e9, allan.adev)).collect()
            });
            let mtie = plot("Maximum time interval error", Unit::Time, |clock| {
                clock.mtie.iter().map(|mtie| Point::at(mtie.tau_s * 1e9, mtie.ns)).collect()
            });
            [
                Chart::new(name("allan"), "Allan deviation", allan).in_characters(),
                Chart::new(name("mtie"), "Maximum time interval error", mtie),
            ]
        })
        .collect()
}
