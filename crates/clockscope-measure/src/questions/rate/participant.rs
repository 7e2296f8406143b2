//! A clock that takes part in a comparison, and which may be the reference.

use clockscope_records::{ClockReason, Environment, Figure, RateRecord, Unknown, texts};
use clockscope_system::failure::system_error;
use clockscope_system::frequencies;
use clockscope_system::{ClockKind, ReadPath, Unit};

use crate::instrument::bench::Bench;
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths, UnknownClock};
use crate::instrument::default_clocks::{self, ReferenceKind};
use crate::instrument::error::MeasureError;
use crate::instrument::measured_clock::is_counter;
use crate::instrument::session::Session;
use crate::instrument::timer::{Timer, TimerCalibration};
use crate::platform::Platform;
use crate::platform::failure_reason::{observed_ns, unreadable, without_time};
use crate::questions::rate::clock_step::{ClockStep, clock_step};

use super::error::of_inverse;

/// The reference if none is named, the first of these that answers: nobody steers it, and no
/// library is asked.
pub(crate) const RATE_REFERENCES: [ReferenceKind; 4] = [
    ReferenceKind::Unsteered(ReadPath::Vdso),
    ReferenceKind::Unsteered(ReadPath::Syscall),
    ReferenceKind::Stopwatch(ReadPath::Syscall),
    ReferenceKind::Std,
];

/// Shortest steps, in ns, of a clock that is moved by the timer tick.
const TICKED_NS: f64 = 100e3;

/// Share of the time by which a clock is steered at most.
const MAX_STEERING: f64 = 0.1;

/// Factor from a clock's unit to ns, and the share by which that may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) ns_per_unit: f64,
    pub(super) error: f64,
}

/// One clock.
pub(super) struct Participant<'a, P: Platform> {
    pub(super) row: &'a CatalogEntry<P>,
    pub(super) label: String,
    /// Reason why it takes no part.
    pub(super) failure_reason: Option<ClockReason>,
    /// ns a unit, roughly: the scale of brackets meanwhile.
    pub(super) rough_ns: f64,
    /// Step of its readings, in its unit.
    pub(super) tick: f64,
    /// Nominal frequency, for a clock that shows counts.
    pub(super) nominal_hz: Option<f64>,
    pub(super) is_in_counts: bool,
    /// Timer that has to be read before and after it so that it is read in between: a read that is
    /// not ordered may be done before the reference's, which no bracket would show.
    pub(super) fence: Option<Timer<P>>,
}

/// The clocks of a comparison and its reference, which need not be among them.
pub(super) fn selected<P: Platform>(
    platform: &P,
    clocks: &[String],
    paths: Paths,
    reference: &str,
) -> Result<Catalog<P>, MeasureError> {
    let mut catalog = Catalog::new(platform);
    let mut keep = vec![false; catalog.entries.len()];
    for (flag, row) in keep.iter_mut().zip(&catalog.entries) {
        *flag = clocks.is_empty() && is_usual(row, paths, &catalog);
    }
    for name in clocks {
        for index in catalog.indices(name, paths)? {
            keep[index] = true;
        }
    }
    let index = reference_index(&catalog, reference)?;
    if clocks.iter().any(|name| catalog.indices(name, paths).is_ok_and(|indices| indices == [index])) {
        let name = catalog.entries[index].label();
        return Err(MeasureError::OwnReference { name });
    }
    keep[index] = true;
    catalog.keep(&keep);
    Ok(catalog)
}

/// The ordered counter, and clocks that may run at rates of their own.
fn is_usual<P: Platform>(row: &CatalogEntry<P>, paths: Paths, catalog: &Catalog<P>) -> bool {
    if is_counter(row) {
        return ordered_counter(catalog).is_some_and(|name| name == row.info.name);
    }
    default_clocks::may_have_own_rate(&row.info) && (row.info.is_device || catalog.reached_by(row, paths))
}

/// The first ordered sequence of the counter, or else the first of all.
pub(crate) fn ordered_counter<P: Platform>(catalog: &Catalog<P>) -> Option<String> {
    let mut counters = catalog.entries.iter().filter(|row| is_counter(row));
    let first = counters.clone().find(|row| row.info.is_ordered).or(counters.next())?;
    Some(first.info.name.to_string())
}

/// The usual reference.
pub(super) fn usual_reference<P: Platform>(session: &Session<'_, P>) -> Result<String, MeasureError> {
    first_answering(session, &RATE_REFERENCES)
}

/// The first of these references that answers when it is tried; the first of all where none does,
/// whose reason is reported then.
pub(super) fn first_answering<P: Platform>(
    session: &Session<'_, P>,
    kinds: &[ReferenceKind],
) -> Result<String, MeasureError> {
    let known = Catalog::new(session.platform);
    let names = default_clocks::references(&known, kinds);
    let tried = known.select(&names, Paths::Libc)?.tried(session)?;
    let answering = names.iter().find(|name| {
        let indices = tried.indices(name, Paths::Libc).unwrap_or_default();
        indices.iter().any(|index| tried.entries[*index].sampler.is_ok())
    });
    answering.or(names.first()).cloned().ok_or(MeasureError::NoReference)
}

/// Place of the reference.
pub(super) fn reference_index<P: Platform>(catalog: &Catalog<P>, name: &str) -> Result<usize, MeasureError> {
    let index = catalog.indices(name, Paths::Libc)?.first().copied();
    let index = index.ok_or_else(|| UnknownClock { name: name.to_owned(), known: catalog.names() })?;
    let row = &catalog.entries[index];
    match without_time(row.info.kind) {
        None => Ok(index),
        Some(reason) => Err(MeasureError::Reference(unreadable(row.label(), reason).into())),
    }
}

impl<'a, P: Platform> Participant<'a, P> {
    pub(super) fn new(row: &'a CatalogEntry<P>, bench: &Bench<'_, P>, environment: &Environment) -> Self {
        let is_in_counts = matches!(row.info.unit, Unit::Counts(_));
        let mut participant = Self {
            row,
            label: row.label(),
            failure_reason: row.failure_reason().cloned().or_else(|| without_time(row.info.kind)),
            rough_ns: row.info.ns_per_unit(bench.facts.first_rate.ns_per_unit).unwrap_or(1.0),
            tick: 0.0,
            nominal_hz: None,
            is_in_counts,
            fence: (!row.info.is_ordered).then(|| bench.timer.clone()),
        };
        if participant.failure_reason.is_none() {
            match clock_step(row, participant.rough_ns, bench) {
                // A clock that the timer tick moves takes longer steps while it is steered.
                Ok(ClockStep::Step(tick)) if tick * participant.rough_ns >= TICKED_NS => {
                    participant.tick = tick * (1.0 + MAX_STEERING)
                }
                Ok(ClockStep::Step(tick)) => participant.tick = tick,
                Ok(ClockStep::Unseen { ns }) => {
                    participant.failure_reason = Some(ClockReason::NoStepSeen { observed_ns: ns });
                }
                Err(errno) => {
                    participant.failure_reason = Some(ClockReason::ReadFailed { error: system_error(errno) });
                }
            }
        }
        participant.nominal_hz = match row.info.unit {
            Unit::Counts(Some(hz)) => Some(hz),
            Unit::Counts(None) if is_counter(row) => {
                frequencies::nominal_hz_beside_kernel(&environment.frequencies).map(|(hz, _)| hz)
            }
            _ => None,
        };
        participant
    }

    /// Returns true if the timer tick moves it.
    pub(super) fn is_ticked(&self) -> bool {
        self.tick * self.rough_ns >= TICKED_NS
    }

    /// Its scale as the reference: by its nominal unit. No counter has one whose frequency was not
    /// measured; it runs at what the timer's calibration has found.
    pub(super) fn as_reference(&self, calibration: &TimerCalibration<P>, bench: &Bench<'_, P>) -> Scale {
        if !self.is_in_counts {
            return Scale { ns_per_unit: 1.0, error: 0.0 };
        }
        match calibration.rate() {
            // Its unit is what the system states, and no measurement.
            _ if self.row.info.kind == ClockKind::Monotonic && self.nominal_hz.is_some() => {
                Scale { ns_per_unit: self.rough_ns, error: 0.0 }
            }
            Ok(rate) if is_counter(self.row) => {
                Scale { ns_per_unit: rate.ns_per_unit, error: of_inverse(rate.bound_ppm * 1e-6) }
            }
            _ => Scale { ns_per_unit: self.rough_ns, error: of_inverse(bench.facts.first_rate.bound_ppm * 1e-6) },
        }
    }

    /// The record of a clock of which nothing is known, for this reason.
    pub(super) fn unrated(&self, reference: &str, reason: &Unknown, until_ppm: Option<f64>) -> RateRecord {
        fn none<T>(reason: &Unknown) -> Figure<T> {
            Figure::unknown(reason.clone())
        }
        RateRecord {
            name: self.label.clone(),
            reference: reference.to_owned(),
            unchanged_ns: none(reason),
            ppm: none(reason),
            bound_ppm: none(reason),
            estimate_ppm: none(reason),
            frequency_hz: none(reason),
            frequency_bound_hz: none(reason),
            nominal_hz: none(reason),
            seconds: none(reason),
            bracket_ns: none(reason),
            ticks_ns: none(reason),
            constant: none(reason),
            changed: none(reason),
            step: none(reason),
            needed_s: until_ppm.map_or_else(|| Figure::unknown(texts::NO_BOUND), |_| none(reason)),
            ..RateRecord::default()
        }
    }

    /// The record of a clock that was not compared.
    pub(super) fn unread(&self, reference: &str, until_ppm: Option<f64>) -> RateRecord {
        let failed = self.failure_reason.clone().map(Unknown::from);
        let reason = failed.clone().unwrap_or("it was not compared".into());
        RateRecord {
            // It answered when it was tried, and refused later.
            available: self.row.sampler.is_ok() && without_time(self.row.info.kind).is_none(),
            unchanged_ns: Figure::of(observed_ns(&reason), reason.clone()),
            reason: failed,
            ..self.unrated(reference, &reason, until_ppm)
        }
    }
}

/// Returns whether a clock leaves out the time in which the machine is suspended.
pub(super) fn pauses<P: Platform>(row: &CatalogEntry<P>) -> bool {
    row.info.kind == ClockKind::Monotonic && !row.info.counts_suspend
}

/// Authority that decides on a clock's rate. Clocks of which this is equal are steered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steered<'a> {
    /// The counter's own hardware.
    Counter,
    /// The clock of this name, by whichever path: nobody steers it together with others.
    Alone(&'a str),
    /// The kernel, which steers all of its clocks alike.
    Kernel,
}

/// Returns what decides on the rate of a clock.
pub(super) fn steered_as<P: Platform>(row: &CatalogEntry<P>) -> Steered<'_> {
    match row.info.name.as_ref() {
        _ if is_counter(row) => Steered::Counter,
        _ if row.info.is_steered => Steered::Kernel,
        name => Steered::Alone(name),
    }
}
