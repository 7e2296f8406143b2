//! A page for browsers: one file that needs no other, and no script.

#[cfg(test)]
mod contrast;
mod data;
mod policy;
mod table;
mod tone;

use std::collections::BTreeMap;
use std::fmt::Display;

use super::markup::Markup;
use super::renderer::{RenderError, Renderer};
use super::svg;
use crate::chart::Chart;
use crate::model::{Block, Conclusion, Line, Table};
use crate::report::Report;
use crate::style::Style;
use crate::text::{Text, grouped};
use tone::tone;

/// The page's styles, and its script. The policy admits these and nothing else.
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
        let mut page = Markup::beginning("<!doctype html>\n");
        page.element("html", &[("lang", &"en")], |html| {
            html.element("head", &[], |head| self::head(head, &title)).line();
            html.element("body", &[], |body| self::body(body, &title, reports, style)).line();
        });
        page.line();
        Ok(page.into_string())
    }
}

fn head(head: &mut Markup, title: &str) {
    head.empty("meta", &[("charset", &"utf-8")]);
    head.empty("meta", &[("http-equiv", &"Content-Security-Policy"), ("content", &policy::POLICY)]);
    head.empty("meta", &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")]);
    head.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    head.leaf("title", &[], title);
    for style in [svg::STYLE, STYLE] {
        head.element("style", &[], |element| {
            element.verbatim(style);
        });
    }
}

fn body(body: &mut Markup, title: &str, reports: &[Report<'_>], style: Style) {
    body.element("header", &[], |header| {
        header.leaf("h1", &[], title);
    })
    .line();
    let titles: Vec<Text> = reports.iter().map(Report::title).collect();
    if titles.len() > 1 {
        body.element("nav", &[("aria-label", &"Reports")], |nav| contents(nav, &titles)).line();
    }
    body.element("main", &[], |main| {
        let mut page = Page { markup: main, top: 2, level: 2, tables: 0, ids: BTreeMap::new() };
        for (index, report) in reports.iter().enumerate() {
            if let Some(title) = titles.get(index).filter(|_| titles.len() > 1) {
                let id = format!("report-{}", index + 1);
                page.markup.leaf("h2", &[("id", &id), ("class", &"document")], format!("{}. {title}", index + 1));
                page.top = 3;
            }
            page.level = page.top;
            for block in report.blocks(style.page_view()) {
                page.block(&block, style);
                page.markup.line();
            }
        }
    });
    body.element("script", &[], |script| {
        script.verbatim(SCRIPT);
    });
}

/// Lists the reports with links to them.
fn contents(nav: &mut Markup, titles: &[Text]) {
    nav.element("ol", &[], |list| {
        for (index, title) in titles.iter().enumerate() {
            let link = format!("#report-{}", index + 1);
            list.element("li", &[], |item| {
                item.leaf("a", &[("href", &link)], title);
            });
        }
    });
}

/// The main part of the page so far.
struct Page<'a> {
    markup: &'a mut Markup,
    /// The level of a report's own headings, and of those below the last of them.
    top: usize,
    level: usize,
    /// Tables so far.
    tables: usize,
    /// Identifiers so far, and how often each was wanted.
    ids: BTreeMap<String, usize>,
}

impl Page<'_> {
    fn block(&mut self, block: &Block, style: Style) {
        match block {
            Block::Heading(text) => {
                self.level = self.top;
                self.heading(text);
                self.level += 1;
            }
            Block::Table(table) => self.table(table, style),
            Block::KeyValue { title, pairs } => {
                self.heading(title);
                self.pairs(pairs);
            }
            // Documents that give a histogram give a chart of it, too.
            Block::Series(_) => {}
            Block::Chart(chart) => self.chart(chart),
            Block::Notes { title, lines } => {
                self.heading(title.trim_end_matches(':'));
                self.list(lines);
            }
            Block::Section { title, lines } => {
                self.heading(title);
                self.paragraphs(lines);
            }
            Block::Prose(lines) => self.paragraphs(lines),
            Block::Environment(pairs) => {
                self.heading("Environment");
                self.pairs(pairs);
            }
            Block::Conclusion(conclusion) => self.conclusion(conclusion),
        }
    }

    /// Adds a heading, if there is any text.
    fn heading(&mut self, text: &str) {
        if !text.is_empty() {
            self.markup.leaf(heading(self.level), &[], text);
        }
    }

    fn conclusion(&mut self, conclusion: &Conclusion) {
        let Conclusion { caveats, lines, findings } = conclusion;
        for caveat in caveats {
            self.markup.leaf("p", &[("class", &"warning")], caveat);
        }
        for (index, line) in lines.iter().enumerate() {
            let class = if index == 0 { "lead" } else { "" };
            self.classed("p", class, line);
        }
        let findings: Vec<Line> = findings.iter().map(|finding| finding.to_string().into()).collect();
        self.list(&findings);
    }

    fn list(&mut self, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        self.markup.element("ul", &[], |list| {
            for line in lines {
                match tone(line.tone) {
                    "" => list.leaf("li", &[], &line.text),
                    class => list.leaf("li", &[("class", &class)], &line.text),
                };
            }
        });
    }

    fn paragraphs(&mut self, lines: &[Text]) {
        for line in lines {
            self.markup.leaf("p", &[], line);
        }
    }

    fn pairs(&mut self, pairs: &[(Text, Text)]) {
        self.markup.element("dl", &[], |list| {
            for (key, value) in pairs {
                list.leaf("dt", &[], key).leaf("dd", &[], value);
            }
        });
    }

    fn classed(&mut self, name: &'static str, class: &'static str, text: impl Display) {
        match class {
            "" => self.markup.leaf(name, &[], text),
            class => self.markup.leaf(name, &[("class", &class)], text),
        };
    }

    /// Adds a chart with its title, its words, and its data in a table that can be opened.
    fn chart(&mut self, chart: &Chart) {
        let id = self.id(&chart.name);
        let table = data::table(chart);
        let heading = heading(self.level);
        let label = format!("Chart: {}", chart.title);
        let data = format!("Data of the chart: {}", chart.title);
        self.markup.element("figure", &[("id", &id)], |figure| {
            figure.element("figcaption", &[], |caption| {
                caption.leaf(heading, &[], &chart.title);
                caption.leaf("p", &[], chart.description());
            });
            let scroll: [(&'static str, &dyn Display); 4] =
                [("class", &"scroll"), ("role", &"group"), ("aria-label", &label), ("tabindex", &0)];
            figure.element("div", &scroll, |scroll| svg::draw(scroll, chart, &id, svg::ImageContext::Page));
            figure.element("details", &[], |details| {
                details.leaf("summary", &[], &data);
                table::add(details, &table, &data, table::MOST_ROWS);
            });
        });
    }

    /// Makes an identifier of a chart's name: `chart-histogram_tsc`. Another chart of the same name
    /// has a number, too. Parts of the chart have identifiers that go on with `-`, which no other
    /// chart's has.
    fn id(&mut self, name: &str) -> String {
        /// Names in a record may be of any length.
        const LONGEST: usize = 48;
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let wanted: String = name.chars().take(LONGEST).map(safe).collect();
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

    fn table(&mut self, table: &Table, style: Style) {
        self.tables += 1;
        let most = if table.omitted.is_some() { style.most_rows() } else { table::MOST_ROWS };
        if !table.rows.is_empty() {
            let name = match table.title.trim_end_matches(':') {
                "" => format!("Table {}", self.tables),
                title => format!("Table: {title}"),
            };
            table::add(self.markup, table, &name, most);
        }
        for line in &table.below {
            self.markup.leaf("p", &[("class", &"context")], line);
        }
    }
}

/// The element of a heading.
fn heading(level: usize) -> &'static str {
    ["h1", "h2", "h3", "h4", "h5"].get(level - 1).copied().unwrap_or("h6")
}
