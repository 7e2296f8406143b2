//! The content of a chart, in words, computed from its values.

use super::plots::{Band, ChartRow, Curve, CurvePlot, Form, Mark, MarkShape, MatrixPlot, Plot, Point, RowPlot};
use crate::words::{ELLIPSIS, counted, grouped, shortened};

/// Longest name in a sentence, in characters.
const NAME: usize = 60;

pub(super) fn of(plot: &Plot) -> String {
    let sentences = match plot {
        Plot::Rows(plot) => of_rows(plot),
        Plot::Curves(plot) => of_curves(plot),
        Plot::Matrix(plot) => of_matrix(plot),
        Plot::Evidence(plot) => plot.description(),
    };
    sentences.join(" ")
}

fn of_rows(plot: &RowPlot) -> Vec<String> {
    let show = |value: f64| plot.axis.unit.show(value);
    let mut sentences = vec![format!("{}: {} {}.", plot.axis.title, grouped(plot.rows.len() as u64), plot.things)];
    for (index, series) in plot.series.iter().enumerate() {
        let mark = |marks: &[Mark]| marks.iter().find(|mark| mark.series == index).copied();
        let marks = plot.rows.iter().filter_map(|row| Some((&row.label, mark(&row.marks)?)));
        let marks: Vec<_> = marks.collect();
        let least = marks.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value));
        let most = marks.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value));
        let Some(((least, low), (most, high))) = least.zip(most) else { continue };
        let (least, most) = (short(least), short(most));
        sentences.push(if marks.len() == 1 {
            format!("{}: {} ({least}).", series.name, show(low.value))
        } else {
            let (low, high) = (show(low.value), show(high.value));
            format!("{}: from {low} ({least}) to {high} ({most}).", series.name)
        });
        if series.shape == MarkShape::Point && !series.spread.is_empty() {
            let with = marks.iter().filter(|(_, mark)| mark.spread.is_some()).count() as u64;
            sentences.push(format!("{}: {} of {}.", series.spread, grouped(with), grouped(marks.len() as u64)));
        }
    }
    sentences.extend(plot.band.as_ref().map(|band| of_band(plot, band)));
    sentences.extend(plot.end.map(|end| {
        let is_beyond = |row: &&ChartRow| row.marks.iter().any(|mark| plot.is_beyond(mark.value));
        let beyond = plot.rows.iter().filter(is_beyond).count() as u64;
        format!("The axis ends at {}: {} of the {} go beyond it.", show(end), grouped(beyond), plot.things)
    }));
    sentences.extend(of_words(plot));
    sentences.extend(left_out(plot.left_out as u64, "value"));
    sentences
}

/// Says where the marks of each series, and what they may range over, lie beside a band.
fn of_band(plot: &RowPlot, band: &Band) -> String {
    let [low, high] = [band.low, band.high].map(|end| plot.axis.unit.show(end));
    let mut sentences = vec![format!("{}: {low} to {high}.", band.name)];
    for (index, series) in plot.series.iter().enumerate() {
        let mut counts = [("above it", 0), ("within it", 0), ("below it", 0), ("across an end", 0)];
        for mark in plot.rows.iter().flat_map(|row| &row.marks).filter(|mark| mark.series == index) {
            let [low, high] = mark.spread.unwrap_or([mark.value, mark.value]);
            counts[match () {
                () if low > band.high => 0,
                () if low >= band.low && high <= band.high => 1,
                () if high < band.low => 2,
                () => 3,
            }]
            .1 += 1;
        }
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(position, count)| format!("{count} {position}")).collect();
        if !counts.is_empty() {
            sentences.push(format!("{}: {}.", series.name, counts.join(", ")));
        }
    }
    sentences.join(" ")
}

/// Counts the rows of each word, in the order of the rows.
fn of_words(plot: &RowPlot) -> Option<String> {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for word in plot.rows.iter().map(|row| &*row.word).filter(|word| !word.is_empty()) {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let counts: Vec<String> =
        counts.iter().map(|(word, count)| format!("{} {}", short(word), grouped(*count))).collect();
    (!counts.is_empty()).then(|| format!("{}: {}.", plot.words, counts.join(", ")))
}

fn of_curves(plot: &CurvePlot) -> Vec<String> {
    let mut sentences = vec![format!("{} over {}.", plot.y.title, lower(&plot.x.title))];
    sentences.extend(plot.series.iter().filter_map(|curve| of_curve(plot, curve)));
    sentences.extend(plot.lattice.map(|distance| format!("Lines are {} apart.", plot.y.unit.show(distance))));
    sentences.extend(left_out(plot.left_out, "point"));
    sentences
}

fn of_curve(plot: &CurvePlot, curve: &Curve) -> Option<String> {
    let (x, y) = (|point: &Point| plot.x.unit.show(point.x), |point: &Point| plot.y.unit.show(point.y));
    let (first, last) = (curve.points.first()?, curve.points.last()?);
    let highest = curve.points.iter().max_by(|a, b| a.y.total_cmp(&b.y))?;
    let name = short(&curve.name);
    let count = curve.points.len() as u64;
    Some(match curve.form {
        Form::Bins => {
            let until = highest.until.map_or_else(String::new, |until| format!(" to {}", plot.x.unit.show(until)));
            format!("{name}: {}, the highest {} at {}{until}.", counted(count, "bar"), y(highest), x(highest))
        }
        Form::Points => format!("{name}: {}, the highest {} at {}.", counted(count, "point"), y(highest), x(highest)),
        Form::Line | Form::Stairs if count == 1 => format!("{name}: {} at {}.", y(first), x(first)),
        Form::Line | Form::Stairs => {
            format!("{name}: from {} at {} to {} at {}.", y(first), x(first), y(last), x(last))
        }
    })
}

fn of_matrix(plot: &MatrixPlot) -> Vec<String> {
    let MatrixPlot { thing, what, unit, names, cells, left_out, .. } = plot;
    let pairs = || {
        let upper = cells
            .iter()
            .enumerate()
            .flat_map(|(row, cells)| cells.iter().enumerate().skip(row + 1).map(move |cell| (row, cell)));
        upper.map(|(row, (column, cell))| (row, column, *cell))
    };
    let all = pairs().count() as u64;
    let known = pairs().filter_map(|(row, column, cell)| Some((row, column, cell.value?))).collect::<Vec<_>>();
    let marked = pairs().filter(|(.., cell)| cell.is_marked).count() as u64;
    let mut sentences = vec![format!(
        "{what} of {} {thing}s: {} of {} known.",
        names.len(),
        grouped(known.len() as u64),
        counted(all, "pair")
    )];
    if let Some((a, b, value)) = known.iter().max_by(|a, b| a.2.total_cmp(&b.2)) {
        let bound = cells[*a][*b].bound.map_or_else(String::new, |bound| format!(" ± {}", unit.show(bound)));
        let pair = format!("{thing}s {} and {}", names[*a], names[*b]);
        sentences.push(format!("The largest is {}{bound}, of {pair}.", unit.show(*value)));
    }
    let within = pairs().filter(|(.., cell)| cell.is_within_bound()).count() as u64;
    if within > 0 {
        sentences.push(format!("Within the bound: {}.", counted(within, "pair")));
    }
    if marked > 0 {
        sentences.push(format!("{}: {}.", plot.mark, counted(marked, "pair")));
    }
    if *left_out > 0 {
        sentences.push(format!("There is no room for {} more {thing}s.", grouped(*left_out as u64)));
    }
    sentences
}

fn left_out(count: u64, what: &str) -> Option<String> {
    (count > 0).then(|| {
        format!(
            "{} without a place on the axes: 0 or less on a logarithmic one, or not a number.",
            counted(count, what)
        )
    })
}

/// Shortens a name that would fill a page.
fn short(name: &str) -> String {
    shortened(name, NAME, ELLIPSIS)
}

/// The same as it is within a sentence; abbreviations and symbols stay as they are.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::plots::{Axis, MatrixCell, RowSeries, Spacing};
    use super::super::unit::Unit;
    use super::*;

    fn axis(title: &str, unit: Unit) -> Axis {
        Axis::new(title, unit, Spacing::Log)
    }

    #[test]
    fn rows_are_described_by_their_extremes() {
        let mark = |value: f64, spread| Mark { series: 0, value, spread };
        let rows = [
            ("a".to_owned(), vec![mark(22.25, Some([22.0, 22.5]))]),
            ("b".to_owned(), vec![mark(4.6, None)]),
            ("c".to_owned(), vec![mark(540.0, None)]),
            ("d".to_owned(), vec![mark(0.0, None)]),
        ];
        let series = vec![RowSeries::points("Median", "Interval")];
        let plot = RowPlot::new(axis("Cost per read", Unit::Time), "clocks", series, rows);
        assert_eq!(
            of(&plot.into()),
            "Cost per read: 3 clocks. Median: from 4.6 ns (b) to 540 ns (c). Interval: 1 of 3. 1 value without a place \
              on the axes: 0 or less on a logarithmic one, or not a number."
        );
    }

    #[test]
    fn rows_beside_a_band_are_counted_and_so_are_their_words() {
        let mark = |value: f64, spread| vec![Mark { series: 0, value, spread }];
        let row = |name: &str, word: &str, marks| (name.to_owned(), word.into(), marks);
        let rows = [
            row("a", "slower", mark(1.3, Some([1.2, 1.4]))),
            row("b", "same", mark(1.0, Some([0.99, 1.01]))),
            row("c", "same", mark(1.0, None)),
            row("d", "faster", mark(0.5, Some([0.4, 0.6]))),
            row("e", "", mark(1.1, Some([1.0, 1.2]))),
        ];
        let series = vec![RowSeries::points("Ratio", "")];
        let plot = RowPlot::with_words(axis("Ratio", Unit::Number), "clocks", series, "Change", rows);
        assert_eq!(
            of(&plot.with_band("Margin", [0.98, 1.02]).into()),
            "Ratio: 5 clocks. Ratio: from 0.5 (d) to 1.3 (a). Margin: 0.98 to 1.02. Ratio: 1 above it, 2 within it, 1 below \
             it, 1 across an end. Change: slower 1, same 2, faster 1."
        );
    }

    #[test]
    fn curves_are_described_by_their_ends_and_histograms_by_their_highest_bar() {
        let line = Curve::new("x".repeat(100), Form::Line, [Point::at(1e6, 1e-7), Point::at(1e9, 2e-8)]);
        let bin = |x: f64, y| Point { until: Some(x * 2.0), ..Point::at(x, y) };
        let bins = Curve::new("tsc", Form::Bins, [bin(10.0, 5.0), bin(20.0, 7.0)]);
        let points = Curve::new("gap", Form::Points, [Point::at(10.0, 5.0)]);
        let plot =
            CurvePlot::new(axis("Time", Unit::Time), axis("Allan deviation", Unit::Number), [line, bins, points]);
        let expected = format!(
            "Allan deviation over time. {}…: from 1e-7 at 1 ms to 2e-8 at 1 s. tsc: 2 bars, the highest 7 at 20 ns to 40 ns. \
             gap: 1 point, the highest 5 at 10 ns.",
            "x".repeat(59)
        );
        assert_eq!(of(&plot.into()), expected);
    }

    #[test]
    fn heat_maps_are_described_by_their_pairs() {
        let cell = |value, is_marked| MatrixCell { value, bound: None, is_marked };
        let none = cell(None, false);
        let plot = MatrixPlot {
            thing: "CPU",
            what: "Offset".into(),
            unit: Unit::Time,
            names: vec![0, 1, 7],
            cells: vec![
                vec![none, cell(Some(2.0), false), cell(Some(1200.0), true)],
                vec![cell(Some(2.0), false), none, none],
                vec![cell(Some(1200.0), true), none, none],
            ],
            mark: "Certainly apart".into(),
            left_out: 9,
        };
        assert_eq!(
            of(&plot.into()),
            "Offset of 3 CPUs: 2 of 3 pairs known. The largest is 1.2 µs, of CPUs 0 and 7. Certainly apart: 1 pair. \
             There is no room for 9 more CPUs."
        );
    }
}
