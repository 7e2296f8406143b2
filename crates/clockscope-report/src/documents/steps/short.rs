//! The screen of `steps`: a row and a short histogram for each clock.

use clockscope_records::{Bin, DifferenceRecord, StepsRecord};

use super::{charts, event, events_by_kind, is_faulty, ns, sentences, tick};
use crate::documents::measure::events::named;
use crate::model::{Bar, Block, Cell, Row, Table, Tone};
use crate::units::{exact_time, time};
use crate::words::total;

/// End of the screen of a few clocks.
const END: &str =
    "Rows with <: all other differences since the row with < above. Bars are logarithmic. All figures: --all";
/// End of the screen of many clocks.
const END_OF_MANY: &str = "Histograms: name up to four clocks. All figures: --all";
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
    blocks.push(Block::context(if is_detailed { END } else { END_OF_MANY }));
    blocks
}

/// Makes the table of all clocks, a row each.
fn table(clocks: &[&StepsRecord]) -> Table {
    let rows = clocks.iter().map(|clock| {
        let summary = clock.summary.known();
        let figures = [
            summary.map(|all| all.min),
            summary.map(|all| all.p50),
            summary.map(|all| all.p99),
            summary.map(|all| all.max),
        ];
        let figures = figures.map(|figure| Cell::known(figure, ns));
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
        None => Cell::word("ok", Tone::Good),
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
    let frequent = differences(clock).filter(|entry| entry.count as f64 >= steps as f64 * MIN_PEAK_SHARE);
    let mut peaks: Vec<&DifferenceRecord> = frequent.filter(|entry| entry.ns.is_some_and(|ns| ns > 0.0)).collect();
    peaks.sort_by_key(|peak| (std::cmp::Reverse(peak.count), peak.units));
    // The largest differences are among the others, too.
    peaks.dedup_by_key(|peak| peak.units);
    peaks.truncate(MAX_PEAKS);
    differences(clock).find(|entry| entry.ns == Some(0.0)).into_iter().chain(peaks).collect()
}

/// Returns the differences that the record lists; some of the largest ones twice.
fn differences(clock: &StepsRecord) -> impl Iterator<Item = &DifferenceRecord> {
    clock.differences.iter().chain(&clock.largest)
}

/// Joins the bins above 0 that begin in one decade, in ascending order, without the peaks in them.
fn decades(bins: &[Bin], peaks: &[&DifferenceRecord]) -> Vec<Bin> {
    let mut joined: Vec<(i32, Bin)> = Vec::new();
    for bin in bins {
        let Some(from_ns) = bin.from_ns.filter(|from_ns| *from_ns > 0.0) else { continue };
        let within = peaks.iter().filter(|peak| peak.ns.is_some_and(|ns| (from_ns..bin.to_ns).contains(&ns)));
        let count = bin.count.saturating_sub(total(within.map(|peak| peak.count)));
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

    /// A peak and the others of its bin are counted once; zeros have a bar however few they are.
    #[test]
    fn every_difference_has_one_bar() {
        let mut clocks = recorded();
        let mut rare = clocks[2].clone();
        rare.differences.insert(0, DifferenceRecord { units: 0, ns: Some(0.0), count: 3 });
        for units in 23..29 {
            let ns = units as f64;
            rare.differences.push(DifferenceRecord { units, ns: Some(ns), count: 900_000 });
            rare.histogram.push(Bin { from_ns: Some(ns), to_ns: ns + 0.5, count: 900_000 });
        }
        rare.histogram.insert(0, Bin { from_ns: Some(0.0), to_ns: 0.0, count: 3 });
        assert!(bars(&rare).iter().any(|bar| bar.label == "0 ns" && bar.count == 3));
        clocks.push(rare);
        for clock in clocks {
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
