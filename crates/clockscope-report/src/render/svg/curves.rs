//! Values over values: lines, stairs, points and histograms.

use maud::html;

use super::parts::{Elements, Frame, HORIZONTAL, Px, Sign, WIDTH, class, horizontal, legend, line, marker, vertical};
use crate::chart::scale::Scale;
use crate::chart::{Curve, CurvePlot, Form, Point};

/// Height of the frame.
const HEIGHT: f64 = 260.0;
/// Room for the labels of the vertical axis.
const LEFT: f64 = 84.0;
/// Points that have markers; more of them would hide the line.
const MARKED: usize = 60;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &CurvePlot, top: f64) -> f64 {
    let top = keys(svg, plot, top);
    let frame = Frame { left: LEFT, top: top + 30.0, width: WIDTH - LEFT - 24.0, height: HEIGHT };
    let (x, y) = (Scale::of(&plot.x, plot.xs(), 6), Scale::of(&plot.y, plot.ys(), 5));
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

/// Draws the lines that values are expected on.
fn lattice(svg: &mut Elements, frame: &Frame, y: &Scale, distance: f64) {
    let count = (y.high / distance).floor();
    let mut path = String::new();
    for index in 0..=count as usize {
        path.push_str(&format!(
            "M{} {}H{}",
            Px(frame.left),
            Px(frame.y(y, index as f64 * distance)),
            Px(frame.right())
        ));
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
        let is_same = |after: &mut &Point, before: &mut &Point| {
            let tenths =
                |point: &Point| <[f64; 2]>::from(self.position(point)).map(|coordinate| (coordinate * 10.0).round());
            after.spread == before.spread && tenths(after) == tenths(before)
        };
        let mut points: Vec<&Point> = curve.points.iter().collect();
        points.dedup_by(is_same);
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
        if curve.form == Form::Points || positions.len() <= MARKED && curve.form == Form::Line {
            positions.iter().for_each(|(x, y)| marker(svg, series, *x, *y));
        }
    }

    fn position(&self, point: &Point) -> (f64, f64) {
        (self.frame.x(&self.x, point.x), self.frame.y(&self.y, point.y))
    }

    /// Joins places by one path. A value of stairs holds until the next one, the last for no time.
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

/// Draws the names of several series; a chart of one needs none.
fn keys(svg: &mut Elements, plot: &CurvePlot, top: f64) -> f64 {
    if plot.series.len() < 2 {
        return top;
    }
    let sign = |(index, curve): (usize, &Curve)| -> (String, Sign) {
        let (has_line, has_marker) =
            (matches!(curve.form, Form::Line | Form::Stairs), matches!(curve.form, Form::Line | Form::Points));
        let sign = move |svg: &mut Elements, x: f64, y: f64| {
            if has_line {
                let path = format!("M{} {}h28", Px(x), Px(y));
                svg.add(html! { path class=(class("line", index)) d=(path) {} });
            }
            if has_marker {
                marker(svg, index, x + 14.0, y);
            }
            if !has_line && !has_marker {
                line(svg, "axis", (x, y), (x + 28.0, y));
            }
        };
        (curve.name.to_string(), Box::new(sign))
    };
    let entries: Vec<(String, Sign)> = plot.series.iter().enumerate().map(sign).collect();
    legend(svg, top, &entries)
}
