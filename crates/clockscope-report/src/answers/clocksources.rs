//! What the kernel could build its clocks on.

use clockscope_records::{Clocksource, Clocksources};

use super::{Block, by_reason, sentence};
use crate::cells::{known, significant, time, trimmed};

const HEAD: [&str; 7] = ["Clocksource", "In use", "Frequency", "Bits", "Wraps after", "vDSO", "A read usually costs"];

pub(super) fn blocks(found: &Clocksources) -> Vec<Block> {
    let mut table = Block::table("", &HEAD, 1, found.clocksources.iter().map(row).collect());
    let shown = [("frequency_hz", "Frequency"), ("bits", "Bits"), ("vdso", "vDSO")];
    let lacking = found.clocksources.iter().flat_map(|source| {
        let of_source = shown.iter().filter_map(|(field, head)| Some((*head, source.unknown.get(*field)?)));
        of_source.map(|(head, reason)| (format!("? {head} of {}", source.name), reason.as_str()))
    });
    table.lines = by_reason(lacking);
    let what = found.clocksources.iter().map(|source| format!("{}: {}", source.name, source.description));
    let word = &found.counter;
    let why: Vec<String> = word
        .reasons
        .iter()
        .map(|reason| format!("{} [{}] -> {}", reason.seen, reason.source, sentence(reason.advice.clone())))
        .chain(word.not_looked_at.iter().map(|why| format!("There may be more: {why}")))
        .collect();
    let title = format!("Why the kernel does not use {}:", word.name.as_deref().unwrap_or("the counter"));
    vec![table, Block::lines("What they are:", what.collect()), Block::lines(&title, why)]
}

fn row(source: &Clocksource) -> Vec<String> {
    vec![
        source.name.clone(),
        (if source.current { "yes" } else { "-" }).to_owned(),
        known(source.frequency_hz, |hz| format!("{} MHz", trimmed(&significant(hz / 1e6, 7)))),
        known(source.bits, |bits| bits.to_string()),
        known(source.wraps_after_s, wraps),
        known(source.vdso, |vdso| (if vdso { "yes" } else { "no" }).to_owned()),
        source.usual_cost.clone(),
    ]
}

/// A time that may be hundreds of years.
fn wraps(seconds: f64) -> String {
    const YEAR: f64 = 365.25 * 86400.0;
    match seconds {
        s if s >= YEAR => format!("{} years", trimmed(&significant(s / YEAR, 3))),
        s => time(s * 1e9),
    }
}

pub(super) fn conclusion(found: &Clocksources) -> Vec<String> {
    let current = found.environment.clocksource.as_deref();
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
        (None, ..) => "The kernel does not tell its clocksource.".to_owned(),
    }];
    if let Some(left) = &found.left_behind {
        lines.push(format!(
            "Process {} has ended without putting the clocksource back: {} was in use before. Put it back with `clockscope \
             clocksource --restore`.",
            left.pid, left.was
        ));
    }
    lines.extend(found.held.iter().map(|held| sentence(format!("What is in use now will not stay: {held}"))));
    lines
}
