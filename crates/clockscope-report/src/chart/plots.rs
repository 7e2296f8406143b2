//! The parts of charts: axes, rows with marks, curves.

use super::evidence::EvidencePlot;
use super::unit::Unit;
use crate::words::Text;

/// Most series of a chart: the number of different colors and markers.
pub(crate) const MAX_SERIES: usize = 8;

/// Most lines of a lattice up to the highest value.
const MAX_LATTICE_LINES: f64 = 48.0;

/// Magnitudes other than 0 that a chart shows: beyond them, arithmetic on axes would overflow.
const MAGNITUDES: std::ops::Range<f64> = 1e-300..1e300;

#[derive(Clone, Debug)]
pub(crate) enum Plot {
    Rows(RowPlot),
    Curves(CurvePlot),
    Evidence(EvidencePlot),
}

impl From<EvidencePlot> for Plot {
    fn from(plot: EvidencePlot) -> Self {
        Self::Evidence(plot)
    }
}

impl From<RowPlot> for Plot {
    fn from(plot: RowPlot) -> Self {
        Self::Rows(plot)
    }
}

impl From<CurvePlot> for Plot {
    fn from(plot: CurvePlot) -> Self {
        Self::Curves(plot)
    }
}

/// The quantity that an axis measures, and the placement of values on it.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) title: Text,
    pub(crate) unit: Unit,
    pub(crate) spacing: Spacing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    /// Linear, with 0 on the axis.
    FromZero,
    Log,
    /// Logarithmic, from below 1 on, so that a count of 1 shows.
    LogCounts,
}

impl Axis {
    pub(crate) fn new(title: impl Into<Text>, unit: Unit, spacing: Spacing) -> Self {
        Self { title: title.into(), unit, spacing }
    }

    /// Makes an axis that is linear from 0 if the values differ little, otherwise logarithmic.
    pub(crate) fn fitting(title: impl Into<Text>, unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        /// Largest ratio of two values on a linear axis: the smallest takes 3% of it.
        const MAX_LINEAR_RATIO: f64 = 30.0;
        let (mut least, mut most, mut is_positive) = (f64::INFINITY, 0f64, true);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            is_positive &= value > 0.0;
            (least, most) = (least.min(value), most.max(value));
        }
        let spacing = if is_positive && most > least * MAX_LINEAR_RATIO { Spacing::Log } else { Spacing::FromZero };
        Self::new(title, unit, spacing)
    }

    /// Makes an axis of ratios: linear if they differ little, otherwise logarithmic.
    pub(crate) fn of_ratios(title: impl Into<Text>, ratios: impl IntoIterator<Item = f64>) -> Self {
        /// Largest ratio of two values on a linear axis, on which ratios below 1 are crowded.
        const MAX_LINEAR_RATIO: f64 = 3.0;
        let positive = ratios.into_iter().filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        let (least, most) = positive.fold((1f64, 1f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
        Self::new(title, Unit::Number, if most > least * MAX_LINEAR_RATIO { Spacing::Log } else { Spacing::Linear })
    }

    /// Returns whether a value has a place on the axis.
    pub(crate) fn shows(&self, value: f64) -> bool {
        let is_positive = match self.spacing {
            Spacing::Linear | Spacing::FromZero => true,
            Spacing::Log | Spacing::LogCounts => value > 0.0,
        };
        is_positive && (value == 0.0 || MAGNITUDES.contains(&value.abs()))
    }
}

/// Rows with marks along a horizontal axis.
#[derive(Clone, Debug)]
pub(crate) struct RowPlot {
    pub(crate) axis: Axis,
    /// The noun for the rows, in the plural: `clocks`.
    pub(crate) noun: &'static str,
    pub(crate) series: Vec<RowSeries>,
    /// The meaning of the words beside rows; empty if rows have none.
    pub(crate) words: Text,
    pub(crate) rows: Vec<ChartRow>,
    pub(crate) band: Option<Band>,
    /// The end of the axis, if an arrow at the edge shows larger values.
    pub(crate) end: Option<f64>,
    /// True if the values are written beside the marks.
    pub(crate) has_values: bool,
    /// Values that the axis cannot show.
    pub(crate) left_out: u64,
}

/// A marked part of the axis, such as the margin of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Band {
    pub(crate) name: Text,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The meaning of the marks of one kind.
#[derive(Clone, Debug)]
pub(crate) struct RowSeries {
    pub(crate) name: Text,
    pub(crate) shape: MarkShape,
    /// The meaning of the line through a mark; empty if marks have none.
    pub(crate) spread: Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkShape {
    Point,
    /// A bar from the left end of the axis.
    Bar,
}

#[derive(Clone, Debug)]
pub(crate) struct ChartRow {
    pub(crate) label: Text,
    /// A word beside the row; may be empty.
    pub(crate) word: Text,
    pub(crate) marks: Vec<Mark>,
}

impl ChartRow {
    /// Makes a row without a word.
    pub(crate) fn new(label: impl Into<Text>, marks: Vec<Mark>) -> Self {
        Self { label: label.into(), word: Text::default(), marks }
    }
}

/// A value, and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    /// The index of its series.
    pub(crate) series: usize,
    pub(crate) value: f64,
    pub(crate) spread: Option<[f64; 2]>,
}

impl Mark {
    /// Makes a mark without a range.
    pub(crate) fn at(series: usize, value: f64) -> Self {
        Self { series, value, spread: None }
    }
}

impl RowSeries {
    pub(crate) fn points(name: impl Into<Text>, spread: impl Into<Text>) -> Self {
        Self { name: name.into(), shape: MarkShape::Point, spread: spread.into() }
    }

    pub(crate) fn bars(name: impl Into<Text>) -> Self {
        Self { name: name.into(), shape: MarkShape::Bar, spread: Text::default() }
    }
}

impl RowPlot {
    /// Makes a plot of the marks that the axis can show. Rows without marks disappear.
    pub(crate) fn new(
        axis: Axis,
        noun: &'static str,
        series: Vec<RowSeries>,
        rows: impl IntoIterator<Item = ChartRow>,
    ) -> Self {
        let (words, visible) = (Text::default(), Vec::new());
        let mut plot =
            Self { axis, noun, series, words, rows: visible, band: None, end: None, has_values: false, left_out: 0 };
        for row in rows {
            let all = row.marks.len();
            let marks: Vec<Mark> = row.marks.into_iter().filter_map(|mark| plot.clipped(mark)).collect();
            plot.left_out += (all - marks.len()) as u64;
            if !marks.is_empty() {
                plot.rows.push(ChartRow { marks, ..row });
            }
        }
        plot
    }

    /// Marks a part of the axis, if it can be shown.
    pub(crate) fn with_band(mut self, name: impl Into<Text>, [low, high]: [f64; 2]) -> Self {
        if low < high && self.axis.shows(low) && self.axis.shows(high) {
            self.band = Some(Band { name: name.into(), low, high });
        }
        self
    }

    /// Ends the axis at a value, if any is larger.
    pub(crate) fn ending_at(mut self, end: f64) -> Self {
        if self.axis.shows(end) && self.values().any(|value| value > end) {
            self.end = Some(end);
        }
        self
    }

    /// Returns whether a value is beyond the end of the axis.
    pub(crate) fn is_beyond(&self, value: f64) -> bool {
        self.end.is_some_and(|end| value > end)
    }

    /// Returns a mark as far as the axis can show it.
    fn clipped(&self, mark: Mark) -> Option<Mark> {
        let spread = mark.spread.filter(|ends| ends.iter().all(|end| self.axis.shows(*end)));
        if self.axis.shows(mark.value) { Some(Mark { spread, ..mark }) } else { None }
    }

    /// Returns all values that the axis needs room for; its end in place of larger ones.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let marks = self.rows.iter().flat_map(|row| &row.marks);
        let band = self.band.iter().flat_map(|band| [band.low, band.high]);
        let values = marks.flat_map(|mark| std::iter::once(mark.value).chain(mark.spread.into_iter().flatten()));
        let end = self.end.unwrap_or(f64::INFINITY);
        values.chain(band).map(move |value| value.min(end))
    }
}

/// Values over values.
#[derive(Clone, Debug)]
pub(crate) struct CurvePlot {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Curve>,
    /// Points that the axes cannot show.
    pub(crate) left_out: u64,
    /// Distance between horizontal lines, from 0 on, such as a tick.
    pub(crate) lattice: Option<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) name: Text,
    pub(crate) form: Form,
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Points joined by lines.
    Line,
    /// Each value holds until the next point.
    Stairs,
    /// Points without lines.
    Points,
    /// Bars from `x` to `until`: a histogram.
    Bins,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The range of `y`.
    pub(crate) spread: Option<[f64; 2]>,
    /// The end of a bar.
    pub(crate) until: Option<f64>,
}

impl Point {
    pub(crate) fn at(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}

impl Curve {
    pub(crate) fn new(name: impl Into<Text>, form: Form, points: impl IntoIterator<Item = Point>) -> Self {
        Self { name: name.into(), form, points: points.into_iter().collect() }
    }
}

impl CurvePlot {
    /// Makes a plot of the points that the axes can show. Series without points disappear.
    pub(crate) fn new(x: Axis, y: Axis, series: impl IntoIterator<Item = Curve>) -> Self {
        let mut plot = Self { x, y, series: Vec::new(), left_out: 0, lattice: None };
        for Curve { name, form, points } in series {
            let all = points.len();
            let points: Vec<Point> = points.into_iter().filter_map(|point| plot.clipped(point)).collect();
            plot.left_out += (all - points.len()) as u64;
            if !points.is_empty() {
                plot.series.push(Curve { name, form, points });
            }
        }
        plot
    }

    /// Adds horizontal lines at the multiples of a distance, if it is known, unless they would fill
    /// the frame.
    pub(crate) fn with_lattice(mut self, distance: Option<f64>) -> Self {
        let highest = self.ys().fold(0.0, f64::max);
        if let Some(distance) = distance
            && MAGNITUDES.contains(&distance)
            && (1.0..=MAX_LATTICE_LINES).contains(&(highest / distance))
        {
            self.lattice = Some(distance);
        }
        self
    }

    /// Returns a point as far as the axes can show it.
    fn clipped(&self, point: Point) -> Option<Point> {
        let is_on_axes =
            self.x.shows(point.x) && self.y.shows(point.y) && point.until.is_none_or(|until| self.x.shows(until));
        let spread = point.spread.filter(|ends| ends.iter().all(|end| self.y.shows(*end)));
        if is_on_axes { Some(Point { spread, ..point }) } else { None }
    }

    pub(crate) fn xs(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|curve| &curve.points);
        points.flat_map(|point| std::iter::once(point.x).chain(point.until))
    }

    pub(crate) fn ys(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|curve| &curve.points);
        points.flat_map(|point| std::iter::once(point.y).chain(point.spread.into_iter().flatten()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(spacing: Spacing) -> Axis {
        Axis::new("x", Unit::Time, spacing)
    }

    fn row_plot(spacing: Spacing, marks: impl IntoIterator<Item = Mark>) -> RowPlot {
        let rows = marks.into_iter().map(|mark| ChartRow::new("a", vec![mark]));
        RowPlot::new(axis(spacing), "rows", vec![RowSeries::points("a", "")], rows)
    }

    #[test]
    fn values_off_the_axes_are_counted() {
        let wrong = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1.7e308, 5e-324, -1.0, 0.0];
        for (spacing, left_out, rows) in [(Spacing::Log, 7, 1), (Spacing::Linear, 5, 3)] {
            let marks =
                wrong.iter().chain(&[2.0]).map(|value| Mark { spread: Some([*value, 1.0]), ..Mark::at(0, *value) });
            let plot = row_plot(spacing, marks);
            assert_eq!((plot.left_out, plot.rows.len()), (left_out, rows));
        }
        let points = Curve::new("a", Form::Line, wrong.map(|value| Point::at(1.0, value)));
        let plot = CurvePlot::new(axis(Spacing::Log), axis(Spacing::Log), [points]);
        assert!(plot.series.is_empty() && plot.left_out == 7);
    }

    #[test]
    fn a_band_is_drawn_where_the_axis_has_both_ends() {
        for (spacing, ends, is_drawn) in [
            (Spacing::Log, [0.5, 2.0], true),
            (Spacing::Linear, [0.0, 2.0], true),
            (Spacing::Log, [0.0, 2.0], false),
            (Spacing::Log, [f64::NAN, 2.0], false),
            (Spacing::Log, [0.5, f64::INFINITY], false),
            (Spacing::Log, [2.0, 0.5], false),
        ] {
            let plot = row_plot(spacing, [Mark::at(0, 5.0)]).with_band("margin", ends);
            let expected = if is_drawn { vec![5.0, ends[0], ends[1]] } else { vec![5.0] };
            assert_eq!(plot.values().collect::<Vec<_>>(), expected, "{ends:?}");
        }
    }

    #[test]
    fn values_beyond_the_end_of_the_axis_take_no_room() {
        let plot = row_plot(Spacing::FromZero, [Mark::at(0, 10.0), Mark::at(0, 4600.0)]);
        let shortened = plot.clone().ending_at(60.0);
        assert_eq!(shortened.values().collect::<Vec<_>>(), [10.0, 60.0]);
        assert!(shortened.is_beyond(4600.0) && !shortened.is_beyond(10.0));
        assert_eq!([5000.0, f64::NAN].map(|end| plot.clone().ending_at(end).end), [None, None]);
    }

    #[test]
    fn a_lattice_is_drawn_where_there_is_room() {
        let points = [0.0, 10.0, 100.0].map(|value| Point::at(value, value));
        let plot =
            CurvePlot::new(axis(Spacing::Linear), axis(Spacing::Linear), [Curve::new("a", Form::Stairs, points)]);
        let lattices = [Some(10.0), Some(1.0), Some(101.0), None].map(|gap| plot.clone().with_lattice(gap).lattice);
        assert_eq!(lattices, [Some(10.0), None, None, None]);
    }

    #[test]
    fn axes_of_ratios_are_logarithmic_where_these_differ_much() {
        for (ratios, expected) in [
            (&[0.98, 1.33][..], Spacing::Linear),
            (&[8.0], Spacing::Log),
            (&[0.1, f64::NAN, -3.0], Spacing::Log),
            (&[], Spacing::Linear),
        ] {
            assert_eq!(Axis::of_ratios("x", ratios.iter().copied()).spacing, expected, "{ratios:?}");
        }
    }

    #[test]
    fn axes_are_logarithmic_where_values_differ_much() {
        for (values, expected) in [
            (&[10.0, 250.0][..], Spacing::FromZero),
            (&[10.0, 350.0], Spacing::Log),
            (&[0.0, 350.0], Spacing::FromZero),
            (&[], Spacing::FromZero),
        ] {
            assert_eq!(Axis::fitting("x", Unit::Time, values.iter().copied()).spacing, expected, "{values:?}");
        }
    }
}
