//! The clock to use for intervals, by their length.

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
const COLUMNS: [&str; 8] = [
    "interval_ns",
    "clock",
    "reading_error",
    "repetitions",
    "scale_error",
    "scale_source",
    "cheapest_sufficient",
    "unknown",
];

/// The meaning of the figures.
const ABOUT: &str = "Reading error: of a single measurement, as a share of the interval, in 99 of 100 measurements after the named work. Repetitions between the two reads divide it. It is not a bias that could be subtracted: work begins before a read has ended. Cheapest: of the clocks whose single measurement suffices. In a loop: overhead, tick and jitter of reads that follow one another, together. Scale error: of the clock's rate, the same share of every interval; no repetition shrinks it, and it cancels where two measurements of one machine are compared.";

impl QuestionPage for Advice {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock"), ("rows", "row")];

    fn blocks(&self, _: View) -> Vec<Block> {
        // The clocks' figures explain the intervals.
        let weighed = self.clocks.iter().filter(|_| self.rows.is_known());
        vec![
            Table { together: 2, ..Table::new(INTERVALS, 0, rows(self).iter().map(interval)).whole() }.into(),
            Table { together: 2, ..Table::new(CLOCKS, 1, weighed.map(clock)) }.into(),
            Block::notes("", unknown_ticks(self)),
            Block::folded("Definitions", [Block::prose([ABOUT])]),
            Block::notes(
                "Not weighed:",
                by_reason(self.left_out.iter().map(|clock| (clock.clock.clone(), clock.cause.to_string()))),
            ),
        ]
    }

    fn conclusion(&self) -> Vec<String> {
        match rows(self) {
            [] => {
                let reason = self.rows.why().unwrap_or_else(|| "no clock was weighed".to_owned());
                vec![format!("No clock is advised: {reason}.")]
            }
            [row] => [of_one(self, row), two_reads(self, row)].concat(),
            all => [of_all(self, all), all.last().map(|row| two_reads(self, row)).unwrap_or_default()].concat(),
        }
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "rows", &COLUMNS)
    }
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

/// Says what stands for ticks that are not known.
fn unknown_ticks(advice: &Advice) -> Vec<String> {
    let unknown = advice.clocks.iter().filter(|clock| clock.tick_is == TickIs::ObservedResolution);
    unknown
        .map(|clock| {
            format!(
                "? Tick of {}: not found; the errors contain its observed resolution, {}",
                clock.clock,
                time(clock.tick_ns)
            )
        })
        .collect()
}

fn ppm(share: f64) -> String {
    format!("{} ppm", figure(share * 1e6, 3))
}

fn rows(advice: &Advice) -> &[AdviceRow] {
    advice.rows.as_deref().unwrap_or_default()
}

/// Says what to do for one interval, and what error remains.
fn of_one(advice: &Advice, row: &AdviceRow) -> Vec<String> {
    let AdviceRow { interval_ns, ref clock, reading_error, repetitions, .. } = *row;
    let of_interval = |share: f64| time(share * interval_ns);
    let interval = time(interval_ns);
    let program = in_language(advice);
    let single = format!("{} ({})", of_interval(reading_error), percent(reading_error * 100.0));
    let situation = situation(advice, row, interval_ns);
    let what = match repetitions {
        1 => format!(
            "For {interval}{program} use {clock}, and measure once: the reading error is {single} in {situation}."
        ),
        _ => format!(
            "For {interval}{program} use {clock}, run the work {} between two reads, and divide the time by that. The reading \
             error of a single measurement is {single} in {situation}, that of so many {}.",
            counted(repetitions, "time"),
            percent(reading_error / repetitions as f64 * 100.0),
        ),
    };
    let scale = match (row.scale_error.get(), &row.scale_source) {
        (Some(share), Some(source)) => {
            let both = share + reading_error / repetitions as f64;
            format!(
                "The scale error is {} {}: {} of {interval}. With both errors, the interval is off by at most {} ({}) as often.",
                ppm(share),
                by(source),
                of_interval(share),
                of_interval(both),
                percent(both * 100.0)
            )
        }
        _ => {
            let may_be = advice.scale_tolerance.map(|share| {
                format!(", and may be {} (the kernel's tolerance): {} of {interval}", ppm(share), of_interval(share))
            });
            format!("The scale error is unknown ({}){}.", unknown_scale(row), may_be.unwrap_or_default())
        }
    };
    std::iter::once(what).chain(others(advice, row)).chain([scale]).collect()
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
    let distance = |found: &AfterWork| (found.work_ns / interval_ns).ln().abs();
    match measured.min_by(|a, b| distance(a).total_cmp(&distance(b))) {
        Some(few) if few.measurements < 100 => {
            format!("all of {} of {few}", counted(few.measurements, "measurement"))
        }
        _ => format!("99 of 100 measurements of {work}"),
    }
}

/// Says what the reading error of the same clock is after other work.
fn others(advice: &Advice, row: &AdviceRow) -> Option<String> {
    let others = row.after_work.iter().filter(|found| Some(found.work) != advice.after);
    let others: Vec<String> = others.map(|found| format!("{} after {found}", time(found.error_ns()))).collect();
    (!others.is_empty()).then(|| format!("It is {}.", others.join(", ")))
}

/// Says the same for intervals of many lengths.
fn of_all(advice: &Advice, all: &[AdviceRow]) -> Vec<String> {
    let error = percent(advice.error * 100.0);
    let Some(longest) = all.last() else { return Vec::new() };
    let candidate = advice.clocks.iter().find(|clock| clock.clock == longest.clock);
    let from = candidate.map(|clock| rounded_up(clock.sufficient_from_ns(advice.error, advice.after), 2));
    let others = all.iter().find(|row| row.clock != longest.clock);
    let shorter = others.map_or("repeat shorter work".to_owned(), |row| {
        format!("for shorter intervals use {} and the repetitions of the table", row.clock)
    });
    let what = from.map(|from_ns| {
        format!(
            "From {} on, a single measurement by {}{} has a reading error of at most {error} in {}; {shorter}.",
            time(from_ns),
            longest.clock,
            in_language(advice),
            situation(advice, longest, from_ns)
        )
    });
    let scale = match (longest.scale_error.get(), &longest.scale_source) {
        (Some(share), Some(source)) => {
            format!("The scale error of {} is {} {}.", longest.clock, ppm(share), by(source))
        }
        _ => {
            let may_be =
                advice.scale_tolerance.map(|share| format!(", and may be {} (the kernel's tolerance)", ppm(share)));
            format!("The scale error is unknown ({}){}.", unknown_scale(longest), may_be.unwrap_or_default())
        }
    };
    what.into_iter().chain([scale]).collect()
}

fn by(source: &ScaleSource) -> String {
    match source {
        ScaleSource::Comparison(other) => format!("at most, if {other} is right"),
        ScaleSource::Chronyd => "at most, as chronyd states now".to_owned(),
    }
}

fn unknown_scale(row: &AdviceRow) -> String {
    row.scale_error.why().unwrap_or_else(|| "nothing bounds it".to_owned())
}

/// Says what two reads in one expression differ by.
fn two_reads(advice: &Advice, row: &AdviceRow) -> Vec<String> {
    let of_clock = advice.clocks.iter().find(|clock| clock.clock == row.clock).map(|clock| {
        let [least, most] = clock.two_reads_ns;
        format!(
            "Two successive reads of {} usually differ by {} to {}; the largest difference seen was {}. Where two \
             places need the same time, read once.",
            clock.clock,
            time(least),
            time(most),
            time(clock.two_reads_max_ns)
        )
    });
    of_clock.into_iter().collect()
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

    /// Advice on one interval by a clock whose reads take 40 ns, half of it overhead.
    fn of(interval_ns: f64, scale: Result<f64, Unknown>, scale_tolerance: Option<f64>) -> String {
        let repetitions = |error_ns: f64| (error_ns / interval_ns / 0.01).ceil().max(1.0) as u64;
        let row = AdviceRow {
            interval_ns,
            clock: "monotonic".to_owned(),
            reading_error: 40.0 / interval_ns,
            scale_source: scale.is_ok().then_some(ScaleSource::Chronyd),
            scale_error: scale.into(),
            repetitions: repetitions(40.0),
            after_work: vec![
                AfterWork { work: Work::Spin, work_ns: 100.0, measurements: 10_000, median_ns: 30.0, p99_ns: 36.0 },
                AfterWork { work: Work::Sleep, work_ns: 1e7, measurements: 100, median_ns: 400.0, p99_ns: 1000.0 },
            ],
            cheapest_sufficient: None,
        };
        let rows = Figure::Known(vec![row]);
        let after = Some(Work::Spin);
        Advice { after, rows, scale_tolerance, ..nothing() }.conclusion().join(" ")
    }

    /// A bound of the whole is named where both errors are known, and never otherwise.
    #[test]
    fn what_an_interval_is_off_by_has_both_errors() {
        let hour = 3.6e12;
        assert_eq!(
            of(hour, Ok(2.5e-7), Some(500e-6)),
            "For 3600 s use monotonic, and measure once: the reading error is 40 ns (1.11e-9%) in 99 of 100 \
             measurements of a spin. It is 1.2 µs after a sleep of 10 ms. The scale error is 0.25 ppm at most, as chronyd states now: 900 µs of 3600 s. With both errors, the \
             interval is off by at most 900 µs (2.50e-5%) as often."
        );
        let unknown = of(hour, Err(texts::NOT_SYNCHRONIZED.into()), Some(500e-6));
        assert!(unknown.ends_with(
            "The scale error is unknown (no daemon synchronizes this machine), and may be 500 ppm (the kernel's \
             tolerance): 1.8 s of 3600 s."
        ));
        assert!(!unknown.contains("off by"), "{unknown}");
        let without_rate = of(hour, Err(texts::NO_RATE_STATEMENT.into()), None);
        assert!(without_rate.ends_with("unknown (no daemon states the error of the clocks' rates)."), "{without_rate}");
        let short = of(100.0, Ok(1e-4), None);
        assert!(
            short.starts_with(
                "For 100 ns use monotonic, run the work 40 times between two reads, and divide the time by that. The \
                 reading error of a single measurement is 40 ns (40%) in 99 of 100 measurements of a spin, that of so \
                 many 1%."
            ),
            "{short}"
        );
        // Repetitions shrink the one error only.
        assert!(short.ends_with("off by at most 1.01 ns (1.01%) as often."), "{short}");
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
        let expected = "For 1 ms in Python 3.11.2 use time.perf_counter_ns(), and measure once: the reading error is \
                        100 ns (0.01%) in reads in a loop, and larger after other work: with the package clockscope \
                        installed for this Python, `advise` measures that.";
        assert!(sentences.starts_with(expected), "{sentences}");
        let unversioned = Advice { language_version: None, ..advice(vec![row]) }.conclusion().join(" ");
        assert!(unversioned.starts_with("For 1 ms in Python use"), "{unversioned}");
    }
}
