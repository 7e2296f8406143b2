//! One chart as an SVG image. HTML pages draw their charts by it, too.

mod curves;
mod evidence;
mod parts;
mod rows;

use maud::{Markup, PreEscaped, html};

use super::renderer::{RenderError, Renderer};
use crate::chart::{Chart, Plot};
use crate::report::Report;
use crate::style::Style;
use parts::{Px, WIDTH};

/// Colors and lines, for light and dark.
pub(super) const STYLE: &str = include_str!("svg/chart.css");

pub(super) struct Svg;

impl Renderer for Svg {
    /// Draws the document's first chart.
    fn render(&self, report: &Report<'_>, _: Style) -> Result<String, RenderError> {
        report.charts().first().map(image).ok_or(RenderError::NoChart)
    }
}

/// Draws the chart of this name.
pub(crate) fn named(report: &Report<'_>, name: &str) -> Result<String, RenderError> {
    let charts = report.charts();
    if let Some(chart) = charts.iter().find(|chart| *chart.name == *name) {
        return Ok(image(chart));
    }
    let names: Vec<String> = charts.iter().map(|chart| chart.name.to_string()).collect();
    match names.as_slice() {
        [] => Err(RenderError::NoChart),
        _ => Err(RenderError::UnknownChart { name: name.to_owned(), known: names.join(", ") }),
    }
}

/// Draws a chart as a file of its own.
fn image(chart: &Chart) -> String {
    let image = draw(chart, "chart", ImageContext::File).into_string();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{image}\n")
}

/// The place of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageContext {
    /// In a file of its own, with its style and title.
    File,
    /// In a page, which has both.
    Page,
}

/// Draws an image, whose parts have identifiers that begin with `id`.
pub(super) fn draw(chart: &Chart, id: &str, context: ImageContext) -> Markup {
    let mut content = parts::Elements::default();
    let top = if context == ImageContext::File { parts::heading(&mut content, &chart.title) } else { 0.0 };
    let height = match &chart.plot {
        Plot::Rows(plot) => rows::draw(&mut content, plot, top),
        Plot::Curves(plot) => curves::draw(&mut content, plot, top),
        Plot::Evidence(plot) => evidence::draw(&mut content, plot, top),
    };
    let title = format!("{id}-title");
    let view = format!("0 0 {} {}", Px(WIDTH), Px(height));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox=(view) role="img" aria-labelledby=(title) {
            title id=(title) { (chart.title) }
            @if context == ImageContext::File {
                style { (PreEscaped(STYLE)) }
                rect class="page" width="100%" height="100%" {}
            }
            (PreEscaped(content.into_string()))
        }
    }
}
