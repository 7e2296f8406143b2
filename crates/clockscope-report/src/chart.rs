//! Charts: values with their axes and units. A renderer draws them.
//!
//! A chart is rows with marks, curves over an axis, or findings on clocks ([`Plot`]). The
//! constructors keep the values that have a place on the axes, and count the others. [`scale`]
//! chooses the ends and ticks of an axis.
//!
//! To add a chart, write a function in the document's file that returns a [`Chart`], and put it
//! among the blocks. A new kind of plot is a variant of [`Plot`], a file in `render/svg/`, and its
//! table.

mod evidence;
mod plots;
pub(crate) mod scale;
mod unit;

pub(crate) use evidence::{EvidencePlot, FindingMark};
pub(crate) use plots::{
    Axis, Band, ChartRow, Curve, CurvePlot, Form, MAX_SERIES, Mark, MarkShape, Plot, Point, RowPlot, RowSeries, Spacing,
};
pub(crate) use unit::{Unit, day_number};

use clockscope_records::Document;

use crate::words::Text;

/// Returns whether documents with this key `schema` can have charts.
pub(crate) fn is_possible(schema: &str) -> bool {
    Document::KINDS.iter().any(|kind| kind.schema == schema && kind.has_charts)
}

/// Returns the names of the documents that can have charts, for a message.
pub(crate) fn documents() -> String {
    let charted = Document::KINDS.iter().filter(|kind| kind.has_charts);
    charted.map(|kind| kind.schema.trim_start_matches("clockscope.")).collect::<Vec<_>>().join(", ")
}

/// Names a part of a chart whose series need several: `ecdf`, `ecdf:2`.
pub(crate) fn part_name(name: &str, index: usize) -> String {
    if index == 0 { name.to_owned() } else { format!("{name}:{}", index + 1) }
}

/// A plot with its name and title.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Its name on a command line: `histogram:tsc` if a document has several of a kind.
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
            Plot::Evidence(plot) => plot.columns.is_empty(),
        }
    }

    /// Returns the number of values that have no place on the axes.
    pub(crate) fn left_out(&self) -> u64 {
        match &self.plot {
            Plot::Rows(plot) => plot.left_out,
            Plot::Curves(plot) => plot.left_out,
            Plot::Evidence(_) => 0,
        }
    }
}
