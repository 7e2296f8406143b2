//! What stands in the tables of a plan, for every format that has tables.

use clockscope_records::{Plan, PlanRow, TickIs};

use crate::cells::{precise_time, significant, time, trimmed};

/// Heads of the table of intervals.
pub(crate) const ROWS: [&str; 5] = ["Interval", "Clock", "Error of one", "Repetitions", "Cheapest that suffices"];

/// Heads of the table of clocks.
pub(crate) const CLOCKS: [&str; 7] =
    ["Clock", "Cost(ns)", "Overhead", "Tick", "Jitter", "Two reads differ by", "at most"];

/// Columns that the table of clocks needs, or a little more.
pub(crate) const CLOCKS_WIDTH: u16 = 96;

pub(crate) fn row(row: &PlanRow) -> [String; 5] {
    [
        time(row.interval_ns),
        row.clock.clone(),
        percent(row.single_error),
        row.repetitions.to_string(),
        row.cheapest_sufficient.clone().unwrap_or_else(|| "none: repeat".to_owned()),
    ]
}

pub(crate) fn clocks(plan: &Plan) -> Vec<Vec<String>> {
    let clock = |clock: &clockscope_records::Candidate| {
        let [least, most] = clock.two_reads_ns;
        let tick = match clock.tick_is {
            TickIs::Found => precise_time(clock.tick_ns),
            TickIs::AtMost => format!("≤ {}", time(clock.tick_ns)),
            TickIs::ObservedStep => format!("{} seen", time(clock.tick_ns)),
        };
        vec![
            clock.clock.clone(),
            significant(clock.cost_ns, 4),
            time(clock.overhead_ns),
            tick,
            time(clock.jitter_ns),
            format!("{} to {}", time(least), time(most)),
            time(clock.two_reads_max_ns),
        ]
    };
    plan.clocks.iter().map(clock).collect()
}

/// A share in percent, with three digits.
fn percent(share: f64) -> String {
    format!("{}%", trimmed(&significant(share * 100.0, 3)))
}

/// What the tables say, in sentences.
pub(crate) fn sentences(plan: &Plan) -> Vec<String> {
    let Some((best, row)) = plan.clocks.first().zip(plan.rows.first()) else {
        let reason = plan.unknown.get("rows").map_or("no reason was recorded", String::as_str);
        return vec![format!("No clock can be advised: {reason}.")];
    };
    let mut lines = Vec::new();
    let error = percent(plan.error);
    if let [row] = plan.rows.as_slice() {
        let off = percent(row.single_error);
        let interval = time(row.interval_ns);
        lines.push(match row.repetitions {
            1 => format!("{interval} by {}: 99 of 100 single measurements are off by at most {off} of it.", row.clock),
            repetitions => format!(
                "{interval} by {}: a single measurement may well be off by {off} of it. Repeat what is measured {repetitions} \
                 times between the two reads, and divide: at most {error}.",
                row.clock
            ),
        });
    } else {
        let whole = (best.overhead_ns + best.tick_ns + best.jitter_ns) / plan.error;
        lines.push(format!(
            "From {} on, {} is good for {error} in a single measurement; shorter intervals have to be repeated.",
            time(whole),
            row.clock
        ));
    }
    let [least, most] = best.two_reads_ns;
    lines.push(format!(
        "Two calls of {} in one expression usually differ by {} to {}, at most by {} as far as was seen: read once, and \
         use the value twice.",
        best.clock,
        time(least),
        time(most),
        time(best.two_reads_max_ns)
    ));
    lines
}

/// Clocks that were not weighed: a line each.
pub(crate) fn unfit(plan: &Plan) -> Vec<String> {
    plan.unfit.iter().map(|unfit| format!("{}: {}", unfit.clock, unfit.reason)).collect()
}
