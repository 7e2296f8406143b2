//! The records of one side as runs: what each clock, the counter and the empty loop cost in each.

use clockscope_records::{Baseline, ClockIdentity, Cost, Envelope, Measurement, ReadPath};

/// The runs of one side of a comparison.
pub(super) struct Side {
    pub(super) clocks: Vec<ComparedClock>,
    /// The baselines of all runs, in the order of the runs.
    pub(super) baselines: Vec<Baseline>,
    /// True if an emulator ran any of them.
    pub(super) is_emulated: bool,
    /// True if all are of a build without optimization, false if none is; `None` for some.
    pub(super) is_debug_build: Option<bool>,
}

/// A clock in all runs of a side.
pub(super) struct ComparedClock {
    pub(super) label: String,
    /// The other names that it has.
    names: Vec<String>,
    pub(super) is_counter: bool,
    /// True for clocks that programs usually read: the system's usual ones, the library's, and CPU
    /// time.
    pub(super) is_usual: bool,
    /// True for a reading sequence of the counter that waits for what precedes it.
    pub(super) is_ordered_counter: bool,
    /// Cost in each run, in the order of the runs; `None` where it was not measured.
    pub(super) costs: Vec<Option<RunCost>>,
}

/// The cost of a clock in a run, in ns.
#[derive(Clone, Debug)]
pub(super) struct RunCost {
    pub(super) median: f64,
    /// The costs in equal parts of the run; empty where they were not recorded.
    pub(super) rounds: Vec<f64>,
}

/// The clock of the CPU time that a process has used.
const CPU_TIME: &str = "process";

fn is_usual(identity: &ClockIdentity) -> bool {
    match identity.path {
        ReadPath::Library => !identity.is_wrapper,
        path => (identity.is_usual || identity.name == CPU_TIME) && path.is_usual(),
    }
}

impl ComparedClock {
    fn new(identity: &ClockIdentity, runs_before: usize) -> Self {
        Self {
            label: identity.label(),
            names: identity.aliases.clone(),
            is_counter: identity.is_counter(),
            is_usual: is_usual(identity),
            is_ordered_counter: identity.is_counter() && identity.is_ordered && !identity.is_device,
            costs: vec![None; runs_before],
        }
    }

    /// Returns whether it is called so, as the command names clocks.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.label == name || self.names.iter().any(|other| other == name)
    }

    /// Returns the costs of the runs that have one.
    pub(super) fn measured(&self) -> impl Iterator<Item = &RunCost> {
        self.costs.iter().flatten()
    }

    pub(super) fn medians(&self) -> Vec<f64> {
        self.measured().map(|cost| cost.median).collect()
    }
}

impl Side {
    pub(super) fn from_records(records: &[&Envelope<Measurement>]) -> Self {
        let mut debug_builds = records.iter().map(|measurement| measurement.environment.program.debug_build);
        let is_debug_build = debug_builds.next().filter(|first| debug_builds.all(|other| other == *first));
        let mut side = Self {
            clocks: Vec::new(),
            baselines: Vec::new(),
            is_emulated: records.iter().any(|measurement| !measurement.environment.emulation.is_empty()),
            is_debug_build,
        };
        records.iter().for_each(|measurement| side.add(measurement));
        side
    }

    /// Adds the runs of a record. One of several runs whose medians it does not have counts as one.
    fn add(&mut self, measurement: &Envelope<Measurement>) {
        let before = self.baselines.len();
        let baseline = &measurement.found.baseline;
        match baseline.runs.as_slice() {
            [] => self.baselines.push(baseline.clone()),
            runs => self.baselines.extend(runs.iter().cloned()),
        }
        let runs = self.baselines.len() - before;
        for record in &measurement.found.clocks {
            let label = record.identity.label();
            let index = self.clocks.iter().position(|clock| clock.label == label).unwrap_or_else(|| {
                self.clocks.push(ComparedClock::new(&record.identity, before));
                self.clocks.len() - 1
            });
            // A record that has a clock twice does not count twice.
            if self.clocks[index].costs.len() == before {
                self.clocks[index].costs.extend(costs(record.cost_ns.known(), runs));
            }
        }
        self.clocks.iter_mut().for_each(|clock| clock.costs.resize(before + runs, None));
    }

    pub(super) fn clock(&self, label: &str) -> Option<&ComparedClock> {
        self.clocks.iter().find(|clock| clock.label == label)
    }
}

/// Costs in `runs` runs, by a record's cost.
fn costs(cost: Option<&Cost>, runs: usize) -> Vec<Option<RunCost>> {
    let Some(cost) = cost else { return vec![None; runs] };
    match &cost.between_runs {
        Some(between) if between.medians.len() == runs => {
            between.medians.iter().map(|median| run_cost((*median)?, &[])).collect()
        }
        _ => {
            let mut costs = vec![None; runs];
            if let Some(first) = costs.first_mut() {
                *first = run_cost(cost.median, &cost.rounds);
            }
            costs
        }
    }
}

/// Cost in a run, with its rounds if all of them can be compared; `None` if the median cannot.
fn run_cost(median: f64, rounds: &[f64]) -> Option<RunCost> {
    let rounds = if rounds.iter().all(|ns| is_comparable(*ns)) { rounds.to_vec() } else { Vec::new() };
    is_comparable(median).then_some(RunCost { median, rounds })
}

/// Returns true for a cost that has a logarithm: only that can be compared by ratios.
fn is_comparable(ns: f64) -> bool {
    ns.is_finite() && ns > 0.0
}
