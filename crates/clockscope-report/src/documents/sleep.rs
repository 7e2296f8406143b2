//! The results of sleeping calls.

use clockscope_records::{Sleep, SleepRow};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MAX_SERIES, Point, Spacing, Unit, part_name};
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{exact_time, time};
use crate::words::{by_reason, counted, grouped, known, total};

const HEAD: [&str; 9] = ["Call", "Requested", "Sleeps", "Early", "Shortest", "Median", "p99", "Longest", "Late by"];
/// Columns of that table that say something only where a sleep was too short.
const OF_EARLY: std::ops::Range<usize> = 2..5;

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    call requested_ns sleeps early min_ns p50_ns p99_ns max_ns reason code=reason.code left_out unknown";

impl QuestionPage for Sleep {
    const LINES: &'static [(&'static str, &'static str)] = &[("rows", "row")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let slept: Vec<&SleepRow> = self.rows.iter().filter(|row| row.sleeps > 0).collect();
        let mut below = Vec::new();
        if slept.iter().any(|row| !row.p99_ns.is_known()) {
            below.push("? p99: unknown for fewer than 100 sleeps; more time (--duration) gives more.".to_owned());
        }
        if !slept.is_empty() {
            below.push(format!("Late by: the median, less what was asked for. Timed by {}.", self.clock));
        }
        if !self.untried_ns.is_empty() {
            let times: Vec<String> = self.untried_ns.iter().map(|ns| time(*ns as f64)).collect();
            below.push(format!(
                "Not tried for {}: three sleeps of each call do not fit into the run; a longer --duration \
                 includes them.",
                times.join(", ")
            ));
        }
        let rows = slept.iter().map(|row| Row::marked(cells(row), row.early.get().is_some_and(|count| count > 0)));
        let missing = self.rows.iter().filter_map(|row| {
            Some((format!("{} for {}", row.call, time(row.requested_ns as f64)), row.reason.as_ref()?.to_string()))
        });
        let mut table = Table::new(HEAD, 1, rows).below(below);
        if !view.is_all && table.rows.iter().all(|row| !row.is_faulty) {
            table = table.without(OF_EARLY);
        }
        let mut blocks = vec![Block::folded("All calls, as a table", [table.into()])];
        blocks.extend(charts(&slept).into_iter().map(Block::from));
        blocks.push(Block::folded("Sleeps that are not possible", [Block::notes("Not possible:", by_reason(missing))]));
        blocks
    }

    fn conclusion(&self) -> Vec<String> {
        let sleeps = total(self.rows.iter().map(|row| row.sleeps));
        let early: Vec<&SleepRow> =
            self.rows.iter().filter(|row| row.early.get().is_some_and(|count| count > 0)).collect();
        let mut lines = Vec::new();
        if self.rows.iter().filter(|row| row.sleeps > 0).count() <= MAX_SENTENCES {
            lines.extend(self.rows.iter().filter_map(takes));
        }
        lines.push(if sleeps == 0 {
            "Nothing slept.".to_owned()
        } else if early.is_empty() {
            format!("None of {} returned early.", counted(sleeps, "sleep"))
        } else {
            let rows = early.iter().map(|row| {
                let (requested, shortest) = (time(row.requested_ns as f64), known(row.min_ns.get(), exact_time));
                let count = known(row.early.get(), grouped);
                format!("{} for {requested}: {count} of {}, after {shortest}", row.call, row.sleeps)
            });
            format!("Calls returned EARLY: {}.", rows.collect::<Vec<_>>().join("; "))
        });
        if let Some(slack) = self.timer_slack_ns.get().filter(|slack| *slack > 1) {
            lines.push(format!(
                "The kernel may wake this process {} late on purpose (timer slack; prctl PR_SET_TIMERSLACK changes it).",
                time(slack as f64)
            ));
        }
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "rows", COLUMNS)
    }
}

/// Draws the lateness of each call over the requested time.
fn charts(slept: &[&SleepRow]) -> Vec<Chart> {
    let mut calls: Vec<(&str, Vec<Point>)> = Vec::new();
    for row in slept {
        let requested = row.requested_ns as f64;
        let Some(median) = row.p50_ns.get() else { continue };
        let ends = row.min_ns.get().zip(row.p99_ns.get());
        let spread = ends.map(|(least, most)| [least - requested, most - requested]);
        let point = Point { spread, ..Point::at(requested, median - requested) };
        match calls.iter_mut().find(|(call, _)| *call == row.call) {
            Some((_, points)) => points.push(point),
            None => calls.push((&row.call, vec![point])),
        }
    }
    let mut charts = Vec::new();
    for (part, calls) in calls.chunks(MAX_SERIES).enumerate() {
        let x = Axis::new("Requested sleep", Unit::Time, Spacing::Log);
        let y = Axis::new("Median lateness; lines from the least to the 99th percentile", Unit::Time, Spacing::Log);
        let curves = calls.iter().map(|(call, points)| Curve::new(*call, Form::Line, points.iter().copied()));
        charts.push(Chart::new(part_name("lateness", part), "Lateness of sleeps", CurvePlot::new(x, y, curves)));
    }
    charts
}

fn cells(row: &SleepRow) -> Vec<Cell> {
    let requested = row.requested_ns as f64;
    vec![
        row.call.as_str().into(),
        Cell::Time(requested),
        Cell::Count(row.sleeps),
        Cell::count(row.early.get()),
        Cell::time(row.min_ns.get()),
        Cell::time(row.p50_ns.get()),
        Cell::time(row.p99_ns.get()),
        Cell::time(row.max_ns.get()),
        Cell::time(row.p50_ns.get().map(|median| median - requested)),
    ]
}

/// Most rows with a sentence each in the conclusion.
const MAX_SENTENCES: usize = 3;

/// States the time that a call takes.
fn takes(row: &SleepRow) -> Option<String> {
    let call = format!("{} for {}", row.call, time(row.requested_ns as f64));
    let ends = row.min_ns.get().zip(row.max_ns.get());
    let ends = ends.map(|(least, most)| format!(", {} to {}", time(least), time(most)));
    let median = time(row.p50_ns.get()?);
    Some(format!("{call} takes {median}: the median of {}{}.", counted(row.sleeps, "sleep"), ends.unwrap_or_default()))
}
