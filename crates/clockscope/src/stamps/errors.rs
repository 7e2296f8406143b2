//! Reasons why there are no stamps, or why one has no time.

use core::fmt;

use crate::disciplined::Unobserved;
use crate::evidence::Demotion;
use crate::history::{Uncovered, Unrenewed};

/// Reason why no stamps are taken of the counter. [`os()`](super::os()) takes those of the system's
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// No counter of this architecture is known.
    NoCounter,
    /// The processor does not promise that the counter runs at one rate and never stops.
    NotInvariant,
    /// The clock of the process does not use it, for this reason, as [`crate::evidence`] has it.
    NotUsed(Demotion),
    /// It could not be compared with CLOCK_MONOTONIC.
    NotCompared,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCounter => f.write_str("no counter of this architecture is known"),
            Self::NotInvariant => f.write_str("the processor does not promise that its counter runs at one rate"),
            Self::NotUsed(reason) => write!(f, "the counter is not used ({reason}); evidence() says more"),
            Self::NotCompared => f.write_str("the counter could not be compared with CLOCK_MONOTONIC; try again"),
        }
    }
}

impl core::error::Error for Refused {}

/// Reason why a stamp has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StampError {
    /// This process keeps no history: [`counter`](super::counter) or [`os()`](super::os()) was not
    /// called, or was by a parent.
    NoHistory,
    /// It was taken before the history begins, or before the oldest part that is still kept.
    BeforeHistory,
    /// It is later than now, so it comes from elsewhere.
    Future,
    /// It is later than the last renewal in the [`Header`](super::Header) that is to convert it.
    AfterHeader,
    /// It lies between two renewals of which the clocks' rates do not explain the distance: the
    /// machine was suspended or moved, or one of the clocks stepped.
    Gap,
    /// The counter went back, so that this count occurred twice.
    CounterWentBack,
    /// The wall clock was set between the renewals before and after it, or does not answer.
    NoWallTime,
    /// The counter is not used any more, for this reason, as [`crate::evidence`] has it.
    GivenUp(Demotion),
    /// The clocks could not be compared just now: CLOCK_MONOTONIC stepped back, or does not answer.
    NotCompared,
    /// The history was being written all the time: by a thread that was stopped in that, or that
    /// this signal handler has interrupted. Convert later.
    Busy,
}

impl StampError {
    /// Returns the reason in a word, for programs: `before_history`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NoHistory => "no_history",
            Self::BeforeHistory => "before_history",
            Self::Future => "future",
            Self::AfterHeader => "after_header",
            Self::Gap => "gap",
            Self::CounterWentBack => "counter_went_back",
            Self::NoWallTime => "no_wall_time",
            Self::GivenUp(_) => "given_up",
            Self::NotCompared => "not_compared",
            Self::Busy => "busy",
        }
    }
}

impl fmt::Display for StampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHistory => f.write_str("this process keeps no history of stamps: call stamps::counter() first"),
            Self::BeforeHistory => f.write_str("the stamp is older than the history"),
            Self::Future => f.write_str("the stamp is later than now: it comes from another machine, boot or clock"),
            Self::AfterHeader => {
                f.write_str("the stamp is later than the last renewal in the header: make the header after the stamp")
            }
            Self::Gap => f.write_str(
                "between the renewals around the stamp the machine was suspended or moved, or a clock stepped",
            ),
            Self::CounterWentBack => f.write_str("the counter went back: this count occurred twice"),
            Self::NoWallTime => {
                f.write_str("the wall clock was set between the renewals around the stamp, or does not answer")
            }
            Self::GivenUp(reason) => write!(f, "the counter is not used any more ({reason}); evidence() says more"),
            Self::NotCompared => f.write_str("the clocks could not be compared; try again in some milliseconds"),
            Self::Busy => f.write_str("the history is being written; convert the stamp later"),
        }
    }
}

impl core::error::Error for StampError {}

impl From<Unrenewed> for StampError {
    fn from(reason: Unrenewed) -> Self {
        match reason {
            Unrenewed::Unobserved(Unobserved::Barred(reason)) => Self::GivenUp(reason),
            Unrenewed::Unobserved(Unobserved::NoBracket) | Unrenewed::Behind => Self::NotCompared,
            Unrenewed::Busy => Self::Busy,
        }
    }
}

impl From<Uncovered> for StampError {
    fn from(reason: Uncovered) -> Self {
        match reason {
            Uncovered::None => Self::NoHistory,
            Uncovered::Before => Self::BeforeHistory,
            Uncovered::After => Self::Future,
            Uncovered::Gap => Self::Gap,
            Uncovered::Twice => Self::CounterWentBack,
            Uncovered::Busy => Self::Busy,
        }
    }
}
