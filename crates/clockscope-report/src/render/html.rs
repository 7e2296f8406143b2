//! A page for browsers: one file that needs no other, and no script.

#[cfg(test)]
mod contrast;
mod data;
mod machines;
mod parts;
mod policy;
mod table;

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use super::renderer::{RenderError, Renderer};
use super::svg;
use crate::chart::Chart;
use crate::model::{Block, Conclusion, Line, Table};
use crate::report::Report;
use crate::style::Style;
use crate::words::{Text, counted, grouped};
use parts::{fold, list, pairs, paragraphs};

/// The page's styles, and its script. The content security policy admits these and nothing else.
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

pub(super) struct Html;

impl Renderer for Html {
    fn render(&self, report: &Report<'_>, style: Style) -> Result<String, RenderError> {
        self.render_all(std::slice::from_ref(report), style)
    }

    /// Puts several reports below each other on one page.
    fn render_all(&self, reports: &[Report<'_>], style: Style) -> Result<String, RenderError> {
        let title = match reports {
            [report] => report.title(),
            _ => format!("clockscope: {} reports", grouped(reports.len() as u64)).into(),
        };
        let page = html! {
            (PreEscaped("<!doctype html>\n"))
            html lang="en" {
                head { (head(&title)) } "\n"
                body { (body(&title, reports, style)) } "\n"
            } "\n"
        };
        Ok(page.into_string())
    }
}

fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta http-equiv="Content-Security-Policy" content=(policy::POLICY);
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) }
        @for style in [svg::STYLE, STYLE] {
            style { (PreEscaped(style)) }
        }
    }
}

fn body(title: &str, reports: &[Report<'_>], style: Style) -> Markup {
    let titles: Vec<Text> = reports.iter().map(Report::title).collect();
    let blocks: Vec<Vec<Block>> = reports.iter().map(|report| report.blocks(style.page_view())).collect();
    html! {
        header { h1 { (title) } } "\n"
        @if titles.len() > 1 {
            nav aria-label="Reports" { (contents(&titles)) } "\n"
            (machines::of_all(&blocks))
        }
        main { (parts(&titles, &blocks, style)) }
        script { (PreEscaped(SCRIPT)) }
    }
}

fn parts(titles: &[Text], reports: &[Vec<Block>], style: Style) -> Markup {
    let are_several = titles.len() > 1;
    let top = if are_several { 3 } else { 2 };
    let mut page = Page { top, level: top, are_several, tables: 0, ids: BTreeMap::new() };
    html! {
        @for (index, (blocks, title)) in (1..).zip(reports.iter().zip(titles)) {
            @if are_several {
                h2 id={ "report-" (index) } class="document" { (index) ". " (title) }
            }
            (page.report(blocks, style))
        }
    }
}

/// Lists the reports with links to them.
fn contents(titles: &[Text]) -> Markup {
    html! {
        ol {
            @for (index, title) in titles.iter().enumerate() {
                li { a href={ "#report-" (index + 1) } { (title) } }
            }
        }
    }
}

/// The state of the page while its blocks are made.
struct Page {
    /// The level of a report's headings.
    top: usize,
    /// The level of headings of the next blocks.
    level: usize,
    /// True if the page has several reports, and shows their machines at the top.
    are_several: bool,
    /// The number of tables so far.
    tables: usize,
    /// Identifiers of charts so far, and the number of charts of each name.
    ids: BTreeMap<String, usize>,
}

impl Page {
    fn report(&mut self, blocks: &[Block], style: Style) -> Markup {
        self.level = self.top;
        self.blocks(blocks, style)
    }

    /// Makes the blocks. Charts that follow each other are side by side where there is room.
    fn blocks(&mut self, blocks: &[Block], style: Style) -> Markup {
        html! {
            @for group in blocks.chunk_by(|a, b| matches!((a, b), (Block::Chart(_), Block::Chart(_)))) {
                @let content = html! { @for block in group { (self.block(block, style)) "\n" } };
                @if group.len() > 1 {
                    div class="charts" { (content) } "\n"
                } @else {
                    (content)
                }
            }
        }
    }

    fn block(&mut self, block: &Block, style: Style) -> Markup {
        match block {
            Block::Heading(text) => {
                self.level = self.top + 1;
                heading(self.top, text)
            }
            Block::Table(table) => self.table(table, style),
            Block::KeyValue { title, pairs } => html! { (heading(self.level, title)) (parts::pairs(pairs)) },
            // Each histogram is also a chart.
            Block::Series(_) | Block::Bars(_) => Markup::default(),
            Block::Chart(chart) => self.chart(chart),
            Block::Notes { title, lines } => {
                html! { (heading(self.level, title.trim_end_matches(':'))) (list(lines)) }
            }
            Block::Section { title, lines } => html! { (heading(self.level, title)) (paragraphs(lines)) },
            Block::Prose(lines) => paragraphs(lines),
            Block::Environment { recording, .. } if self.are_several => machines::recording(recording),
            Block::Environment { machine, recording } => {
                html! { (heading(self.level, "Environment")) (pairs(&[&machine[..], recording].concat())) }
            }
            Block::Folded { title, blocks } => fold(title, self.blocks(blocks, style)),
            Block::Conclusion(conclusion) => self::conclusion(conclusion),
        }
    }

    /// Makes a chart with its title, and its data in a table that can be opened.
    fn chart(&mut self, chart: &Chart) -> Markup {
        let id = self.id(&chart.name);
        let table = data::table(chart);
        let data = format!("Data of the chart: {}", chart.title);
        html! {
            figure id=(id) {
                figcaption {
                    (heading(self.level, &chart.title))
                    @if chart.left_out() > 0 {
                        p {
                            (counted(chart.left_out(), "value"))
                            " without a place on the axes: 0 or less on a logarithmic one, or not a number."
                        }
                    }
                }
                div class="scroll" role="group" aria-label={ "Chart: " (chart.title) } tabindex="0" {
                    (svg::draw(chart, &id, svg::ImageContext::Page))
                }
                details {
                    summary { (data) }
                    (table::scrolling(&table, &data, table::MAX_ROWS))
                }
            }
        }
    }

    /// Makes an identifier of a chart's name: `chart-histogram_tsc`. Another chart of the same name
    /// gets a number. Parts of the chart append `-` and a word, which collides with no other chart.
    fn id(&mut self, name: &str) -> String {
        /// Most characters of a name, which a record may have of any length.
        const MAX_CHARS: usize = 48;
        let wanted: String = name.chars().take(MAX_CHARS).collect();
        let wanted = wanted.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        loop {
            let count = self.ids.entry(wanted.clone()).and_modify(|count| *count += 1).or_insert(1);
            if *count == 1 {
                return format!("chart-{wanted}");
            }
            let numbered = format!("{wanted}_{count}");
            if !self.ids.contains_key(&numbered) {
                self.ids.insert(numbered.clone(), 1);
                return format!("chart-{numbered}");
            }
        }
    }

    fn table(&mut self, table: &Table, style: Style) -> Markup {
        self.tables += 1;
        let max_rows = if table.omitted.is_some() { style.max_rows() } else { table::MAX_ROWS };
        let name = match table.title.trim_end_matches(':') {
            "" => format!("Table {}", self.tables),
            title => format!("Table: {title}"),
        };
        html! {
            @if !table.rows.is_empty() {
                (table::scrolling(table, &name, max_rows))
            }
            @let (explaining, others) = table.below.split_at(table.explaining);
            @for line in others {
                p class="context" { (line) }
            }
            @if !explaining.is_empty() {
                (fold("Definitions", paragraphs(explaining)))
            }
        }
    }
}

fn conclusion(conclusion: &Conclusion) -> Markup {
    let Conclusion { lines, caveats, findings } = conclusion;
    let findings: Vec<Line> = findings.iter().map(|finding| finding.to_string().into()).collect();
    html! {
        @for (index, line) in lines.iter().enumerate() {
            p class=[(index == 0).then_some("lead")] { (line) }
        }
        @for caveat in caveats {
            p class="warning" { (caveat) }
        }
        (list(&findings))
    }
}

/// Makes a heading, if there is any text. In maud, the name of an element cannot be a value.
fn heading(level: usize, text: &str) -> Markup {
    html! {
        @if !text.is_empty() {
            @match level {
                1 => h1 { (text) },
                2 => h2 { (text) },
                3 => h3 { (text) },
                4 => h4 { (text) },
                5 => h5 { (text) },
                _ => h6 { (text) },
            }
        }
    }
}
