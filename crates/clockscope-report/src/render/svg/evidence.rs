//! Findings as a matrix: a row a thing, a column a check.

use clockscope_records::Finding;
use maud::html;

use super::parts::{Anchor, Elements, Px, Sign, WIDTH, legend, line, marker, short, text, width};
use crate::chart::EvidencePlot;
use crate::words::shortened_inside;

/// Most characters of the name of a thing, and of a check.
const NAME: usize = 30;
const CHECK: usize = 28;
/// Height of a row, and the largest width of a column.
const ROW: f64 = 22.0;
const WIDEST: f64 = 44.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &EvidencePlot, top: f64) -> f64 {
    let top = keys(svg, top);
    let longest = |names: &mut dyn Iterator<Item = String>| names.map(|name| width(&name)).fold(0.0, f64::max);
    let left = 20.0 + longest(&mut plot.rows.iter().map(|(thing, _)| shortened_inside(thing, NAME)));
    // Names of checks rise to the right; the last one needs room beside its column.
    let rise = longest(&mut plot.columns.iter().map(|check| short(check, CHECK))) * 0.75;
    let column = ((WIDTH - left - rise) / plot.columns.len().max(1) as f64).min(WIDEST);
    let first = top + rise + 10.0;
    for (index, check) in plot.columns.iter().enumerate() {
        let x = left + (index as f64 + 0.5) * column;
        let turn = format!("rotate(-45 {} {})", Px(x), Px(first - 4.0));
        let check = short(check, CHECK);
        svg.add(html! { text x=(Px(x)) y=(Px(first - 4.0)) class="tick" transform=(turn) { (check) } });
    }
    for (index, (thing, marks)) in plot.rows.iter().enumerate() {
        let y = first + (index as f64 + 0.5) * ROW;
        text(svg, left - 8.0, y + 4.0, Anchor::End, "label", shortened_inside(thing, NAME));
        line(svg, "grid", (left, y + ROW / 2.0), (left + column * marks.len() as f64, y + ROW / 2.0));
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
    first + ROW * plot.rows.len() as f64 + 12.0
}

/// The series whose color and marker a finding has.
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

/// Draws what the marks mean.
fn keys(svg: &mut Elements, top: f64) -> f64 {
    let findings = [("for", Finding::For), ("against", Finding::Against), ("unknown", Finding::Unknown)];
    let of_finding = |(name, finding): (&str, Finding)| -> (String, Sign) {
        (name.to_owned(), Box::new(move |svg, x, y| marker(svg, series(finding), x + 14.0, y)))
    };
    let decides: Sign = Box::new(|svg, x, y| outline(svg, x + 14.0, y));
    let entries: Vec<(String, Sign)> =
        findings.map(of_finding).into_iter().chain([("decides the verdict".to_owned(), decides)]).collect();
    legend(svg, top, &entries)
}
