//! Findings that the user asked to fail on.

use clap::ValueEnum;
use clockscope_records::{
    CheckKind, ClockRecord, Events, Figures, Finding, Offsets, Order, RateRecord, Rates, RuntimeRecord, Runtimes,
    Sleep, StepsRecord, Trust, Trustworthiness, Verdict,
};

use crate::exit::Exit;
use crate::output;

/// Something that a measured clock may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A step back, or a loss of time that no reading shows
    Regression,
    /// A step forward that the reference did not see
    Jump,
    /// A jump of more than 1 ms
    Warp,
    /// A run of 2 to 199 repeats of one value
    Stall,
    /// A run of 200 or more repeats of one value
    Stuck,
    /// A read that failed
    Fail,
    /// A clock that cannot be read
    Unavailable,
    /// A figure that could not be determined
    Unknown,
}

/// 1 if any clock shows any of these, otherwise 3 if one of them is unknown for all clocks,
/// otherwise 0.
pub(crate) fn judge<'a>(clocks: impl Iterator<Item = JudgedClock<'a>>, fail_on: &[FailOn]) -> Exit {
    let clocks: Vec<JudgedClock<'_>> = clocks.collect();
    let shown = |event: &FailOn| any(clocks.iter().map(|clock| event.shown_by(*clock)));
    decide(fail_on.iter().map(|event| Found::new(*event, shown(event))))
}

/// Returns true if any shows it; `None` if it is unknown for all.
pub(crate) fn any(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    answers.flatten().reduce(|one, other| one | other)
}

/// Returns true if any shows it; `None` if none does and it is unknown for one, or there is none.
pub(crate) fn any_of_all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let answers: Vec<Option<bool>> = answers.collect();
    let is_known = !answers.is_empty() && answers.iter().all(Option::is_some);
    if answers.contains(&Some(true)) { Some(true) } else { is_known.then_some(false) }
}

/// Something that the user asked about, by its name.
pub(crate) struct Found {
    name: String,
    /// True if it was found; `None` if that is not known.
    is_there: Option<bool>,
}

impl Found {
    pub(crate) fn new(finding: impl ValueEnum, is_there: Option<bool>) -> Self {
        let name = finding.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        Self { name, is_there }
    }
}

/// 1 if anything was found, otherwise 3 if something could not be determined, otherwise 0. Says
/// what it is.
pub(crate) fn decide(findings: impl Iterator<Item = Found>) -> Exit {
    let findings: Vec<Found> = findings.collect();
    let named = |is_there: Option<bool>| -> Vec<&str> {
        findings.iter().filter(|found| found.is_there == is_there).map(|found| &*found.name).collect()
    };
    match (named(Some(true)).as_slice(), named(None).as_slice()) {
        ([], []) => Exit::Success,
        ([], unknown) => {
            output::say(&format!("--fail-on: not known: {} (exit code 3)", unknown.join(", ")));
            Exit::Undetermined
        }
        (found, _) => {
            output::say(&format!("--fail-on: found: {} (exit code 1)", found.join(", ")));
            Exit::Finding
        }
    }
}

/// An answer that may show findings that the command can fail on.
pub(crate) trait Shows<Finding> {
    /// Returns true if it shows the finding; `None` if that is not known.
    fn shows(&self, finding: Finding) -> Option<bool>;

    /// Returns the end of the program.
    fn exit(&self, fail_on: &[Finding]) -> Exit
    where
        Finding: Copy + ValueEnum,
    {
        decide(fail_on.iter().map(|finding| Found::new(*finding, self.shows(*finding))))
    }
}

/// Something that `order` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderFinding {
    /// A reading of an ordered sequence that went back; unordered ones promise nothing
    Regression,
    /// A clock that can be read, or a pair of CPUs, that could not be tested, or not to the end
    Unknown,
}

impl Shows<OrderFinding> for Order {
    fn shows(&self, finding: OrderFinding) -> Option<bool> {
        let tested = || self.sequences.iter().filter(|sequence| sequence.available);
        let is_untested = self.untestable.is_some()
            || !self.lost.is_empty()
            || tested().next().is_none()
            || tested().any(|sequence| !sequence.regressions.is_known() || sequence.reason.is_some());
        let has_regressed =
            tested().any(|sequence| sequence.ordered && sequence.regressions.get().is_some_and(|n| n > 0));
        match finding {
            OrderFinding::Regression if has_regressed => Some(true),
            OrderFinding::Regression => (!is_untested).then_some(false),
            OrderFinding::Unknown => Some(is_untested).filter(|_| self.untestable.is_none()),
        }
    }
}

/// Something that `offsets` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OffsetsFinding {
    /// Counters that are certainly apart
    Unsynchronized,
    /// A pair of CPUs that could not be tested
    Unknown,
}

impl Shows<OffsetsFinding> for Offsets {
    fn shows(&self, finding: OffsetsFinding) -> Option<bool> {
        match finding {
            OffsetsFinding::Unsynchronized if self.apart > 0 => Some(true),
            OffsetsFinding::Unsynchronized => self.within_ns.get().map(|_| false),
            OffsetsFinding::Unknown => Some(!self.within_ns.is_known()).filter(|_| self.untestable.is_none()),
        }
    }
}

/// Something that `rate` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RateFinding {
    /// A rate that changed, or a step
    Changed,
    /// A rate that could not be determined
    Unknown,
}

impl Shows<RateFinding> for Rates {
    fn shows(&self, finding: RateFinding) -> Option<bool> {
        let clocks = || self.clocks.iter().filter(|clock| clock.available);
        match finding {
            RateFinding::Changed => {
                let changed = |clock: &RateRecord| match clock.step.is_known() {
                    true => Some(true),
                    false => clock.constant.get().map(|constant| !constant),
                };
                any_of_all(clocks().map(changed))
            }
            RateFinding::Unknown => {
                let is_limited = |clock: &RateRecord| clock.reason.is_some() || clock.is_ticked();
                any(clocks().map(|clock| Some(!clock.bound_ppm.is_known() || is_limited(clock))))
            }
        }
    }
}

/// Something that `sleep` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SleepFinding {
    /// A call that returned before its time
    Early,
}

impl Shows<SleepFinding> for Sleep {
    fn shows(&self, SleepFinding::Early: SleepFinding) -> Option<bool> {
        any(self.rows.iter().map(|row| row.early.get().map(|count| count > 0)))
    }
}

/// Something that `runtimes` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuntimesFinding {
    /// A reading that went back
    Regression,
    /// A runtime that could not be measured, or not to the end
    Unavailable,
    /// A cost, a tick or an observed resolution that could not be determined
    Unknown,
}

impl Shows<RuntimesFinding> for Runtimes {
    fn shows(&self, finding: RuntimesFinding) -> Option<bool> {
        let rows = &self.runtimes;
        match finding {
            RuntimesFinding::Regression => any(rows.iter().map(|row| row.regressions.get().map(|count| count > 0))),
            // An API that a runtime does not have is no fault of the machine's.
            RuntimesFinding::Unavailable => any(rows.iter().map(|row| Some(!row.available && row.api.is_none()))),
            // What an API does not state, and how sure a figure is, are no findings: with floats,
            // and in short runs, they always lack.
            RuntimesFinding::Unknown => {
                let lacks = |row: &RuntimeRecord| {
                    !row.cost_ns.is_known() || !row.tick_ns.is_known() || !row.observed_resolution_ns.is_known()
                };
                any(rows.iter().map(|row| row.available.then(|| lacks(row))))
            }
        }
    }
}

/// Something that `check` may find of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFinding {
    /// A verdict of limited or unfit; not known of a clock whose verdict is undecided
    Limited,
    /// A verdict of unfit
    Unfit,
    /// A step back, on one CPU or across CPUs
    Regression,
    /// A jump, a loss of time, or a rate that is not constant
    Jump,
    /// A clock that cannot be read
    Unavailable,
    /// A test without a result: of steps back, jumps, order, offsets or rates
    Unknown,
}

/// Checks by which `check` answers about regressions and jumps.
const REGRESSIONS: [CheckKind; 2] = [CheckKind::StepsBack, CheckKind::Order];
const JUMPS: [CheckKind; 2] = [CheckKind::Jumps, CheckKind::ConstantRate];

impl Shows<CheckFinding> for Trust {
    fn shows(&self, finding: CheckFinding) -> Option<bool> {
        let verdicts = &self.verdicts;
        let is_any = |of: &dyn Fn(&Verdict) -> bool| (!verdicts.is_empty()).then(|| verdicts.iter().any(of));
        let evidence = |checks: &[CheckKind]| {
            let all = verdicts.iter().flat_map(|verdict| &verdict.evidence);
            let asked = all.filter(|evidence| checks.contains(&evidence.check.kind()));
            any_of_all(asked.map(|evidence| match evidence.finding {
                Finding::For => Some(false),
                Finding::Against => Some(true),
                Finding::Unknown => None,
            }))
        };
        match finding {
            CheckFinding::Limited => any_of_all(verdicts.iter().map(|found| match found.verdict {
                Trustworthiness::Undecided => None,
                verdict => Some(verdict <= Trustworthiness::Limited),
            })),
            CheckFinding::Unfit => is_any(&|verdict| verdict.verdict == Trustworthiness::Unfit),
            CheckFinding::Regression => evidence(&REGRESSIONS),
            CheckFinding::Jump => evidence(&JUMPS),
            CheckFinding::Unavailable => evidence(&[CheckKind::Readable]),
            CheckFinding::Unknown => is_any(&|verdict| {
                verdict
                    .evidence
                    .iter()
                    .any(|evidence| evidence.finding == Finding::Unknown && evidence.check.kind().is_test())
            }),
        }
    }
}

/// Part of a clock's record that findings are judged by, whichever question was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedClock<'a> {
    available: bool,
    events: Option<&'a Events>,
    has_unknown: bool,
}

impl<'a> From<&'a ClockRecord> for JudgedClock<'a> {
    fn from(clock: &'a ClockRecord) -> Self {
        let ClockRecord { available, events, .. } = clock;
        Self { available: *available, events: events.as_ref(), has_unknown: !clock.reasons().is_empty() }
    }
}

impl<'a> From<&'a StepsRecord> for JudgedClock<'a> {
    fn from(clock: &'a StepsRecord) -> Self {
        let StepsRecord { available, events, .. } = clock;
        Self { available: *available, events: events.as_ref(), has_unknown: !clock.reasons().is_empty() }
    }
}

impl FailOn {
    /// Returns true if the clock shows it; `None` if that is not known.
    fn shown_by(self, clock: JudgedClock<'_>) -> Option<bool> {
        let events = clock.events;
        match self {
            Self::Regression => {
                events.map(|events| events.regression + events.hidden_regression.get().unwrap_or(0) > 0)
            }
            Self::Jump => events?.jump.get().map(|count| count > 0),
            Self::Warp => events?.warp.get().map(|count| count > 0),
            Self::Stall => events.map(|events| events.stall > 0),
            Self::Stuck => events.map(|events| events.stuck > 0),
            Self::Fail => events.map(|events| events.errors > 0),
            Self::Unavailable => Some(!clock.available),
            Self::Unknown => Some(clock.available && clock.has_unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::texts;
    use clockscope_records::{Figure, TickReason};

    use super::*;

    #[test]
    fn what_an_api_does_not_state_is_no_finding() {
        let mut found = Runtimes {
            duration_s: 1.0,
            interrupted: false,
            was: None,
            runtimes: Vec::new(),
            surprises: Vec::new(),
            error: None,
        };
        let whole = RuntimeRecord {
            available: true,
            cost_ns: Figure::Known(70.0),
            tick_ns: Figure::Known(10.0),
            observed_resolution_ns: Figure::Known(60.0),
            ..RuntimeRecord::default()
        };
        let float = RuntimeRecord { nominal_resolution_ns: Figure::unknown(texts::NO_NOMINAL_IN_API), ..whole.clone() };
        let mut shows = |row: &RuntimeRecord| {
            found.runtimes = vec![whole.clone(), row.clone()];
            found.shows(RuntimesFinding::Unknown)
        };
        assert_eq!(shows(&float), Some(false));
        assert_eq!(
            shows(&RuntimeRecord { cost_ns: Figure::unknown(texts::COARSE_RUNTIME_TIMER), ..whole.clone() }),
            Some(true)
        );
        assert_eq!(
            shows(&RuntimeRecord { tick_ns: Figure::unknown(TickReason::FewSteps), ..whole.clone() }),
            Some(true)
        );
        assert_eq!(
            shows(&RuntimeRecord { observed_resolution_ns: Figure::unknown(texts::NO_FORWARD_STEP), ..float.clone() }),
            Some(true)
        );
        // A runtime that is missing is another finding.
        assert_eq!(shows(&RuntimeRecord::default()), Some(false));
        found.runtimes = vec![RuntimeRecord::default()];
        assert_eq!(found.shows(RuntimesFinding::Unknown), None);
    }

    /// A loss of time that no reading shows counts as a step back.
    #[test]
    fn each_event_is_the_finding_of_its_name() {
        let none = Events {
            reads: 1000,
            errors: 0,
            span_ns: Figure::Known(1e6),
            stuck: 0,
            stall: 0,
            warp: Figure::Known(0),
            jump: Figure::Known(0),
            gap: Figure::Known(1),
            regression: 0,
            hidden_regression: Figure::Known(0),
            threshold_ns: Figure::Known(1000.0),
            sure_ns: Figure::Known(1000.0),
            reference: Figure::Known("tsc".to_owned()),
            reference_shares_hardware: Figure::Known(true),
        };
        let all = [FailOn::Regression, FailOn::Jump, FailOn::Warp, FailOn::Stall, FailOn::Stuck, FailOn::Fail];
        let found = |events: Events| -> Vec<FailOn> {
            let clock = JudgedClock { available: true, events: Some(&events), has_unknown: false };
            all.into_iter().filter(|finding| finding.shown_by(clock) == Some(true)).collect()
        };
        assert_eq!(found(none.clone()), []);
        assert_eq!(found(Events { regression: 1, ..none.clone() }), [FailOn::Regression]);
        assert_eq!(found(Events { hidden_regression: Figure::Known(1), ..none.clone() }), [FailOn::Regression]);
        assert_eq!(found(Events { jump: Figure::Known(1), ..none.clone() }), [FailOn::Jump]);
        assert_eq!(found(Events { warp: Figure::Known(1), ..none.clone() }), [FailOn::Warp]);
        assert_eq!(found(Events { stall: 1, ..none.clone() }), [FailOn::Stall]);
        assert_eq!(found(Events { stuck: 1, ..none.clone() }), [FailOn::Stuck]);
        assert_eq!(found(Events { errors: 1, ..none.clone() }), [FailOn::Fail]);
        let unjudged = Events { jump: Figure::unknown(texts::NO_FORWARD_STEP), ..none };
        let clock = JudgedClock { available: true, events: Some(&unjudged), has_unknown: false };
        assert_eq!([FailOn::Jump, FailOn::Warp].map(|finding| finding.shown_by(clock)), [None, Some(false)]);
        let absent = JudgedClock { available: false, events: None, has_unknown: true };
        assert_eq!(
            [FailOn::Regression, FailOn::Unavailable, FailOn::Unknown].map(|finding| finding.shown_by(absent)),
            [None, Some(true), Some(false)]
        );
    }

    #[test]
    fn counters_that_were_not_all_compared_are_not_known_to_agree() {
        let shown = |apart: u64, within_ns: Option<f64>| {
            let within_ns = Figure::of(within_ns, texts::NO_FORWARD_STEP);
            Offsets { apart, within_ns, ..Offsets::default() }.shows(OffsetsFinding::Unsynchronized)
        };
        assert_eq!([shown(0, Some(80.0)), shown(0, None), shown(1, None)], [Some(false), None, Some(true)]);
    }
}
