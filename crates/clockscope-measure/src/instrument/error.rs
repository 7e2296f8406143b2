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
    /// So many readings cannot be held.
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
    /// A policy that no machine can meet.
    #[error("the policy cannot be used: {0}")]
    Policy(#[from] PolicyError),
    /// A clock that was to be judged for civil time.
    #[error("{name} does not show civil time: name a clock that does, e.g. realtime, or judge it for intervals")]
    NoCivilTime {
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

/// Reason why a policy cannot be met by any machine, or means nothing.
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
    /// Two demands of which one is never met if the other is.
    #[error("{one} and {other} contradict each other: {why}")]
    Contradiction {
        /// One.
        one: String,
        /// The other.
        other: String,
        /// The reason.
        why: Contradiction,
    },
    /// A demand that nothing can break, or nobody can answer.
    #[error("{demand}: {why}: leave it out")]
    Meaningless {
        /// Its place in the policy.
        demand: String,
        /// The reason.
        why: Meaningless,
    },
    /// A clock that there is not.
    #[error("{section}: {unknown}")]
    UnknownClock {
        /// Its place in the policy.
        section: String,
        /// The clock.
        unknown: UnknownClock,
    },
    /// A demand that only a counter can meet.
    #[error("{demand} can only be demanded of the counter: put it under [counter]")]
    OnlyOfCounter {
        /// Its place in the policy.
        demand: String,
    },
}

/// Reason why one demand of a policy is never met if another one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A trusted counter, and clocksources that are none.
    #[error("the counter is trusted only where the kernel builds its clocks on it")]
    CounterUnused,
    /// A trusted clock, and clocksources that are read in the kernel alone.
    #[error("with this clocksource every read enters the kernel, which limits the clock")]
    ReadInKernel,
    /// A fine tick, and clocksources that the timer tick moves.
    #[error("with this clocksource the clock steps by a timer tick")]
    TimerTick,
    /// A section of the counter, beside that of its own.
    #[error("this is the counter: put its demands under [counter]")]
    IsCounter,
    /// Two sections of one clock.
    #[error("these are two names of one clock, and the demands differ")]
    OneClock,
}

/// Reason why a demand of a policy can't be broken or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Meaningless {
    /// Every counter meets it.
    #[error("that the counter need not be invariant demands nothing")]
    NeedNotBeInvariant,
    /// The rate of such a clock is too uncertain, or not compared.
    #[error("the rate of a coarse clock is too uncertain for a limit, and that of processor time is not compared")]
    NoRate,
    /// A verdict that says nothing.
    #[error("invalid verdict undecided: expected trusted or limited")]
    Undecided,
    /// A use, and no verdict for it.
    #[error("no verdict is demanded that the use could be for: add verdict")]
    UseOfNoVerdict,
    /// Civil time of a clock that does not show it.
    #[error("this clock does not show civil time")]
    NoCivilTime,
}
