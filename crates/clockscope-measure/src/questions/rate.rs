//! The question *rate*: how fast clocks run, each against a reference and against each other.
//!
//! Now and then each pair of clocks is bracketed, several times in a row, of which the narrowest
//! counts. In between the thread sleeps: a run of minutes costs next to nothing.

pub(crate) mod clock_step;
mod comparison;
mod error;
mod participant;

use clockscope_records::{Envelope, Figure, Rate, texts};

use crate::instrument::bench::{Bench, Setup};
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths};
use crate::instrument::default_clocks::ReferenceKind;
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::instrument::timer::TimerCalibration;
use crate::platform::Platform;
use crate::platform::failure_reason::unreadable;
use comparison::{BRACKETS_AT_ENDS, Comparison};
#[cfg(test)]
pub(crate) use participant::RATE_REFERENCES;
pub(crate) use participant::ordered_counter;
use participant::{Participant, Scale};

/// Shortest and longest time between two rounds, in ns, and how many a run is divided into in
/// between.
const SPACING_NS: (f64, f64) = (5e6, 50e6);
const ROUNDS: f64 = 1000.0;
/// Longest sleep, in ns: no platform's is shorter.
const MAX_SLEEP_NS: f64 = 20e6;
/// Brackets of a pair in a round.
const BRACKETS: usize = 5;

/// Request for a comparison of rates: what to compare, and how.
#[derive(Clone, Debug)]
pub struct RateRequest {
    /// The clocks' names; those that may run at rates of their own, and the counter, if there are
    /// none.
    pub clocks: Vec<String>,
    /// The path by which clocks that have several are read.
    pub paths: Paths,
    /// The reference's name; `None` for a clock of the system that nobody steers.
    pub reference: Option<String>,
    /// Longest time, in seconds.
    pub duration_s: f64,
    /// Bound at which to stop before, in ppm, if all clocks have reached it.
    pub until_ppm: Option<f64>,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Figures that are known while a comparison runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Share of the time that has passed, from 0 to 1.
    pub share: f64,
    /// Time since the beginning, in seconds.
    pub seconds: f64,
    /// The clock whose bound is the widest.
    pub clock: String,
    /// Its frequency offset, in ppm; `None` for a counter.
    pub ppm: Option<f64>,
    /// Largest error of `ppm`, in ppm.
    pub bound_ppm: Option<f64>,
}

/// Compares clocks. Pins the calling thread meanwhile. Memory does not grow with the duration.
///
/// # Errors
/// No such clock, a reference that cannot be one, a CPU that cannot be used, or no clock that
/// measures time. Or the process has more than one thread: clocks are first tried in a forked
/// child.
pub fn rate<P: Platform>(
    session: &Session<'_, P>,
    request: &RateRequest,
    progress: &mut dyn FnMut(&Live),
) -> Result<Envelope<Rate>, MeasureError> {
    let RateRequest { ref clocks, paths, ref reference, duration_s, until_ppm, cpu } = *request;
    let reference = match reference {
        Some(reference) => reference.clone(),
        None => participant::usual_reference(session)?,
    };
    let catalog = participant::selected(session.platform, clocks, paths, &reference)?;
    let setup = Setup::new(session, catalog, cpu)?;
    let sampling = setup.bench.calibrate();
    let plan = RateSettings { reference, duration_s, until_ppm };
    let found = find(&setup, &setup.catalog, &plan, progress)?;
    Ok(setup.answer((duration_s, &sampling), None, found))
}

/// Against which, and for how long.
pub(crate) struct RateSettings {
    pub(crate) reference: String,
    pub(crate) duration_s: f64,
    pub(crate) until_ppm: Option<f64>,
}

/// The clocks that are compared if none is named, and their reference's name.
pub(crate) fn usual<P: Platform>(session: &Session<'_, P>) -> Result<(Catalog<P>, String), MeasureError> {
    let reference = participant::usual_reference(session)?;
    Ok((participant::selected(session.platform, &[], Paths::default(), &reference)?, reference))
}

/// The counter and these clocks as far as there are such, tried, and the first of these references
/// that answers.
pub(crate) fn against<P: Platform>(
    session: &Session<'_, P>,
    references: &[ReferenceKind],
    clocks: &[&str],
) -> Result<(Catalog<P>, String), MeasureError> {
    let platform = session.platform;
    let reference = participant::first_answering(session, references)?;
    let all = Catalog::new(platform);
    let counter = participant::ordered_counter(&Catalog::counters(platform));
    let named = clocks.iter().map(ToString::to_string).filter(|name| all.indices(name, Paths::Libc).is_ok());
    let names: Vec<String> = counter.into_iter().chain(named).filter(|name| *name != reference).collect();
    Ok((participant::selected(platform, &names, Paths::Libc, &reference)?.tried(session)?, reference))
}

/// Compares these clocks, which were tried.
pub(crate) fn find<P: Platform>(
    setup: &Setup<'_, P>,
    catalog: &Catalog<P>,
    plan: &RateSettings,
    progress: &mut dyn FnMut(&Live),
) -> Result<Rate, MeasureError> {
    let Setup { bench, calibration, session, .. } = setup;
    let reference_index = participant::reference_index(catalog, &plan.reference)?;
    let participants: Vec<_> =
        catalog.entries.iter().map(|row| Participant::new(row, bench, &session.environment)).collect();
    let reference = &participants[reference_index];
    if let Some(reason) = reference.failure_reason.clone() {
        return Err(MeasureError::Reference(unreadable(reference.label.clone(), reason).into()));
    }
    let mut comparisons = pairs(&participants, reference_index);
    let course = Course { bench, participants: &participants, reference: reference_index, calibration, plan };
    let reference = course.run(&mut comparisons, progress);
    Ok(record(bench, &participants, reference_index, comparisons, reference, plan))
}

/// Every clock against the reference first, then all others against each other.
fn pairs<P: Platform>(participants: &[Participant<'_, P>], reference: usize) -> Vec<Comparison> {
    let readable: Vec<usize> = (0..participants.len())
        .filter(|index| *index != reference && participants[*index].failure_reason.is_none())
        .collect();
    let against_reference = readable.iter().map(|index| Comparison::new(*index, reference));
    let others = readable.iter().enumerate().flat_map(|(index, a)| {
        let later = readable[index + 1..].iter();
        later.map(move |b| Comparison::new(*a, *b))
    });
    against_reference.chain(others).collect()
}

/// A comparison that runs.
struct Course<'a, P: Platform> {
    bench: &'a Bench<'a, P>,
    participants: &'a [Participant<'a, P>],
    /// Place of the reference among these.
    reference: usize,
    calibration: &'a TimerCalibration<P>,
    plan: &'a RateSettings,
}

impl<P: Platform> Course<'_, P> {
    /// Brackets all pairs in rounds until the time is over, or every clock's bound is as small as
    /// was asked for. Returns the scale of the reference by which that was decided: another one
    /// might be known less closely.
    fn run(&self, comparisons: &mut [Comparison], progress: &mut dyn FnMut(&Live)) -> Scale {
        let Self { bench, participants, plan, .. } = self;
        let duration_ns = plan.duration_s * 1e9;
        let spacing_ns = (duration_ns / ROUNDS).clamp(SPACING_NS.0, SPACING_NS.1);
        let start = bench.calibrate();
        round(participants, comparisons, BRACKETS_AT_ENDS);
        let mut waited = Waited { since: &start, slept_ns: 0.0 };
        let mut next_ns = spacing_ns;
        while !comparisons.is_empty() {
            let elapsed_ns = waited.ns();
            let live = self.live(comparisons, elapsed_ns, self.scale());
            progress(&live);
            if bench.is_stopped() || elapsed_ns >= duration_ns {
                break;
            }
            if self.is_reached(&live) {
                round(participants, comparisons, BRACKETS_AT_ENDS);
                // More brackets may choose others as the ends.
                let scale = self.scale();
                if self.is_reached(&self.live(comparisons, elapsed_ns, scale)) {
                    return scale;
                }
            }
            waited.sleep(bench, next_ns.min(duration_ns));
            round(participants, comparisons, BRACKETS);
            next_ns = (next_ns + spacing_ns).max(waited.ns());
        }
        round(participants, comparisons, BRACKETS_AT_ENDS);
        self.scale()
    }

    /// The reference's scale by now.
    fn scale(&self) -> Scale {
        self.participants[self.reference].as_reference(self.calibration, self.bench)
    }

    fn is_reached(&self, live: &Live) -> bool {
        self.plan.until_ppm.is_some_and(|until| live.bound_ppm.is_some_and(|bound| bound <= until))
    }

    /// The widest bound of those against the reference, which are the first.
    fn live(&self, comparisons: &[Comparison], elapsed_ns: f64, scale: Scale) -> Live {
        let against = comparisons.iter().take_while(|comparison| comparison.reference == self.reference);
        let bounds = against.map(|comparison| {
            let ppm = comparison.bounds_ppm(self.participants, scale.error);
            (ppm.map_or(f64::INFINITY, |(_, bound)| bound), &self.participants[comparison.clock], ppm)
        });
        let widest = bounds.max_by(|a, b| a.0.total_cmp(&b.0));
        let (clock, ppm) = widest.map_or((None, None), |(_, clock, ppm)| (Some(clock), ppm));
        Live {
            share: (elapsed_ns / (self.plan.duration_s * 1e9)).min(1.0),
            seconds: elapsed_ns / 1e9,
            clock: clock.map_or_else(String::new, |clock| clock.label.clone()),
            // What a counter is off by is reported against its nominal frequency, in the end.
            ppm: ppm.filter(|_| clock.is_some_and(|clock| !clock.is_in_counts)).map(|(rate, _)| rate),
            bound_ppm: ppm.map(|(_, bound)| if scale.error < 1.0 { bound } else { f64::INFINITY }),
        }
    }
}

/// Duration of a comparison so far, by a clock that may stand still or go back.
struct Waited<'a, P: Platform> {
    since: &'a TimerCalibration<P>,
    /// Time that was slept, which has passed whatever the clock says.
    slept_ns: f64,
}

impl<P: Platform> Waited<'_, P> {
    fn ns(&self) -> f64 {
        self.since.elapsed_ns().max(self.slept_ns)
    }

    /// Sleeps until so much time has passed, or the run is to end.
    fn sleep(&mut self, bench: &Bench<'_, P>, until_ns: f64) {
        while !bench.is_stopped() {
            let left_ns = until_ns - self.ns();
            if left_ns <= 0.0 {
                return;
            }
            let sleep_ns = left_ns.clamp(1.0, MAX_SLEEP_NS);
            bench.platform.sleep(sleep_ns as u64);
            self.slept_ns += sleep_ns;
        }
    }
}

fn round<P: Platform>(participants: &[Participant<'_, P>], comparisons: &mut [Comparison], brackets: usize) {
    for comparison in comparisons {
        comparison.bracket(participants, brackets);
    }
}

fn record<P: Platform>(
    bench: &Bench<'_, P>,
    participants: &[Participant<'_, P>],
    reference_index: usize,
    comparisons: Vec<Comparison>,
    reference: Scale,
    plan: &RateSettings,
) -> Rate {
    let mut rates = Rate {
        reference: participants[reference_index].label.clone(),
        until_ppm: Figure::of(plan.until_ppm, texts::NOT_REQUESTED),
        ..Rate::default()
    };
    let (mut scales, mut records) = (vec![None; participants.len()], Vec::new());
    scales[reference_index] = Some(reference);
    for (clock, each) in participants.iter().enumerate().filter(|(clock, _)| *clock != reference_index) {
        let comparison = comparisons.iter().find(|comparison| comparison.clock == clock);
        let (record, scale) = match comparison {
            Some(comparison) => comparison.record(each, &participants[reference_index], reference, plan.until_ppm),
            None => (each.unread(&rates.reference, plan.until_ppm), None),
        };
        scales[clock] = scale;
        records.push(record);
    }
    rates.clocks = records;
    rates.pairs = comparisons
        .iter()
        .map(|comparison| comparison.pair(participants, [scales[comparison.clock], scales[comparison.reference]]))
        .collect();
    let against = comparisons.iter().filter(|comparison| comparison.reference == reference_index);
    let others = against.map(|comparison| &participants[comparison.clock]);
    // The reference's own clock by another path did not change against it, and proves nothing.
    let others = others.filter(|each| base_name(&each.label) != base_name(&rates.reference));
    let others: Vec<_> = others.map(|each| each.row).collect();
    rates.reference_suspected =
        is_reference_suspected(&rates) && are_independent(&others, participants[reference_index].row);
    rates.adjtimex = bench.platform.adjtimex().map_err(|error| error.to_string()).into();
    rates
}

/// Returns true if every clock changed against the reference, and none against another. The
/// reference's own clock by another path is no other clock.
fn is_reference_suspected(rates: &Rate) -> bool {
    let own = base_name(&rates.reference);
    let others = rates.pairs.iter().filter(|pair| base_name(&pair.a) != own);
    let (with, mut without): (Vec<_>, Vec<_>) = others.partition(|pair| pair.b == rates.reference);
    without.retain(|pair| base_name(&pair.b) != own);
    let all_changed = !with.is_empty() && with.iter().all(|pair| pair.constant.get() == Some(false));
    all_changed && !without.is_empty() && without.iter().all(|pair| pair.constant.get() == Some(true))
}

/// Returns true if only the reference explains that these clocks changed against it and not against
/// each other: they are not all steered together, and no suspend stopped all of them and not the
/// reference.
fn are_independent<P: Platform>(others: &[&CatalogEntry<P>], reference: &CatalogEntry<P>) -> bool {
    let first = others.first().map(|row| participant::steered_as(row));
    let are_steered_together = others.iter().all(|row| Some(participant::steered_as(row)) == first);
    let pause_together = !participant::pauses(reference) && others.iter().all(|row| participant::pauses(row));
    !are_steered_together && !pause_together
}

/// The name of a clock without its path.
pub(crate) fn base_name(label: &str) -> &str {
    label.split(':').next().unwrap_or(label)
}

#[cfg(test)]
mod tests;
