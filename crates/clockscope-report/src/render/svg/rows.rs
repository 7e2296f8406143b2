//! Things one below the other, with marks along a horizontal axis.

use super::parts::{Anchor, Frame, HORIZONTAL, Px, Sign, WIDTH, class, horizontal, legend, marker, short, text};
use crate::chart::scale::Scale;
use crate::chart::{Look, Mark, RowPlot};
use crate::render::markup::Markup;
use crate::text::grouped;

/// Most rows; the table beside the chart has all.
const MOST: usize = 150;
/// Most characters of a row's name.
const NAME: usize = 30;
/// Height of a row of one mark, and of each further one.
const ROW: f64 = 22.0;
const FURTHER: f64 = 12.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Markup, plot: &RowPlot, top: f64) -> f64 {
    let top = keys(svg, plot, top);
    let shown = &plot.rows[..plot.rows.len().min(MOST)];
    let row_height = ROW + FURTHER * plot.series.len().saturating_sub(1) as f64;
    let longest = shown.iter().map(|row| row.label.chars().count().min(NAME)).max().unwrap_or(0);
    let left = 24.0 + longest as f64 * 7.0;
    let frame =
        Frame { left, top: top + 6.0, width: WIDTH - left - 20.0, height: row_height * shown.len() as f64 + 6.0 };
    let scale = Scale::of(&plot.axis, plot.values(), 6);
    horizontal(svg, &frame, &scale, &plot.axis);
    for (place, row) in shown.iter().enumerate() {
        let above = frame.top + 3.0 + place as f64 * row_height;
        text(svg, frame.left - 8.0, above + row_height / 2.0 + 4.0, Anchor::End, "label", short(&row.label, NAME));
        for mark in &row.marks {
            let y = above + ROW / 2.0 + FURTHER * mark.series as f64;
            self::mark(svg, plot, &frame, &scale, mark, y);
        }
    }
    let bottom = frame.bottom() + HORIZONTAL;
    if shown.len() == plot.rows.len() {
        return bottom;
    }
    let more = format!("and {} more {} in the table", grouped((plot.rows.len() - shown.len()) as u64), plot.things);
    text(svg, 12.0, bottom + 10.0, Anchor::Start, "name", more);
    bottom + 20.0
}

fn mark(svg: &mut Markup, plot: &RowPlot, frame: &Frame, scale: &Scale, mark: &Mark, y: f64) {
    let x = frame.x(scale, mark.value);
    match plot.series.get(mark.series).map(|series| series.look) {
        Some(Look::Bar) => {
            // The shortest bar still shows.
            let width = (x - frame.left).max(1.5);
            let (left, top) = (Px(frame.left), Px(y - 5.0));
            let class = class("bar", mark.series);
            svg.empty(
                "rect",
                &[("class", &class), ("x", &left), ("y", &top), ("width", &Px(width)), ("height", &Px(10.0))],
            );
        }
        Some(Look::Point) => {
            if let Some([low, high]) = mark.spread {
                spread(svg, mark.series, frame.x(scale, low), frame.x(scale, high), y);
            }
            marker(svg, mark.series, x, y);
        }
        None => {}
    }
}

/// Draws a line with ends that show even where it is short.
fn spread(svg: &mut Markup, series: usize, low: f64, high: f64, y: f64) {
    let end = |x: f64| format!("M{} {}v8", Px(x), Px(y - 4.0));
    let path = format!("M{} {}H{}{}{}", Px(low), Px(y), Px(high), end(low), end(high));
    svg.empty("path", &[("class", &class("spread", series)), ("d", &path)]);
}

/// Draws what the marks mean.
fn keys(svg: &mut Markup, plot: &RowPlot, top: f64) -> f64 {
    let mut entries: Vec<(String, Sign)> = Vec::new();
    for (place, series) in plot.series.iter().enumerate() {
        let sign: Sign = match series.look {
            Look::Point => Box::new(move |svg, x, y| marker(svg, place, x + 14.0, y)),
            Look::Bar => Box::new(move |svg, x, y| {
                let (x, y) = (Px(x + 4.0), Px(y - 5.0));
                let class = class("bar", place);
                svg.empty("rect", &[("class", &class), ("x", &x), ("y", &y), ("width", &20), ("height", &10)]);
            }),
        };
        entries.push((series.name.to_string(), sign));
        if !series.spread.is_empty() {
            let sign = move |svg: &mut Markup, x: f64, y: f64| spread(svg, place, x + 2.0, x + 26.0, y);
            entries.push((series.spread.to_string(), Box::new(sign)));
        }
    }
    legend(svg, top, &entries)
}
