//! Several runs as one: what a clock costs from run to run.
//!
//! One run's interval covers what drifts within it. The next run's median may lie far outside: the
//! machine's speed drifts over minutes, and each process lays its memory out anew.

use std::collections::BTreeMap;
use std::ops::Add;

use clockscope_records::{
    Baseline, BetweenRuns, ClockRecord, Cost, Envelope, Events, Figure, Measurement, Monotonic, ReadingsReason,
    Summary, texts,
};
use clockscope_statistics::{median, next_interval, quantile};

use crate::questions::advise::recommend;

/// Fewer runs have no interval.
pub const MIN_INTERVAL_RUNS: u32 = 6;

/// Makes one record of several runs of the same clocks: the median of their medians with the
/// interval between runs, the sum of what was counted, and what else the first run found. `None`
/// for no runs.
#[must_use]
pub fn between_runs(mut runs: Vec<Envelope<Measurement>>) -> Option<Envelope<Measurement>> {
    let others = runs.split_off(1.min(runs.len()));
    let mut whole = runs.pop()?;
    if let Some(run) = &mut whole.run {
        run.runs = u32::try_from(others.len() + 1).ok();
        run.duration_s += others.iter().filter_map(|other| other.run.as_ref()).map(|run| run.duration_s).sum::<f64>();
        let waited_s = others.iter().map(|other| other.run.as_ref()?.waited_s).sum::<Option<f64>>();
        run.waited_s = run.waited_s.zip(waited_s).map(|(first_s, others_s)| first_s + others_s);
        run.interrupted |= others.iter().any(Envelope::is_interrupted);
    }
    for clock in &mut whole.found.clocks {
        let of_others = others
            .iter()
            .map(|run| run.found.clocks.iter().find(|other| other.identity.label() == clock.identity.label()).cloned());
        let of_runs: Vec<Option<ClockRecord>> = std::iter::once(Some(clock.clone())).chain(of_others).collect();
        let all: Vec<ClockRecord> = of_runs.iter().flatten().cloned().collect();
        *clock = combined(&all).unwrap_or_else(|| clock.clone());
        let between = clock.cost_ns.known_mut().and_then(|cost| cost.between_runs.as_mut());
        if let Some(between) = between {
            between.medians = of_runs.iter().map(|run| median_of(run.as_ref()?)).collect();
        }
    }
    let baselines = std::iter::once(&whole).chain(&others).map(|run| run.found.baseline.clone());
    let baselines: Vec<Baseline> = baselines.collect();
    let fastest = median(baselines.iter().filter_map(|baseline| Some(baseline.fastest_counter.as_ref()?.cost_ns)));
    whole.found.baseline.runs = baselines;
    if let (Some(counter), Some(cost_ns)) = (&mut whole.found.baseline.fastest_counter, fastest) {
        counter.cost_ns = cost_ns;
    }
    whole.found.advice = recommend(&whole.found.clocks, &whole.environment);
    Some(whole)
}

fn median_of(run: &ClockRecord) -> Option<f64> {
    run.cost_ns.known().map(|cost| cost.median)
}

/// One record of a clock by its records in all runs; `None` where no run could read it.
fn combined(runs: &[ClockRecord]) -> Option<ClockRecord> {
    let runs: Vec<&ClockRecord> = runs.iter().filter(|run| run.available).collect();
    let mut clock = (*runs.first()?).clone();
    clock.reason = runs.iter().find_map(|run| run.reason.clone());
    let costs: Vec<Cost> = runs.iter().filter_map(|run| run.cost_ns.known().cloned()).collect();
    clock.cost_ns = of_runs(of_costs(&costs), runs.iter().map(|run| &run.cost_ns));
    let ratios = runs.iter().map(|run| &run.ratio_to_fastest);
    clock.ratio_to_fastest = of_runs(median(ratios.clone().filter_map(Figure::get)), ratios);
    let resolutions = runs.iter().map(|run| &run.observed_resolution_ns);
    let finest = resolutions.clone().filter_map(Figure::get).min_by(f64::total_cmp);
    clock.observed_resolution_ns = of_runs(finest, resolutions);
    let orders = runs.iter().map(|run| &run.monotonic);
    let order = orders.clone().filter_map(Figure::get);
    let order = order.reduce(|a, b| Monotonic { strict: a.strict && b.strict, weak: a.weak && b.weak });
    clock.monotonic = of_runs(order, orders);
    clock.events = runs.iter().filter_map(|run| run.events.clone()).reduce(sum);
    let summaries: Vec<&Summary> = runs.iter().filter_map(|run| run.summary.known()).collect();
    clock.summary = of_runs(of_summaries(&summaries), runs.iter().map(|run| &run.summary));
    let reported: Vec<&ClockRecord> = runs.iter().copied().filter(|run| run.tick_ns.is_known()).collect();
    (clock.tick_ns, clock.tick_evidence) = match reported.first() {
        Some(first) if reported.iter().all(|run| is_same_tick(first, run)) => {
            (first.tick_ns.clone(), first.tick_evidence.clone())
        }
        Some(_) => (Figure::unknown("the runs found different ticks"), None),
        None => (of_runs(None, runs.iter().map(|run| &run.tick_ns)), clock.tick_evidence),
    };
    Some(clock)
}

/// Returns the figure of several runs. Where they have none, the first that lacks it gives the
/// reason.
fn of_runs<'a, T: 'a, U>(value: Option<U>, mut runs: impl Iterator<Item = &'a Figure<T>>) -> Figure<U> {
    value.ok_or_else(|| runs.find_map(Figure::reason).cloned().unwrap_or("not every run found it".into())).into()
}

/// Returns true if two runs found the same tick, within their errors.
fn is_same_tick(a: &ClockRecord, b: &ClockRecord) -> bool {
    let errors = [a, b].map(|run| run.tick_evidence.as_ref().and_then(|evidence| evidence.error_ppm).unwrap_or(0.0));
    let apart = a.tick_ns.get().zip(b.tick_ns.get()).map(|(a, b)| (a / b - 1.0).abs() * 1e6);
    // The unit is measured anew in each run.
    apart.is_some_and(|ppm| ppm <= errors[0] + errors[1] + 10.0)
}

fn of_costs(costs: &[Cost]) -> Option<Cost> {
    let mut medians: Vec<f64> = costs.iter().map(|cost| cost.median).collect();
    medians.sort_by(f64::total_cmp);
    Some(Cost {
        median: quantile(&medians, 0.5)?,
        ci95: Figure::unknown(texts::SEVERAL_RUNS),
        rounds: Vec::new(),
        between_runs: Some(BetweenRuns {
            runs: u32::try_from(medians.len()).ok()?,
            // A cost is never negative.
            interval95: next_interval(&medians)
                .map(|[low, high]| [low.max(0.0), high])
                .ok_or(ReadingsReason::FewRuns { fewest: MIN_INTERVAL_RUNS })
                .into(),
            lowest: *medians.first()?,
            highest: *medians.last()?,
            medians: Vec::new(),
        }),
        min: costs.iter().map(|cost| cost.min).fold(f64::INFINITY, f64::min),
        p99: of_runs(median(costs.iter().filter_map(|cost| cost.p99.get())), costs.iter().map(|cost| &cost.p99)),
        histogram: merged(costs),
        batches: costs.iter().map(|cost| cost.batches).sum(),
        reads_per_batch: costs.first()?.reads_per_batch,
        batches_dropped: costs.iter().map(|cost| cost.batches_dropped).sum(),
    })
}

/// The differences of several runs: quantiles are the medians of the runs' quantiles.
fn of_summaries(all: &[&Summary]) -> Option<Summary> {
    Some(Summary {
        count: all.iter().map(|summary| summary.count).sum(),
        mean: median(all.iter().map(|summary| summary.mean))?,
        std: None,
        min: all.iter().map(|summary| summary.min).fold(f64::INFINITY, f64::min),
        p25: median(all.iter().map(|summary| summary.p25))?,
        p50: median(all.iter().map(|summary| summary.p50))?,
        p75: median(all.iter().map(|summary| summary.p75))?,
        p99: median(all.iter().map(|summary| summary.p99))?,
        p999: median(all.iter().map(|summary| summary.p999))?,
        max: all.iter().map(|summary| summary.max).fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The histograms of several runs as one.
fn merged(costs: &[Cost]) -> Vec<(i64, u64)> {
    let mut counts = BTreeMap::new();
    for (bin, count) in costs.iter().flat_map(|cost| &cost.histogram) {
        *counts.entry(*bin).or_insert(0) += count;
    }
    counts.into_iter().collect()
}

fn sum(a: Events, b: Events) -> Events {
    fn both<T: Add<Output = T>>(a: Figure<T>, b: Figure<T>) -> Figure<T> {
        a.result().and_then(|a| Ok(a + b.result()?)).into()
    }
    fn larger(a: Figure<f64>, b: Figure<f64>) -> Figure<f64> {
        of_runs(a.get().into_iter().chain(b.get()).max_by(f64::total_cmp), [&a, &b].into_iter())
    }
    Events {
        reads: a.reads + b.reads,
        errors: a.errors + b.errors,
        span_ns: both(a.span_ns, b.span_ns),
        stuck: a.stuck + b.stuck,
        stall: a.stall + b.stall,
        warp: both(a.warp, b.warp),
        jump: both(a.jump, b.jump),
        gap: both(a.gap, b.gap),
        regression: a.regression + b.regression,
        hidden_regression: both(a.hidden_regression, b.hidden_regression),
        threshold_ns: larger(a.threshold_ns, b.threshold_ns),
        sure_ns: larger(a.sure_ns, b.sure_ns),
        ..a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_runs_become_an_interval() {
        let cost = |median: f64| Cost {
            median,
            ci95: Figure::Known([median - 0.1, median + 0.1]),
            rounds: vec![median; 8],
            between_runs: None,
            min: median - 1.0,
            p99: Figure::Known(median + 5.0),
            histogram: vec![(median as i64 / 10, 99), (200, 1)],
            batches: 100,
            reads_per_batch: 7,
            batches_dropped: 1,
        };
        let costs: Vec<Cost> = [24.0, 20.0, 22.0, 21.0, 23.0, 25.0, 30.0].map(cost).to_vec();
        let found = of_costs(&costs).unwrap();
        assert_eq!((found.median, found.ci95.get(), found.min, found.p99.get()), (23.0, None, 19.0, Some(28.0)));
        assert_eq!((found.batches, found.batches_dropped, found.reads_per_batch), (700, 7, 7));
        assert_eq!(found.histogram, [(2, 594), (3, 99), (200, 7)]);
        let between = found.between_runs.unwrap();
        assert_eq!((between.runs, between.lowest, between.highest), (7, 20.0, 30.0));
        assert_eq!(between.interval95.get(), next_interval(&[20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 30.0]));
        assert_eq!(of_costs(&costs[..5]).unwrap().between_runs.unwrap().interval95.get(), None);
        assert_eq!(of_costs(&[]), None);
    }

    #[test]
    fn nothing_comes_of_no_runs() {
        assert_eq!(between_runs(Vec::new()), None);
    }
}
