//! Findings as a table: a row a clock, a column a check.

use clockscope_records::Finding;
use maud::html;

use super::parts::{Anchor, Elements, Legend, Px, WIDTH, line, marker, short, text, width};
use crate::chart::EvidencePlot;
use crate::verdict;
use crate::words::shortened_inside;

/// Most characters of the name of a clock.
const MAX_CLOCK_CHARS: usize = 30;
/// Most characters of the name of a check.
const MAX_CHECK_CHARS: usize = 28;
const ROW_HEIGHT: f64 = 22.0;
const MAX_COLUMN_WIDTH: f64 = 44.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &EvidencePlot, top: f64) -> f64 {
    let top = keys(svg, top);
    let left = 20.0 + longest(plot.rows.iter().map(|(clock, _)| shortened_inside(clock, MAX_CLOCK_CHARS)));
    // Names of checks rise to the right; the last one needs room beside its column.
    let rise = longest(plot.columns.iter().map(|check| short(check, MAX_CHECK_CHARS))) * 0.75;
    let column = ((WIDTH - left - rise) / plot.columns.len().max(1) as f64).min(MAX_COLUMN_WIDTH);
    let first = top + rise + 10.0;
    for (index, check) in plot.columns.iter().enumerate() {
        let x = left + (index as f64 + 0.5) * column;
        let turn = format!("rotate(-45 {} {})", Px(x), Px(first - 4.0));
        let check = short(check, MAX_CHECK_CHARS);
        svg.add(html! { text x=(Px(x)) y=(Px(first - 4.0)) class="tick" transform=(turn) { (check) } });
    }
    for (index, (clock, marks)) in plot.rows.iter().enumerate() {
        let y = first + (index as f64 + 0.5) * ROW_HEIGHT;
        text(svg, left - 8.0, y + 4.0, Anchor::End, "label", shortened_inside(clock, MAX_CLOCK_CHARS));
        let below = y + ROW_HEIGHT / 2.0;
        line(svg, "grid", (left, below), (left + column * marks.len() as f64, below));
        for (column_index, mark) in marks.iter().enumerate() {
            let x = left + (column_index as f64 + 0.5) * column;
            if let Some(mark) = mark {
                marker(svg, series(mark.finding), x, y);
                if mark.decides {
                    outline(svg, x, y);
                }
            }
        }
    }
    first + ROW_HEIGHT * plot.rows.len() as f64 + 12.0
}

fn longest(names: impl Iterator<Item = String>) -> f64 {
    names.map(|name| width(&name)).fold(0.0, f64::max)
}

/// Returns the series that has the color and the marker of a finding.
const fn series(finding: Finding) -> usize {
    match finding {
        Finding::For => 2,
        Finding::Against => 4,
        Finding::Unknown => 7,
    }
}

fn outline(svg: &mut Elements, x: f64, y: f64) {
    svg.add(html! { path class="marked" d=(format_args!("M{} {}h16v16h-16z", Px(x - 8.0), Px(y - 8.0))) {} });
}

/// Draws the legend, and returns the place below it.
fn keys(svg: &mut Elements, top: f64) -> f64 {
    let mut legend = Legend::new(top);
    for finding in [Finding::For, Finding::Against, Finding::Unknown] {
        legend.entry(svg, verdict::finding(finding), |svg, x, y| marker(svg, series(finding), x + 14.0, y));
    }
    legend.entry(svg, "decides the verdict", |svg, x, y| outline(svg, x + 14.0, y));
    legend.bottom()
}
