//! Reasons why a measurement could not be made.

use clockscope_records::{RateReason, UnreadableClock};
use clockscope_system::affinity::AffinityError;
use clockscope_system::child_read::SeveralThreads;

use crate::instrument::catalog::UnknownClock;
use crate::instrument::timer::TimerError;

/// Reason why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The CPU asked for cannot be measured on.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// Nothing can be timed.
    #[error(transparent)]
    Timer(#[from] TimerError),
    /// No clock can be tried, because other threads are there.
    #[error(transparent)]
    Threads(#[from] SeveralThreads),
    /// This number of readings does not fit into memory.
    #[error("{0} readings cannot be kept in memory: ask for fewer")]
    Memory(u64),
    /// There is no such clock.
    #[error(transparent)]
    Unknown(#[from] UnknownClock),
    /// A clock that nothing can be compared with.
    #[error("nothing can be compared with this reference")]
    Reference(Box<UnreadableClock>),
    /// A clock that was to be compared with itself, under one name or two.
    #[error("{name} is compared with itself: name two clocks")]
    SameClock {
        /// Its name.
        name: String,
    },
    /// No clock of the system is known that others can be compared with.
    #[error("no clock of this system is known that others can be compared with: name one")]
    NoReference,
    /// The clocksource was not switched, or not put back.
    #[error(transparent)]
    Clocksource(#[from] clockscope_system::clocksource::SwitchError),
    /// A policy that cannot be used.
    #[error("the policy cannot be used: {0}")]
    Policy(#[from] PolicyError),
    /// A clock that was to be judged for the time of day.
    #[error("{name} does not show the time of day: name a clock that does, e.g. realtime, or judge it for intervals")]
    NoTimeOfDay {
        /// Its name.
        name: String,
    },
    /// A clock that was to be compared with itself.
    #[error("{name} is the reference itself: compare it with another one by --reference")]
    OwnReference {
        /// Its name.
        name: String,
    },
}

impl MeasureError {
    /// Returns the clocks that it lacked, and why. Its own sentence leaves the reasons out.
    #[must_use]
    pub fn unreadable(&self) -> &[UnreadableClock] {
        match self {
            Self::Timer(TimerError::NoReference(clocks)) => clocks,
            Self::Reference(clock) => std::slice::from_ref(&**clock),
            _ => &[],
        }
    }

    /// Returns why no rate is known then.
    pub(crate) fn no_rate(&self) -> RateReason {
        RateReason::NotMeasured { words: self.to_string(), unreadable: self.unreadable().to_vec() }
    }
}

/// Reason why a policy cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A list of nothing.
    #[error("clocksource: the list is empty, so that no machine can meet it: name one, or leave it out")]
    NoClocksource,
    /// A limit below zero, or without end.
    #[error("{demand}: invalid limit {limit}: expected 0 or more, and finite")]
    Limit {
        /// Its place in the policy.
        demand: String,
        /// The limit that stands there.
        limit: f64,
    },
    /// A use, and no verdict for it.
    #[error("{demand}: no verdict is demanded that the use could be for: add verdict, or leave it out")]
    UseOfNoVerdict {
        /// Its place in the policy.
        demand: String,
    },
    /// A clock that there is not.
    #[error("{section}: {unknown}")]
    UnknownClock {
        /// Its place in the policy.
        section: String,
        /// The clock.
        unknown: UnknownClock,
    },
    /// A clock that is a reading sequence of the counter: all of these are judged as one.
    #[error("{section}: this is the counter: put its demands under [counter]")]
    IsCounter {
        /// Its place in the policy.
        section: String,
    },
    /// A demand that only a counter can meet.
    #[error("{demand} can only be demanded of the counter: put it under [counter]")]
    OnlyOfCounter {
        /// Its place in the policy.
        demand: String,
    },
}
