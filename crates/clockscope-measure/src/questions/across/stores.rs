//! Order of a thread's own stores and its readings, on one pair of CPUs.

use clockscope_records::{CpusReason, StoreOrder, StoreRoundCounts, Stores, Unknown};

use super::team::play_round;
use super::{ended, unfit};
use crate::instrument::bench::Bench;
use crate::instrument::catalog::CatalogEntry;
use crate::instrument::pair::Side;
use crate::instrument::pair::store_rounds::{StoreCounts, StoreRounds};
use crate::platform::{Platform, ThreadError};

/// Shortest time for one clock with or without a fence, in ns: thousands of rounds.
const MIN_NS: f64 = 0.5e6;

/// Runs rounds of each ordered clock on these CPUs, first without a fence and then with one.
pub(super) fn find<P: Platform>(
    bench: &Bench<'_, P>,
    rows: &[CatalogEntry<P>],
    (writer, reader): (u32, u32),
    duration_ns: f64,
) -> Stores {
    let ordered = rows.iter().filter(|row| row.info.is_ordered);
    let rows: Vec<_> = ordered.filter(|row| row.sampler.is_ok() && unfit(row).is_none()).collect();
    let each_ns = (duration_ns / (2 * rows.len()) as f64).max(MIN_NS) as u64;
    let platform = bench.platform;
    let rounds: Vec<_> = rows.iter().map(|_| [false, true].map(|fence| StoreRounds::new(platform, fence))).collect();
    let played = play_round(platform, &[(writer, reader)], |_, rendezvous, side| {
        let mut counts = Vec::with_capacity(rows.len());
        for (row, both) in rows.iter().zip(&rounds) {
            let mut found = [StoreCounts::default(); 2];
            for (found, rounds) in found.iter_mut().zip(both) {
                if !rendezvous.meet(side) {
                    return Err(ThreadError::Alone);
                }
                let keeper = (side == Side::First).then(|| bench.deadline(each_ns));
                if let Ok(sampler) = &row.sampler {
                    *found = sampler.store_rounds(rounds, keeper);
                }
            }
            counts.push(found);
        }
        Ok(counts)
    });
    let mut stores = Stores { writer, reader, clocks: Vec::with_capacity(rows.len()) };
    for (_, outcome) in played {
        match outcome {
            Ok([written, loaded]) => {
                let sides = rows.iter().zip(written.into_iter().zip(loaded));
                stores.clocks.extend(sides.map(|(row, (written, loaded))| record(row, bench, written, loaded)));
            }
            Err(error) => {
                let reason = Unknown::from(CpusReason::from(error));
                stores.clocks.extend(rows.iter().map(|row| untested(row, reason.clone())));
            }
        }
    }
    stores
}

fn record<P: Platform>(
    row: &CatalogEntry<P>,
    bench: &Bench<'_, P>,
    written: [StoreCounts; 2],
    loaded: [StoreCounts; 2],
) -> StoreOrder {
    let ns_per_unit = row.info.ns_per_unit(bench.facts.first_rate.ns_per_unit).unwrap_or(1.0);
    let error = written.iter().chain(&loaded).find_map(|counts| counts.error);
    let [bare, fenced] = loaded.map(|counts| StoreRoundCounts {
        rounds: counts.rounds,
        earlier_values: counts.earlier_values,
        violations: counts.violations,
        worst_ns: (counts.violations > 0).then_some(counts.worst as f64 * ns_per_unit),
    });
    let reason = ended(error, false).map(Unknown::from);
    StoreOrder { name: row.label(), reason, bare, fenced }
}

fn untested<P: Platform>(row: &CatalogEntry<P>, reason: Unknown) -> StoreOrder {
    let (bare, fenced) = (StoreRoundCounts::default(), StoreRoundCounts::default());
    StoreOrder { name: row.label(), reason: Some(reason), bare, fenced }
}
