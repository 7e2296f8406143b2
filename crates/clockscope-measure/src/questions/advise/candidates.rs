//! The clocks that were measured and may be advised, with the figures that decide, and why the
//! others may not.

use clockscope_records::{
    AfterWork, Candidate, ClockIdentity, ClockKind, ClockRecord, Envelope, Environment, Events, Info, Language,
    LanguageClock, LeftOut, LeftOutCause, Measurement, ReadPath, Steps, Summary, Synchronization, TickEvidence, TickIs,
    Work,
};
use clockscope_system::clocksource;

use super::scale::RateStatements;

/// The clocks of a language, and the machine that they were read on.
#[derive(Clone, Debug)]
pub struct LanguageReadings {
    /// The language.
    pub language: Language,
    /// Its clocks, all of one runtime.
    pub clocks: Vec<LanguageClock>,
    /// The machine.
    pub info: Envelope<Info>,
    /// Facts on what keeps the clocks' rates right.
    pub synchronization: Synchronization,
}

/// The record that advice is based on.
#[derive(Clone, Copy, Debug)]
pub enum AdviceInput<'a> {
    /// Of `clockscope measure`.
    Measurement(&'a Envelope<Measurement>),
    /// Of `clockscope steps`.
    Steps(&'a Envelope<Steps>),
    /// Of the clocks of a language.
    Language(&'a LanguageReadings),
}

impl<'a> AdviceInput<'a> {
    pub(super) fn clocks(self) -> Vec<ClockFigures<'a>> {
        match self {
            Self::Measurement(measurement) => measurement.found.clocks.iter().map(ClockFigures::of_record).collect(),
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
                    observed_resolution_ns: clock.summary_nonzero.known().map(|summary| summary.min),
                    summary: clock.summary.known(),
                    after_work: &[],
                    judged: clock.events.as_ref().map(JudgedReads::of_events),
                })
                .collect(),
            Self::Language(readings) => readings.clocks.iter().map(ClockFigures::of_language).collect(),
        }
    }

    pub(super) fn environment(self) -> &'a Environment {
        match self {
            Self::Measurement(measurement) => &measurement.environment,
            Self::Steps(steps) => &steps.environment,
            Self::Language(readings) => &readings.info.environment,
        }
    }

    pub(super) fn rate_statements(self) -> RateStatements<'a> {
        match self {
            Self::Measurement(measurement) => RateStatements::from_measurement(measurement),
            Self::Steps(_) => RateStatements::default(),
            Self::Language(readings) => RateStatements::of_synchronization(&readings.synchronization),
        }
    }

    /// Returns the language whose clocks they are; `None` for those of C, C++ and Rust.
    pub(super) fn language(self) -> Option<Language> {
        match self {
            Self::Measurement(_) | Self::Steps(_) => None,
            Self::Language(readings) => Some(readings.language),
        }
    }

    /// Returns the version of the language's runtime.
    pub(super) fn language_version(self) -> Option<String> {
        match self {
            Self::Measurement(_) | Self::Steps(_) => None,
            Self::Language(readings) => readings.clocks.iter().find_map(|clock| clock.row.version.clone()),
        }
    }

    pub(super) fn recorded_at(self) -> Option<&'a str> {
        match self {
            Self::Measurement(measurement) => measurement.recorded_at.as_deref(),
            Self::Steps(steps) => steps.recorded_at.as_deref(),
            Self::Language(readings) => readings.info.recorded_at.as_deref(),
        }
    }
}

/// The figures that each has of one clock.
pub(super) struct ClockFigures<'a> {
    pub(super) identity: &'a ClockIdentity,
    pub(super) available: bool,
    pub(super) cost_ns: Option<f64>,
    pub(super) tick_ns: Option<f64>,
    pub(super) evidence: Option<&'a TickEvidence>,
    pub(super) observed_resolution_ns: Option<f64>,
    pub(super) summary: Option<&'a Summary>,
    pub(super) after_work: &'a [AfterWork],
    pub(super) judged: Option<JudgedReads>,
}

/// Reads that were judged.
#[derive(Clone, Copy)]
pub(super) struct JudgedReads {
    count: u64,
    /// True if one went back, jumped or failed, or the clock stood still.
    is_faulty: bool,
}

impl JudgedReads {
    fn of_events(events: &Events) -> Self {
        Self { count: events.reads, is_faulty: !is_right(events) || events.stuck > 0 }
    }
}

impl<'a> ClockFigures<'a> {
    pub(super) fn of_record(clock: &'a ClockRecord) -> Self {
        Self {
            identity: &clock.identity,
            available: clock.available,
            cost_ns: clock.cost_ns.known().map(|cost| cost.median),
            tick_ns: clock.tick_ns.get(),
            evidence: clock.tick_evidence.as_ref(),
            observed_resolution_ns: clock.observed_resolution_ns.get(),
            summary: clock.summary.known(),
            after_work: clock.after_work.as_deref().unwrap_or_default(),
            judged: clock.events.as_ref().map(JudgedReads::of_events),
        }
    }

    fn of_language(clock: &'a LanguageClock) -> Self {
        let row = &clock.row;
        let judged = row.reads.zip(row.regressions.get());
        Self {
            identity: &clock.identity,
            available: row.available,
            cost_ns: row.cost_ns.get(),
            tick_ns: row.tick_ns.get(),
            evidence: row.tick_evidence.as_ref(),
            observed_resolution_ns: row.observed_resolution_ns.get(),
            summary: clock.differences.as_ref(),
            after_work: &clock.after_work,
            judged: judged.map(|(count, regressions)| JudgedReads { count, is_faulty: regressions > 0 }),
        }
    }
}

/// A clock that may be advised.
pub(super) struct Weighed<'a> {
    pub(super) identity: &'a ClockIdentity,
    pub(super) candidate: Candidate,
    /// Reads of it that were judged.
    pub(super) reads: u64,
}

/// Clocks whose tick is longer, in ns, are off by it, whatever lies between two reads.
const COARSE_TICK_NS: f64 = 1e5;

impl Weighed<'_> {
    /// Returns whether its error after this work is known.
    pub(super) fn is_known_after(&self, work: Work) -> bool {
        self.candidate.tick_ns >= COARSE_TICK_NS || self.candidate.after_work.iter().any(|after| after.work == work)
    }

    /// Returns true if programs of the system usually measure intervals by it.
    pub(super) fn is_usual(&self) -> bool {
        self.identity.is_usual && self.identity.path.is_usual()
    }

    pub(super) fn is_librarys(&self) -> bool {
        self.identity.path == ReadPath::Library
    }
}

/// Divides clocks into those that may be advised and those that may not.
pub(super) fn weigh<'a>(clocks: Vec<ClockFigures<'a>>, environment: &Environment) -> (Vec<Weighed<'a>>, Vec<LeftOut>) {
    let (mut weighed, mut left_out) = (Vec::new(), Vec::new());
    for clock in clocks {
        let unfit = unfit_for_intervals(clock.identity, environment).map_or(Ok(()), Err);
        match unfit.and_then(|()| candidate(&clock)) {
            Ok((candidate, reads)) => weighed.push(Weighed { identity: clock.identity, candidate, reads }),
            Err(cause) => left_out.push(LeftOut { clock: clock.identity.label(), cause }),
        }
    }
    (weighed, left_out)
}

/// Returns what a clock is that intervals are not measured with; `None` for a monotonic one that is
/// read in order, and for a counter that is and that the kernel builds its own clock on.
fn unfit_for_intervals(clock: &ClockIdentity, environment: &Environment) -> Option<LeftOutCause> {
    match clock.kind {
        _ if clock.is_device => Some(LeftOutCause::Device),
        ClockKind::Wall => Some(LeftOutCause::TimeOfDay),
        ClockKind::CpuTime => Some(LeftOutCause::ProcessorTime),
        ClockKind::Cycles => Some(LeftOutCause::CoreCycles),
        ClockKind::Monotonic | ClockKind::Counter if !clock.is_ordered => Some(LeftOutCause::Unordered),
        ClockKind::Monotonic => None,
        ClockKind::Counter if !clock.is_counter() => Some(LeftOutCause::OtherKind),
        ClockKind::Counter => (!clocksource::is_counter_in(environment)).then_some(LeftOutCause::UntrustedCounter),
    }
}

/// Returns a clock's figures and how many reads were judged.
pub(super) fn candidate(found: &ClockFigures<'_>) -> Result<(Candidate, u64), LeftOutCause> {
    if !found.available {
        return Err(LeftOutCause::Unreadable);
    }
    let judged = found.judged.ok_or(LeftOutCause::NotJudged)?;
    if judged.is_faulty {
        return Err(LeftOutCause::Faulty);
    }
    let summary = found.summary.ok_or(LeftOutCause::NoDifferences)?;
    let cost_ns = found.cost_ns.filter(|cost| *cost > 0.0).ok_or(LeftOutCause::NoCost)?;
    let at_most = found.evidence.and_then(|evidence| evidence.at_most_ns);
    let (tick_ns, tick_is) = match (found.tick_ns, at_most, found.observed_resolution_ns) {
        (Some(ns), ..) => (ns, TickIs::Found),
        (None, Some(ns), _) => (ns, TickIs::AtMost),
        (None, None, Some(ns)) => (ns, TickIs::ObservedResolution),
        (None, None, None) => return Err(LeftOutCause::Stuck),
    };
    let candidate = Candidate {
        clock: found.identity.label(),
        cost_ns,
        overhead_ns: summary.p50.max(cost_ns),
        tick_ns,
        tick_is,
        jitter_ns: summary.p99 - summary.p50,
        two_reads_ns: [summary.min, summary.p99],
        two_reads_max_ns: summary.max.max(tick_ns),
        after_work: found.after_work.to_vec(),
    };
    Ok((candidate, judged.count))
}

/// Returns true if a clock answered always and never went back or jumped.
fn is_right(events: &Events) -> bool {
    events.errors == 0
        && events.regression == 0
        && events.hidden_regression.get().unwrap_or(0) == 0
        && events.jump.get() == Some(0)
}
