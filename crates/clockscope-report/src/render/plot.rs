//! Curves in characters: a marker for each series, a column for each step of the axis.

use crate::chart::scale::{Scale, Tick};
use crate::chart::{Chart, Curve, CurvePlot, Form, Plot, Point};

/// Rows of a plot.
const HEIGHT: usize = 12;
/// Columns of the widest plot, and of the narrowest.
const WIDEST: usize = 72;
const NARROWEST: usize = 20;
/// Columns of the widest label on the left.
const LABEL: usize = 12;

/// Markers of series, in their order.
const MARKERS: [char; 8] = ['●', '◆', '■', '▲', '+', '▼', '○', '◇'];
const ASCII: [char; 8] = ['*', 'o', 'x', '#', '+', '%', '@', '='];

/// Returns whether the chart is drawn in characters. Tables and histograms of terminals show what
/// other charts do.
pub(super) fn is_drawn(chart: &Chart) -> bool {
    curves(chart).is_some()
}

/// Draws curves in so many columns; no line for other charts.
pub(super) fn draw(chart: &Chart, width: usize, ascii: bool) -> Vec<String> {
    let Some(plot) = curves(chart) else { return Vec::new() };
    let width = width.saturating_sub(LABEL + 3).clamp(NARROWEST, WIDEST);
    let (x, y) = (Scale::of(&plot.x, plot.xs(), 4), Scale::of(&plot.y, plot.ys(), 4));
    let mut cells = vec![vec![' '; width]; HEIGHT];
    for (series, (curve, marker)) in plot.series.iter().zip(markers(ascii)).enumerate() {
        let mut points = curve_cells(curve, &x, &y, width);
        if curve.form == Form::Stairs && points.len() > plot.series.len() {
            // Where stairs lie on each other, their markers take turns.
            points.retain(|(column, _)| column % plot.series.len() == series);
        }
        for (column, row) in points {
            let column = if curve.form == Form::Line { free(&cells[row], column) } else { column };
            cells[row][column] = marker;
        }
    }
    let mut lines = framed(plot, &y, &cells, ascii);
    lines.extend(below(plot, &x, width, ascii));
    lines.iter().map(|line| in_characters(line, ascii)).collect()
}

/// Returns the nearest free cell on the right, otherwise on the left: a marker covers no other as
/// long as there is room.
fn free(row: &[char], column: usize) -> usize {
    let right = (column..row.len()).take(MARKERS.len());
    let left = (0..column).rev().take(MARKERS.len());
    right.chain(left).find(|at| row[*at] == ' ').unwrap_or(column)
}

/// Says what the axes and the markers are.
pub(super) fn key(chart: &Chart, ascii: bool) -> String {
    let Some(plot) = curves(chart) else { return String::new() };
    let names = plot.series.iter().zip(markers(ascii)).map(|(curve, marker)| format!("{marker} {}", curve.name));
    let names: Vec<String> = names.collect();
    let has_lines = names.len() > 1 && plot.series.iter().any(|curve| curve.form == Form::Line);
    let beside = if has_lines { ". Markers of one place are side by side" } else { "" };
    in_characters(&format!("{}, over: {}. {}{beside}", plot.y.title, plot.x.title, names.join(", ")), ascii)
}

fn markers(ascii: bool) -> impl Iterator<Item = char> {
    (if ascii { ASCII } else { MARKERS }).into_iter().cycle()
}

fn in_characters(line: &str, ascii: bool) -> String {
    if ascii { super::ascii::ascii(line) } else { line.to_owned() }
}

fn curves(chart: &Chart) -> Option<&CurvePlot> {
    let is_curve = |curve: &Curve| matches!(curve.form, Form::Line | Form::Stairs);
    match &chart.plot {
        Plot::Curves(plot) if chart.has_characters && plot.series.iter().all(is_curve) => Some(plot),
        Plot::Curves(_) | Plot::Rows(_) | Plot::Evidence(_) => None,
    }
}

/// Returns the cells of a curve: those of its points, and of stairs those of every column up to the
/// last point.
fn curve_cells(curve: &Curve, x: &Scale, y: &Scale, width: usize) -> Vec<(usize, usize)> {
    let column = |point: &Point| (x.position(point.x) * (width - 1) as f64).round() as usize;
    let row = |point: &Point| HEIGHT - 1 - (y.position(point.y) * (HEIGHT - 1) as f64).round() as usize;
    if curve.form == Form::Line {
        return curve.points.iter().map(|point| (column(point), row(point))).collect();
    }
    let first = curve.points.first().map_or(width, column);
    let height = |at: usize| curve.points.iter().rev().find(|point| column(point) <= at).map(row);
    let end = curve.points.last().map_or(0, |last| column(last) + 1);
    (first..end).filter_map(|at| Some((at, height(at)?))).collect()
}

/// Puts the vertical axis on the left of the rows.
fn framed(plot: &CurvePlot, y: &Scale, cells: &[Vec<char>], ascii: bool) -> Vec<String> {
    let ticks = y.ticks(&plot.y, 6);
    let label = |row: usize| {
        let is_here =
            |tick: &&Tick| HEIGHT - 1 - (y.position(tick.value) * (HEIGHT - 1) as f64).round() as usize == row;
        ticks.iter().find(is_here).map_or("", |tick| tick.label.as_str())
    };
    let edge = if ascii { '|' } else { '│' };
    let line = |(row, cells): (usize, &Vec<char>)| {
        let label: String = label(row).chars().take(LABEL).collect();
        format!("{label:>LABEL$} {edge}{}", cells.iter().collect::<String>())
    };
    cells.iter().enumerate().map(line).collect()
}

/// The horizontal axis with its labels.
fn below(plot: &CurvePlot, x: &Scale, width: usize, ascii: bool) -> [String; 2] {
    let (corner, edge) = if ascii { ("+", "-") } else { ("└", "─") };
    let mut labels = vec![' '; width + 1];
    let mut free = 0;
    for Tick { value, label } in x.ticks(&plot.x, 8) {
        let length = label.chars().count();
        let center = (x.position(value) * (width - 1) as f64).round() as usize;
        let start = center.saturating_sub(length / 2).min((width + 1).saturating_sub(length));
        if start < free || length > width {
            continue;
        }
        for (offset, letter) in label.chars().enumerate() {
            labels[start + offset] = letter;
        }
        free = start + length + 2;
    }
    let labels: String = labels.into_iter().collect();
    [format!("{:LABEL$} {corner}{}", "", edge.repeat(width)), format!("{:LABEL$}  {labels}", "")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Spacing, Unit};

    fn chart(form: Form, points: &[(f64, f64)]) -> Chart {
        let axis = |title: &str, unit| Axis::new(title, unit, Spacing::Log);
        let points = || points.iter().map(|(x, y)| Point::at(*x, *y));
        let curves = ["a", "b"].map(|name| Curve::new(name, form, points()));
        Chart::new("x", "X", CurvePlot::new(axis("τ", Unit::Time), axis("Deviation", Unit::Number), curves))
            .in_characters()
    }

    #[test]
    fn a_falling_line_falls() {
        let lines = draw(&chart(Form::Line, &[(1e6, 1e-6), (1e7, 1e-7), (1e8, 1e-8)]), 60, true);
        assert_eq!(lines.len(), HEIGHT + 2);
        for marker in ['*', 'o'] {
            let columns: Vec<usize> = lines[..HEIGHT].iter().filter_map(|line| line.find(marker)).collect();
            assert!(columns.len() == 3 && columns.windows(2).all(|pair| pair[0] < pair[1]), "{lines:#?}");
        }
        assert!(lines.iter().all(|line| line.is_ascii()), "{lines:#?}");
        assert!(lines[0].trim_start().starts_with("1e-6 |"), "{lines:#?}");
        assert!(lines[HEIGHT + 1].contains("1 ms"), "{lines:#?}");
        let chart = chart(Form::Line, &[(1e6, 1e-6)]);
        assert_eq!(key(&chart, true), "Deviation, over: tau. * a, o b. Markers of one place are side by side");
    }

    #[test]
    fn stairs_fill_every_column() {
        let lines = draw(&chart(Form::Stairs, &[(10.0, 1.0), (20.0, 50.0), (1000.0, 100.0)]), 80, false);
        let count = |marker| lines[..HEIGHT].iter().map(|line| line.matches(marker).count()).sum::<usize>();
        let width = lines[HEIGHT].matches('─').count();
        assert_eq!([count('●'), count('◆')], [width.div_ceil(2), width / 2], "{lines:#?}");
    }

    #[test]
    fn stairs_end_at_their_last_point() {
        let curve =
            |points: &[(f64, f64)]| Curve::new("a", Form::Stairs, points.iter().map(|(x, y)| Point::at(*x, *y)));
        let axis = |spacing| Axis::new("x", Unit::Time, spacing);
        let curves = [curve(&[(10.0, 0.0), (100.0, 5.0)]), curve(&[(10.0, 0.0), (1000.0, 9.0)])];
        let plot = CurvePlot::new(axis(Spacing::Log), axis(Spacing::FromZero), curves);
        let lines = draw(&Chart::new("x", "X", plot).in_characters(), 80, true);
        let last = |marker| lines[..HEIGHT].iter().filter_map(|line| line.rfind(marker)).max();
        let frame = LABEL + 2;
        let width = lines[HEIGHT].matches('-').count();
        assert!(last('*') <= Some(frame + width / 2 + 1) && last('o') >= Some(frame + width - 2), "{lines:#?}");
    }

    #[test]
    fn other_charts_have_no_lines() {
        let bins = chart(Form::Bins, &[(10.0, 1.0)]);
        assert!(!is_drawn(&bins) && draw(&bins, 80, false).is_empty());
    }
}
