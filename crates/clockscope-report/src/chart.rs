//! Charts as documents give them: values with their axes and units. A renderer draws them.

mod plots;
pub(crate) mod scale;
mod unit;
mod words;

pub(crate) use plots::{
    Axis, Band, ChartRow, Curve, CurvePlot, Form, MOST_SERIES, Mark, MarkShape, MatrixCell, MatrixPlot, Plot, Point,
    RowPlot, RowSeries, Spacing,
};
pub(crate) use unit::Unit;

use crate::text::Text;

/// Documents that can have charts.
pub(crate) const SCHEMAS: [&str; 10] = [
    "clockscope.measure",
    "clockscope.steps",
    "clockscope.order",
    "clockscope.offsets",
    "clockscope.rate",
    "clockscope.gaps",
    "clockscope.sleep",
    "clockscope.compare",
    "clockscope.switched",
    "clockscope.runtimes",
];

/// Returns the names of these, for a message.
pub(crate) fn with_charts() -> String {
    SCHEMAS.map(|schema| schema.trim_start_matches("clockscope.")).join(", ")
}

/// A figure that is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Its name on a command line; `histogram:tsc` where a document has several of a kind.
    pub(crate) name: Text,
    pub(crate) title: Text,
    pub(crate) plot: Plot,
    /// True if terminals draw it, too, in characters.
    pub(crate) has_characters: bool,
}

impl Chart {
    pub(crate) fn new(name: impl Into<Text>, title: impl Into<Text>, plot: impl Into<Plot>) -> Self {
        Self { name: name.into(), title: title.into(), plot: plot.into(), has_characters: false }
    }

    /// Lets terminals draw it, too.
    pub(crate) fn in_characters(self) -> Self {
        Self { has_characters: true, ..self }
    }

    /// Returns whether there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.plot {
            Plot::Rows(plot) => plot.rows.is_empty(),
            Plot::Curves(plot) => plot.series.is_empty(),
            Plot::Matrix(plot) => !plot.cells.iter().flatten().any(|cell| cell.value.is_some()),
        }
    }

    /// Says in words what the chart shows, computed from what it shows.
    pub(crate) fn description(&self) -> Text {
        words::of(&self.plot).into()
    }
}
