//! Answers about many machines: faults with their remedies, trends, and each query's rows.

use std::collections::BTreeMap;

use clockscope_records::{Envelope, Fleet, FleetAnswer, FleetValue};
use serde_json::Value;

use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MAX_SERIES, Point, Spacing, Unit, day_number};
use crate::model::{Block, Cell, Conclusion, Table};
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::figure;
use crate::words::{capitalized, counted, grouped, sentence, shortened_inside, texts, yes_no};

/// The query whose rows become sections: a fault with its remedy.
const FAULTS: &str = "faults";
/// The query of the hosts with faults. Sections have its remedies already.
const OFFENDERS: &str = "offenders";
/// The column of remedies.
const REMEDY: &str = "advice";

/// Columns of names, which may be of any length.
const NAME_COLUMNS: [&str; 4] = ["host", "example_host", "example", "file"];
/// Most characters of a name: those of a host without a label.
const MAX_NAME_CHARS: usize = 64;
/// Most sections of faults.
const MAX_FAULTS: usize = 20;
/// Most rows of a trend that is not drawn: the last ones.
const MAX_TREND_ROWS: usize = 40;

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
    fn blocks(&self, view: View) -> Vec<Block> {
        let fleet = &self.found;
        let conclusion = Conclusion { lines: texts(conclusion(fleet)), ..Conclusion::default() };
        let mut blocks = vec![Block::Conclusion(conclusion), summary(fleet).into()];
        blocks.extend(faults(fleet));
        // A chart has its data beside it.
        let mut drawn = vec![FAULTS];
        if view.has_charts {
            let charts: Vec<(&str, Vec<Chart>)> =
                TRENDS.iter().map(|trend| (trend.query, trend.charts(fleet))).collect();
            drawn.extend(charts.iter().filter(|(_, charts)| !charts.is_empty()).map(|(query, _)| *query));
            let charts: Vec<Block> = charts.into_iter().flat_map(|(_, charts)| charts).map(Block::from).collect();
            if !charts.is_empty() {
                blocks.push(Block::heading("Trends"));
                blocks.extend(charts);
            }
        }
        blocks.push(Block::heading("Answers"));
        blocks.extend(fleet.answers.iter().filter(|answer| !drawn.contains(&answer.query.as_str())).flat_map(rows));
        blocks
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "answers", "query question hosts row_count")
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("answers", "answer")])
    }
}

fn answer<'a>(fleet: &'a Fleet, query: &str) -> Option<&'a FleetAnswer> {
    fleet.answers.iter().find(|answer| answer.query == query)
}

fn conclusion(fleet: &Fleet) -> Vec<String> {
    if fleet.checks == 0 {
        let until = fleet.as_of.as_ref().map_or_else(String::new, |day| format!(" until {day}"));
        return vec![format!("No checks{until}.")];
    }
    let all = counted(fleet.recent_hosts, "host");
    let faulty = answer(fleet, OFFENDERS).and_then(|offenders| offenders.hosts);
    let first = faulty.map(|hosts| format!("Unfit or limited clocks: on {} of {all}.", grouped(hosts)));
    let day = fleet.as_of.as_deref().unwrap_or("an unknown day");
    let second = format!(
        "The report is of {day}: the present state of a host is that of its last check on this day or in the two days \
         before. {} and {} until then.",
        counted(fleet.hosts, "host"),
        counted(fleet.checks, "check"),
    );
    first.into_iter().chain([second]).collect()
}

/// Lists the questions, with the numbers of hosts and rows of each answer.
fn summary(fleet: &Fleet) -> Table {
    let rows = fleet.answers.iter().map(|answer| {
        let hosts = answer.hosts.map_or(Cell::Empty, Cell::Count);
        vec![answer.query.as_str().into(), hosts, Cell::Count(answer.row_count), answer.question.as_str().into()]
    });
    Table { wraps: true, ..Table::new(["Query", "Hosts", "Rows", "Question"], 1, rows).titled("Summary:") }
}

/// Shows the number of hosts with each fault, an example, and the remedy.
fn faults(fleet: &Fleet) -> Vec<Block> {
    let Some(found) = answer(fleet, FAULTS).filter(|found| !found.rows.is_empty()) else { return Vec::new() };
    let sections = found.rows.iter().take(MAX_FAULTS).map(|row| fault(found, row));
    let more = more(found, found.rows.len().min(MAX_FAULTS)).map(|line| Block::prose([line]));
    std::iter::once(Block::heading("Faults")).chain(sections).chain(more).collect()
}

fn fault(found: &FleetAnswer, row: &[FleetValue]) -> Block {
    let [kind, cause, host, example, remedy] =
        ["kind", "cause", "example_host", "example", REMEDY].map(|column| value(found, row, column)?.text());
    let kind = capitalized(&kind.unwrap_or("fault").replace('_', " "));
    let cause = cause.map_or_else(String::new, |cause| format!(" ({})", cause.replace('_', " ")));
    let mut verdicts = Vec::new();
    for verdict in ["unfit", "limited"] {
        let hosts = value(found, row, verdict).and_then(FleetValue::number).map_or(0, |count| count as u64);
        if hosts > 0 {
            verdicts.push(format!("{verdict} on {}", counted(hosts, "host")));
        }
    }
    let example = example.map(|example| {
        let host = shortened_inside(host.unwrap_or("a host"), MAX_NAME_CHARS);
        sentence(format!("On {host}: {example}"))
    });
    let remedy = remedy.map(|remedy| sentence(format!("Remedy: {remedy}")));
    Block::section(format!("{kind}{cause}: {}", verdicts.join(", ")), example.into_iter().chain(remedy))
}

fn value<'a>(answer: &FleetAnswer, row: &'a [FleetValue], column: &str) -> Option<&'a FleetValue> {
    row.get(answer.column(column)?)
}

/// Counts the rows of an answer after the first `visible`; `None` if there are none.
fn more(answer: &FleetAnswer, visible: usize) -> Option<String> {
    match answer.row_count.saturating_sub(visible as u64) {
        0 => None,
        left_out => {
            let rows = counted(left_out, "more row");
            Some(format!("and {rows}: clockscope-fleet query OUT {} prints all", answer.query))
        }
    }
}

/// Shows a query's question and its rows: columns of words first. Of a trend, the last rows.
fn rows(answer: &FleetAnswer) -> Vec<Block> {
    let is_trend = TRENDS.iter().any(|trend| trend.query == answer.query);
    let first = if is_trend { answer.rows.len().saturating_sub(MAX_TREND_ROWS) } else { 0 };
    let rows = &answer.rows[first..];
    let mut columns: Vec<(usize, &str)> = answer.columns.iter().map(String::as_str).enumerate().collect();
    if answer.query == OFFENDERS {
        columns.retain(|(_, name)| *name != REMEDY);
    }
    let is_number: Vec<bool> = (0..answer.columns.len())
        .map(|at| rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.number().is_some())))
        .collect();
    columns.sort_by_key(|(at, _)| is_number[*at]);
    let left = columns.iter().filter(|(at, _)| !is_number[*at]).count();
    let cells = rows.iter().map(|row| -> Vec<Cell> {
        columns.iter().map(|(at, name)| row.get(*at).map_or(Cell::Empty, |value| cell(name, value))).collect()
    });
    let mut table = Table::new(columns.iter().map(|(_, name)| head(name)), left, cells);
    if rows.is_empty() {
        table = table.below(["Nothing was found."]);
    }
    vec![
        Block::section(answer.query.as_str(), [answer.question.as_str()]),
        table.below(more(answer, rows.len())).into(),
    ]
}

/// Returns the head of a column: `Cost p50` for `cost_p50_ns`, because its cells have units.
fn head(column: &str) -> String {
    capitalized(&column.strip_suffix("_ns").unwrap_or(column).replace('_', " "))
}

/// Shows a value in the unit that its column's name ends with.
fn cell(column: &str, value: &FleetValue) -> Cell {
    match value {
        FleetValue::Nothing => Cell::Empty,
        FleetValue::Flag(flag) => yes_no(*flag).into(),
        FleetValue::Text(name) if NAME_COLUMNS.contains(&column) => shortened_inside(name, MAX_NAME_CHARS).into(),
        FleetValue::Text(text) => text.as_str().into(),
        FleetValue::Integer(count) if *count >= 0 && !column.ends_with("_ns") => Cell::Count(count.unsigned_abs()),
        FleetValue::Integer(_) | FleetValue::Number(_) => {
            let number = value.number().unwrap_or_default();
            if column.ends_with("_ns") { Cell::Time(number) } else { figure(number, 4).into() }
        }
    }
}

impl Trend {
    /// Draws all series, those with the largest values first, in as many charts as they need.
    fn charts(&self, fleet: &Fleet) -> Vec<Chart> {
        let mut curves: Vec<_> = self.curves(fleet).into_iter().collect();
        curves.sort_by(|(_, a), (_, b)| largest(b).total_cmp(&largest(a)));
        let parts = curves.len().div_ceil(MAX_SERIES);
        let mut charts = Vec::new();
        for (part, curves) in (1..).zip(curves.chunks(MAX_SERIES)) {
            let values = curves.iter().flat_map(|(_, points)| points).map(|point| point.y);
            let y = Axis::fitting(self.axis, self.unit, values);
            let curves = curves.iter().map(|(name, points)| Curve::new(*name, Form::Line, points.iter().copied()));
            let plot = CurvePlot::new(Axis::new("Day", Unit::Date, Spacing::Linear), y, curves);
            let suffix = if parts > 1 { format!(" (part {part} of {parts})") } else { String::new() };
            charts.push(Chart::new(self.query, format!("{}{suffix}", self.title), plot));
        }
        charts
    }

    /// Returns the points of each series. A count that a day lacks is 0.
    fn curves<'a>(&self, fleet: &'a Fleet) -> BTreeMap<&'a str, Vec<Point>> {
        let mut curves: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        let Some(found) = answer(fleet, self.query) else { return curves };
        for row in &found.rows {
            let [day, name, value] = ["date", self.series, self.value].map(|column| value(found, row, column));
            let day = day.and_then(FleetValue::text).and_then(day_number);
            let (name, value) = (name.and_then(FleetValue::text), value.and_then(FleetValue::number));
            if let (Some(day), Some(name), Some(value)) = (day, name, value) {
                curves.entry(name).or_default().push(Point::at(day, value));
            }
        }
        if self.unit == Unit::Count {
            add_zeros(&mut curves);
        }
        curves
    }
}

fn largest(points: &[Point]) -> f64 {
    points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max)
}

/// Adds zeros on the days that other series have.
fn add_zeros(curves: &mut BTreeMap<&str, Vec<Point>>) {
    let mut days: Vec<f64> = curves.values().flatten().map(|point| point.x).collect();
    days.sort_by(f64::total_cmp);
    days.dedup();
    for points in curves.values_mut() {
        let values: BTreeMap<u64, f64> = points.iter().map(|point| (point.x.to_bits(), point.y)).collect();
        let days = days.iter();
        *points = days.map(|day| Point::at(*day, values.get(&day.to_bits()).copied().unwrap_or(0.0))).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Plot;

    /// Draws hosts by clocksource: the name and the values of each series.
    fn curves(rows: &[(&str, &str, i64)]) -> Vec<(String, Vec<f64>)> {
        let text = |text: &str| FleetValue::Text(text.to_owned());
        let row = |(date, name, count): &(&str, &str, i64)| vec![text(date), text(name), FleetValue::Integer(*count)];
        let answer = FleetAnswer {
            query: "daily_clocksources".to_owned(),
            question: String::new(),
            columns: ["date", "clocksource", "hosts"].map(str::to_owned).to_vec(),
            rows: rows.iter().map(row).collect(),
            row_count: rows.len() as u64,
            hosts: None,
        };
        let fleet = Fleet { as_of: None, hosts: 1, recent_hosts: 1, checks: 1, answers: vec![answer] };
        let series = TRENDS.iter().flat_map(|trend| trend.charts(&fleet)).flat_map(|chart| match chart.plot {
            Plot::Curves(plot) => plot.series,
            Plot::Rows(_) | Plot::Evidence(_) => Vec::new(),
        });
        series.map(|curve| (curve.name.to_string(), curve.points.iter().map(|point| point.y).collect())).collect()
    }

    #[test]
    fn a_day_without_hosts_is_zero() {
        let rows =
            [("2026-10-01", "tsc", 2), ("2026-10-02", "tsc", 1), ("2026-10-02", "hpet", 1), ("2026-10-03", "tsc", 2)];
        let expected = [("tsc".to_owned(), vec![2.0, 1.0, 2.0]), ("hpet".to_owned(), vec![0.0, 1.0, 0.0])];
        assert_eq!(curves(&rows), expected);
    }

    #[test]
    fn all_series_are_drawn_however_many_they_are() {
        let names: Vec<String> = (0..MAX_SERIES + 3).map(|number| format!("source{number:02}")).collect();
        let rows: Vec<_> = names.iter().map(|name| ("2026-10-01", name.as_str(), 1)).collect();
        assert_eq!(curves(&rows).len(), names.len());
        assert!(curves(&[("yesterday", "tsc", 1)]).is_empty());
    }
}
