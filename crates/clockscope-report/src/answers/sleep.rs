//! What sleeping calls give.

use clockscope_records::{Sleep, SleepRow};

use super::{Block, by_reason, counted, grouped};
use crate::cells::{exact_time, known, time};

const HEAD: [&str; 9] = ["Call", "Asked", "Sleeps", "Early", "Shortest", "Median", "p99", "Longest", "Late by"];

pub(super) fn blocks(sleep: &Sleep) -> Vec<Block> {
    let slept: Vec<&SleepRow> = sleep.rows.iter().filter(|row| row.sleeps > 0).collect();
    let mut table = Block::table("", &HEAD, 1, slept.iter().map(|row| self::row(row)).collect());
    table.faults = slept.iter().map(|row| row.early.is_some_and(|count| count > 0)).collect();
    if !slept.is_empty() {
        if slept.iter().any(|row| row.p99_ns.is_none()) {
            table
                .lines
                .push("? p99: of fewer than 100 sleeps none is told; more time (--duration) gives more.".to_owned());
        }
        table.lines.push(format!("Late by: the median, less what was asked for. Timed by {}.", sleep.clock));
    }
    let lacking = sleep
        .rows
        .iter()
        .filter_map(|row| Some((format!("{} for {}", row.call, time(row.asked_ns as f64)), row.reason.as_deref()?)));
    vec![table, Block::lines("Not possible:", by_reason(lacking))]
}

fn row(row: &SleepRow) -> Vec<String> {
    let asked = row.asked_ns as f64;
    vec![
        row.call.clone(),
        time(asked),
        grouped(row.sleeps),
        known(row.early, grouped),
        known(row.min_ns, time),
        known(row.p50_ns, time),
        known(row.p99_ns, time),
        known(row.max_ns, time),
        known(row.p50_ns, |median| time(median - asked)),
    ]
}

pub(super) fn conclusion(sleep: &Sleep) -> Vec<String> {
    let sleeps: u64 = sleep.rows.iter().map(|row| row.sleeps).sum();
    let early: Vec<&SleepRow> = sleep.rows.iter().filter(|row| row.early.is_some_and(|count| count > 0)).collect();
    let mut lines = vec![if sleeps == 0 {
        "Nothing slept.".to_owned()
    } else if early.is_empty() {
        format!("None of {} returned early.", counted(sleeps, "sleep"))
    } else {
        let rows: Vec<String> = early
            .iter()
            .map(|row| {
                let shortest = known(row.min_ns, exact_time);
                let count = known(row.early, grouped);
                format!("{} for {}: {count} of {}, after {shortest}", row.call, time(row.asked_ns as f64), row.sleeps)
            })
            .collect();
        format!("Calls returned EARLY: {}.", rows.join("; "))
    }];
    if let Some(slack) = sleep.timer_slack_ns.filter(|slack| *slack > 1) {
        lines.push(format!(
            "The kernel may wake this process {} late on purpose (timer slack; prctl PR_SET_TIMERSLACK changes it).",
            time(slack as f64)
        ));
    }
    lines
}
