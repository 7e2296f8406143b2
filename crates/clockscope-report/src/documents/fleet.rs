//! Answers about many machines: faults with their remedies, trends, and each query's rows.

use std::collections::BTreeMap;

use clockscope_records::{Envelope, Fleet, FleetAnswer, FleetValue};
use serde_json::Value;

use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MOST_SERIES, Point, Spacing, Unit, day_number};
use crate::model::{Block, Cell, Conclusion, Row, Table};
use crate::report::{Blocks, Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::figure;
use crate::words::{Text, capitalized, counted, grouped, sentence, shortened_inside, texts, yes_no};

/// The query whose rows become sections: a fault, with what helps.
const FAULTS: &str = "faults";
/// The query of the hosts that have these faults. Sections have its remedies already.
const OFFENDERS: &str = "offenders";
/// The column of remedies, which sections have.
const REMEDY: &str = "advice";

/// Columns of names, which may be of any length.
const NAMES: [&str; 4] = ["host", "example_host", "example", "file"];
/// Characters of a name: a host without a label has as many.
const LONGEST_NAME: usize = 64;

/// A query whose rows are drawn over days.
struct Trend {
    query: &'static str,
    title: &'static str,
    /// The column that names the series, and the one that is drawn.
    series: &'static str,
    value: &'static str,
    axis: &'static str,
    unit: Unit,
}

const TRENDS: [Trend; 3] = [
    Trend {
        query: "daily_verdicts",
        title: "Hosts by the worst verdict of their clocks",
        series: "worst_verdict",
        value: "hosts",
        axis: "Hosts",
        unit: Unit::Count,
    },
    Trend {
        query: "daily_clocksources",
        title: "Hosts by clocksource",
        series: "clocksource",
        value: "hosts",
        axis: "Hosts",
        unit: Unit::Count,
    },
    Trend {
        query: "daily_costs",
        title: "Cost of a read, 90th percentile over the hosts",
        series: "clock",
        value: "p90_ns",
        axis: "Cost per read",
        unit: Unit::Time,
    },
];

impl Page for Envelope<Fleet> {
    fn title(&self) -> Option<Text> {
        let Fleet { as_of, recent_hosts, .. } = &self.found;
        let day = as_of.as_ref().map_or_else(String::new, |day| format!(", {day}"));
        Some(format!("clockscope fleet: {}{day}", counted(*recent_hosts, "host")).into())
    }

    fn blocks(&self, view: View) -> Blocks {
        let fleet = &self.found;
        let conclusion = Conclusion { lines: texts(conclusion(fleet)), ..Conclusion::default() };
        let mut below = vec![summary(fleet).into()];
        below.extend(faults(fleet));
        let charts: Vec<Chart> = TRENDS.iter().filter_map(|trend| trend.chart(fleet)).collect();
        if view.has_charts && !charts.is_empty() {
            below.push(Block::heading("Trends"));
            below.extend(charts.into_iter().map(Block::from));
        }
        // Charts have the data of trends.
        let is_table =
            |answer: &&FleetAnswer| answer.query != FAULTS && !TRENDS.iter().any(|trend| trend.query == answer.query);
        below.push(Block::heading("Answers"));
        below.extend(fleet.answers.iter().filter(is_table).flat_map(rows));
        Blocks::around(Block::Conclusion(conclusion), Vec::new(), below)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "answers", &["query", "question", "hosts", "row_count"])
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("answers", "answer")])
    }
}

fn answer<'a>(fleet: &'a Fleet, query: &str) -> Option<&'a FleetAnswer> {
    fleet.answers.iter().find(|answer| answer.query == query)
}

fn conclusion(fleet: &Fleet) -> Vec<String> {
    let all = counted(fleet.recent_hosts, "host");
    let faulty = answer(fleet, OFFENDERS).and_then(|offenders| offenders.hosts);
    let first = match faulty {
        Some(hosts) => format!("{} of {all} have a clock that is unfit or limited.", grouped(hosts)),
        None => format!("{all} were checked."),
    };
    let Some(day) = &fleet.as_of else {
        return vec!["There is no check.".to_owned()];
    };
    let second = format!(
        "Answers are of {day}: of each host's last check on that day or in the two days before. {} in {}.",
        counted(fleet.hosts, "host"),
        counted(fleet.checks, "check"),
    );
    vec![first, second]
}

/// Lists the questions, with the hosts that each found.
fn summary(fleet: &Fleet) -> Table {
    let row = |answer: &FleetAnswer| {
        let hosts = answer.hosts.map_or(Cell::Empty, Cell::Count);
        vec![answer.query.as_str().into(), answer.question.as_str().into(), hosts, Cell::Count(answer.row_count)]
    };
    Table::new(["Query", "Question", "Hosts", "Rows"], 2, fleet.answers.iter().map(row)).titled("Summary:")
}

/// Says of each fault how many hosts have it, an example, and what helps.
fn faults(fleet: &Fleet) -> Vec<Block> {
    let Some(found) = answer(fleet, FAULTS).filter(|found| !found.rows.is_empty()) else { return Vec::new() };
    let sections = found.rows.iter().map(|row| {
        let text = |column: &str| found.column(column).and_then(|at| row.get(at)).and_then(FleetValue::text);
        let number = |column: &str| {
            found.column(column).and_then(|at| row.get(at)).and_then(FleetValue::number).map_or(0, |value| value as u64)
        };
        let kind = capitalized(&text("kind").unwrap_or("fault").replace('_', " "));
        let cause = text("cause").map_or_else(String::new, |cause| format!(" ({})", cause.replace('_', " ")));
        let title = format!("{kind}{cause}: {}", counted(number("hosts"), "host"));
        let example = text("example").map(|example| {
            let host = shortened_inside(text("example_host").unwrap_or("a host"), LONGEST_NAME);
            sentence(format!("Such as on {host}: {example}"))
        });
        let remedy = text(REMEDY).map(|remedy| sentence(format!("Remedy: {remedy}")));
        Block::section(title, example.into_iter().chain(remedy))
    });
    std::iter::once(Block::heading("Faults")).chain(sections).collect()
}

/// Shows a query's question and its rows.
fn rows(answer: &FleetAnswer) -> Vec<Block> {
    let columns: Vec<usize> =
        (0..answer.columns.len()).filter(|at| answer.query != OFFENDERS || answer.columns[*at] != REMEDY).collect();
    let head = columns.iter().map(|at| head(&answer.columns[*at]));
    let is_number =
        |at: &&usize| answer.rows.iter().any(|row| row.get(**at).is_some_and(|cell| cell.number().is_some()));
    // Columns of words come first, until one of numbers.
    let left = columns.iter().take_while(|at| !is_number(at)).count();
    let cells = |row: &Vec<FleetValue>| {
        let cell = |at: &usize| row.get(*at).map_or(Cell::Empty, |value| cell(&answer.columns[*at], value));
        Row::from(columns.iter().map(cell).collect::<Vec<_>>())
    };
    let left_out = answer.row_count.saturating_sub(answer.rows.len() as u64);
    let more = (left_out > 0).then(|| {
        format!("and {}: clockscope-fleet query OUT {} prints all", counted(left_out, "more row"), answer.query)
    });
    let none = answer.rows.is_empty().then(|| "Nothing was found.".to_owned());
    let table = Table::new(head, left, answer.rows.iter().map(cells)).below(none.into_iter().chain(more));
    vec![Block::section(answer.query.as_str(), [answer.question.as_str()]), table.into()]
}

/// Names a column as readers know it: `cost_p50_ns` is `Cost p50`, because its cells have units.
fn head(column: &str) -> String {
    capitalized(&column.strip_suffix("_ns").unwrap_or(column).replace('_', " "))
}

/// Shows a value in the unit that its column's name ends with.
fn cell(column: &str, value: &FleetValue) -> Cell {
    match value {
        FleetValue::Nothing => Cell::Empty,
        FleetValue::Flag(flag) => yes_no(*flag).into(),
        FleetValue::Text(name) if NAMES.contains(&column) => shortened_inside(name, LONGEST_NAME).into(),
        FleetValue::Text(text) => text.as_str().into(),
        FleetValue::Integer(_) | FleetValue::Number(_) => {
            let number = value.number().unwrap_or_default();
            match value {
                _ if column.ends_with("_ns") => Cell::Time(number),
                FleetValue::Integer(count) if *count >= 0 => Cell::Count(count.unsigned_abs()),
                _ => figure(number, 4).into(),
            }
        }
    }
}

impl Trend {
    /// Draws the series with the largest values; `None` without rows.
    fn chart(&self, fleet: &Fleet) -> Option<Chart> {
        let found = answer(fleet, self.query)?;
        let (date, series, value) = (found.column("date")?, found.column(self.series)?, found.column(self.value)?);
        let mut curves: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        for row in &found.rows {
            let day = row.get(date).and_then(FleetValue::text).and_then(day_number);
            let (Some(day), Some(name)) = (day, row.get(series).and_then(FleetValue::text)) else { continue };
            let Some(value) = row.get(value).and_then(FleetValue::number) else { continue };
            curves.entry(name).or_default().push(Point::at(day, value));
        }
        let largest = |points: &[Point]| points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
        let mut curves: Vec<_> = curves.into_iter().collect();
        curves.sort_by(|(_, one), (_, other)| largest(other).total_cmp(&largest(one)));
        curves.truncate(MOST_SERIES);
        let values = curves.iter().flat_map(|(_, points)| points).map(|point| point.y);
        let y = Axis::fitting(self.axis, self.unit, values);
        let curves = curves.into_iter().map(|(name, points)| Curve::new(name, Form::Line, points));
        let plot = CurvePlot::new(Axis::new("Day", Unit::Date, Spacing::Linear), y, curves);
        Some(Chart::new(self.query, self.title, plot))
    }
}
