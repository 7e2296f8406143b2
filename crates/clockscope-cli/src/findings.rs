//! Findings that the user asked to fail on.

use clap::ValueEnum;
use clockscope_records::{ClockRecord, Events, StepsRecord, reasons};

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
    /// A run of 200 or more repeats of one value that the clock's tick does not explain
    Stuck,
    /// A read that failed
    Fail,
    /// A clock that cannot be read
    Unavailable,
    /// A figure that could not be determined
    Unknown,
}

/// 1 if any clock shows any of these, otherwise 3 if one of them is unknown for all clocks or no
/// clock could be read, otherwise 0.
pub(crate) fn judge<'a, C: 'a>(clocks: impl IntoIterator<Item = &'a C>, fail_on: &[FailOn]) -> Exit
where
    JudgedClock<'a>: From<&'a C>,
{
    let clocks: Vec<JudgedClock<'_>> = clocks.into_iter().map(JudgedClock::from).collect();
    let answered = if clocks.iter().any(|clock| clock.available) { Exit::Success } else { Exit::Unanswered };
    answered.or(decide(fail_on.iter().map(|event| {
        let is_there = any(clocks.iter().map(|clock| event.is_found_in(*clock)));
        Found::new(*event, is_there)
    })))
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
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for Found { name, is_there } in findings {
        match is_there {
            Some(true) => known.push(name),
            Some(false) => {}
            None => unknown.push(name),
        }
    }
    if !known.is_empty() {
        output::say(&format!("--fail-on: found: {} (exit code 1)", known.join(", ")));
        Exit::Finding
    } else if !unknown.is_empty() {
        output::say(&format!("--fail-on: not known: {} (exit code 3)", unknown.join(", ")));
        Exit::Undetermined
    } else {
        Exit::Success
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
        Self { available: *available, events: events.as_ref(), has_unknown: !reasons(clock).is_empty() }
    }
}

impl<'a> From<&'a StepsRecord> for JudgedClock<'a> {
    fn from(clock: &'a StepsRecord) -> Self {
        let StepsRecord { available, events, .. } = clock;
        Self { available: *available, events: events.as_ref(), has_unknown: !reasons(clock).is_empty() }
    }
}

impl FailOn {
    /// Returns true if the clock shows it; `None` if that is not known.
    fn is_found_in(self, clock: JudgedClock<'_>) -> Option<bool> {
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
    use clockscope_records::Figure;
    use clockscope_records::texts;

    use super::*;

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
            all.into_iter().filter(|finding| finding.is_found_in(clock) == Some(true)).collect()
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
        assert_eq!([FailOn::Jump, FailOn::Warp].map(|finding| finding.is_found_in(clock)), [None, Some(false)]);
        let unavailable = JudgedClock { available: false, events: None, has_unknown: true };
        assert_eq!(
            [FailOn::Regression, FailOn::Unavailable, FailOn::Unknown].map(|finding| finding.is_found_in(unavailable)),
            [None, Some(true), Some(false)]
        );
    }
}
