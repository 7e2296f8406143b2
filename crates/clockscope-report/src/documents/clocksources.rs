//! What the kernel could build its clocks on.

use clockscope_records::{Clocksource, Clocksources, Envelope, Holder, KernelVerdict, ReasonProse};
use serde_json::Value;

use super::environment::DocumentHead;
use crate::kernel_verdict;
use crate::model::{Block, Cell, Table};
use crate::report::{Blocks, Describe, Lines};
use crate::sheet::Sheet;
use crate::text::{by_reason, sentence};
use crate::units::{figure, time};

const HEAD: [&str; 7] = ["Clocksource", "In use", "Frequency", "Bits", "Wraps after", "vDSO", "A read usually costs"];

/// Columns of a spreadsheet.
const COLUMNS: [&str; 9] =
    ["name", "current", "description", "frequency_hz", "bits", "wraps_after_s", "vdso", "usual_cost", "unknown"];

impl Describe for Envelope<Clocksources> {
    fn blocks(&self) -> Blocks {
        let (head, found) = (DocumentHead::of(self), &self.found);
        let what = found.clocksources.iter().map(|source| format!("{}: {}", source.name, source.description));
        let above = vec![
            Table::new(HEAD, 1, found.clocksources.iter().map(row)).below(lacking(found)).into(),
            Block::notes("What they are:", what),
            why_not(&found.counter),
        ];
        let conclusion = head.conclusion(conclusion(found, self.environment.clocksource.as_deref()));
        Blocks::around(head.block(), above, vec![conclusion])
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocksources", &COLUMNS)
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[("clocksources", "clocksource")])
    }
}

fn row(source: &Clocksource) -> Vec<Cell> {
    vec![
        source.name.as_str().into(),
        if source.current { "yes".into() } else { Cell::Absent },
        Cell::known(source.frequency_hz.get(), |hz| format!("{} MHz", figure(hz / 1e6, 7))),
        Cell::known(source.bits.get(), |bits| bits.to_string()),
        Cell::known(source.wraps_after_s.get(), wraps),
        Cell::yes_no(source.vdso.get()),
        source.usual_cost.as_str().into(),
    ]
}

/// Explains unknown figures.
fn lacking(found: &Clocksources) -> Vec<String> {
    by_reason(found.clocksources.iter().flat_map(|source| {
        let lacking = [
            ("Frequency", source.frequency_hz.reason()),
            ("Bits", source.bits.reason()),
            ("vDSO", source.vdso.reason()),
        ];
        lacking.into_iter().filter_map(|(head, reason)| Some((format!("? {head} of {}", source.name), reason?)))
    }))
}

/// Explains why the kernel does not use the counter.
fn why_not(word: &KernelVerdict) -> Block {
    let reasons = word
        .reasons
        .iter()
        .map(|reason| line(&kernel_verdict::prose(&reason.cause)))
        .chain(word.not_looked_at.iter().map(|why| format!("There may be more: {why}")));
    let counter = word.name.as_deref().unwrap_or("the counter");
    Block::notes(format!("Why the kernel does not use {counter}:"), reasons)
}

/// A reason in a line: what was found, where, and what to do.
fn line(prose: &ReasonProse) -> String {
    format!("{} [{}] -> {}", prose.seen, prose.source, sentence(prose.advice.clone()))
}

/// A time that may be hundreds of years.
fn wraps(seconds: f64) -> String {
    const YEAR: f64 = 365.25 * 86400.0;
    match seconds {
        s if s >= YEAR => format!("{} years", figure(s / YEAR, 3)),
        s => time(s * 1e9),
    }
}

fn conclusion(found: &Clocksources, current: Option<&str>) -> Vec<String> {
    let counter = found.counter.name.as_deref();
    let mut lines = vec![match (current, counter, found.counter.is_current) {
        (Some(current), _, Some(true)) => {
            format!("The kernel builds its clocks on the processor's counter ({current}).")
        }
        (Some(current), Some(counter), _) => match found.counter.is_available {
            Some(true) => format!("The kernel builds its clocks on {current}, and would take {counter}."),
            Some(false) => format!("The kernel builds its clocks on {current}, and does not offer {counter}."),
            None => format!("The kernel builds its clocks on {current}."),
        },
        (Some(current), None, _) => format!("The kernel builds its clocks on {current}."),
        (None, ..) => "The kernel does not show its clocksource.".to_owned(),
    }];
    if let Some(left) = &found.left_behind {
        lines.push(format!(
            "Process {} has ended without putting the clocksource back: {} was in use before. Put it back with `clockscope \
             clocksource --restore`.",
            left.pid, left.was
        ));
    }
    let not_for_long =
        |holder: &Holder| sentence(format!("What is in use now will not stay: {}", ToString::to_string(holder)));
    lines.extend(found.holder.as_ref().map(not_for_long));
    lines
}
