//! A clock under measurement, and what it has shown so far.

use clockscope_records::{RecordedTimer, TimerRate, texts};
use clockscope_statistics::{
    Batch, Differences, Elapsed, EventCounter, Judge, MedianBlocks, Reservoir, TickCollector, quantile,
};
use clockscope_system::{ClockInfo, ClockKind, Errno};

use crate::instrument::bench::Bench;
use crate::instrument::catalog::CatalogEntry;
use crate::instrument::sampler::{MAX_BATCH_READS, Sampled};
use crate::platform::Platform;

/// Fewest batches that have a cost: interruptions of three decide the median of fewer.
pub(crate) const MIN_COST_BATCHES: u64 = 7;
/// Batch costs that are kept of a clock; more are represented by an even sample of them.
const SAMPLED_COSTS: usize = 4096;
/// Batches whose median is taken as what a read costs at the moment.
const RECENT_BATCHES: usize = 31;
/// Time between two batches that counts as a gap, in ns. What is done there takes microseconds.
const BETWEEN_BATCHES_NS: f64 = 1e6;
/// Time that looking at one reading may take before it counts as one, in ns.
const PROCESSING_NS: f64 = 100.0;

/// The processor's own counter, in whatever reading sequence.
pub(crate) fn is_counter<P: Platform>(row: &CatalogEntry<P>) -> bool {
    row.info.is_counter()
}

/// The readings that a clock's tick is found from, and the time that is set aside for it, in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickBudget {
    pub(crate) readings: usize,
    pub(crate) ns: f64,
}

impl TickBudget {
    /// Fewest readings, whatever the time: of fewer than 4096 steps other ticks are possible, too.
    const MIN_READINGS: usize = 5000;
    /// No tick is looked for.
    pub(crate) const NONE: Self = Self { readings: 0, ns: 0.0 };
    /// Share of a clock's time.
    const TIME_SHARE: f64 = 0.2;
    /// The time for each reading, in ns, roughly, with its part of what a few take as well.
    const READING_NS: f64 = 1000.0;

    /// For a clock that gets `share_ns`, of `most` readings at most.
    pub(crate) fn for_share(share_ns: f64, most: usize) -> Self {
        let ns = share_ns * Self::TIME_SHARE;
        let readings = ((ns / Self::READING_NS) as usize).clamp(Self::MIN_READINGS, most);
        Self { readings, ns: ns.min(readings as f64 * Self::READING_NS) }
    }
}

/// First readings that are kept as they are.
const FIRST_READINGS: usize = 64;

/// One clock under measurement.
pub(crate) struct MeasuredClock<P: Platform> {
    pub(crate) row: CatalogEntry<P>,
    pub(crate) state: Option<MeasuredState>,
}

/// A batch of a clock, as it was read.
pub(crate) struct ReadBatch {
    pub(crate) sampled: Sampled,
    /// The timer after the readings were checked.
    pub(crate) processed_at: u64,
    /// Its duration, in ns, if it was delivered whole.
    taken_ns: Option<f64>,
}

/// Observations so far of a clock that can be read.
pub(crate) struct MeasuredState {
    pub(crate) events: EventCounter,
    pub(crate) differences: Differences,
    pub(crate) tick: TickCollector,
    /// The first readings of the first batch.
    pub(crate) first: Vec<u64>,
    /// `true` for the processor's counter, which is judged against the reference instead of against
    /// itself.
    pub(crate) judged_outside: bool,
    pub(crate) reads_per_batch: usize,
    pub(crate) costs: Reservoir,
    /// Medians of blocks of costs, in the order in which these came.
    pub(crate) cost_blocks: MedianBlocks,
    pub(crate) recent: RecentCosts,
    pub(crate) dropped: u64,
    pub(crate) errors: u64,
    /// The first failure: after how many readings, and its number.
    pub(crate) first_error: Option<(u64, Errno)>,
    pub(crate) delivered: u64,
    ns_per_unit: f64,
    /// Beginning of the last batch that the tick is found from, by the reference.
    began_ns: Option<f64>,
}

impl<P: Platform> MeasuredClock<P> {
    /// Makes room for `tick_readings`, of which the tick is found.
    pub(crate) fn new(row: CatalogEntry<P>, bench: &Bench<'_, P>, tick_readings: usize) -> Self {
        let state = row.sampler.is_ok().then(|| MeasuredState::new(&row.info, &bench.facts, tick_readings));
        Self { row, state }
    }

    /// Returns whether its batches are as long as the room for readings permits: so short that
    /// their first reads, whose code other clocks have put out of the caches, show in the cost.
    pub(crate) fn is_short(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.reads_per_batch == MAX_BATCH_READS)
    }

    /// Samples one batch and looks at every reading of it. Returns how long it took, in ns, if it
    /// was delivered whole. Its cost is kept, and its readings serve to find the tick, if `keep`.
    pub(crate) fn batch(&mut self, bench: &Bench<'_, P>, keep: bool) -> Option<f64> {
        self.read_batch(bench, keep)?.taken_ns
    }

    /// Samples one batch, looks at every reading of it, and returns it with its time; `None` of a
    /// clock that cannot be read.
    pub(crate) fn read_batch(&mut self, bench: &Bench<'_, P>, keep: bool) -> Option<ReadBatch> {
        let (Ok(sampler), Some(state)) = (&mut self.row.sampler, &mut self.state) else { return None };
        let outer = state.judged_outside.then_some(&bench.reference);
        let sampled = sampler.sample(&bench.timer, outer, state.reads_per_batch, bench.stop);
        let taken_ns = state.take(&sampled, sampler.values(sampled.delivered), &bench.facts, keep);
        let processed_at = bench.timer.now();
        state.pause(&sampled, processed_at, &bench.facts);
        Some(ReadBatch { sampled, processed_at, taken_ns })
    }

    /// Returns the median cost of a read, in ns.
    pub(crate) fn median_cost_ns(&self, rate: TimerRate) -> Option<f64> {
        let mut costs = self.state.as_ref()?.costs.values().to_vec();
        costs.sort_by(f64::total_cmp);
        median_cost(&costs).map(|cost| cost * rate.ns_per_unit)
    }
}

/// Returns the median of the sorted costs of batches; `None` if there are too few, or if the timer
/// is coarser than a batch and shows 0, which is not a cost.
pub(crate) fn median_cost(sorted: &[f64]) -> Option<f64> {
    let is_enough = sorted.len() as u64 >= MIN_COST_BATCHES;
    quantile(sorted, 0.5).filter(|median| is_enough && *median > 0.0)
}

impl MeasuredState {
    /// Makes room for `tick_readings`, of which the tick is found.
    pub(crate) fn new(info: &ClockInfo, timer: &RecordedTimer, tick_readings: usize) -> Self {
        let rate = timer.first_rate;
        let scale = info.ns_per_unit(rate.ns_per_unit);
        let follows =
            scale.is_some() && matches!(info.kind, ClockKind::Counter | ClockKind::Monotonic | ClockKind::Wall);
        let judged_outside = info.is_counter() && follows;
        // The rate is as uncertain as the calibration either way.
        let tick_ns = if judged_outside { timer.reference_tick_ns } else { timer.tick_ns };
        // It may run as the kernel states, or as if that were not so.
        let steering = if info.is_steered { timer.steering.abs() } else { 0.0 };
        let rate_error = rate.bound_ppm * 1e-6 + steering;
        let judge = match info.kind {
            _ if follows => Judge::Reference { tick_ns, rate_error },
            ClockKind::CpuTime => Judge::None("a CPU-time clock rightly stands still while the thread does not run"),
            _ => Judge::None(texts::COUNTS_WORK),
        };
        let nominal = info.nominal_resolution_ns(Some(rate.ns_per_unit)).get().unwrap_or(0.0);
        Self {
            events: EventCounter::new(scale.unwrap_or(1.0), nominal, judge, MAX_BATCH_READS),
            differences: Differences::default(),
            tick: TickCollector::new(tick_readings),
            first: Vec::with_capacity(FIRST_READINGS),
            judged_outside,
            reads_per_batch: 1,
            costs: Reservoir::new(SAMPLED_COSTS),
            cost_blocks: MedianBlocks::default(),
            recent: RecentCosts::default(),
            dropped: 0,
            errors: 0,
            first_error: None,
            delivered: 0,
            ns_per_unit: scale.unwrap_or(1.0),
            began_ns: None,
        }
    }

    /// Looks at every reading of a batch. Returns how long it took, in ns, if it was delivered
    /// whole. Its cost is kept, and its readings serve to find the tick, if `keep`.
    pub(crate) fn take(&mut self, sampled: &Sampled, values: &[u64], timer: &RecordedTimer, keep: bool) -> Option<f64> {
        let [before_ns, after_ns] = sampled.bounds(timer);
        let cost_ns = self.recent.median();
        self.events.batch(Batch { values, before_ns, after_ns, cost_ns });
        self.differences.push(values);
        if keep && self.first.is_empty() {
            self.first.extend(values.iter().take(FIRST_READINGS));
        }
        if keep {
            self.push_for_tick(values, [before_ns, after_ns], cost_ns);
        }
        self.delivered += sampled.delivered as u64;
        if let Some(error) = sampled.error {
            self.count_error(error);
            return None;
        }
        let ticks = sampled.elapsed();
        let taken_ns = ticks * timer.first_rate.ns_per_unit;
        if keep {
            let cost = ticks / sampled.delivered as f64;
            self.costs.push(cost);
            self.cost_blocks.push(cost);
            self.recent.push(taken_ns / sampled.delivered as f64);
        }
        Some(taken_ns)
    }

    /// Counts a gap if the readings of a batch were looked at for long, until then by the timer:
    /// the thread lost its CPU.
    pub(crate) fn pause(&mut self, sampled: &Sampled, processed_at: u64, timer: &RecordedTimer) {
        let pause_ns = timer.ns_between(sampled.after, processed_at);
        if sampled.error.is_none() && pause_ns > BETWEEN_BATCHES_NS.max(PROCESSING_NS * sampled.delivered as f64) {
            self.events.gap_between_batches(pause_ns);
        }
    }

    /// Takes the readings of a batch for the tick, with the time that may have passed between two
    /// of them: all that the batch took beyond the usual cost of its reads may have been lost
    /// between any two.
    pub(crate) fn push_for_tick(&mut self, values: &[u64], [before_ns, after_ns]: [f64; 2], cost_ns: Option<f64>) {
        let span_ns = after_ns - before_ns;
        let between_ns = cost_ns.map_or(span_ns, |cost_ns| {
            let usual_ns = cost_ns * values.len() as f64;
            (span_ns - usual_ns).max(0.0) + 2.0 * cost_ns
        });
        let since_last_ns = self.began_ns.replace(before_ns).map_or(f64::INFINITY, |began_ns| after_ns - began_ns);
        let undisturbed_ns = cost_ns.map_or(span_ns, |cost_ns| 2.0 * cost_ns);
        let [since_last, between, undisturbed] =
            [since_last_ns, between_ns, undisturbed_ns].map(|ns| ns / self.ns_per_unit);
        self.tick.push_timed(values, Elapsed { since_last, between, undisturbed });
    }

    /// Counts the failure of a read, after all that were delivered.
    pub(crate) fn count_error(&mut self, error: Errno) {
        self.errors += 1;
        self.dropped += 1;
        self.first_error.get_or_insert((self.delivered, error));
    }
}

/// The costs of the last batches: what a read costs at the moment, to separate a gap from a slow
/// machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentCosts {
    costs: [f64; RECENT_BATCHES],
    count: usize,
}

impl RecentCosts {
    pub(crate) fn push(&mut self, cost: f64) {
        self.costs[self.count % RECENT_BATCHES] = cost;
        self.count += 1;
    }

    /// Returns them, in the order in which they came where there are a few.
    pub(crate) fn costs(&self) -> &[f64] {
        &self.costs[..self.count.min(RECENT_BATCHES)]
    }

    /// Their median; `None` before there are a few.
    pub(crate) fn median(&self) -> Option<f64> {
        let mut sorted = self.costs;
        let filled = &mut sorted[..self.count.min(RECENT_BATCHES)];
        (filled.len() >= 3)
            .then(|| *filled.select_nth_unstable_by(self.count.min(RECENT_BATCHES) / 2, f64::total_cmp).1)
    }
}

#[cfg(test)]
mod tests {
    use clockscope_system::{ReadPath, Resolution};

    use super::*;
    use crate::instrument::sampler::tests::ns_timer;

    /// A check of a busy machine had time for three batches of each clock, of which two were
    /// interrupted.
    #[test]
    fn interruptions_are_no_cost() {
        assert_eq!(median_cost(&[1.0, 9.0, 9.0]), None);
        assert_eq!(median_cost(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), None);
        assert_eq!(median_cost(&[1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), Some(1.0));
        assert_eq!(median_cost(&[0.0; 9]), None);
    }

    /// A clock that runs as fast as the kernel states does not jump, nor does one that runs as if
    /// the kernel did not steer it; one that runs so fast without that statement does, and so does
    /// one that the kernel does not steer.
    #[test]
    fn a_rate_that_the_kernel_states_is_no_jump() {
        const SHARE: f64 = 1065e-6;
        let jumps = |is_steered: bool, steering: f64, share: f64| {
            let resolution = Resolution::Nanoseconds(1.0);
            let timer = RecordedTimer { steering, ..ns_timer() };
            let mut info = ClockInfo::new("monotonic", ClockKind::Monotonic, ReadPath::Libc, resolution, "");
            info.is_steered = is_steered;
            let mut state = MeasuredState::new(&info, &timer, 0);
            for batch in 0..100_u32 {
                // Each begins 10 ms after the one before, which the clock shows as 10.65 µs more.
                let at_ns = |read: u32| f64::from(batch) * 1e7 + f64::from(read) * 25.0;
                let values: Vec<u64> = (0..100).map(|read| (at_ns(read) * (1.0 + share)) as u64).collect();
                let (before_ns, after_ns) = (at_ns(0) - 10.0, at_ns(99) + 10.0);
                state.events.batch(Batch { values: &values, before_ns, after_ns, cost_ns: Some(25.0) });
            }
            let (events, _) = state.events.finish();
            events.jump.get().unwrap_or(0) + events.hidden_regression.get().unwrap_or(0)
        };
        assert_eq!([jumps(true, SHARE, SHARE), jumps(true, SHARE, 0.0), jumps(true, 0.0, 0.0)], [0; 3]);
        for (is_steered, steering, share) in [(true, 0.0, SHARE), (false, SHARE, SHARE), (true, SHARE, 2.0 * SHARE)] {
            assert!(jumps(is_steered, steering, share) > 50, "{is_steered} {steering} {share}");
        }
    }
}
