//! Comparison of costs: whether clocks are slower, and whether that is the machine.

use clockscope_records::{Bounds, ClockComparison, ComparisonBasis, CostChange, Figure, MachineComparison, Undecided};
use clockscope_statistics::{median, ratio_bounds, ratio_range, shift_bounds};

use super::side::{ComparedClock, RunCost, Side};

/// Probability, at most, that the bounds of any clock of a comparison miss the truth.
pub const MISRATE: f64 = 0.05;

/// Factor by which runs may differ without a change, where there are too few to show it: bounds are
/// wider by it on either side. Of intervals of ten runs that were measured (bench/README.md,
/// *Between runs*), the widest was ±36 %, a factor of 2.1 from its lower end to its upper one.
const FEW_RUNS_FACTOR: f64 = 2.1;
/// Fewer runs on a side are too few: where runs have one of two speeds, as by the layout of their
/// memory, four of each side are all of one and all of the other in up to 1 of 128 clocks.
const MIN_RUNS: usize = 5;

/// Findings on the costs.
pub(super) struct Costs {
    pub(super) machine: MachineComparison,
    pub(super) clocks: Vec<ClockComparison>,
}

/// Rules by which ratios are bounded and judged.
#[derive(Clone, Copy)]
struct Judge {
    /// For each clock: all of them together miss no more often than [`MISRATE`] (Bonferroni).
    /// Holm's procedure would decide some more cases, and has no bounds that go with its decisions.
    misrate: f64,
    margin: f64,
}

/// Compares the costs of these clocks.
pub(super) fn compare(sides: &[Side; 2], labels: &[String], margin: f64) -> Costs {
    let pairs: Vec<[Option<&ComparedClock>; 2]> =
        labels.iter().map(|label| sides.each_ref().map(|side| side.clock(label))).collect();
    let measured = pairs.iter().filter(|pair| pair.iter().all(|clock| clock.is_some_and(has_cost)));
    let compared = measured.count();
    let judge = Judge { misrate: MISRATE / compared.max(1) as f64, margin };
    let speed = Speed::from_sides(sides, judge);
    let clocks = labels.iter().zip(&pairs).map(|(label, pair)| clock(label, pair, sides, &speed, judge)).collect();
    Costs { machine: speed.comparison(judge), clocks }
}

pub(super) fn has_cost(clock: &ComparedClock) -> bool {
    clock.measured().next().is_some()
}

/// The costs that move with the machine, in each run of both sides.
struct Speed {
    counter_name: Option<String>,
    counter: [Vec<Option<RunCost>>; 2],
    empty_loop: [Vec<Option<RunCost>>; 2],
    /// True if the counter's read has changed relative to the empty loop, so that it does not show
    /// the machine's speed.
    has_own_change: bool,
}

impl Speed {
    fn from_sides(sides: &[Side; 2], judge: Judge) -> Self {
        let counter_name = common_counter(sides);
        let counter = sides.each_ref().map(|side| counter_name.as_ref().map_or_else(Vec::new, |name| read(side, name)));
        let empty_loop = sides.each_ref().map(|side| {
            let costs = side.baselines.iter().map(|baseline| baseline.empty_loop_ns);
            costs.map(|cost| cost.and_then(point)).collect::<Vec<_>>()
        });
        let relative = ratio_to(&counter, &empty_loop, judge);
        let has_own_change = relative.is_some_and(|own| judge.is_beyond(own));
        Self { counter_name, counter, empty_loop, has_own_change }
    }

    fn comparison(self, judge: Judge) -> MachineComparison {
        let [counter, empty_loop] =
            [&self.counter, &self.empty_loop].map(|costs| bounds(costs, judge).map(|(found, _)| found));
        let change = match (counter, empty_loop) {
            (Some(counter), Some(empty_loop)) => judge.of_both(counter, empty_loop),
            _ => CostChange::Inconclusive,
        };
        MachineComparison {
            change,
            counter: Figure::of(counter, "no counter was read in all runs"),
            empty_loop: Figure::of(empty_loop, "not every run has measured it"),
            counter_name: self.counter_name,
        }
    }

    /// Returns what a clock's ratio is relative to the machine's: bounds that hold for each of the
    /// costs that show its speed. `None` if none does.
    fn own(&self, costs: &[Vec<Option<RunCost>>; 2], is_counter: bool, judge: Judge) -> Option<Bounds> {
        let by_counter = (!is_counter && !self.has_own_change).then(|| ratio_to(costs, &self.counter, judge)).flatten();
        let by_loop = ratio_to(costs, &self.empty_loop, judge);
        match (by_counter, by_loop) {
            (Some(one), Some(other)) => Some(Bounds {
                estimate: (one.estimate * other.estimate).sqrt(),
                low: one.low.min(other.low),
                high: one.high.max(other.high),
            }),
            (one, other) => one.or(other),
        }
    }
}

/// A cost without rounds.
fn point(median: f64) -> Option<RunCost> {
    (median.is_finite() && median > 0.0).then(|| RunCost { median, rounds: Vec::new() })
}

/// The reading sequence of the counter that all runs have read, the cheapest in the first of them.
fn common_counter(sides: &[Side; 2]) -> Option<String> {
    let fastest = sides[0].baselines.first()?.fastest_counter.as_ref().map(|counter| counter.name.clone());
    let counters = sides[0].clocks.iter().filter(|clock| clock.is_counter);
    let mut others: Vec<(f64, String)> =
        counters.filter_map(|clock| Some((clock.costs.first()?.as_ref()?.median, clock.label.clone()))).collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut names = fastest.into_iter().chain(others.into_iter().map(|(_, name)| name));
    names.find(|name| sides.iter().all(|side| read(side, name).iter().all(Option::is_some)))
}

/// Cost of the reading sequence in each run of a side.
fn read(side: &Side, name: &str) -> Vec<Option<RunCost>> {
    let of_clock = side.clock(name);
    let costs = side.baselines.iter().enumerate().map(|(run, baseline)| {
        let measured = of_clock.and_then(|clock| clock.costs.get(run).cloned().flatten());
        let beside = baseline.fastest_counter.as_ref().filter(|counter| counter.name == name);
        measured.or_else(|| point(beside?.cost_ns))
    });
    costs.collect()
}

/// Returns the bounds of a ratio of costs, and what they are based on.
fn bounds(costs: &[Vec<Option<RunCost>>; 2], judge: Judge) -> Option<(Bounds, ComparisonBasis)> {
    let [base, new] = costs.each_ref().map(|side| side.iter().flatten().collect::<Vec<&RunCost>>());
    match (base.as_slice(), new.as_slice()) {
        ([one], [other]) => Some((widened(range(one, other)?), ComparisonBasis::Rounds)),
        _ => {
            let [base, new] = [base, new].map(|side| side.iter().map(|cost| cost.median).collect::<Vec<_>>());
            Some((judge.bounds(&base, &new)?, ComparisonBasis::Runs))
        }
    }
}

/// Returns the bounds of a ratio of costs that are divided by others of the same runs.
fn ratio_to(costs: &[Vec<Option<RunCost>>; 2], others: &[Vec<Option<RunCost>>; 2], judge: Judge) -> Option<Bounds> {
    let [base, new] = [0, 1].map(|index| {
        let both = costs[index].iter().zip(&others[index]);
        both.filter_map(|(cost, other)| Some((cost.as_ref()?, other.as_ref()?))).collect::<Vec<_>>()
    });
    if let ([(base, base_other)], [(new, new_other)]) = (base.as_slice(), new.as_slice()) {
        let (cost, other) = (range(base, new)?, range(base_other, new_other)?);
        return Some(widened(Bounds {
            estimate: cost.estimate / other.estimate,
            low: cost.low / other.high,
            high: cost.high / other.low,
        }));
    }
    let [base, new] =
        [base, new].map(|runs| runs.iter().map(|(cost, other)| cost.median / other.median).collect::<Vec<_>>());
    judge.bounds(&base, &new)
}

/// The range of the ratios of two runs' rounds; of their medians where there are no rounds.
fn range(base: &RunCost, new: &RunCost) -> Option<Bounds> {
    let [base, new] =
        [base, new].map(|cost| if cost.rounds.is_empty() { vec![cost.median] } else { cost.rounds.clone() });
    ratio_range(&base, &new)
}

fn widened(Bounds { estimate, low, high }: Bounds) -> Bounds {
    Bounds { estimate, low: low / FEW_RUNS_FACTOR, high: high * FEW_RUNS_FACTOR }
}

impl Judge {
    /// Returns the bounds of a ratio by what differs from run to run.
    fn bounds(self, base: &[f64], new: &[f64]) -> Option<Bounds> {
        let found = ratio_bounds(base, new, self.misrate)?;
        Some(if base.len().min(new.len()) < MIN_RUNS { widened(found) } else { found })
    }

    /// Returns true if a ratio is certainly outside of the margin.
    fn is_beyond(self, found: Bounds) -> bool {
        found.low > 1.0 + self.margin || found.high < 1.0 / (1.0 + self.margin)
    }

    /// Returns true if a ratio is certainly within the margin.
    fn is_within(self, found: Bounds) -> bool {
        found.low >= 1.0 / (1.0 + self.margin) && found.high <= 1.0 + self.margin
    }

    /// Judges what has changed only if two ratios have changed in the same direction.
    fn of_both(self, one: Bounds, other: Bounds) -> CostChange {
        let all = [one, other];
        if all.iter().all(|found| found.low > 1.0 + self.margin) {
            CostChange::Slower
        } else if all.iter().all(|found| found.high < 1.0 / (1.0 + self.margin)) {
            CostChange::Faster
        } else if all.iter().all(|found| self.is_within(*found)) {
            CostChange::Same
        } else {
            CostChange::Inconclusive
        }
    }

    /// Judges a clock by its ratio in ns and by that relative to the machine. It is the same if it
    /// costs what it did, or has changed as the machine has.
    fn of_clock(self, raw: Bounds, own: Option<Bounds>) -> CostChange {
        match self.of_both(raw, own.unwrap_or(raw)) {
            CostChange::Inconclusive if self.is_within(raw) || own.is_some_and(|own| self.is_within(own)) => {
                CostChange::Same
            }
            change => change,
        }
    }
}

const NO_COST: &str = "a side has no measured cost";

/// Compares one clock.
fn clock(
    label: &str,
    pair: &[Option<&ComparedClock>; 2],
    sides: &[Side; 2],
    speed: &Speed,
    judge: Judge,
) -> ClockComparison {
    let costs = pair.map(|clock| clock.map_or_else(Vec::new, |clock| clock.costs.clone()));
    let medians = pair.map(|clock| clock.map_or_else(Vec::new, ComparedClock::medians));
    let is_counter = pair.iter().flatten().any(|clock| clock.is_counter);
    let found = bounds(&costs, judge);
    let own = found.and_then(|_| speed.own(&costs, is_counter, judge));
    let (change, undecided) = match found {
        Some((raw, basis)) => {
            let has_rounds =
                pair.iter().flatten().flat_map(|clock| clock.measured()).all(|cost| !cost.rounds.is_empty());
            let fewest_runs = medians.iter().map(Vec::len).min().unwrap_or(0);
            decided(judge.of_clock(raw, own), basis, (has_rounds, fewest_runs), sides)
        }
        None => (CostChange::Inconclusive, Some(Undecided::NotMeasured)),
    };
    let [base_ns, new_ns] =
        medians.each_ref().map(|medians| Figure::of(median(medians.iter().copied()), "it has no cost on this side"));
    let difference = shift_bounds(&medians[0], &medians[1], judge.misrate).map(|bounds| [bounds.low, bounds.high]);
    let no_difference = if found.is_some() { "each side is one run" } else { NO_COST };
    let no_own = if found.is_some() { "no run shows the machine's speed" } else { NO_COST };
    ClockComparison {
        name: label.to_owned(),
        change,
        undecided,
        base_ns,
        new_ns,
        ratio: Figure::of(found.map(|(found, _)| found), NO_COST),
        own: Figure::of(own, no_own),
        difference_ns: Figure::of(difference, no_difference),
        basis: found.map(|(_, basis)| basis),
        runs: medians.map(|side| u32::try_from(side.len()).unwrap_or(u32::MAX)),
        appeared: None,
    }
}

/// The entry of a clock that is not compared.
pub(super) fn not_compared(sides: &[Side; 2], label: &str) -> ClockComparison {
    let runs = sides.each_ref().map(|side| side.clock(label).map_or(0, |clock| clock.measured().count()));
    let why = "it is not compared unless named";
    ClockComparison {
        name: label.to_owned(),
        change: CostChange::Inconclusive,
        undecided: Some(Undecided::NotCompared),
        base_ns: Figure::unknown(why),
        new_ns: Figure::unknown(why),
        ratio: Figure::unknown(why),
        own: Figure::unknown(why),
        difference_ns: Figure::unknown(why),
        basis: None,
        runs: runs.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
        appeared: None,
    }
}

/// Change that may be stated, and the reason why not more.
fn decided(
    change: CostChange,
    basis: ComparisonBasis,
    (has_rounds, fewest_runs): (bool, usize),
    sides: &[Side; 2],
) -> (CostChange, Option<Undecided>) {
    let builds = sides.each_ref().map(|side| side.is_debug_build);
    let why = if sides.iter().any(|side| side.is_emulated) {
        Undecided::Emulated
    } else if builds.contains(&None) || builds[0] != builds[1] {
        Undecided::DebugBuild
    } else if basis == ComparisonBasis::Rounds && !has_rounds {
        Undecided::NoRounds
    } else if change != CostChange::Inconclusive {
        return (change, None);
    } else if basis == ComparisonBasis::Rounds {
        Undecided::OneRun
    } else if fewest_runs < MIN_RUNS {
        Undecided::FewRuns
    } else {
        Undecided::WideBounds
    };
    (CostChange::Inconclusive, Some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change that may be within the margin is none.
    #[test]
    fn changes_are_beyond_the_margin_or_none() {
        let judge = Judge { misrate: 0.05, margin: 0.05 };
        let beyond = |low: f64, high: f64| judge.is_beyond(Bounds { estimate: (low + high) / 2.0, low, high });
        assert_eq!([(1.06, 1.1), (1.01, 1.04), (1.04, 1.1)].map(|(low, high)| beyond(low, high)), [true, false, false]);
        assert_eq!([(0.9, 0.94), (0.96, 0.99), (0.9, 0.96)].map(|(low, high)| beyond(low, high)), [true, false, false]);
    }
}
