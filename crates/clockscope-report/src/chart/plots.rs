//! The parts of charts: axes, rows with marks, curves.

use super::evidence::EvidencePlot;
use super::unit::Unit;
use crate::words::Text;

/// Colors and markers that differ. A chart has no more series than these.
pub(crate) const MOST_SERIES: usize = 8;

/// Most lines of a lattice up to the highest value.
const LATTICE: f64 = 48.0;

/// Smallest and largest magnitudes that a chart shows, apart from 0: beyond them, arithmetic on
/// axes would overflow.
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
    /// Equal differences are equally far apart.
    Linear,
    /// The same, with 0 on the axis.
    FromZero,
    /// Equal ratios are equally far apart.
    Log,
    /// The same for counts: the axis begins below 1, so that a single one shows.
    LogCounts,
}

impl Axis {
    pub(crate) fn new(title: impl Into<Text>, unit: Unit, spacing: Spacing) -> Self {
        Self { title: title.into(), unit, spacing }
    }

    /// Makes an axis that is linear from 0 where the values differ by less than a factor of `most`,
    /// and logarithmic otherwise.
    pub(crate) fn fitting(title: impl Into<Text>, unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        /// Beyond this, the smallest value would be less than 3 % of the axis.
        const MOST: f64 = 30.0;
        let (mut least, mut most, mut is_positive) = (f64::INFINITY, 0f64, true);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            is_positive &= value > 0.0;
            (least, most) = (least.min(value), most.max(value));
        }
        let spacing = if is_positive && most > least * MOST { Spacing::Log } else { Spacing::FromZero };
        Self::new(title, unit, spacing)
    }

    /// Makes an axis of ratios: linear where they differ little, and logarithmic otherwise.
    pub(crate) fn of_ratios(title: impl Into<Text>, ratios: impl IntoIterator<Item = f64>) -> Self {
        /// Beyond this, ratios below 1 would be crowded on a linear axis.
        const MOST: f64 = 3.0;
        let positive = ratios.into_iter().filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        let (least, most) = positive.fold((1f64, 1f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
        Self::new(title, Unit::Number, if most > least * MOST { Spacing::Log } else { Spacing::Linear })
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

/// Things one below the other, with marks along a horizontal axis.
#[derive(Clone, Debug)]
pub(crate) struct RowPlot {
    pub(crate) axis: Axis,
    /// The name of the rows, in the plural: `clocks`.
    pub(crate) things: &'static str,
    pub(crate) series: Vec<RowSeries>,
    /// The meaning of the words beside rows; empty if rows have none.
    pub(crate) words: Text,
    pub(crate) rows: Vec<ChartRow>,
    pub(crate) band: Option<Band>,
    /// The end of the axis, if larger values are only written, beside an arrow at the edge.
    pub(crate) end: Option<f64>,
    /// True if the values are written beside the marks.
    pub(crate) has_values: bool,
    /// Values that the axis cannot show.
    pub(crate) left_out: u64,
}

/// A part of the axis that means something, such as values that count as the same.
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
    /// A word about it; may be empty.
    pub(crate) word: Text,
    pub(crate) marks: Vec<Mark>,
}

/// A value, and what it may range over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    /// The place of its series.
    pub(crate) series: usize,
    pub(crate) value: f64,
    pub(crate) spread: Option<[f64; 2]>,
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
        things: &'static str,
        series: Vec<RowSeries>,
        rows: impl IntoIterator<Item = (String, Vec<Mark>)>,
    ) -> Self {
        let rows = rows.into_iter().map(|(label, marks)| (label, Text::default(), marks));
        Self::with_words(axis, things, series, "", rows)
    }

    /// Does the same for rows that have a word each.
    pub(crate) fn with_words(
        axis: Axis,
        things: &'static str,
        series: Vec<RowSeries>,
        words: impl Into<Text>,
        rows: impl IntoIterator<Item = (String, Text, Vec<Mark>)>,
    ) -> Self {
        let words = words.into();
        let mut plot = Self {
            axis,
            things,
            series,
            words,
            rows: Vec::new(),
            band: None,
            end: None,
            has_values: false,
            left_out: 0,
        };
        for (label, word, marks) in rows {
            let all = marks.len();
            let marks: Vec<Mark> = marks.into_iter().filter_map(|mark| plot.clipped(mark)).collect();
            plot.left_out += (all - marks.len()) as u64;
            if !marks.is_empty() {
                plot.rows.push(ChartRow { label: label.into(), word, marks });
            }
        }
        plot
    }

    /// Marks a part of the axis, if it can be shown.
    pub(crate) fn with_band(self, name: impl Into<Text>, [low, high]: [f64; 2]) -> Self {
        let is_visible = low < high && [low, high].iter().all(|end| self.axis.shows(*end));
        Self { band: is_visible.then(|| Band { name: name.into(), low, high }), ..self }
    }

    /// Ends the axis at a value, if any is larger.
    pub(crate) fn ending_at(self, end: Option<f64>) -> Self {
        let is_exceeded = |end: &f64| self.axis.shows(*end) && self.values().any(|value| value > *end);
        Self { end: end.filter(is_exceeded), ..self }
    }

    /// Writes the values beside the marks.
    pub(crate) fn with_values(self) -> Self {
        Self { has_values: true, ..self }
    }

    /// Returns whether a value is beyond the end of the axis.
    pub(crate) fn is_beyond(&self, value: f64) -> bool {
        self.end.is_some_and(|end| value > end)
    }

    /// Returns a mark as far as the axis can show it.
    fn clipped(&self, mark: Mark) -> Option<Mark> {
        let spread = mark.spread.filter(|ends| ends.iter().all(|end| self.axis.shows(*end)));
        self.axis.shows(mark.value).then_some(Mark { spread, ..mark })
    }

    /// Returns all values that the axis has to have room for; those beyond its end as the end.
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
    /// Distance of horizontal lines, from 0 on, that the values are expected on.
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
    /// Points alone.
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
    pub(crate) fn with_lattice(self, distance: Option<f64>) -> Self {
        let highest = self.ys().fold(0.0, f64::max);
        let has_room =
            |distance: &f64| MAGNITUDES.contains(distance) && (1.0..=LATTICE).contains(&(highest / distance));
        Self { lattice: distance.filter(has_room), ..self }
    }

    /// Returns a point as far as the axes can show it.
    fn clipped(&self, point: Point) -> Option<Point> {
        let is_on_axes =
            self.x.shows(point.x) && self.y.shows(point.y) && point.until.is_none_or(|until| self.x.shows(until));
        let spread = point.spread.filter(|ends| ends.iter().all(|end| self.y.shows(*end)));
        is_on_axes.then_some(Point { spread, ..point })
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

    #[test]
    fn values_off_the_axes_are_counted() {
        let wrong = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1.7e308, 5e-324, -1.0, 0.0];
        let mark = |value| Mark { series: 0, value, spread: Some([value, 1.0]) };
        let rows = || wrong.iter().chain(&[2.0]).map(|value| ("a".to_owned(), vec![mark(*value)]));
        let plot = |spacing| RowPlot::new(axis(spacing), "rows", vec![RowSeries::points("a", "")], rows());
        assert_eq!((plot(Spacing::Log).left_out, plot(Spacing::Log).rows.len()), (7, 1));
        assert_eq!((plot(Spacing::Linear).left_out, plot(Spacing::Linear).rows.len()), (5, 3));
        let points = || Curve::new("a", Form::Line, wrong.map(|value| Point::at(1.0, value)));
        let plot = CurvePlot::new(axis(Spacing::Log), axis(Spacing::Log), [points()]);
        assert!(plot.series.is_empty() && plot.left_out == 7);
    }

    #[test]
    fn a_band_is_drawn_where_the_axis_has_both_ends() {
        let band = |spacing, ends| {
            let mark = Mark { series: 0, value: 5.0, spread: None };
            let series = vec![RowSeries::points("a", "")];
            let plot = RowPlot::new(axis(spacing), "rows", series, [("a".to_owned(), vec![mark])]);
            plot.with_band("margin", ends).values().collect::<Vec<_>>()
        };
        assert_eq!(band(Spacing::Log, [0.5, 2.0]), [5.0, 0.5, 2.0]);
        assert_eq!(band(Spacing::Linear, [0.0, 2.0]), [5.0, 0.0, 2.0]);
        for wrong in [[0.0, 2.0], [f64::NAN, 2.0], [0.5, f64::INFINITY], [2.0, 0.5]] {
            assert_eq!(band(Spacing::Log, wrong), [5.0], "{wrong:?}");
        }
    }

    #[test]
    fn values_beyond_the_end_of_the_axis_take_no_room() {
        let mark = |value| vec![Mark { series: 0, value, spread: None }];
        let rows = [("a".to_owned(), mark(10.0)), ("b".to_owned(), mark(4600.0))];
        let series = vec![RowSeries::points("a", "")];
        let plot = RowPlot::new(axis(Spacing::FromZero), "rows", series, rows);
        let ending = |end| plot.clone().ending_at(end);
        assert_eq!(ending(Some(60.0)).values().collect::<Vec<_>>(), [10.0, 60.0]);
        assert!(ending(Some(60.0)).is_beyond(4600.0) && !ending(Some(60.0)).is_beyond(10.0));
        assert_eq!((ending(Some(5000.0)).end, ending(None).end, ending(Some(f64::NAN)).end), (None, None, None));
    }

    #[test]
    fn a_lattice_is_drawn_where_there_is_room() {
        let plot = || {
            let points = [0.0, 10.0, 100.0].map(|value| Point::at(value, value));
            CurvePlot::new(axis(Spacing::Linear), axis(Spacing::Linear), [Curve::new("a", Form::Stairs, points)])
        };
        let lattice = |distance| plot().with_lattice(distance).lattice;
        assert_eq!(
            [lattice(Some(10.0)), lattice(Some(1.0)), lattice(Some(101.0)), lattice(None)],
            [Some(10.0), None, None, None]
        );
    }

    #[test]
    fn axes_of_ratios_are_logarithmic_where_these_differ_much() {
        let spacing = |ratios: &[f64]| Axis::of_ratios("x", ratios.iter().copied()).spacing;
        assert_eq!(spacing(&[0.98, 1.33]), Spacing::Linear);
        assert_eq!(spacing(&[8.0]), Spacing::Log);
        assert_eq!(spacing(&[0.1, f64::NAN, -3.0]), Spacing::Log);
        assert_eq!(spacing(&[]), Spacing::Linear);
    }

    #[test]
    fn axes_are_logarithmic_where_values_differ_much() {
        let spacing = |values: &[f64]| Axis::fitting("x", Unit::Time, values.iter().copied()).spacing;
        assert_eq!(spacing(&[10.0, 250.0]), Spacing::FromZero);
        assert_eq!(spacing(&[10.0, 350.0]), Spacing::Log);
        assert_eq!(spacing(&[0.0, 350.0]), Spacing::FromZero);
        assert_eq!(spacing(&[]), Spacing::FromZero);
    }
}
