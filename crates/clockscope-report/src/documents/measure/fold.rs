//! Clocks that differ in nothing share a row.

use clockscope_records::{ClockRecord, Measurement};

use super::columns::{TICK, cost_interval};
use super::events;
use super::table::is_recommended;
use crate::documents::groups::Group;
use crate::model::Cell;

/// Most characters of the names of a row.
const MAX_NAMES_WIDTH: usize = 30;

/// The clocks of a row, and the one whose figures it shows.
pub(super) struct Fold<'a> {
    pub(super) clocks: Vec<&'a ClockRecord>,
    /// The clock with the widest interval of the cost: it holds the costs of the others.
    pub(super) shown: &'a ClockRecord,
}

impl<'a> Fold<'a> {
    fn new(clock: &'a ClockRecord) -> Self {
        Self { clocks: vec![clock], shown: clock }
    }

    /// A row a clock.
    pub(super) fn single(clocks: &[&'a ClockRecord]) -> Vec<Self> {
        clocks.iter().copied().map(Self::new).collect()
    }

    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.clocks.iter().map(|clock| clock.identity.label()).collect();
        names.join(", ")
    }

    /// Returns the row with one more clock; `None` if that differs in anything.
    fn with(&self, clock: &'a ClockRecord) -> Option<Self> {
        let mut clocks = self.clocks.clone();
        clocks.push(clock);
        let shown = if interval_width(clock)? > interval_width(self.shown)? { clock } else { self.shown };
        let [low, high] = cost_interval(shown.cost_ns.known()?).get()?;
        let is_within =
            |clock: &&ClockRecord| clock.cost_ns.known().is_some_and(|cost| (low..=high).contains(&cost.median));
        let fold = Self { clocks, shown };
        let is_short = fold.names().chars().count() <= MAX_NAMES_WIDTH;
        (is_short && looks_like(clock, self.shown) && fold.clocks.iter().all(is_within)).then_some(fold)
    }
}

/// Returns whether two clocks have the same tick and events, all of them known.
fn looks_like(a: &ClockRecord, b: &ClockRecord) -> bool {
    let [tick, events] = [(TICK.cell)(a), events::cell(a)];
    let is_known = tick != Cell::Unknown && events::is_clean(a) && events::is_clean(b);
    is_known
        && a.reason.is_none()
        && b.reason.is_none()
        && Group::from_identity(&a.identity) == Group::from_identity(&b.identity)
        && [tick, events] == [(TICK.cell)(b), events::cell(b)]
}

fn interval_width(clock: &ClockRecord) -> Option<f64> {
    cost_interval(clock.cost_ns.known()?).get().map(|[low, high]| high - low)
}

/// Puts clocks that differ in nothing into one row, the place of the first. The recommended clock
/// has its own, and so has every clock with a fault or an unknown figure.
pub(super) fn alike<'a>(clocks: &[&'a ClockRecord], measurement: &Measurement) -> Vec<Fold<'a>> {
    let mut folds: Vec<Fold<'a>> = Vec::new();
    for clock in clocks.iter().copied() {
        let mut others = folds.iter_mut().filter(|fold| !is_recommended(fold.shown, measurement));
        let found = others.find_map(|fold| Some((fold.with(clock)?, fold)));
        match found {
            Some((larger, fold)) if !is_recommended(clock, measurement) => *fold = larger,
            _ => folds.push(Fold::new(clock)),
        }
    }
    folds
}
