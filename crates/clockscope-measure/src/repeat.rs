//! Several runs as one: what a clock costs from run to run.
//!
//! One run's interval covers what drifts within it. The next run's median may lie far outside: the machine's speed drifts over
//! minutes, and each process lays its memory out anew.

use clockscope_records::{BetweenRuns, ClockRecord, Cost, Events, Measurement, Monotonic};
use clockscope_statistics::{next_interval, quantile};

use crate::advice::advise;

/// Fewer runs have no interval.
pub const FEWEST_RUNS: u32 = 6;

/// Why a field of several runs is `null`.
const OF_ONE_RUN: &str = "it is of one run, and there were several: between_runs tells of these";

/// Makes one record of several runs of the same clocks: the median of their medians with the interval between runs, the sum of
/// what was counted, and what else the first run has told. `None` for no runs.
#[must_use]
pub fn between_runs(mut runs: Vec<Measurement>) -> Option<Measurement> {
    let others = runs.split_off(1.min(runs.len()));
    let mut whole = runs.pop()?;
    whole.run.runs = u32::try_from(others.len() + 1).ok();
    whole.run.duration_s += others.iter().map(|run| run.run.duration_s).sum::<f64>();
    whole.run.interrupted |= others.iter().any(|run| run.run.interrupted);
    for clock in &mut whole.clocks {
        let same = |run: &'_ Measurement| {
            run.clocks.iter().find(|other| other.identity.label() == clock.identity.label()).cloned()
        };
        let of_others: Vec<ClockRecord> = others.iter().filter_map(same).collect();
        combine(clock, &of_others);
    }
    let costs = |run: &Measurement| run.baseline.fastest_counter.as_ref().map(|counter| counter.cost_ns);
    let fastest = median(std::iter::once(&whole).chain(&others).filter_map(costs));
    if let (Some(counter), Some(cost_ns)) = (&mut whole.baseline.fastest_counter, fastest) {
        counter.cost_ns = cost_ns;
    }
    whole.advice = advise(&whole.clocks, &whole.environment);
    Some(whole)
}

/// Adds the other runs' records of a clock to the first one's.
fn combine(clock: &mut ClockRecord, others: &[ClockRecord]) {
    let costs: Vec<Cost> = others.iter().chain([&*clock]).filter_map(|run| run.cost_ns.clone()).collect();
    if let Some(cost) = of_costs(&costs) {
        clock.unknown.insert("cost_ns.ci95".to_owned(), OF_ONE_RUN.to_owned());
        if cost.between_runs.is_some_and(|between| between.interval95.is_none()) {
            clock
                .unknown
                .insert("cost_ns.between_runs.interval95".to_owned(), format!("fewer than {FEWEST_RUNS} runs"));
        }
        clock.cost_ns = Some(cost);
    }
    clock.ratio_to_fastest =
        median(others.iter().chain([&*clock]).filter_map(|run| run.ratio_to_fastest)).or(clock.ratio_to_fastest);
    for other in others {
        if let (Some(events), Some(more)) = (&mut clock.events, &other.events) {
            add(events, more);
        }
        clock.monotonic = clock
            .monotonic
            .zip(other.monotonic)
            .map(|(a, b)| Monotonic { strict: a.strict && b.strict, weak: a.weak && b.weak });
        clock.observed_resolution_ns = smaller(clock.observed_resolution_ns, other.observed_resolution_ns);
        if clock.tick_ns.is_none() && other.tick_ns.is_some() {
            (clock.tick_ns, clock.tick_evidence) = (other.tick_ns, other.tick_evidence.clone());
            clock.unknown.remove("tick_ns");
        }
    }
    if clock.summary.take().is_some() {
        clock.unknown.insert("summary".to_owned(), OF_ONE_RUN.to_owned());
    }
}

fn of_costs(costs: &[Cost]) -> Option<Cost> {
    let mut medians: Vec<f64> = costs.iter().map(|cost| cost.median).collect();
    medians.sort_by(f64::total_cmp);
    Some(Cost {
        median: quantile(&medians, 0.5)?,
        ci95: None,
        between_runs: Some(BetweenRuns {
            runs: u32::try_from(medians.len()).ok()?,
            interval95: next_interval(&medians),
            lowest: *medians.first()?,
            highest: *medians.last()?,
        }),
        min: costs.iter().map(|cost| cost.min).fold(f64::INFINITY, f64::min),
        p99: median(costs.iter().filter_map(|cost| cost.p99)),
        batches: costs.iter().map(|cost| cost.batches).sum(),
        reads_per_batch: costs.first()?.reads_per_batch,
        batches_dropped: costs.iter().map(|cost| cost.batches_dropped).sum(),
    })
}

fn add(events: &mut Events, more: &Events) {
    let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
    let larger = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).max_by(f64::total_cmp);
    events.reads += more.reads;
    events.errors += more.errors;
    events.fail += more.fail;
    events.stall += more.stall;
    events.regression += more.regression;
    events.warp = sum(events.warp, more.warp);
    events.jump = sum(events.jump, more.jump);
    events.gap = sum(events.gap, more.gap);
    events.hidden_regression = sum(events.hidden_regression, more.hidden_regression);
    events.span_ns = events.span_ns.zip(more.span_ns).map(|(a, b)| a + b);
    events.threshold_ns = larger(events.threshold_ns, more.threshold_ns);
    events.sure_ns = larger(events.sure_ns, more.sure_ns);
}

fn smaller(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).min_by(f64::total_cmp)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_runs_become_an_interval() {
        let cost = |median: f64| Cost {
            median,
            ci95: Some([median - 0.1, median + 0.1]),
            between_runs: None,
            min: median - 1.0,
            p99: Some(median + 5.0),
            batches: 100,
            reads_per_batch: 7,
            batches_dropped: 1,
        };
        let costs: Vec<Cost> = [24.0, 20.0, 22.0, 21.0, 23.0, 25.0, 30.0].map(cost).to_vec();
        let found = of_costs(&costs).unwrap();
        assert_eq!((found.median, found.ci95, found.min, found.p99), (23.0, None, 19.0, Some(28.0)));
        assert_eq!((found.batches, found.batches_dropped, found.reads_per_batch), (700, 7, 7));
        let between = found.between_runs.unwrap();
        assert_eq!((between.runs, between.lowest, between.highest), (7, 20.0, 30.0));
        assert_eq!(between.interval95, next_interval(&[20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 30.0]));
        assert_eq!(of_costs(&costs[..5]).unwrap().between_runs.unwrap().interval95, None);
        assert_eq!(of_costs(&[]), None);
    }

    #[test]
    fn nothing_comes_of_no_runs() {
        assert_eq!(between_runs(Vec::new()), None);
    }
}
