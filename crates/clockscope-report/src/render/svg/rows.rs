//! Rows with marks along a horizontal axis.

use maud::html;

use super::parts::{
    Anchor, Elements, Frame, HORIZONTAL, Legend, Px, WIDTH, class, horizontal, marker, short, text, width,
};
use crate::chart::scale::Scale;
use crate::chart::{Band, Mark, MarkShape, RowPlot};
use crate::words::{Text, grouped, shortened_inside};

/// Most rows of a chart; the table below it has all.
const MAX_ROWS: usize = 150;
/// Most characters of a row's name.
const MAX_NAME_CHARS: usize = 36;
/// Most characters of the word beside a row.
const MAX_WORD_CHARS: usize = 14;
const MIN_BAND_WIDTH: f64 = 3.0;
/// Length of an arrow to a value beyond the axis.
const ARROW_LENGTH: f64 = 14.0;
/// Height of a row with one series.
const ROW_HEIGHT: f64 = 20.0;
/// Height that each further series adds to a row.
const FURTHER_HEIGHT: f64 = 12.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &RowPlot, top: f64) -> f64 {
    let top = keys(svg, plot, top);
    let visible = &plot.rows[..plot.rows.len().min(MAX_ROWS)];
    let row_height = ROW_HEIGHT + FURTHER_HEIGHT * plot.series.len().saturating_sub(1) as f64;
    let left = 24.0 + longest(visible.iter().map(|row| &row.label), MAX_NAME_CHARS);
    let right = 20.0 + longest(visible.iter().map(|row| &row.word), MAX_WORD_CHARS);
    let height = row_height * visible.len() as f64 + 6.0;
    let frame = Frame { left, top: top + 6.0, width: WIDTH - left - right, height };
    let scale = Scale::new(&plot.axis, plot.values(), 6);
    if let Some(band) = &plot.band {
        self::band(svg, &frame, &scale, band);
    }
    horizontal(svg, &frame, &scale, &plot.axis);
    for (index, row) in visible.iter().enumerate() {
        let above = frame.top + 3.0 + index as f64 * row_height;
        let middle = above + row_height / 2.0 + 4.0;
        let name = shortened_inside(&row.label, MAX_NAME_CHARS);
        text(svg, frame.left - 8.0, middle, Anchor::End, "label", name);
        if !row.word.is_empty() {
            text(svg, frame.right() + 10.0, middle, Anchor::Start, "label", short(&row.word, MAX_WORD_CHARS));
        }
        for mark in &row.marks {
            let y = above + ROW_HEIGHT / 2.0 + FURTHER_HEIGHT * mark.series as f64;
            self::mark(svg, plot, &frame, &scale, mark, y);
        }
    }
    let bottom = frame.bottom() + HORIZONTAL;
    if visible.len() == plot.rows.len() {
        return bottom;
    }
    let more = format!("and {} more {} in the table", grouped((plot.rows.len() - visible.len()) as u64), plot.noun);
    text(svg, 12.0, bottom + 10.0, Anchor::Start, "name", more);
    bottom + 20.0
}

/// Returns the width of the longest text, cut to `max_chars` characters.
fn longest<'a>(texts: impl Iterator<Item = &'a Text>, max_chars: usize) -> f64 {
    texts.map(|text| text.chars().count().min(max_chars)).max().unwrap_or(0) as f64 * 7.0
}

fn mark(svg: &mut Elements, plot: &RowPlot, frame: &Frame, scale: &Scale, mark: &Mark, y: f64) {
    let x = frame.x(scale, mark.value);
    if plot.is_beyond(mark.value) {
        arrow(svg, mark.series, frame.right(), y);
        value(svg, plot, frame, mark, (frame.right() - ARROW_LENGTH, frame.right()), y);
        return;
    }
    if plot.has_values {
        let [start, end] = mark.spread.map_or([x, x], |ends| ends.map(|end| frame.x(scale, end)));
        value(svg, plot, frame, mark, (start.min(x), end.max(x)), y);
    }
    match plot.series.get(mark.series).map(|series| series.shape) {
        Some(MarkShape::Bar) => {
            // The shortest bar still shows.
            let (left, top, length) = (Px(frame.left), Px(y - 5.0), Px((x - frame.left).max(1.5)));
            svg.add(html! { rect class=(class("bar", mark.series)) x=(left) y=(top) width=(length) height=(10) {} });
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
    let path = format!("M{0} {1}h{ARROW_LENGTH}m-5 -4l5 4l-5 4", Px(right - ARROW_LENGTH), Px(y));
    svg.add(html! { path class=(class("spread", series)) d=(path) {} });
}

/// Writes a value on the right of its mark, or on the left where the frame ends.
fn value(svg: &mut Elements, plot: &RowPlot, frame: &Frame, mark: &Mark, (start, end): (f64, f64), y: f64) {
    /// Distance between a mark and its value.
    const GAP: f64 = 8.0;
    let value = plot.axis.unit.show(mark.value);
    if end + GAP + width(&value) <= frame.right() {
        text(svg, end + GAP, y + 4.0, Anchor::Start, "tick", value);
    } else {
        text(svg, start - GAP, y + 4.0, Anchor::End, "tick", value);
    }
}

/// Draws a part of the axis as an area between two lines.
fn band(svg: &mut Elements, frame: &Frame, scale: &Scale, band: &Band) {
    let [low, high] = [band.low, band.high].map(|end| frame.x(scale, end));
    let middle = (low + high) / 2.0;
    let half = ((high - low) / 2.0).max(MIN_BAND_WIDTH / 2.0);
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
    let (low, high, above) = (Px(low), Px(high), Px(y - 4.0));
    let path = format!("M{low} {}H{high}M{low} {above}v8M{high} {above}v8", Px(y));
    svg.add(html! { path class=(class("spread", series)) d=(path) {} });
}

/// Draws the legend, and returns the place below it.
fn keys(svg: &mut Elements, plot: &RowPlot, top: f64) -> f64 {
    let mut legend = Legend::new(top);
    for (index, series) in plot.series.iter().enumerate() {
        legend.entry(svg, &series.name, |svg, x, y| match series.shape {
            MarkShape::Point => marker(svg, index, x + 14.0, y),
            MarkShape::Bar => {
                let (x, y) = (Px(x + 4.0), Px(y - 5.0));
                svg.add(html! { rect class=(class("bar", index)) x=(x) y=(y) width=(20) height=(10) {} });
            }
        });
        if !series.spread.is_empty() {
            legend.entry(svg, &series.spread, |svg, x, y| spread(svg, index, x + 2.0, x + 26.0, y));
        }
    }
    if let Some(band) = &plot.band {
        legend.entry(svg, &band.name, |svg, x, y| area(svg, x + 6.0, y - 7.0, 16.0, 14.0));
    }
    legend.bottom()
}
