//! Values over values: lines, stairs, points and histograms.

use maud::html;

use super::parts::{Elements, Frame, HORIZONTAL, Legend, Px, WIDTH, class, horizontal, line, marker, vertical};
use crate::chart::scale::Scale;
use crate::chart::{Curve, CurvePlot, Form, Point};

/// Height of the frame.
const FRAME_HEIGHT: f64 = 260.0;
/// Width of the labels of the vertical axis.
const LABEL_WIDTH: f64 = 84.0;
/// Most points of a line with markers: more would hide the line.
const MAX_MARKERS: usize = 60;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &CurvePlot, top: f64) -> f64 {
    let top = keys(svg, plot, top);
    let width = WIDTH - LABEL_WIDTH - 24.0;
    let frame = Frame { left: LABEL_WIDTH, top: top + 30.0, width, height: FRAME_HEIGHT };
    let (x, y) = (Scale::new(&plot.x, plot.xs(), 6), Scale::new(&plot.y, plot.ys(), 5));
    vertical(svg, &frame, &y, &plot.y);
    horizontal(svg, &frame, &x, &plot.x);
    if let Some(distance) = plot.lattice {
        lattice(svg, &frame, &y, distance);
    }
    let drawing = Drawing { frame, x, y };
    for (index, curve) in plot.series.iter().enumerate() {
        drawing.curve(svg, index, curve);
    }
    frame.bottom() + HORIZONTAL
}

/// Draws the horizontal lines at the multiples of a distance.
fn lattice(svg: &mut Elements, frame: &Frame, y: &Scale, distance: f64) {
    let count = (y.high / distance).floor();
    let mut path = String::new();
    for index in 0..=count as usize {
        let y = frame.y(y, index as f64 * distance);
        path.push_str(&format!("M{} {}H{}", Px(frame.left), Px(y), Px(frame.right())));
    }
    svg.add(html! { path class="lattice" d=(path) {} });
}

struct Drawing {
    frame: Frame,
    x: Scale,
    y: Scale,
}

impl Drawing {
    fn curve(&self, svg: &mut Elements, series: usize, curve: &Curve) {
        let mut points: Vec<&Point> = curve.points.iter().collect();
        points.dedup_by_key(|point| {
            let (x, y) = self.position(point);
            (point.spread, (x * 10.0).round(), (y * 10.0).round())
        });
        let positions: Vec<(f64, f64)> = points.iter().map(|point| self.position(point)).collect();
        match curve.form {
            Form::Bins => return self.bins(svg, series, curve),
            Form::Points => {}
            Form::Line => self.path(svg, series, &positions, false),
            Form::Stairs => self.path(svg, series, &positions, true),
        }
        for (point, (x, _)) in points.iter().zip(&positions) {
            if let Some([low, high]) = point.spread {
                let (low, high) = (self.frame.y(&self.y, low), self.frame.y(&self.y, high));
                let path = format!("M{0} {1}V{2}", Px(*x), Px(low), Px(high));
                svg.add(html! { path class=(class("spread", series)) d=(path) {} });
            }
        }
        if curve.form == Form::Points || positions.len() <= MAX_MARKERS && curve.form == Form::Line {
            positions.iter().for_each(|(x, y)| marker(svg, series, *x, *y));
        }
    }

    fn position(&self, point: &Point) -> (f64, f64) {
        (self.frame.x(&self.x, point.x), self.frame.y(&self.y, point.y))
    }

    /// Joins places by one path. A step of stairs reaches to the next place; the last has no
    /// length.
    fn path(&self, svg: &mut Elements, series: usize, positions: &[(f64, f64)], is_stairs: bool) {
        let Some(((x, y), others)) = positions.split_first() else { return };
        if is_stairs && others.is_empty() {
            return marker(svg, series, *x, *y);
        }
        let mut path = format!("M{} {}", Px(*x), Px(*y));
        for (x, y) in others {
            path.push_str(&if is_stairs {
                format!("H{}V{}", Px(*x), Px(*y))
            } else {
                format!("L{} {}", Px(*x), Px(*y))
            });
        }
        svg.add(html! { path class=(class("line", series)) d=(path) {} });
    }

    /// Draws all bars of a histogram as one path.
    fn bins(&self, svg: &mut Elements, series: usize, curve: &Curve) {
        let bottom = self.frame.bottom();
        let mut path = String::new();
        for point in &curve.points {
            let (left, top) = self.position(point);
            let right = point.until.map_or(left, |until| self.frame.x(&self.x, until));
            // The narrowest and the lowest bar still show.
            let (width, height) = ((right - left).max(1.5), (bottom - top).max(1.5));
            path.push_str(&format!(
                "M{} {}h{}v{}h-{}Z",
                Px(left),
                Px(bottom - height),
                Px(width),
                Px(height),
                Px(width)
            ));
        }
        svg.add(html! { path class=(class("bar", series)) d=(path) {} });
    }
}

/// Draws the legend of several series, and returns the place below it. One series needs none.
fn keys(svg: &mut Elements, plot: &CurvePlot, top: f64) -> f64 {
    if plot.series.len() < 2 {
        return top;
    }
    let mut legend = Legend::new(top);
    for (index, curve) in plot.series.iter().enumerate() {
        legend.entry(svg, &curve.name, |svg, x, y| {
            if matches!(curve.form, Form::Line | Form::Stairs) {
                let path = format!("M{} {}h28", Px(x), Px(y));
                svg.add(html! { path class=(class("line", index)) d=(path) {} });
            }
            match curve.form {
                Form::Line | Form::Points => marker(svg, index, x + 14.0, y),
                Form::Bins => line(svg, "axis", (x, y), (x + 28.0, y)),
                Form::Stairs => {}
            }
        });
    }
    legend.bottom()
}
