//! The screen of `steps`: a row and a short histogram for each clock.

use clockscope_records::{Bin, DifferenceRecord, StepsRecord, Summary};

use super::{charts, event, events_by_kind, is_faulty, ns, sentences, tick};
use crate::documents::measure::events::{named, ok};
use crate::model::{Bar, Block, Cell, Row, Table, Tone};
use crate::units::{exact_time, time};
use crate::words::total;

/// What `--all` shows beside the screen.
const MORE: &str = "Rows with <: all other differences up to there. All figures, all clocks: --all";
/// What shows the histograms of many clocks.
const MORE_OF_MANY: &str = "Histograms: name up to four clocks. All figures, all clocks: --all";
/// Most clocks that have histograms on a screen.
const MAX_DETAILED: usize = 4;

const HEAD: [&str; 7] = ["Clock", "Tick", "Min", "Median", "99%", "Max", "Events"];
/// Most differences of a clock that have a bar of their own.
const MAX_PEAKS: usize = 5;
/// Smallest share of the differences other than 0 of a difference that has a bar of its own.
const MIN_PEAK_SHARE: f64 = 0.01;
/// Most of the worst events of a kind that are listed.
const MAX_WORST: usize = 3;

/// Makes the screen: the table, and each clock if they are few. Faulty clocks are always shown.
pub(super) fn blocks(clocks: &[&StepsRecord]) -> Vec<Block> {
    let is_detailed = clocks.len() <= MAX_DETAILED;
    let mut blocks = vec![table(clocks).into()];
    blocks.extend(charts::distributions(clocks).into_iter().map(Block::from));
    for record in clocks {
        if is_detailed || is_faulty(record) {
            blocks.extend(clock(record));
        }
    }
    blocks.push(Block::context(if is_detailed { MORE } else { MORE_OF_MANY }));
    blocks
}

/// Makes the table of all clocks, a row each.
fn table(clocks: &[&StepsRecord]) -> Table {
    let rows = clocks.iter().map(|clock| {
        let figures: [fn(&Summary) -> f64; 4] = [|all| all.min, |all| all.p50, |all| all.p99, |all| all.max];
        let figures = figures.map(|figure| Cell::known(clock.summary.known().map(figure), ns));
        let mut cells = vec![clock.identity.label().into(), tick(clock)];
        cells.extend(figures);
        cells.push(events(clock));
        Row::marked(cells, is_faulty(clock))
    });
    Table::new(HEAD, 1, rows).below(["Differences between successive readings, in ns."])
}

/// Names the events of a clock. Stalls are not named: a coarse clock repeats its value.
fn events(clock: &StepsRecord) -> Cell {
    let Some(events) = &clock.events else { return Cell::Unknown };
    match named(events, 0) {
        Some(cell) => cell,
        None if !events.jump.is_known() && !clock.identity.is_cpu_time => "jumps ?".into(),
        None => Cell::word(ok(&clock.identity), Tone::Good),
    }
}

/// Shows one clock: the evidence for its tick, its differences, its worst events.
fn clock(clock: &StepsRecord) -> Vec<Block> {
    let mut blocks = vec![Block::section(clock.identity.label(), sentences(clock))];
    if !clock.differences.is_empty() {
        blocks.push(Block::Bars(bars(clock)));
        blocks.extend(charts::of_clock(clock).into_iter().map(Block::from));
        blocks.push(Block::notes("", worst(clock)));
    }
    blocks
}

/// Makes a bar for each of the most frequent differences, and one for the others of each decade.
fn bars(clock: &StepsRecord) -> Vec<Bar> {
    let peaks = peaks(clock);
    let mut bars: Vec<(f64, Bar)> = Vec::new();
    for peak in &peaks {
        let Some(ns) = peak.ns else { continue };
        let label = exact_time(ns);
        match bars.iter_mut().find(|(_, bar)| bar.label == label) {
            Some((_, bar)) => bar.count = bar.count.saturating_add(peak.count),
            None => bars.push((ns, Bar { label, count: peak.count })),
        }
    }
    for others in decades(&clock.histogram, &peaks) {
        let label = format!("< {}", time(others.to_ns));
        bars.push((others.to_ns, Bar { label, count: others.count }));
    }
    let back = total(clock.histogram.iter().filter(|bin| bin.from_ns.is_none()).map(|bin| bin.count));
    if back > 0 {
        bars.push((f64::NEG_INFINITY, Bar { label: "below 0".to_owned(), count: back }));
    }
    bars.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    bars.into_iter().map(|(_, bar)| bar).collect()
}

/// Returns the differences that have a bar of their own: 0, and the most frequent others.
fn peaks(clock: &StepsRecord) -> Vec<&DifferenceRecord> {
    let steps = total(clock.histogram.iter().filter(|bin| bin.to_ns > 0.0).map(|bin| bin.count));
    let is_peak = |entry: &&DifferenceRecord| {
        entry.ns.is_some_and(|ns| ns == 0.0 || ns > 0.0 && entry.count as f64 >= steps as f64 * MIN_PEAK_SHARE)
    };
    let mut peaks: Vec<&DifferenceRecord> = clock.differences.iter().filter(is_peak).collect();
    for entry in clock.largest.iter().filter(is_peak) {
        if peaks.iter().all(|peak| peak.units != entry.units) {
            peaks.push(entry);
        }
    }
    peaks.sort_by_key(|peak| std::cmp::Reverse(peak.count));
    peaks.truncate(MAX_PEAKS);
    peaks
}

/// Joins the bins above 0 that begin in one decade, in ascending order, without the peaks in them.
fn decades(bins: &[Bin], peaks: &[&DifferenceRecord]) -> Vec<Bin> {
    let mut joined: Vec<(i32, Bin)> = Vec::new();
    for bin in bins {
        let Some(from_ns) = bin.from_ns.filter(|from_ns| *from_ns > 0.0) else { continue };
        let is_within = |peak: &&&DifferenceRecord| peak.ns.is_some_and(|ns| (from_ns..bin.to_ns).contains(&ns));
        let count = bin.count.saturating_sub(total(peaks.iter().filter(is_within).map(|peak| peak.count)));
        if count == 0 {
            continue;
        }
        let decade = from_ns.log10().floor() as i32;
        match joined.last_mut() {
            Some((last, others)) if *last == decade => {
                (others.to_ns, others.count) = (bin.to_ns, others.count.saturating_add(count));
            }
            _ => joined.push((decade, Bin { count, ..bin.clone() })),
        }
    }
    joined.into_iter().map(|(_, others)| others).collect()
}

/// Lists the worst events, a line a kind.
fn worst(clock: &StepsRecord) -> Vec<String> {
    let mut lines = Vec::new();
    for (kind, events) in events_by_kind(&clock.worst) {
        let listed: Vec<String> = events.iter().take(MAX_WORST).map(event).collect();
        if !listed.is_empty() {
            lines.push(format!("worst {kind}: {}", listed.join(", ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clockscope_records::Document;

    use super::*;

    fn recorded() -> Vec<StepsRecord> {
        match Document::from_json(include_str!("../../../tests/fixtures/steps.json")) {
            Ok(Document::Steps(envelope)) => envelope.found.clocks,
            other => panic!("steps: {other:?}"),
        }
    }

    /// A peak and the others of its bin are counted once.
    #[test]
    fn every_difference_has_one_bar() {
        for clock in recorded() {
            let all = total(clock.histogram.iter().map(|bin| bin.count));
            assert_eq!(total(bars(&clock).iter().map(|bar| bar.count)), all, "{}", clock.identity.label());
        }
    }

    #[test]
    fn steps_back_have_a_bar() {
        let mut clock = recorded().swap_remove(0);
        clock.histogram.insert(0, Bin { from_ns: None, to_ns: 0.0, count: 3 });
        assert_eq!(bars(&clock)[0], Bar { label: "below 0".to_owned(), count: 3 });
    }
}
