//! The clock to use for intervals, by their length.

mod one_interval;

use clockscope_records::{Advice, AdviceRow, AfterWork, Candidate, Language, ScaleSource, TickIs};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{figure, percent, rounded_up, significant, tick_time, time};
use crate::words::{by_reason, counted};

const INTERVALS: [&str; 6] = ["Interval", "Clock", "Reading error", "Repetitions", "Scale error", "Cheapest"];
const CLOCKS: [&str; 6] = ["Clock", "Cost (ns)", "Tick", "In a loop", "Two reads differ by", "at most"];

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    interval_ns clock reading_error repetitions scale_error scale_source cheapest_sufficient unknown";

/// The meaning of the figures.
const ABOUT: &str = "Reading error: of a single measurement, as a share of the interval, in 99 of 100 measurements after the named work. Repetitions between the two reads divide it. Once its usual part is subtracted, its spread, its tick and the overlap of work and read remain. Cheapest: of the clocks whose single measurement suffices. In a loop: overhead, tick and jitter of reads that follow one another, together. Scale error: of the clock's rate, the same share of every interval; no repetition shrinks it, and it cancels where two measurements of one machine are compared.";

impl QuestionPage for Advice {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock"), ("rows", "row")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let one = if let [row] = rows(self) { Some(row) } else { None };
        match one {
            Some(row) if !view.is_all => one_interval::blocks(self, row),
            _ => {
                let mut blocks = one.map_or_else(Vec::new, |row| one_interval::blocks(self, row));
                blocks.extend(tables(self));
                blocks
            }
        }
    }

    fn conclusion(&self) -> Vec<String> {
        match rows(self) {
            [] => {
                let reason = self.rows.why().unwrap_or_else(|| "no clock was weighed".to_owned());
                vec![format!("No clock is advised: {reason}.")]
            }
            [row] => one_interval::conclusion(self, row),
            [.., longest] => [of_all(self, longest), two_reads(self, longest)].concat(),
        }
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "rows", COLUMNS)
    }
}

/// The tables of intervals and clocks, and what was not weighed.
fn tables(advice: &Advice) -> Vec<Block> {
    // Without intervals, there is nothing that the clocks' figures explain.
    let clocks = if advice.rows.is_known() { advice.clocks.as_slice() } else { &[] };
    vec![
        Table { together: 2, keys: 1, ..Table::new(INTERVALS, 0, rows(advice).iter().map(interval)) }.into(),
        Table { together: 2, ..Table::new(CLOCKS, 1, clocks.iter().map(clock)) }.into(),
        Block::notes("", unknown_ticks(advice)),
        Block::folded("Definitions", [Block::prose([ABOUT])]),
        Block::notes(
            "Not weighed:",
            by_reason(advice.left_out.iter().map(|clock| (clock.clock.clone(), clock.cause.to_string()))),
        ),
    ]
}

fn interval(row: &AdviceRow) -> Vec<Cell> {
    vec![
        Cell::Time(row.interval_ns),
        row.clock.as_str().into(),
        percent(row.reading_error * 100.0).into(),
        row.repetitions.to_string().into(),
        row.scale_error.get().map_or("?".into(), |share| ppm(share).into()),
        row.cheapest_sufficient.as_deref().unwrap_or("none").into(),
    ]
}

fn clock(clock: &Candidate) -> Vec<Cell> {
    let [least, most] = clock.two_reads_ns;
    let tick = match clock.tick_is {
        TickIs::Found => tick_time(clock.tick_ns).into(),
        TickIs::AtMost => format!("≤ {}", time(clock.tick_ns)).into(),
        TickIs::ObservedResolution => Cell::Unknown,
    };
    vec![
        clock.clock.as_str().into(),
        significant(clock.cost_ns, 4).into(),
        tick,
        Cell::Time(clock.loop_error_ns()),
        format!("{} to {}", time(least), time(most)).into(),
        Cell::Time(clock.two_reads_max_ns),
    ]
}

/// Names the clocks of unknown tick, whose errors contain the observed resolution.
fn unknown_ticks(advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    for Candidate { clock, tick_ns, tick_is, .. } in &advice.clocks {
        if *tick_is == TickIs::ObservedResolution {
            let resolution = time(*tick_ns);
            lines.push(format!(
                "? Tick of {clock}: not found; the errors contain its observed resolution, {resolution}"
            ));
        }
    }
    lines
}

fn ppm(share: f64) -> String {
    format!("{} ppm", figure(share * 1e6, 3))
}

fn rows(advice: &Advice) -> &[AdviceRow] {
    advice.rows.as_deref().unwrap_or_default()
}

/// Names the language whose clocks were weighed: " in Python 3.11.2"; empty for C, C++ and Rust.
fn in_language(advice: &Advice) -> String {
    match (advice.language, &advice.language_version) {
        (None, _) => String::new(),
        (Some(language), None) => format!(" in {language}"),
        (Some(language), Some(version)) => format!(" in {language} {version}"),
    }
}

/// Names the measurements that the reading error of such intervals holds for. It is the largest
/// error where there were fewer than a hundred.
fn situation(advice: &Advice, row: &AdviceRow, interval_ns: f64) -> String {
    let Some(work) = advice.after else {
        let remedy = advice.language.map_or("`clockscope advise` measures that", Language::after_work_remedy);
        return format!("reads in a loop, and larger after other work: {remedy}");
    };
    let measured = row.after_work.iter().filter(|found| found.work == work);
    match measured.min_by(|a, b| distance(a, interval_ns).total_cmp(&distance(b, interval_ns))) {
        Some(few) if few.measurements < 100 => {
            format!("all of {} of {few}", counted(few.measurements, "measurement"))
        }
        _ => format!("99 of 100 measurements of {work}"),
    }
}

/// Returns the logarithm of the ratio of the work's length to an interval, without its sign.
fn distance(found: &AfterWork, interval_ns: f64) -> f64 {
    (found.work_ns / interval_ns).ln().abs()
}

/// States the errors of the clock after other work, in one line.
fn others(advice: &Advice, row: &AdviceRow) -> Option<String> {
    let others = row.after_work.iter().filter(|found| Some(found.work) != advice.after);
    let others: Vec<String> = others.map(|found| format!("{found} {}", time(found.error_ns()))).collect();
    if others.is_empty() {
        return None;
    }
    Some(format!("After {}.", others.join(", ").replace(", touching ", ", ")))
}

/// Advises for intervals of many lengths, by the clock of the longest one.
fn of_all(advice: &Advice, longest: &AdviceRow) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(clock) = advice.clocks.iter().find(|clock| clock.clock == longest.clock) {
        let from_ns = rounded_up(clock.sufficient_from_ns(advice.error, advice.after), 2);
        let other = rows(advice).iter().find(|row| row.clock != longest.clock);
        let shorter = other.map_or("repeat shorter work".to_owned(), |row| {
            format!("for shorter intervals use {} and the repetitions of the table", row.clock)
        });
        lines.push(format!(
            "From {} on, a single measurement by {}{} has a reading error of at most {} in {}; {shorter}.",
            time(from_ns),
            longest.clock,
            in_language(advice),
            percent(advice.error * 100.0),
            situation(advice, longest, from_ns)
        ));
    }
    lines.push(match (longest.scale_error.get(), &longest.scale_source) {
        (Some(share), Some(source)) => {
            format!("The scale error of {} is {} {}.", longest.clock, ppm(share), by(source))
        }
        _ => unknown_scale(advice, longest),
    });
    lines
}

fn by(source: &ScaleSource) -> String {
    match source {
        ScaleSource::Comparison(other) => format!("at most, if {other} is right"),
        ScaleSource::Chronyd => "at most, as chronyd states now".to_owned(),
    }
}

/// States that the scale error is unknown, and the kernel's tolerance.
fn unknown_scale(advice: &Advice, row: &AdviceRow) -> String {
    let reason = row.scale_error.why().unwrap_or_else(|| "nothing bounds it".to_owned());
    let most = advice
        .scale_tolerance
        .map_or_else(String::new, |share| format!(", and may be {} (the kernel's tolerance)", ppm(share)));
    format!("The scale error is unknown ({reason}){most}.")
}

/// States the difference between two reads in one expression.
fn two_reads(advice: &Advice, row: &AdviceRow) -> Vec<String> {
    let clocks = advice.clocks.iter().filter(|clock| clock.clock == row.clock).take(1);
    let lines = clocks.map(|Candidate { clock, two_reads_ns: [least, most], two_reads_max_ns, .. }| {
        format!(
            "Two successive reads of {clock} usually differ by {} to {}; the largest difference seen was {}. Where two \
             places need the same time, read once.",
            time(*least),
            time(*most),
            time(*two_reads_max_ns)
        )
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Figure, Unknown, Work, texts};

    use super::*;

    /// Advice without a row.
    fn nothing() -> Advice {
        Advice {
            language: None,
            language_version: None,
            error: 0.01,
            after: None,
            rows: Figure::Known(Vec::new()),
            scale_tolerance: None,
            clocks: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The recipe for one interval by a clock whose reads take 40 ns, and what is not included.
    fn for_interval(interval_ns: f64, scale: Result<f64, Unknown>, scale_tolerance: Option<f64>) -> String {
        let row = AdviceRow {
            interval_ns,
            clock: "monotonic".to_owned(),
            reading_error: 40.0 / interval_ns,
            scale_source: scale.is_ok().then_some(ScaleSource::Chronyd),
            scale_error: scale.into(),
            repetitions: (40.0 / interval_ns / 0.01).ceil().max(1.0) as u64,
            after_work: vec![
                AfterWork { work: Work::Spin, work_ns: 100.0, measurements: 10_000, median_ns: 30.0, p99_ns: 36.0 },
                AfterWork { work: Work::Sleep, work_ns: 1e7, measurements: 100, median_ns: 400.0, p99_ns: 1000.0 },
            ],
            cheapest_sufficient: None,
        };
        let rows = Figure::Known(vec![row.clone()]);
        let advice = Advice { after: Some(Work::Spin), rows, scale_tolerance, ..nothing() };
        let lines = one_interval::not_included(&advice, &row).into_iter().map(|line| line.to_string());
        advice.conclusion().into_iter().chain(lines).collect::<Vec<_>>().join(" ")
    }

    /// The rate's error is never part of the error of the reads, which repetitions shrink.
    #[test]
    fn both_errors_are_stated_for_one_interval() {
        let hour = 3.6e12;
        assert_eq!(
            for_interval(hour, Ok(2.5e-7), Some(500e-6)),
            "3600 s: measure once by monotonic: within 1%. One measurement is off by at most 40 ns (1.11e-9%) in 99 of 100 \
             measurements of a spin. After a sleep of 10 ms 1.2 µs. the rate's error, 0.25 ppm at most, as chronyd \
             states now: 900 µs; it cancels in comparisons here"
        );
        let unknown = for_interval(hour, Err(texts::NOT_SYNCHRONIZED.into()), Some(500e-6));
        assert!(
            unknown.ends_with(
                "the rate's error, up to 500 ppm (no daemon synchronizes this machine); it cancels in comparisons here"
            ),
            "{unknown}"
        );
        let without_rate = for_interval(hour, Err(texts::NO_RATE_STATEMENT.into()), None);
        assert!(
            without_rate.contains("the rate's error (no daemon states the error of the clocks' rates)"),
            "{without_rate}"
        );
        let short = for_interval(100.0, Ok(1e-4), None);
        assert!(
            short.starts_with(
                "100 ns: repeat 40 times between two reads of monotonic and divide: within 1%. One measurement is off by at \
                 most 40 ns (40%) in 99 of 100 measurements of a spin"
            ),
            "{short}"
        );
        assert!(short.contains("100 ppm at most, as chronyd states now: 0.01 ns"), "{short}");
    }

    /// The runtime is named, and the way to errors after work is that of the language.
    #[test]
    fn advice_for_a_language_names_it() {
        let row = AdviceRow {
            interval_ns: 1e6,
            clock: "time.perf_counter_ns()".to_owned(),
            reading_error: 1e-4,
            after_work: Vec::new(),
            scale_error: Figure::unknown(texts::NO_RATE_STATEMENT),
            scale_source: None,
            repetitions: 1,
            cheapest_sufficient: None,
        };
        let advice = |rows: Vec<AdviceRow>| Advice {
            language: Some(Language::Python),
            language_version: Some("3.11.2".to_owned()),
            rows: Figure::Known(rows),
            ..nothing()
        };
        let sentences = advice(vec![row.clone()]).conclusion().join(" ");
        let expected = "1 ms in Python 3.11.2: measure once by time.perf_counter_ns(): within 1%. One measurement is off by at \
                        most 100 ns (0.01%) in reads in a loop, and larger after other work: with the package clockscope \
                        installed for this Python, `advise` measures that.";
        assert!(sentences.starts_with(expected), "{sentences}");
        let unversioned = Advice { language_version: None, ..advice(vec![row]) }.conclusion().join(" ");
        assert!(unversioned.starts_with("1 ms in Python: measure once"), "{unversioned}");
    }
}
