//! What the user asked to fail on.

use clap::ValueEnum;
use clockscope_records::{ClockRecord, Events, StepsRecord};

use crate::Exit;

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
    /// A run of 200 or more repeats of one value, or a read that failed
    Fail,
    /// A clock that cannot be read
    Unavailable,
    /// A figure that could not be determined
    Unknown,
}

/// 1 if any clock shows any of these, otherwise 3 if no clock could tell about one of them, otherwise 0.
pub(crate) fn judge<'a>(clocks: impl Iterator<Item = Shown<'a>>, fail_on: &[FailOn]) -> Exit {
    let clocks: Vec<Shown<'_>> = clocks.collect();
    let answers = |event: FailOn| clocks.iter().filter_map(move |clock| event.shown_by(*clock));
    if fail_on.iter().any(|event| answers(*event).any(|shown| shown)) {
        Exit::Finding
    } else if fail_on.iter().any(|event| answers(*event).next().is_none()) {
        Exit::Undetermined
    } else {
        Exit::Success
    }
}

/// What a record shows of a clock, whichever question was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    available: bool,
    events: Option<&'a Events>,
    has_unknown: bool,
}

impl<'a> From<&'a ClockRecord> for Shown<'a> {
    fn from(clock: &'a ClockRecord) -> Self {
        let ClockRecord { available, events, unknown, .. } = clock;
        Self { available: *available, events: events.as_ref(), has_unknown: !unknown.is_empty() }
    }
}

impl<'a> From<&'a StepsRecord> for Shown<'a> {
    fn from(clock: &'a StepsRecord) -> Self {
        let StepsRecord { available, events, unknown, .. } = clock;
        Self { available: *available, events: events.as_ref(), has_unknown: !unknown.is_empty() }
    }
}

impl FailOn {
    /// Whether the clock shows it; `None` if that is not known.
    fn shown_by(self, clock: Shown<'_>) -> Option<bool> {
        let events = clock.events;
        match self {
            Self::Regression => events.map(|events| events.regression + events.hidden_regression.unwrap_or(0) > 0),
            Self::Jump => events?.jump.map(|count| count > 0),
            Self::Warp => events?.warp.map(|count| count > 0),
            Self::Stall => events.map(|events| events.stall > 0),
            Self::Fail => events.map(|events| events.fail + events.errors > 0),
            Self::Unavailable => Some(!clock.available),
            Self::Unknown => Some(clock.available && clock.has_unknown),
        }
    }
}
