//! Curves in characters: a marker for each series, a column for each step of the axis.

use crate::chart::scale::{Scale, Tick};
use crate::chart::{Chart, Curve, CurvePlot, Form, Plot};

/// Rows of a plot.
const ROWS: usize = 12;
/// Columns of the narrowest plot, and of the widest.
const MIN_WIDTH: usize = 20;
const MAX_WIDTH: usize = 72;
/// Columns of the labels on the left.
const LABEL_WIDTH: usize = 12;

/// Markers of series, in their order.
const MARKERS: [char; 8] = ['●', '◆', '■', '▲', '+', '▼', '○', '◇'];
const ASCII_MARKERS: [char; 8] = ['*', 'o', 'x', '#', '+', '%', '@', '='];

/// Returns whether the chart is drawn in characters. For other charts, a terminal has tables and
/// histograms.
pub(super) fn is_drawn(chart: &Chart) -> bool {
    curves(chart).is_some()
}

/// Draws curves in `width` columns. Other charts have no lines.
pub(super) fn draw(chart: &Chart, width: usize, ascii: bool) -> Vec<String> {
    let Some(plot) = curves(chart) else { return Vec::new() };
    let width = width.saturating_sub(LABEL_WIDTH + 3).clamp(MIN_WIDTH, MAX_WIDTH);
    let (x, y) = (Scale::new(&plot.x, plot.xs(), 4), Scale::new(&plot.y, plot.ys(), 4));
    let mut cells = vec![vec![' '; width]; ROWS];
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

/// Returns the nearest free cell on the right, otherwise on the left, so that a marker covers no
/// other where there is room.
fn free(row: &[char], column: usize) -> usize {
    let right = (column..row.len()).take(MARKERS.len());
    let left = (0..column).rev().take(MARKERS.len());
    right.chain(left).find(|at| row[*at] == ' ').unwrap_or(column)
}

/// Names the axes and the markers.
pub(super) fn key(chart: &Chart, ascii: bool) -> String {
    let Some(plot) = curves(chart) else { return String::new() };
    let names = plot.series.iter().zip(markers(ascii)).map(|(curve, marker)| format!("{marker} {}", curve.name));
    let names: Vec<String> = names.collect();
    let has_lines = names.len() > 1 && plot.series.iter().any(|curve| curve.form == Form::Line);
    let beside = if has_lines { ". Markers of one place are side by side" } else { "" };
    in_characters(&format!("{}, over: {}. {}{beside}", plot.y.title, plot.x.title, names.join(", ")), ascii)
}

fn markers(ascii: bool) -> impl Iterator<Item = char> {
    (if ascii { ASCII_MARKERS } else { MARKERS }).into_iter().cycle()
}

fn in_characters(line: &str, ascii: bool) -> String {
    if ascii { super::ascii::ascii(line) } else { line.to_owned() }
}

fn curves(chart: &Chart) -> Option<&CurvePlot> {
    let Plot::Curves(plot) = &chart.plot else { return None };
    let are_curves = plot.series.iter().all(|curve| matches!(curve.form, Form::Line | Form::Stairs));
    if chart.has_characters && are_curves { Some(plot) } else { None }
}

/// Returns the column of a value.
fn column(x: &Scale, value: f64, width: usize) -> usize {
    (x.position(value) * (width - 1) as f64).round() as usize
}

/// Returns the row of a value, from the top.
fn row(y: &Scale, value: f64) -> usize {
    ROWS - 1 - (y.position(value) * (ROWS - 1) as f64).round() as usize
}

/// Returns the cells of a curve: those of its points, and for stairs those of every column up to
/// the last point.
fn curve_cells(curve: &Curve, x: &Scale, y: &Scale, width: usize) -> Vec<(usize, usize)> {
    let cells: Vec<(usize, usize)> =
        curve.points.iter().map(|point| (column(x, point.x, width), row(y, point.y))).collect();
    let (Form::Stairs, [(first, _), ..], Some((last, _))) = (curve.form, cells.as_slice(), cells.last()) else {
        return cells;
    };
    let mut stairs = Vec::new();
    for at in *first..=*last {
        stairs.extend(cells.iter().rev().find(|(column, _)| *column <= at).map(|(_, row)| (at, *row)));
    }
    stairs
}

/// Puts the vertical axis on the left of the rows.
fn framed(plot: &CurvePlot, y: &Scale, cells: &[Vec<char>], ascii: bool) -> Vec<String> {
    let ticks = y.ticks(&plot.y, 6);
    let edge = if ascii { '|' } else { '│' };
    let mut lines = Vec::new();
    for (index, cells) in cells.iter().enumerate() {
        let tick = ticks.iter().find(|tick| row(y, tick.value) == index);
        let label: String = tick.map_or("", |tick| &tick.label).chars().take(LABEL_WIDTH).collect();
        lines.push(format!("{label:>LABEL_WIDTH$} {edge}{}", cells.iter().collect::<String>()));
    }
    lines
}

/// Returns the horizontal axis with its labels.
fn below(plot: &CurvePlot, x: &Scale, width: usize, ascii: bool) -> [String; 2] {
    let (corner, edge) = if ascii { ("+", "-") } else { ("└", "─") };
    let mut labels = vec![' '; width + 1];
    let mut free = 0;
    for Tick { value, label } in x.ticks(&plot.x, 8) {
        let length = label.chars().count();
        let start = column(x, value, width).saturating_sub(length / 2).min((width + 1).saturating_sub(length));
        if start < free || length > width {
            continue;
        }
        for (offset, letter) in label.chars().enumerate() {
            labels[start + offset] = letter;
        }
        free = start + length + 2;
    }
    let labels: String = labels.into_iter().collect();
    [format!("{:LABEL_WIDTH$} {corner}{}", "", edge.repeat(width)), format!("{:LABEL_WIDTH$}  {labels}", "")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Point, Spacing, Unit};

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
        assert_eq!(lines.len(), ROWS + 2);
        for marker in ['*', 'o'] {
            let columns: Vec<usize> = lines[..ROWS].iter().filter_map(|line| line.find(marker)).collect();
            assert!(columns.len() == 3 && columns.windows(2).all(|pair| pair[0] < pair[1]), "{lines:#?}");
        }
        assert!(lines.iter().all(|line| line.is_ascii()), "{lines:#?}");
        assert!(lines[0].trim_start().starts_with("1e-6 |"), "{lines:#?}");
        assert!(lines[ROWS + 1].contains("1 ms"), "{lines:#?}");
        let chart = chart(Form::Line, &[(1e6, 1e-6)]);
        assert_eq!(key(&chart, true), "Deviation, over: tau. * a, o b. Markers of one place are side by side");
    }

    #[test]
    fn stairs_fill_every_column() {
        let lines = draw(&chart(Form::Stairs, &[(10.0, 1.0), (20.0, 50.0), (1000.0, 100.0)]), 80, false);
        let count = |marker| lines[..ROWS].iter().map(|line| line.matches(marker).count()).sum::<usize>();
        let width = lines[ROWS].matches('─').count();
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
        let last = |marker| lines[..ROWS].iter().filter_map(|line| line.rfind(marker)).max();
        let frame = LABEL_WIDTH + 2;
        let width = lines[ROWS].matches('-').count();
        assert!(last('*') <= Some(frame + width / 2 + 1) && last('o') >= Some(frame + width - 2), "{lines:#?}");
    }

    #[test]
    fn other_charts_have_no_lines() {
        let bins = chart(Form::Bins, &[(10.0, 1.0)]);
        assert!(!is_drawn(&bins) && draw(&bins, 80, false).is_empty());
    }
}
