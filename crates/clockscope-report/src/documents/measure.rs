//! The findings of `clockscope measure`.

mod chart;
mod columns;
pub(super) mod events;
mod fold;
mod notes;
mod table;

use clockscope_records::{ClockRecord, Extended, Figure, Measurement, Recommendation};
use serde_json::Value;

use super::clocks::not_available;
use super::environment::Fact;
use super::question_page::QuestionPage;
use super::{offsets, order, rate};
use crate::model::{Block, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{percent, significant, time};
use crate::words::{counted, grouped};

/// Most names of the recommended clock that the first line has.
const MAX_INTERFACES: usize = 5;
/// The command that judges the clocks.
const TRUST: &str = "Trust: clockscope check";

/// Columns of a spreadsheet.
pub(super) const COLUMNS: &str = "\
    name kind path available reason code=reason.code cost_ns_median=cost_ns.median \
    cost_ns_ci95_low=cost_ns.ci95.0 cost_ns_ci95_high=cost_ns.ci95.1 cost_ns_min=cost_ns.min \
    cost_ns_p99=cost_ns.p99 ratio_to_fastest nominal_resolution_ns observed_resolution_ns tick_ns \
    tick_at_most_ns=tick_evidence.at_most_ns monotonic_strict=monotonic.strict \
    monotonic_weak=monotonic.weak reads=events.reads errors=events.errors stuck=events.stuck \
    stall=events.stall warp=events.warp jump=events.jump gap=events.gap regression=events.regression \
    hidden_regression=events.hidden_regression threshold_ns=events.threshold_ns \
    reference=events.reference reference_shares_hardware=events.reference_shares_hardware unknown";

impl QuestionPage for Measurement {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let visible = table::visible(&self.clocks, view);
        let mut blocks = vec![
            table::table(&[(None, self)], view).below(below(&self.clocks, &visible, view)).into(),
            chart::cost(self).into(),
        ];
        blocks.extend(self.extended.iter().flat_map(|found| extended_blocks(found, view)));
        if view.is_all {
            let clocks = self.clocks.iter();
            blocks.push(not_available(clocks.map(|clock| (&clock.identity, clock.available, clock.reason.as_ref()))));
        }
        blocks
    }

    fn how(&self) -> Vec<Fact> {
        vec![("empty loop", empty_loop(self.baseline.empty_loop_ns))]
    }

    fn findings(&self) -> Vec<String> {
        extended(self)
    }

    fn conclusion(&self) -> Vec<String> {
        let Recommendation { error, clock, interval_ns, after, reads, .. } = &self.advice;
        let clock = match clock {
            Figure::Known(clock) => clock,
            Figure::Unknown(reason) => {
                return vec![format!("No clock is recommended for intervals: {reason}."), TRUST.to_owned()];
            }
        };
        let interfaces = interfaces(&self.clocks, clock).join(", ");
        let usage = if interfaces.is_empty() { " for intervals".to_owned() } else { format!(": {interfaces}") };
        let mut exact = vec![format!("Within {}", percent(error * 100.0))];
        exact.extend(interval_ns.map(|ns| format!(" from {} on", time(ns))));
        exact.push(if after.is_some() { ", in 99 of 100 cases" } else { ", in a loop" }.to_owned());
        exact.extend(reads.map(|reads| format!("; {} reads, none went back", grouped(reads))));
        vec![
            format!("Use {clock}{usage}."),
            exact.concat() + ".",
            format!("Shorter work: clockscope advise 200ns   {TRUST}"),
        ]
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", COLUMNS)
    }
}

/// Makes one table of several measurements, with the clocksource of each.
pub(super) fn table_of_all(found: &[(&str, &Measurement)], view: View) -> Table {
    let found: Vec<_> = found.iter().map(|(name, found)| (Some(*name), *found)).collect();
    table::table(&found, view)
}

/// Returns the best known names by which programs read a clock, without their modules; none if the
/// record lacks them.
fn interfaces<'a>(clocks: &'a [ClockRecord], label: &str) -> Vec<&'a str> {
    let found = clocks.iter().find(|clock| clock.identity.label() == label);
    let paths = found.map_or(&[][..], |clock| &clock.identity.interfaces).iter().take(MAX_INTERFACES);
    paths.map(|path| path.rsplit([':', '.']).next().unwrap_or(path)).collect()
}

/// Explains what the table lacks: the reasons of unknown figures, and in the default view the
/// clocks that are not shown.
fn below(clocks: &[ClockRecord], visible: &[&ClockRecord], view: View) -> Vec<String> {
    let mut lines = notes::notes(visible, view.columns);
    if !view.is_all {
        lines.push(hints(clocks, visible));
    }
    lines
}

/// Names the clocks that are not shown, and what shows more.
fn hints(clocks: &[ClockRecord], visible: &[&ClockRecord]) -> String {
    let (available, unavailable): (Vec<_>, Vec<_>) = clocks.iter().partition(|clock| clock.available);
    let hidden = available.into_iter().filter(|clock| visible.iter().all(|other| other.identity != clock.identity));
    let hidden: Vec<_> = hidden.collect();
    let faulty = hidden.iter().copied().filter(|clock| events::is_faulty(clock));
    let faults = names(faulty).map_or_else(String::new, |names| format!(" Events of {names}."));
    let mut more = Vec::new();
    if !hidden.is_empty() {
        more.push(format!("{}: --all.{faults}", counted(hidden.len() as u64, "more clock")));
    }
    more.extend(names(unavailable.into_iter()).map(|names| format!("Not available: {names}.")));
    more.push("Figures: --columns all or relative. Terms: clockscope help glossary.".to_owned());
    more.join(" ")
}

/// Lists the names of clocks; `None` if there is none.
fn names<'a>(clocks: impl Iterator<Item = &'a ClockRecord>) -> Option<String> {
    let names: Vec<String> = clocks.map(|clock| clock.identity.label()).collect();
    if names.is_empty() { None } else { Some(names.join(", ")) }
}

fn empty_loop(ns: Option<f64>) -> String {
    match ns {
        Some(ns) => format!("{} ns per iteration, not subtracted", significant(ns, 3)),
        None => "unknown (no batch was completed)".to_owned(),
    }
}

/// Draws the rates of an extended measurement, and lists its pairs of CPUs where a page has folds.
fn extended_blocks(found: &Extended, view: View) -> Vec<Block> {
    let rates = found.rate.known().map(rate::charts).unwrap_or_default();
    let mut blocks: Vec<Block> = rates.into_iter().map(Block::from).collect();
    if view.has_folds {
        blocks.push(Block::folded("Handoffs between CPUs", [order::pairs(&found.order).into()]));
        blocks.push(Block::folded("Offsets between CPUs", [offsets::pairs(&found.offsets).into()]));
    }
    blocks
}

/// Returns the conclusions of an extended measurement on order, offsets and rates, a line each.
fn extended(measurement: &Measurement) -> Vec<String> {
    let Some(found) = &measurement.extended else { return Vec::new() };
    let rate = match &found.rate {
        Figure::Known(rate) => rate.conclusion(),
        Figure::Unknown(unknown) => vec![format!("unknown: {unknown}")],
    };
    let conclusions = [("order", found.order.conclusion()), ("offsets", found.offsets.conclusion()), ("rate", rate)];
    let lines = conclusions.iter();
    lines.map(|(name, lines)| format!("{name}: {}", lines.first().map_or("", String::as_str))).collect()
}
