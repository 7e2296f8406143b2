//! The advice on one interval: the recipe, the clocks to choose from, how to write it, and what is
//! not included.

use clockscope_records::{Advice, AdviceRow, Candidate};

use super::{by, in_language, others, ppm, situation};
use crate::model::{Block, Cell, Line, Row, Table, Tone};
use crate::units::{percent, time};

const HEADS: [&str; 4] = ["Read by", "Single", "Repeat", "Subtracted"];
/// The meaning of the last column, and where the rest is.
const LEGEND: &str =
    "Subtracted: repetitions without the overhead. All figures: --all. Method: clockscope help method.";
/// Most intervals that a tick may be long: of a coarser clock, no repetition is worth its time.
const MAX_TICK_INTERVALS: f64 = 100.0;
/// Most clocks of the table.
const MAX_CLOCKS: usize = 6;

/// The recipe, and the error of a single measurement.
pub(super) fn conclusion(advice: &Advice, row: &AdviceRow) -> Vec<String> {
    let AdviceRow { interval_ns, ref clock, reading_error, repetitions, .. } = *row;
    let (interval, language, accepted) = (time(interval_ns), in_language(advice), percent(advice.error * 100.0));
    let situation = situation(advice, row, interval_ns);
    let single = format!("{} ({})", time(reading_error * interval_ns), percent(reading_error * 100.0));
    let recipe = if repetitions == 1 {
        format!("{interval}{language}: measure once by {clock}: within {accepted}.")
    } else {
        format!(
            "{interval}{language}: repeat {repetitions} times between two reads of {clock} and divide: within {accepted}."
        )
    };
    let single = format!("One measurement is off by at most {single} in {situation}.");
    [recipe, single].into_iter().chain(others(advice, row)).collect()
}

/// The table, the code, and what the advice leaves out.
pub(super) fn blocks(advice: &Advice, row: &AdviceRow) -> Vec<Block> {
    let (coarse, mut clocks): (Vec<_>, Vec<_>) = advice
        .clocks
        .iter()
        .partition(|clock| clock.tick_ns > MAX_TICK_INTERVALS * row.interval_ns && clock.clock != row.clock);
    clocks.sort_by(|a, b| error_ns(advice, row, a).total_cmp(&error_ns(advice, row, b)));
    let is_shown = |(index, clock): &(usize, &Candidate)| *index < MAX_CLOCKS || clock.clock == row.clock;
    let shown = clocks.into_iter().enumerate().filter(is_shown);
    let rows = shown.map(|(_, clock)| candidate(advice, row, clock));
    let coarse: Vec<String> = coarse.iter().map(|clock| format!("{} ({})", clock.clock, time(clock.tick_ns))).collect();
    let coarse = if coarse.is_empty() { String::new() } else { format!("Too coarse: {}. ", coarse.join(", ")) };
    vec![
        Table::new(HEADS, 1, rows).below([coarse + LEGEND]).into(),
        Block::key_value("In code:", code(advice, &row.clock)),
        Block::notes("Not included:", not_included(advice, row)),
    ]
}

fn error_ns(advice: &Advice, row: &AdviceRow, clock: &Candidate) -> f64 {
    clock.reading_error_ns(row.interval_ns, advice.after)
}

fn candidate(advice: &Advice, row: &AdviceRow, clock: &Candidate) -> Row {
    let single = error_ns(advice, row, clock) / row.interval_ns;
    let subtracted = clock.subtracted_error_ns(row.interval_ns, advice.after) / row.interval_ns;
    let cells = vec![
        clock.clock.as_str().into(),
        percent(single * 100.0).into(),
        Cell::Count(repetitions(single, advice.error)),
        Cell::Count(repetitions(subtracted, advice.error)),
    ];
    Row { is_recommended: clock.clock == row.clock, ..cells.into() }
}

/// Returns the repetitions that bring an error down to the accepted one.
fn repetitions(error: f64, accepted: f64) -> u64 {
    (error / accepted).ceil().max(1.0) as u64
}

/// Lists the calls that read the clock, by their languages.
fn code(advice: &Advice, clock: &str) -> Vec<(&'static str, &'static str)> {
    if advice.language.is_some() {
        return Vec::new();
    }
    match clock {
        "monotonic" => vec![
            ("Rust", "Instant::now()"),
            ("C", "clock_gettime(CLOCK_MONOTONIC, &time)"),
            ("C++", "std::chrono::steady_clock::now()"),
            ("Python", "time.perf_counter_ns()"),
            ("Java", "System.nanoTime()"),
            ("Go", "time.Now(), time.Since(start)"),
        ],
        "query_performance_counter" => vec![
            ("Rust", "Instant::now()"),
            ("C", "QueryPerformanceCounter(&count)"),
            ("C++", "std::chrono::steady_clock::now()"),
            ("Python", "time.perf_counter_ns()"),
            ("Java", "System.nanoTime()"),
        ],
        "clockscope.now" => vec![
            ("Rust", "clockscope::now()"),
            ("C", "clockscope_now()"),
            ("C++", "clockscope::clock::now()"),
            ("Python", "clockscope.now_ns()"),
            ("Java, Go", "their own calls: clockscope runtimes java go"),
        ],
        "tsc_lfence" | "rdtscp" | "rdtscp_lfence" | "cntvct_isb" | "cntvct_dsb_isb" => vec![
            ("Rust", "clockscope::ticks::start(), ticks::stop()"),
            ("C, C++", "clockscope_ticks_start(), clockscope_ticks_stop()"),
            ("Python, Java, Go", "their own calls: clockscope runtimes python java go"),
        ],
        _ => Vec::new(),
    }
}

/// Lists the errors that the recipe does not bound.
pub(super) fn not_included(advice: &Advice, row: &AdviceRow) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(clock) = advice.clocks.iter().find(|clock| clock.clock == row.clock) {
        let longest = time(clock.two_reads_max_ns);
        lines.push(format!("interruptions, the longest {longest}: report a median, not a mean"));
    }
    lines.push(match (row.scale_error.get(), &row.scale_source) {
        (Some(share), Some(source)) => {
            let ns = time(share * row.interval_ns);
            format!("the rate's error, {} {}: {ns}; it cancels in comparisons here", ppm(share), by(source))
        }
        _ => {
            let reason = row.scale_error.why().unwrap_or_else(|| "nothing bounds it".to_owned());
            let most = advice.scale_tolerance.map_or_else(String::new, |share| format!(", up to {}", ppm(share)));
            format!("the rate's error{most} ({reason}); it cancels in comparisons here")
        }
    });
    lines.into_iter().map(|line| Line::toned(line, Tone::Normal)).collect()
}
