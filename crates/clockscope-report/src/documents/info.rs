//! Facts about the machine.

use clockscope_records::{Envelope, Environment, Info, TimeAdjustment, WindowsFacts, reasons};
use serde_json::Value;

use super::environment::{DocumentHead, flags_of, is_missed};
use crate::model::{Block, Line, Tone};
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{figure, time};
use crate::words::sentence;

/// Title of the flags of x86's counter.
const FLAGS: &str = "TSC flags: * present, - absent, ? unknown";

impl Page for Envelope<Info> {
    fn blocks(&self, view: View) -> Vec<Block> {
        let windows = self.found.windows.as_ref();
        let missed = reasons(&self.environment).into_iter().filter(|(path, _)| is_missed(&self.environment, path));
        let unknown = missed.chain(windows.map(reasons).unwrap_or_default());
        let unknown = unknown.map(|(path, reason)| format!("{path}: {reason}"));
        let flags = flags_of(&self.environment).into_iter().map(|(name, flag, meaning)| {
            let mark = flag.map_or("?", |is_present| if is_present { "*" } else { "-" });
            (name, format!("{mark}  {meaning}"))
        });
        let head = DocumentHead::new(self);
        vec![
            head.conclusion(vec![conclusion(&self.environment, windows.is_some())], Vec::new()),
            // The machine is the answer here, and its facts are not dim.
            if view.is_all { head.block() } else { Block::key_value("", head.facts()) },
            if view.is_all { Block::key_value(FLAGS, flags) } else { legend(flags) },
            Block::key_value("Windows", windows.into_iter().flat_map(of_windows)),
            Block::notes("Unknown:", unknown),
        ]
    }

    /// Makes one row per fact, without context: the facts are the context.
    fn sheet(&self, _: &Value) -> Sheet {
        let mut sheet = Sheet::bare("fact value");
        DocumentHead::new(self)
            .facts()
            .into_iter()
            .chain(self.found.windows.iter().flat_map(of_windows))
            .for_each(|(fact, value)| sheet.push(vec![fact.into(), value.into()]));
        sheet
    }

    fn lines(&self) -> Lines {
        Lines::Entries(&[])
    }
}

/// Lists the flags and their meanings as help for reading the facts.
fn legend(flags: impl Iterator<Item = (&'static str, String)>) -> Block {
    let flags: Vec<(&str, String)> = flags.collect();
    let width = flags.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let title = if flags.is_empty() { "" } else { FLAGS };
    let lines = std::iter::once(title.to_owned()).filter(|title| !title.is_empty());
    let lines = lines.chain(flags.iter().map(|(name, meaning)| format!("{name:width$}  {meaning}")));
    Block::notes("", lines.map(|line| Line::toned(line, Tone::Context)))
}

/// States the basis of the system's clocks.
fn conclusion(environment: &Environment, is_windows: bool) -> String {
    if is_windows {
        return "`clockscope clocksource` shows the frequency of QueryPerformanceCounter.".to_owned();
    }
    let kernel = environment.kernel.name.as_deref().unwrap_or("the kernel");
    match (environment.clocksource.as_deref(), environment.clocksource.why()) {
        (Some(source), _) => format!("The clocks of {kernel} are based on {source}."),
        (None, Some(reason)) => sentence(format!("What the clocks of {kernel} are based on is unknown: {reason}")),
        (None, None) => format!("What the clocks of {kernel} are based on is unknown."),
    }
}

/// The facts of Windows that are known.
fn of_windows(found: &WindowsFacts) -> impl Iterator<Item = (&'static str, String)> {
    let periods = [&found.timer_period_ns, &found.longest_timer_period_ns, &found.shortest_timer_period_ns];
    let [now, longest, shortest] = periods.map(|ns| ns.get().map(|ns| time(ns as f64)));
    let groups = found.processor_groups.known().map(|groups| {
        let sizes: Vec<String> = groups.iter().map(ToString::to_string).collect();
        format!("{} (processors: {})", groups.len(), sizes.join(", "))
    });
    [
        ("timer period now", now),
        ("longest timer period", longest),
        ("shortest timer period", shortest),
        ("time adjustment", found.adjustment.known().map(adjustment)),
        ("precise time adjustment", found.precise_adjustment.known().map(adjustment)),
        ("processor groups", groups),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

/// The steering of the time of day.
fn adjustment(found: &TimeAdjustment) -> String {
    let TimeAdjustment { added, nominal, is_disabled } = found;
    match (is_disabled, found.ppm()) {
        (true, _) => format!("off, {nominal} per step"),
        (false, Some(ppm)) => format!("{added} instead of {nominal} per step ({} ppm)", figure(ppm, 4)),
        (false, None) => format!("{added} instead of {nominal} per step"),
    }
}
