//! The results of sleeping calls.

use clockscope_records::{Sleep, SleepRow};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MOST_SERIES, Point, Spacing, Unit};
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{exact_time, time};
use crate::words::{by_reason, counted, grouped, known, total};

const HEAD: [&str; 9] = ["Call", "Requested", "Sleeps", "Early", "Shortest", "Median", "p99", "Longest", "Late by"];

/// Columns of a spreadsheet.
const COLUMNS: [&str; 12] = [
    "call",
    "requested_ns",
    "sleeps",
    "early",
    "min_ns",
    "p50_ns",
    "p99_ns",
    "max_ns",
    "reason",
    "code=reason.code",
    "left_out",
    "unknown",
];

impl QuestionPage for Sleep {
    const LINES: &'static [(&'static str, &'static str)] = &[("rows", "row")];

    fn blocks(&self, _: View) -> Vec<Block> {
        blocks(self)
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "rows", &COLUMNS)
    }
}

fn blocks(sleep: &Sleep) -> Vec<Block> {
    let slept: Vec<&SleepRow> = sleep.rows.iter().filter(|row| row.sleeps > 0).collect();
    let mut below = Vec::new();
    if slept.iter().any(|row| !row.p99_ns.is_known()) {
        below.push("? p99: unknown for fewer than 100 sleeps; more time (--duration) gives more.".to_owned());
    }
    if !slept.is_empty() {
        below.push(format!("Late by: the median, less what was asked for. Timed by {}.", sleep.clock));
    }
    if !sleep.untried_ns.is_empty() {
        let times: Vec<String> = sleep.untried_ns.iter().map(|ns| time(*ns as f64)).collect();
        below.push(format!(
            "Not tried for {}: three sleeps of each call do not fit into the run; a longer --duration \
             includes them.",
            times.join(", ")
        ));
    }
    let rows = slept.iter().map(|row| Row::marked(cells(row), row.early.get().is_some_and(|count| count > 0)));
    let missing = sleep.rows.iter().filter_map(|row| {
        Some((format!("{} for {}", row.call, time(row.requested_ns as f64)), row.reason.as_ref()?.to_string()))
    });
    let table = Table::new(HEAD, 1, rows).below(below);
    let mut blocks = vec![Block::folded("All calls, as a table", [table.into()])];
    blocks.extend(charts(&slept).into_iter().map(Block::from));
    blocks.push(Block::folded("Sleeps that are not possible", [Block::notes("Not possible:", by_reason(missing))]));
    blocks
}

/// Draws how late each call returned, over what was asked for.
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
    let plot = |calls: &[(&str, Vec<Point>)]| {
        let x = Axis::new("Requested sleep", Unit::Time, Spacing::Log);
        let y = Axis::new("Median lateness; lines from the least to the 99th percentile", Unit::Time, Spacing::Log);
        let curves = calls.iter().map(|(call, points)| Curve::new(*call, Form::Line, points.iter().copied()));
        CurvePlot::new(x, y, curves)
    };
    let parts = calls.chunks(MOST_SERIES).enumerate();
    let name = |part: usize| if part == 0 { "lateness".to_owned() } else { format!("lateness:{}", part + 1) };
    parts.map(|(part, calls)| Chart::new(name(part), "Lateness of sleeps", plot(calls))).collect()
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

/// Most rows that a conclusion words.
const WORDED: usize = 3;

/// Says how long a call really takes, where few were asked for.
fn takes(row: &SleepRow) -> Option<String> {
    let of = format!("{} for {}", row.call, time(row.requested_ns as f64));
    let ends = row.min_ns.get().zip(row.max_ns.get());
    let ends = ends.map(|(least, most)| format!(", {} to {}", time(least), time(most)));
    let median = time(row.p50_ns.get()?);
    Some(format!("{of} takes {median}: the median of {}{}.", counted(row.sleeps, "sleep"), ends.unwrap_or_default()))
}

fn conclusion(sleep: &Sleep) -> Vec<String> {
    let sleeps = total(sleep.rows.iter().map(|row| row.sleeps));
    let early: Vec<&SleepRow> =
        sleep.rows.iter().filter(|row| row.early.get().is_some_and(|count| count > 0)).collect();
    let few = sleep.rows.iter().filter(|row| row.sleeps > 0).count() <= WORDED;
    let mut lines: Vec<String> = sleep.rows.iter().filter(|_| few).filter_map(takes).collect();
    lines.push(if sleeps == 0 {
        "Nothing slept.".to_owned()
    } else if early.is_empty() {
        format!("None of {} returned early.", counted(sleeps, "sleep"))
    } else {
        let rows: Vec<String> = early
            .iter()
            .map(|row| {
                let shortest = known(row.min_ns.get(), exact_time);
                let count = known(row.early.get(), grouped);
                format!(
                    "{} for {}: {count} of {}, after {shortest}",
                    row.call,
                    time(row.requested_ns as f64),
                    row.sleeps
                )
            })
            .collect();
        format!("Calls returned EARLY: {}.", rows.join("; "))
    });
    if let Some(slack) = sleep.timer_slack_ns.get().filter(|slack| *slack > 1) {
        lines.push(format!(
            "The kernel may wake this process {} late on purpose (timer slack; prctl PR_SET_TIMERSLACK changes it).",
            time(slack as f64)
        ));
    }
    lines
}
