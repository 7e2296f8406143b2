//! The sources that the kernel could build its clocks on.

use clockscope_records::{
    Clocksource, Clocksources, Envelope, Figure, KernelCause, KernelVerdict, PerformanceCounter, reasons,
};
use serde_json::Value;

use super::environment::DocumentHead;
use crate::model::{Block, Cell, Table};
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{cost, figure, time};
use crate::words::{by_reason, capitalized, grouped, sentence};

const HEAD: [&str; 8] = ["Clocksource", "In use", "Frequency", "Bits", "Wraps after", "vDSO", "Read", "Syscall"];

/// The head of the third column, if the kernel shows qualities.
const QUALITY: &str = "Quality";

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    name current description quality frequency_hz bits wraps_after_s vdso cost_ns syscall_ns unknown";

impl Page for Envelope<Clocksources> {
    fn blocks(&self, view: View) -> Vec<Block> {
        let (head, found) = (DocumentHead::new(self), &self.found);
        if let Some(counter) = &found.performance_counter {
            return of_windows(counter, &head, view);
        }
        let sources = found.clocksources.iter();
        let what = sources.filter_map(|source| Some(format!("{}: {}", source.name, source.description.known()?)));
        let contents = vec![
            table(&found.clocksources).below(missing(found)).into(),
            Block::notes("What they are:", what),
            why_not(&found.counter),
        ];
        head.page(view, conclusion(found, self.environment.clocksource.as_deref()), Vec::new(), contents)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocksources", COLUMNS)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("clocksources", "clocksource")])
    }
}

/// Windows has no clocksources to choose from, but one counter.
fn of_windows(counter: &PerformanceCounter, head: &DocumentHead<'_>, view: View) -> Vec<Block> {
    let frequency = counter.frequency_hz.get().map(|hz| ("frequency", format!("{hz} Hz")));
    let tick = counter.frequency_hz.get().filter(|hz| *hz > 0).map(|hz| ("one count", time(1e9 / hz as f64)));
    let counts = counter.counter_counts.get();
    let counts = counts.map(|counts| ("processor's counter", format!("{} counts per count", figure(counts, 7))));
    let facts = [frequency, tick, counts];
    let unknown = reasons(counter).into_iter();
    let commands = PerformanceCounter::commands().map(|command| format!("{}: {}", command.command, command.effect));
    let contents = vec![
        Block::key_value("QueryPerformanceCounter", facts.into_iter().flatten()),
        Block::notes("Unknown:", unknown.map(|(figure, unknown)| format!("{figure}: {unknown}"))),
        Block::notes("Commands (as administrator; in PowerShell, quote {current}):", commands),
    ];
    let conclusion = vec![
        sentence(match &counter.frequency_hz {
            Figure::Known(hz) => format!("QueryPerformanceCounter counts at {} Hz", grouped(*hz)),
            Figure::Unknown(unknown) => format!("The frequency of QueryPerformanceCounter is unknown: {unknown}"),
        }),
        sentence(capitalized(PerformanceCounter::advice())),
    ];
    head.page(view, conclusion, Vec::new(), contents)
}

fn table(sources: &[Clocksource]) -> Table {
    let has_quality = sources.iter().any(|source| source.quality.is_some());
    let (first, remaining) = HEAD.split_at(2);
    let head = first.iter().chain(has_quality.then_some(&QUALITY)).chain(remaining).copied();
    Table::new(head, 1, sources.iter().map(|source| row(source, has_quality)))
}

fn row(source: &Clocksource, has_quality: bool) -> Vec<Cell> {
    let quality = source.quality.map_or(Cell::Empty, |quality| quality.to_string().into());
    let first = [source.name.as_str().into(), if source.current { "yes".into() } else { Cell::Empty }];
    let remaining = [
        Cell::known(source.frequency_hz.get(), |hz| format!("{} MHz", figure(hz / 1e6, 7))),
        Cell::known(source.bits.get(), |bits| bits.to_string()),
        Cell::known(source.wraps_after_s.get(), wraps),
        Cell::yes_no(source.vdso.get()),
        Cell::known(source.cost_ns.get(), cost),
        Cell::known(source.syscall_ns.get(), cost),
    ];
    first.into_iter().chain(has_quality.then_some(quality)).chain(remaining).collect()
}

/// Explains unknown figures.
fn missing(found: &Clocksources) -> Vec<String> {
    by_reason(found.clocksources.iter().flat_map(|source| {
        let missing = [
            ("Frequency", source.frequency_hz.why()),
            ("Bits", source.bits.why()),
            ("vDSO", source.vdso.why()),
            ("Cost of a read", source.cost_ns.why()),
            ("Cost of a system call", source.syscall_ns.why()),
        ];
        missing.into_iter().filter_map(|(head, reason)| Some((format!("? {head} of {}", source.name), reason?)))
    }))
}

/// Explains why the kernel does not use the counter, or lists the limits of one in use.
fn why_not(verdict: &KernelVerdict) -> Block {
    let mut reasons: Vec<String> = verdict.reasons.iter().map(line).collect();
    // A counter in use without a reason needs no explanation.
    if verdict.is_current != Some(true) || !reasons.is_empty() {
        reasons.extend(verdict.log_error.iter().map(|error| format!("There may be more: {error}")));
    }
    let counter = verdict.name.as_deref().unwrap_or("the counter");
    let title = match verdict.is_current {
        Some(true) => format!("The kernel uses {counter}, but:"),
        _ => format!("Why the kernel does not use {counter}:"),
    };
    Block::notes(title, reasons)
}

/// Writes a reason in a line: the cause, its source and the remedy.
fn line(cause: &KernelCause) -> String {
    format!("{cause} [{}] -> {}", cause.source(), sentence(cause.advice()))
}

/// Shows a time, which may be hundreds of years.
fn wraps(seconds: f64) -> String {
    const YEAR_S: f64 = 365.25 * 86400.0;
    if seconds >= YEAR_S { format!("{} years", figure(seconds / YEAR_S, 3)) } else { time(seconds * 1e9) }
}

fn conclusion(found: &Clocksources, current: Option<&str>) -> Vec<String> {
    let counter = found.counter.name.as_deref();
    let mut lines = vec![match (current, counter, found.counter.is_current) {
        (Some(current), _, Some(true)) => {
            format!("The kernel builds its clocks on the processor's counter ({current}).")
        }
        (Some(current), Some(counter), _) => match found.counter.is_available {
            Some(true) => format!("The kernel builds its clocks on {current}, and offers {counter} too."),
            Some(false) => format!("The kernel builds its clocks on {current}, and does not offer {counter}."),
            None => format!("The kernel builds its clocks on {current}."),
        },
        (Some(current), None, _) => format!("The kernel builds its clocks on {current}."),
        (None, ..) => "The kernel does not show its clocksource.".to_owned(),
    }];
    if let Some(left) = &found.left_behind {
        lines.push(format!(
            "Process {} ended without restoring the clocksource: {} was in use before. Restore it with `clockscope \
             clocksource --restore`.",
            left.pid, left.was
        ));
    }
    let switched_by = found.switched_by.iter();
    lines.extend(switched_by.map(|by| sentence(format!("The clocksource in use is temporary: {by}"))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use clockscope_records::Figure;
    use clockscope_records::texts;

    fn source(name: &str, quality: Option<i64>) -> Clocksource {
        Clocksource {
            name: name.to_owned(),
            current: name == "HPET",
            description: Figure::Known(String::new()),
            quality,
            frequency_hz: Figure::Known(14_318_180.0),
            bits: Figure::Known(32),
            wraps_after_s: Figure::Known(300.0),
            vdso: Figure::unknown(texts::DEPENDS_ON_HARDWARE),
            cost_ns: Figure::Known(20.0),
            syscall_ns: Figure::Known(150.0),
        }
    }

    /// Linux shows no qualities, and its table has no column for them.
    #[test]
    fn qualities_are_a_column_where_the_kernel_shows_them() {
        let columns = |sources: &[Clocksource]| {
            let table = format!("{:?}", table(sources));
            (table.contains("Quality"), table.contains("-100"))
        };
        assert_eq!(columns(&[source("TSC-low", Some(-100)), source("HPET", Some(950))]), (true, true));
        assert_eq!(columns(&[source("tsc", None), source("hpet", None)]), (false, false));
        for has_quality in [true, false] {
            assert_eq!(row(&source("HPET", Some(950)), has_quality).len(), HEAD.len() + usize::from(has_quality));
        }
    }
}
