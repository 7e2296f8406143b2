//! Which clock to use for intervals, from what was measured.

use clockscope_machine::clocksource;
use clockscope_records::{
    ClockIdentity, ClockKind, ClockRecord, Environment, Events, FastestCounter, NoRecommendation, ReadPath,
    Recommendation,
};

/// A clock whose readings step by more than this many ns is too coarse for a stopwatch.
const FINE_NS: f64 = 2_000.0;
/// Clocks whose costs differ by less than this share cost the same; the one that programs know best
/// is then named.
const SAME_COST: f64 = 1.05;

/// Chooses the cheapest clock that every program can use and that did nothing wrong here, with what
/// to expect of it, and what the counter would save. Across CPUs nothing was tested: the counter is
/// named only where the kernel itself builds its clock on it.
pub(crate) fn recommend(clocks: &[ClockRecord], environment: &Environment) -> Recommendation {
    let none = |why| Recommendation { none: Some(why), ..Recommendation::default() };
    if !environment.emulation.is_empty() {
        return none(NoRecommendation::Emulated);
    }
    let Some((clock, cost_ns)) = best_monotonic(clocks) else {
        let is_measured = clocks.iter().any(|clock| clock.identity.kind == ClockKind::Monotonic && clock.available);
        return none(if is_measured { NoRecommendation::Unfit } else { NoRecommendation::NotMeasured });
    };
    let cheaper = best_counter(clocks, environment).filter(|(_, counter_ns)| *counter_ns < cost_ns);
    Recommendation {
        clock: Some(clock.identity.name.clone()),
        cost_ns: Some(cost_ns),
        step_ns: clock.observed_resolution_ns.get(),
        reads: clock.events.as_ref().map(|events| events.reads),
        counter: cheaper.map(|(counter, cost_ns)| FastestCounter { name: counter.identity.name.clone(), cost_ns }),
        none: None,
        prose: None,
    }
}

/// The cheapest sound monotonic clock of the system; of those that cost the same, the usual one or
/// else the first. The library's are not the system's: what they need to be right is not measured
/// here.
fn best_monotonic(clocks: &[ClockRecord]) -> Option<(&ClockRecord, f64)> {
    let is_systems = |clock: &ClockIdentity| clock.kind == ClockKind::Monotonic && clock.path != ReadPath::Library;
    let fit = clocks.iter().filter(|clock| is_systems(&clock.identity) && is_sound(clock));
    let costs: Vec<_> = fit.filter_map(|clock| Some((clock, clock.cost_ns.known()?.median))).collect();
    let cheapest = costs.iter().map(|(_, cost_ns)| *cost_ns).min_by(f64::total_cmp)?;
    let same: Vec<_> = costs.into_iter().filter(|(_, cost_ns)| *cost_ns <= cheapest * SAME_COST).collect();
    same.iter().find(|(clock, _)| clock.identity.is_usual == Some(true)).or(same.first()).copied()
}

/// The cheapest sound counter read that is ordered after earlier instructions, where the kernel
/// trusts the counter.
fn best_counter<'a>(clocks: &'a [ClockRecord], environment: &Environment) -> Option<(&'a ClockRecord, f64)> {
    let fit = clocks.iter().filter(|clock| is_trusted_counter(&clock.identity, environment) && is_sound(clock));
    fit.filter_map(|clock| Some((clock, clock.cost_ns.known()?.median))).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// An ordered read of a counter that the kernel itself builds its clocks on.
pub(crate) fn is_trusted_counter(clock: &ClockIdentity, environment: &Environment) -> bool {
    clocksource::is_counter_in(environment) && clock.is_counter() && clock.is_ordered
}

/// It is right, fine enough, and never stood still for long.
fn is_sound(clock: &ClockRecord) -> bool {
    let fine = clock.observed_resolution_ns.get().is_some_and(|step_ns| step_ns <= FINE_NS);
    clock.available
        && fine
        && clock
            .events
            .as_ref()
            .is_some_and(|events| is_right(events) && events.hidden_regression.get() == Some(0) && events.stuck == 0)
}

/// It answered always and never went back or jumped.
pub(crate) fn is_right(events: &Events) -> bool {
    events.errors == 0
        && events.regression == 0
        && events.hidden_regression.get().unwrap_or(0) == 0
        && events.jump.get() == Some(0)
}

#[cfg(test)]
mod tests {
    use clockscope_records::Emulator;

    use super::*;
    use crate::trust::tests::healthy;

    #[test]
    fn a_clock_is_recommended_with_its_figures_or_none_with_the_reason() {
        let seen = healthy();
        let found = recommend(&seen.clocks, &seen.environment);
        let clock = seen.clock("monotonic").unwrap();
        assert_eq!(found.clock.as_deref(), Some("monotonic"));
        assert_eq!(found.cost_ns, clock.cost_ns.known().map(|cost| cost.median));
        assert_eq!((found.step_ns, found.reads), (clock.observed_resolution_ns.get(), Some(10_000_000)));
        let counter = seen.clock("rdtscp").unwrap().cost_ns.known().map(|cost| cost.median);
        assert_eq!(
            found.counter.map(|counter| (counter.name, Some(counter.cost_ns))),
            Some(("rdtscp".into(), counter))
        );

        // Of those that cost the same, whatever they are called.
        let named = |name: &str, is_usual| {
            let identity = ClockIdentity { name: name.to_owned(), is_usual: Some(is_usual), ..clock.identity.clone() };
            ClockRecord { identity, ..clock.clone() }
        };
        for usual in ["pendulum", "sandglass"] {
            let clocks = ["pendulum", "sandglass"].map(|name| named(name, name == usual));
            assert_eq!(recommend(&clocks, &seen.environment).clock.as_deref(), Some(usual));
        }

        let none = |clocks: &[ClockRecord], environment: &Environment| {
            let found = recommend(clocks, environment);
            assert_eq!(found, Recommendation { none: found.none, ..Recommendation::default() });
            found.none
        };
        let emulated = Environment { emulation: vec![Emulator::QemuUser], ..seen.environment.clone() };
        assert_eq!(none(&seen.clocks, &emulated), Some(NoRecommendation::Emulated));
        let mut faulty = seen.clocks.clone();
        faulty.iter_mut().filter_map(|clock| clock.events.as_mut()).for_each(|events| events.regression = 1);
        assert_eq!(none(&faulty, &seen.environment), Some(NoRecommendation::Unfit));
        assert_eq!(none(&[], &seen.environment), Some(NoRecommendation::NotMeasured));
    }
}
