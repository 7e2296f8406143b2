//! Which clock for intervals of which length, and how often to repeat what is measured, from what
//! was measured.
//!
//! Two reads overestimate the interval between them by what they show with nothing between them,
//! and are uncertain by the clock's tick and by how much that overhead varies. The sum of the three
//! bounds the error of nearly every single measurement; n repetitions between the two reads divide
//! it by n.

use clockscope_records::{
    Candidate, ClockIdentity, ClockKind, Envelope, Environment, Events, Figure, Measurement, Plan, PlanRow, ReadPath,
    ReadingsReason, Steps, Summary, TickEvidence, TickIs, Unfit, UnfitFailure,
};

use crate::recommendation;

/// Intervals that are planned for if none is asked for, in ns: 1 ns to 1 s.
const INTERVALS: [f64; 10] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// What a plan is based on.
#[derive(Clone, Copy, Debug)]
pub enum PlanInput<'a> {
    /// What `clockscope measure` found.
    Measurement(&'a Envelope<Measurement>),
    /// What `clockscope steps` found.
    Steps(&'a Envelope<Steps>),
}

/// What either says of one clock.
struct ClockFigures<'a> {
    identity: &'a ClockIdentity,
    available: bool,
    cost_ns: Option<f64>,
    tick_ns: Option<f64>,
    evidence: Option<&'a TickEvidence>,
    smallest_step_ns: Option<f64>,
    summary: Option<&'a Summary>,
    events: Option<&'a Events>,
}

impl<'a> PlanInput<'a> {
    fn clocks(self) -> Vec<ClockFigures<'a>> {
        match self {
            Self::Measurement(measurement) => measurement
                .found
                .clocks
                .iter()
                .map(|clock| ClockFigures {
                    identity: &clock.identity,
                    available: clock.available,
                    cost_ns: clock.cost_ns.known().map(|cost| cost.median),
                    tick_ns: clock.tick_ns.get(),
                    evidence: clock.tick_evidence.as_ref(),
                    smallest_step_ns: clock.observed_resolution_ns.get(),
                    summary: clock.summary.known(),
                    events: clock.events.as_ref(),
                })
                .collect(),
            Self::Steps(steps) => steps
                .found
                .clocks
                .iter()
                .map(|clock| ClockFigures {
                    identity: &clock.identity,
                    available: clock.available,
                    // What passes from read to read of a clock that is read without a pause; the
                    // median, which no interruption moves, where the clock's ticks do not hide it.
                    cost_ns: clock.summary.known().map(|all| if all.p50 > 0.0 { all.p50 } else { all.mean }),
                    tick_ns: clock.tick_ns.get(),
                    evidence: clock.tick_evidence.as_ref(),
                    smallest_step_ns: clock.summary_nonzero.known().map(|summary| summary.min),
                    summary: clock.summary.known(),
                    events: clock.events.as_ref(),
                })
                .collect(),
        }
    }

    fn environment(self) -> &'a Environment {
        match self {
            Self::Measurement(measurement) => &measurement.environment,
            Self::Steps(steps) => &steps.environment,
        }
    }

    fn recorded_at(self) -> Option<&'a str> {
        match self {
            Self::Measurement(measurement) => measurement.recorded_at.as_deref(),
            Self::Steps(steps) => steps.recorded_at.as_deref(),
        }
    }
}

/// Plans for an interval of so many ns, or for 1 ns to 1 s, with a relative error of at most
/// `error` (positive).
#[must_use]
pub fn plan(source: PlanInput<'_>, error: f64, interval_ns: Option<f64>) -> Envelope<Plan> {
    let environment = source.environment();
    let (mut clocks, mut unfit) = (Vec::new(), Vec::new());
    for found in source.clocks().iter().filter(|found| is_stopwatch(found.identity, environment)) {
        match candidate(found) {
            Ok(candidate) => clocks.push(candidate),
            Err(failure) => {
                unfit.push(Unfit { clock: found.identity.label(), reason: None, failure: Some(failure) });
            }
        }
    }
    clocks.sort_by(|a, b| uncertain_ns(a).total_cmp(&uncertain_ns(b)).then(a.cost_ns.total_cmp(&b.cost_ns)));
    let intervals = interval_ns.map_or_else(|| INTERVALS.to_vec(), |interval_ns| vec![interval_ns]);
    let rows: Vec<PlanRow> = intervals.into_iter().filter_map(|interval_ns| row(&clocks, interval_ns, error)).collect();
    let rows = Figure::of(Some(rows).filter(|rows| !rows.is_empty()), ReadingsReason::NothingFit);
    let recorded_at = source.recorded_at().map(str::to_owned);
    Envelope::of_facts(recorded_at, environment.clone(), Plan { error, rows, clocks, unfit })
}

/// A clock that intervals may be measured with: a monotonic one of the system, or an ordered read
/// of a counter that the kernel trusts.
fn is_stopwatch(clock: &ClockIdentity, environment: &Environment) -> bool {
    clock.kind == ClockKind::Monotonic && clock.path != ReadPath::Library
        || recommendation::is_trusted_counter(clock, environment)
}

fn candidate(found: &ClockFigures<'_>) -> Result<Candidate, UnfitFailure> {
    if !found.available {
        return Err(UnfitFailure::Unreadable);
    }
    let events = found.events.ok_or(UnfitFailure::NotJudged)?;
    if !recommendation::is_right(events) {
        return Err(UnfitFailure::Faulty);
    }
    let summary = found.summary.ok_or(UnfitFailure::NoDifferences)?;
    let cost_ns = found.cost_ns.filter(|cost| *cost > 0.0).ok_or(UnfitFailure::NoCost)?;
    let at_most = found.evidence.and_then(|evidence| evidence.at_most_ns);
    let (tick_ns, tick_is) = match (found.tick_ns, at_most, found.smallest_step_ns) {
        (Some(ns), ..) => (ns, TickIs::Found),
        (None, Some(ns), _) => (ns, TickIs::AtMost),
        (None, None, Some(ns)) => (ns, TickIs::ObservedStep),
        (None, None, None) => return Err(UnfitFailure::StoodStill),
    };
    Ok(Candidate {
        clock: found.identity.label(),
        cost_ns,
        overhead_ns: summary.p50.max(cost_ns),
        tick_ns,
        tick_is,
        jitter_ns: summary.p99 - summary.p50,
        two_reads_ns: [summary.min, summary.p99],
        two_reads_max_ns: summary.max.max(tick_ns),
    })
}

/// By how much a single measurement may be off, in ns.
fn uncertain_ns(clock: &Candidate) -> f64 {
    clock.overhead_ns + clock.tick_ns + clock.jitter_ns
}

fn row(clocks: &[Candidate], interval_ns: f64, error: f64) -> Option<PlanRow> {
    let best = clocks.first()?;
    let single_error = |clock: &Candidate| uncertain_ns(clock) / interval_ns;
    let sufficient = clocks.iter().filter(|clock| single_error(clock) <= error);
    Some(PlanRow {
        interval_ns,
        clock: best.clock.clone(),
        single_error: single_error(best),
        repetitions: (single_error(best) / error).ceil().max(1.0) as u64,
        cheapest_sufficient: sufficient.min_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns)).map(|clock| clock.clock.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::tests::healthy;

    fn clock(name: &str, cost_ns: f64, overhead_ns: f64, tick_ns: f64, jitter_ns: f64) -> Candidate {
        Candidate {
            clock: name.to_owned(),
            cost_ns,
            overhead_ns,
            tick_ns,
            tick_is: TickIs::Found,
            jitter_ns,
            two_reads_ns: [0.0, 0.0],
            two_reads_max_ns: 0.0,
        }
    }

    const SUMMARY: Summary = Summary {
        count: 9,
        mean: 20.0,
        std: None,
        min: 10.0,
        p25: 20.0,
        p50: 20.0,
        p75: 20.0,
        p99: 30.0,
        p999: 30.0,
        max: 40.0,
    };

    /// The overhead is what two readings show, and no less than a read costs: readings of a coarse
    /// clock do not differ.
    #[test]
    fn the_overhead_is_no_less_than_the_cost() {
        let seen = healthy();
        let clock = seen.clock("monotonic").unwrap();
        for (cost_ns, overhead_ns) in [(15.0, 20.0), (25.0, 25.0)] {
            let found = candidate(&ClockFigures {
                identity: &clock.identity,
                available: true,
                cost_ns: Some(cost_ns),
                tick_ns: Some(10.0),
                evidence: None,
                smallest_step_ns: None,
                summary: Some(&SUMMARY),
                events: clock.events.as_ref(),
            });
            let found = found.unwrap();
            assert_eq!((found.cost_ns, found.overhead_ns, found.jitter_ns), (cost_ns, overhead_ns, 10.0));
            assert_eq!(uncertain_ns(&found), overhead_ns + 20.0);
        }
    }

    /// A clock with all its figures, and without one after the other.
    #[test]
    fn what_is_lacking_is_named() {
        let seen = healthy();
        let clock = seen.clock("monotonic").unwrap();
        let jumped = Events { jump: Figure::Known(1), ..clock.events.clone().unwrap() };
        let fit = || ClockFigures {
            identity: &clock.identity,
            available: true,
            cost_ns: Some(20.0),
            tick_ns: Some(10.0),
            evidence: None,
            smallest_step_ns: None,
            summary: Some(&SUMMARY),
            events: clock.events.as_ref(),
        };
        assert!(candidate(&fit()).is_ok());
        for (found, failure) in [
            (ClockFigures { available: false, ..fit() }, UnfitFailure::Unreadable),
            (ClockFigures { events: None, ..fit() }, UnfitFailure::NotJudged),
            (ClockFigures { events: Some(&jumped), ..fit() }, UnfitFailure::Faulty),
            (ClockFigures { summary: None, ..fit() }, UnfitFailure::NoDifferences),
            (ClockFigures { cost_ns: Some(0.0), ..fit() }, UnfitFailure::NoCost),
            (ClockFigures { tick_ns: None, ..fit() }, UnfitFailure::StoodStill),
        ] {
            assert_eq!(candidate(&found).err(), Some(failure));
        }
    }

    #[test]
    fn errors_repetitions_and_the_cheapest() {
        let clocks = [clock("fine", 20.0, 20.0, 10.0, 10.0), clock("coarse", 4.0, 0.0, 4e6, 0.0)];
        let short = row(&clocks, 10.0, 0.01).unwrap();
        assert_eq!((short.clock.as_str(), short.single_error, short.repetitions), ("fine", 4.0, 400));
        assert_eq!(short.cheapest_sufficient, None);
        let long = row(&clocks, 1e9, 0.01).unwrap();
        assert_eq!((long.repetitions, long.cheapest_sufficient.as_deref()), (1, Some("coarse")));
        assert_eq!(row(&[], 1.0, 0.01), None);
    }

    /// The smallest number that divides the error to the one that is allowed.
    #[test]
    fn repetitions_are_rounded_up() {
        let clocks = [clock("fine", 20.0, 20.0, 10.0, 10.0)];
        for (interval_ns, error, repetitions) in [(10.0, 0.03, 134), (30.0, 0.1, 14), (39.0, 1.0, 2), (40.0, 1.0, 1)] {
            let row = row(&clocks, interval_ns, error).unwrap();
            assert_eq!(row.repetitions, repetitions, "{interval_ns} ns");
            assert!(row.single_error / row.repetitions as f64 <= error, "{row:?}");
        }
    }
}
