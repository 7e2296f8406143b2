//! Things one below the other, with marks along a horizontal axis.

use maud::html;

use super::parts::{
    Anchor, Elements, Frame, HORIZONTAL, Px, Sign, WIDTH, class, horizontal, legend, marker, short, text, width,
};
use crate::chart::scale::Scale;
use crate::chart::{Band, ChartRow, Mark, MarkShape, RowPlot};
use crate::words::{Text, grouped, shortened_inside};

/// Most rows; the table beside the chart has all.
const MOST: usize = 150;
/// Most characters of a row's name.
const NAME: usize = 36;
/// Most characters of the word beside a row.
const WORD: usize = 14;
/// Width of a band that is narrower than a line.
const NARROWEST: f64 = 3.0;
/// Length of an arrow to a value beyond the axis.
const ARROW: f64 = 14.0;
/// Height of a row of one mark, and of each further one.
const ROW: f64 = 20.0;
const FURTHER: f64 = 12.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &RowPlot, top: f64) -> f64 {
    let top = keys(svg, plot, top);
    let visible = &plot.rows[..plot.rows.len().min(MOST)];
    let row_height = ROW + FURTHER * plot.series.len().saturating_sub(1) as f64;
    let longest = |text: fn(&ChartRow) -> &Text, most: usize| {
        visible.iter().map(|row| text(row).chars().count().min(most)).max().unwrap_or(0) as f64 * 7.0
    };
    let left = 24.0 + longest(|row| &row.label, NAME);
    let right = 20.0 + longest(|row| &row.word, WORD);
    let frame =
        Frame { left, top: top + 6.0, width: WIDTH - left - right, height: row_height * visible.len() as f64 + 6.0 };
    let scale = Scale::of(&plot.axis, plot.values(), 6);
    if let Some(band) = &plot.band {
        self::band(svg, &frame, &scale, band);
    }
    horizontal(svg, &frame, &scale, &plot.axis);
    for (index, row) in visible.iter().enumerate() {
        let above = frame.top + 3.0 + index as f64 * row_height;
        text(
            svg,
            frame.left - 8.0,
            above + row_height / 2.0 + 4.0,
            Anchor::End,
            "label",
            shortened_inside(&row.label, NAME),
        );
        if !row.word.is_empty() {
            let middle = above + row_height / 2.0 + 4.0;
            text(svg, frame.right() + 10.0, middle, Anchor::Start, "label", short(&row.word, WORD));
        }
        for mark in &row.marks {
            let y = above + ROW / 2.0 + FURTHER * mark.series as f64;
            self::mark(svg, plot, &frame, &scale, mark, y);
        }
    }
    let bottom = frame.bottom() + HORIZONTAL;
    if visible.len() == plot.rows.len() {
        return bottom;
    }
    let more = format!("and {} more {} in the table", grouped((plot.rows.len() - visible.len()) as u64), plot.things);
    text(svg, 12.0, bottom + 10.0, Anchor::Start, "name", more);
    bottom + 20.0
}

fn mark(svg: &mut Elements, plot: &RowPlot, frame: &Frame, scale: &Scale, mark: &Mark, y: f64) {
    let x = frame.x(scale, mark.value);
    if plot.is_beyond(mark.value) {
        arrow(svg, mark.series, frame.right(), y);
        value(svg, plot, frame, mark, (frame.right() - ARROW, frame.right()), y);
        return;
    }
    if plot.has_values {
        let [start, end] = mark.spread.map_or([x, x], |ends| ends.map(|end| frame.x(scale, end)));
        value(svg, plot, frame, mark, (start.min(x), end.max(x)), y);
    }
    match plot.series.get(mark.series).map(|series| series.shape) {
        Some(MarkShape::Bar) => {
            // The shortest bar still shows.
            let length = (x - frame.left).max(1.5);
            let (left, top) = (Px(frame.left), Px(y - 5.0));
            let class = class("bar", mark.series);
            svg.add(html! { rect class=(class) x=(left) y=(top) width=(Px(length)) height=(Px(10.0)) {} });
        }
        Some(MarkShape::Point) => {
            if let Some([low, high]) = mark.spread {
                spread(svg, mark.series, frame.x(scale, low), frame.x(scale, high), y);
            }
            marker(svg, mark.series, x, y);
        }
        None => {}
    }
}

/// Draws an arrow to a value beyond the end of the axis.
fn arrow(svg: &mut Elements, series: usize, right: f64, y: f64) {
    let path = format!("M{0} {1}h{ARROW}m-5 -4l5 4l-5 4", Px(right - ARROW), Px(y));
    svg.add(html! { path class=(class("spread", series)) d=(path) {} });
}

/// Writes a value on the right of its mark, or on the left where the frame ends.
fn value(svg: &mut Elements, plot: &RowPlot, frame: &Frame, mark: &Mark, (start, end): (f64, f64), y: f64) {
    /// Between a mark and its value.
    const AWAY: f64 = 8.0;
    let value = plot.axis.unit.show(mark.value);
    if end + AWAY + width(&value) <= frame.right() {
        text(svg, end + AWAY, y + 4.0, Anchor::Start, "tick", value);
    } else {
        text(svg, start - AWAY, y + 4.0, Anchor::End, "tick", value);
    }
}

/// Draws a part of the axis as an area between two lines.
fn band(svg: &mut Elements, frame: &Frame, scale: &Scale, band: &Band) {
    let [low, high] = [band.low, band.high].map(|end| frame.x(scale, end));
    let middle = (low + high) / 2.0;
    let half = ((high - low) / 2.0).max(NARROWEST / 2.0);
    area(svg, middle - half, frame.top, half * 2.0, frame.height);
}

fn area(svg: &mut Elements, x: f64, y: f64, width: f64, height: f64) {
    let (x, y, width, height) = (Px(x), Px(y), Px(width), Px(height));
    svg.add(html! { rect class="band" x=(x) y=(y) width=(width) height=(height) {} });
    let path = format!("M{x} {y}v{height}m{width} 0v-{height}");
    svg.add(html! { path class="edge" d=(path) {} });
}

/// Draws a line with ends that show even where it is short.
fn spread(svg: &mut Elements, series: usize, low: f64, high: f64, y: f64) {
    let end = |x: f64| format!("M{} {}v8", Px(x), Px(y - 4.0));
    let path = format!("M{} {}H{}{}{}", Px(low), Px(y), Px(high), end(low), end(high));
    svg.add(html! { path class=(class("spread", series)) d=(path) {} });
}

/// Draws what the marks mean.
fn keys(svg: &mut Elements, plot: &RowPlot, top: f64) -> f64 {
    let mut entries: Vec<(String, Sign)> = Vec::new();
    for (index, series) in plot.series.iter().enumerate() {
        let sign: Sign = match series.shape {
            MarkShape::Point => Box::new(move |svg, x, y| marker(svg, index, x + 14.0, y)),
            MarkShape::Bar => Box::new(move |svg, x, y| {
                let (x, y) = (Px(x + 4.0), Px(y - 5.0));
                let class = class("bar", index);
                svg.add(html! { rect class=(class) x=(x) y=(y) width=(20) height=(10) {} });
            }),
        };
        entries.push((series.name.to_string(), sign));
        if !series.spread.is_empty() {
            let sign = move |svg: &mut Elements, x: f64, y: f64| spread(svg, index, x + 2.0, x + 26.0, y);
            entries.push((series.spread.to_string(), Box::new(sign)));
        }
    }
    if let Some(band) = &plot.band {
        let sign = |svg: &mut Elements, x: f64, y: f64| area(svg, x + 6.0, y - 7.0, 16.0, 14.0);
        entries.push((band.name.to_string(), Box::new(sign)));
    }
    legend(svg, top, &entries)
}
