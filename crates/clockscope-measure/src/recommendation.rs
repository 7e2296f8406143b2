//! Which clock to use for intervals, from what was measured.

use clockscope_machine::clocksource;
use clockscope_records::{ClockIdentity, ClockKind, ClockRecord, Environment, Events, ReadPath, Recommendation};

/// A clock whose readings step by more than this many ns is no stopwatch.
const FINE_NS: f64 = 2_000.0;
/// Clocks whose costs differ by less than this share cost the same; the one that programs know best
/// is then named.
const SAME_COST: f64 = 1.05;

/// Chooses the cheapest clock that every program can use and that did nothing wrong here, and says
/// what to expect of it, and what the counter would save. Across CPUs nothing was tested: the
/// counter is named only where the kernel itself builds its clock on it.
pub(crate) fn recommend(clocks: &[ClockRecord], environment: &Environment) -> Recommendation {
    if !environment.emulation.is_empty() {
        let under = environment.emulation.join(", ");
        return Recommendation {
            clock: None,
            sentence: format!("Measured under {under}: no clock is recommended from emulated costs."),
        };
    }
    let Some((clock, cost_ns)) = best_monotonic(clocks) else {
        let sentence = if clocks.iter().any(|clock| clock.identity.kind == ClockKind::Monotonic && clock.available) {
            "No monotonic clock that was measured is fit for intervals: see the counts above."
        } else {
            "No monotonic clock was measured, so none is recommended for intervals."
        };
        return Recommendation { clock: None, sentence: sentence.to_owned() };
    };
    let name = clock.identity.name.clone();
    let mut sentence = format!("For intervals use {name}: a read costs {cost_ns:.1} ns");
    if let Some(step_ns) = clock.observed_resolution_ns.get() {
        sentence.push_str(&format!(", its readings step by {step_ns:.0} ns or more"));
    }
    if let Some(events) = &clock.events {
        sentence.push_str(&format!(", and it never went back or jumped in {} reads on one CPU", events.reads));
    }
    if let Some((counter, counter_ns)) =
        best_counter(clocks, environment).filter(|(_, counter_ns)| *counter_ns < cost_ns)
    {
        sentence.push_str(&format!(
            "; {} costs {counter_ns:.1} ns, saves {:.1} ns a read, and the kernel's own clock stands on it",
            counter.identity.name,
            cost_ns - counter_ns
        ));
    }
    sentence.push('.');
    Recommendation { clock: Some(name), sentence }
}

/// The cheapest sound monotonic clock of the system; of those that cost the same, `monotonic` or
/// else the first. The library's are not the system's: what they need to be right is not measured
/// here.
fn best_monotonic(clocks: &[ClockRecord]) -> Option<(&ClockRecord, f64)> {
    let is_systems = |clock: &ClockIdentity| clock.kind == ClockKind::Monotonic && clock.path != ReadPath::Library;
    let fit = clocks.iter().filter(|clock| is_systems(&clock.identity) && is_sound(clock));
    let costs: Vec<_> = fit.filter_map(|clock| Some((clock, clock.cost_ns.known()?.median))).collect();
    let cheapest = costs.iter().map(|(_, cost_ns)| *cost_ns).min_by(f64::total_cmp)?;
    let same: Vec<_> = costs.into_iter().filter(|(_, cost_ns)| *cost_ns <= cheapest * SAME_COST).collect();
    same.iter().find(|(clock, _)| clock.identity.name == "monotonic").or(same.first()).copied()
}

/// The cheapest sound counter read that is ordered after earlier instructions, where the kernel
/// trusts the counter.
fn best_counter<'a>(clocks: &'a [ClockRecord], environment: &Environment) -> Option<(&'a ClockRecord, f64)> {
    let fit = clocks.iter().filter(|clock| is_trusted_counter(&clock.identity, environment) && is_sound(clock));
    fit.filter_map(|clock| Some((clock, clock.cost_ns.known()?.median))).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// An ordered read of a counter that the kernel itself builds its clocks on.
pub(crate) fn is_trusted_counter(clock: &ClockIdentity, environment: &Environment) -> bool {
    let is_trusted = environment.clocksource.as_deref().is_some_and(clocksource::is_counter);
    is_trusted && clock.is_counter() && clock.is_ordered
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
