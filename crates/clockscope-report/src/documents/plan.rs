//! Which clock to use for intervals of which length.

use clockscope_records::{Candidate, Plan, PlanRow, TickIs};
use serde_json::Value;

use super::contents::DescribeContents;
use crate::model::{Block, Cell, Table};
use crate::reason::{not_weighed, why};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{percent, precise_time, significant, time};

const INTERVALS: [&str; 5] = ["Interval", "Clock", "Error of one", "Repetitions", "Cheapest that suffices"];
const CLOCKS: [&str; 7] = ["Clock", "Cost (ns)", "Overhead", "Tick", "Jitter", "Two reads differ by", "at most"];

/// Columns of a spreadsheet.
const COLUMNS: [&str; 5] = ["interval_ns", "clock", "single_error", "repetitions", "cheapest_sufficient"];

/// What the figures are.
const ABOUT: &str = "Error of one: of a single measurement, in parts of the interval: overhead, tick and jitter together. Overhead: what two reads show with nothing between them. Jitter: by how much that varies (its 99th percentile less its median).";

impl DescribeContents for Plan {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock"), ("rows", "row")];

    fn blocks(&self, _: View) -> Vec<Block> {
        // The clocks' figures explain the intervals.
        let weighed = self.clocks.iter().filter(|_| self.rows.is_known());
        vec![
            Table::new(INTERVALS, 0, rows(self).iter().map(interval)).whole().into(),
            Table { together: 2, ..Table::new(CLOCKS, 1, weighed.map(clock)) }.into(),
            Block::prose([ABOUT]),
            Block::notes(
                "Not weighed:",
                self.unfit.iter().map(|unfit| format!("{}: {}", unfit.clock, not_weighed(unfit))),
            ),
        ]
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "rows", &COLUMNS)
    }
}

fn interval(row: &PlanRow) -> Vec<Cell> {
    vec![
        Cell::Time(row.interval_ns),
        row.clock.as_str().into(),
        percent(row.single_error * 100.0).into(),
        row.repetitions.to_string().into(),
        row.cheapest_sufficient.as_deref().unwrap_or("none").into(),
    ]
}

fn clock(clock: &Candidate) -> Vec<Cell> {
    let [least, most] = clock.two_reads_ns;
    let tick = match clock.tick_is {
        TickIs::Found => precise_time(clock.tick_ns),
        TickIs::AtMost => format!("≤ {}", time(clock.tick_ns)),
        TickIs::ObservedStep => format!("{} seen", time(clock.tick_ns)),
    };
    vec![
        clock.clock.as_str().into(),
        significant(clock.cost_ns, 4).into(),
        Cell::Time(clock.overhead_ns),
        tick.into(),
        Cell::Time(clock.jitter_ns),
        format!("{} to {}", time(least), time(most)).into(),
        Cell::Time(clock.two_reads_max_ns),
    ]
}

fn rows(plan: &Plan) -> &[PlanRow] {
    plan.rows.as_deref().unwrap_or_default()
}

/// What the tables say, in sentences.
fn conclusion(plan: &Plan) -> Vec<String> {
    let Some((best, row)) = plan.clocks.first().zip(rows(plan).first()) else {
        let reason = why(&plan.rows).unwrap_or_else(|| "no clock was weighed".to_owned());
        return vec![format!("No clock can be advised: {reason}.")];
    };
    let mut lines = Vec::new();
    let error = percent(plan.error * 100.0);
    if let [row] = rows(plan) {
        let off = format!("{} ({})", time(row.single_error * row.interval_ns), percent(row.single_error * 100.0));
        let interval = time(row.interval_ns);
        lines.push(match row.repetitions {
            1 => format!("99 of 100 single measurements of {interval} by {} are off by at most {off}.", row.clock),
            repetitions => format!(
                "A single measurement of {interval} by {} may be off by {off}. To bring the error to {error}, run \
                 what is measured {repetitions} times between two reads, and divide the time by {repetitions}.",
                row.clock
            ),
        });
    } else {
        let whole = (best.overhead_ns + best.tick_ns + best.jitter_ns) / plan.error;
        lines.push(format!(
            "From {} on, a single measurement by {} is off by at most {error}; run what is shorter several times.",
            time(whole),
            row.clock
        ));
    }
    let [least, most] = best.two_reads_ns;
    lines.push(format!(
        "Two successive reads of {} usually differ by {} to {}; the largest difference seen was {}. Where two \
         places need the same time, read once.",
        best.clock,
        time(least),
        time(most),
        time(best.two_reads_max_ns)
    ));
    lines
}
