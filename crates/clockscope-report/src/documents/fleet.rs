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
/// Sections of faults at most.
const MOST_FAULTS: usize = 20;
/// Rows of a trend at most where it is not drawn: the last ones.
const MOST_ROWS_OF_A_TREND: usize = 40;

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
        let drawn =
            |trend: &Trend| trend.charts(fleet).into_iter().map(|chart| (trend.query, chart)).collect::<Vec<_>>();
        let charts: Vec<_> = TRENDS.iter().filter(|_| view.has_charts).flat_map(drawn).collect();
        let queries: Vec<&str> = charts.iter().map(|(query, _)| *query).collect();
        if !charts.is_empty() {
            below.push(Block::heading("Trends"));
            below.extend(charts.into_iter().map(|(_, chart)| Block::from(chart)));
        }
        // A chart has its data beside it.
        let is_table = |answer: &&FleetAnswer| answer.query != FAULTS && !queries.contains(&answer.query.as_str());
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

/// Lists the questions, with the hosts that each found.
fn summary(fleet: &Fleet) -> Table {
    let row = |answer: &FleetAnswer| {
        let hosts = answer.hosts.map_or(Cell::Empty, Cell::Count);
        vec![answer.query.as_str().into(), hosts, Cell::Count(answer.row_count), answer.question.as_str().into()]
    };
    let table = Table::new(["Query", "Hosts", "Rows", "Question"], 1, fleet.answers.iter().map(row));
    Table { wraps: true, ..table.titled("Summary:") }
}

/// Says of each fault how many hosts have it, an example, and what helps.
fn faults(fleet: &Fleet) -> Vec<Block> {
    let Some(found) = answer(fleet, FAULTS).filter(|found| !found.rows.is_empty()) else { return Vec::new() };
    let sections = found.rows.iter().take(MOST_FAULTS).map(|row| fault(found, row));
    let more = more(found, found.rows.len().min(MOST_FAULTS)).map(|line| Block::prose([line]));
    std::iter::once(Block::heading("Faults")).chain(sections).chain(more).collect()
}

fn fault(found: &FleetAnswer, row: &[FleetValue]) -> Block {
    let value = |column: &str| found.column(column).and_then(|at| row.get(at));
    let text = |column: &str| value(column).and_then(FleetValue::text);
    let hosts = |column: &str| value(column).and_then(FleetValue::number).map_or(0, |count| count as u64);
    let kind = capitalized(&text("kind").unwrap_or("fault").replace('_', " "));
    let cause = text("cause").map_or_else(String::new, |cause| format!(" ({})", cause.replace('_', " ")));
    let verdicts = ["unfit", "limited"].into_iter().map(|verdict| (verdict, hosts(verdict)));
    let verdicts: Vec<String> = verdicts
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{verdict} on {}", counted(count, "host")))
        .collect();
    let example = text("example").map(|example| {
        let host = shortened_inside(text("example_host").unwrap_or("a host"), LONGEST_NAME);
        sentence(format!("On {host}: {example}"))
    });
    let remedy = text(REMEDY).map(|remedy| sentence(format!("Remedy: {remedy}")));
    Block::section(format!("{kind}{cause}: {}", verdicts.join(", ")), example.into_iter().chain(remedy))
}

/// Says how many rows of an answer are left out after so many, if there are any.
fn more(answer: &FleetAnswer, rows: usize) -> Option<String> {
    let left_out = answer.row_count.saturating_sub(rows as u64);
    let line =
        || format!("and {}: clockscope-fleet query OUT {} prints all", counted(left_out, "more row"), answer.query);
    (left_out > 0).then(line)
}

/// Shows a query's question and its rows: columns of words first. Of a trend, the last rows.
fn rows(answer: &FleetAnswer) -> Vec<Block> {
    let is_trend = TRENDS.iter().any(|trend| trend.query == answer.query);
    let first = if is_trend { answer.rows.len().saturating_sub(MOST_ROWS_OF_A_TREND) } else { 0 };
    let rows = &answer.rows[first..];
    let is_number = |at: &usize| rows.iter().any(|row| row.get(*at).is_some_and(|cell| cell.number().is_some()));
    let is_visible = |at: &usize| answer.query != OFFENDERS || answer.columns[*at] != REMEDY;
    let mut columns: Vec<usize> = (0..answer.columns.len()).filter(is_visible).collect();
    columns.sort_by_key(is_number);
    let left = columns.iter().filter(|at| !is_number(at)).count();
    let cells = |row: &Vec<FleetValue>| {
        let cell = |at: &usize| row.get(*at).map_or(Cell::Empty, |value| cell(&answer.columns[*at], value));
        Row::from(columns.iter().map(cell).collect::<Vec<_>>())
    };
    let none = rows.is_empty().then(|| "Nothing was found.".to_owned());
    let head = columns.iter().map(|at| head(&answer.columns[*at]));
    let table = Table::new(head, left, rows.iter().map(cells)).below(none.into_iter().chain(more(answer, rows.len())));
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
    /// Draws all series, those with the largest values first: as many charts as they need.
    fn charts(&self, fleet: &Fleet) -> Vec<Chart> {
        let mut curves: Vec<_> = self.curves(fleet).into_iter().collect();
        let largest = |points: &[Point]| points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
        curves.sort_by(|(_, one), (_, other)| largest(other).total_cmp(&largest(one)));
        let parts = curves.len().div_ceil(MOST_SERIES);
        let chart = |(part, curves): (usize, &[(&str, Vec<Point>)])| {
            let values = curves.iter().flat_map(|(_, points)| points).map(|point| point.y);
            let y = Axis::fitting(self.axis, self.unit, values);
            let curves = curves.iter().map(|(name, points)| Curve::new(*name, Form::Line, points.iter().copied()));
            let plot = CurvePlot::new(Axis::new("Day", Unit::Date, Spacing::Linear), y, curves);
            let of = if parts > 1 { format!(" (part {part} of {parts})") } else { String::new() };
            Chart::new(self.query, format!("{}{of}", self.title), plot)
        };
        (1..).zip(curves.chunks(MOST_SERIES)).map(chart).collect()
    }

    /// Returns the points of each series. A count that a day lacks is 0.
    fn curves<'a>(&self, fleet: &'a Fleet) -> BTreeMap<&'a str, Vec<Point>> {
        let mut curves: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        let Some(found) = answer(fleet, self.query) else { return curves };
        let [date, series, value] = ["date", self.series, self.value].map(|name| found.column(name));
        for row in &found.rows {
            let at = |column: Option<usize>| column.and_then(|at| row.get(at));
            let day = at(date).and_then(FleetValue::text).and_then(day_number);
            let name = at(series).and_then(FleetValue::text);
            let value = at(value).and_then(FleetValue::number);
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

/// Adds zeros on the days that other series have.
fn add_zeros(curves: &mut BTreeMap<&str, Vec<Point>>) {
    let mut days: Vec<f64> = curves.values().flatten().map(|point| point.x).collect();
    days.sort_by(f64::total_cmp);
    days.dedup();
    for points in curves.values_mut() {
        let values: BTreeMap<u64, f64> = points.iter().map(|point| (point.x.to_bits(), point.y)).collect();
        let value = |day: &f64| values.get(&day.to_bits()).copied().unwrap_or(0.0);
        *points = days.iter().map(|day| Point::at(*day, value(day))).collect();
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
        let names: Vec<String> = (0..MOST_SERIES + 3).map(|number| format!("source{number:02}")).collect();
        let rows: Vec<_> = names.iter().map(|name| ("2026-10-01", name.as_str(), 1)).collect();
        assert_eq!(curves(&rows).len(), names.len());
        assert!(curves(&[("yesterday", "tsc", 1)]).is_empty());
    }
}
