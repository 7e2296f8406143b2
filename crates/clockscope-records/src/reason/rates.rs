//! Reasons why a rate, or a comparison of two clocks or of runs, has no figure.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SystemError, UnreadableClock, with_unreadable};
use crate::Emulator;
use crate::text::counted;

/// Reason why a clock's rate is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RateReason {
    /// It was not compared.
    NotCompared,
    /// There were too few brackets, or too little time between them.
    FewBrackets,
    /// Fewer than three brackets were not interrupted.
    FewWholeBrackets,
    /// The timer tick moves one of the two clocks.
    Ticked,
    /// One rate explains all brackets: there is no change.
    OneRate,
    /// No step was seen.
    NoStep,
    /// It stepped, and did not stand still.
    DidStep,
    /// Neither hardware nor hypervisor state a frequency.
    NoNominalFrequency,
    /// It shows time, not counts.
    ShowsTime,
    /// No bound was asked for.
    NoBound,
    /// It was not asked for.
    NotAskedFor,
    /// Reads failed.
    ReadsFailed {
        /// So many.
        failed: u64,
        /// The first error.
        error: SystemError,
    },
    /// The timer or its reference failed during the run: the frequency is that at the start.
    RateOfStart,
    /// No rate was measured.
    NotMeasured {
        /// The reason, in the words of the measurement.
        words: String,
        /// The clocks that it lacked, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<UnreadableClock>,
    },
    /// The kernel does not say how it steers its clock.
    SteeringHidden {
        /// The reason, in the system's own words.
        words: String,
    },
}

/// Reason why two clocks, or the runs of two sides, cannot be compared in one respect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ComparisonReason {
    /// The clock was not measured.
    Absent,
    /// It is the clock that rates are relative to.
    IsReference,
    /// It was not compared with another clock.
    NoOtherClock,
    /// The two differ, and no clock here shows which of them is right.
    NoJudge,
    /// The costs are those of emulators, not of the machine.
    EmulatorsCosts {
        /// The emulators.
        emulators: Vec<Emulator>,
    },
    /// One side or both have no cost of the clock.
    OneSided,
    /// This side has no cost of the clock.
    NoCostOfSide,
    /// No counter was read in all runs.
    NoCommonCounter,
    /// Not every run has timed the empty loop.
    NoCommonLoop,
    /// No run shows the machine's speed.
    NoSpeed,
    /// Each side is one run.
    OneRunPerSide,
}

impl fmt::Display for RateReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::NotCompared => "it was not compared",
            Self::FewBrackets => "it took too few brackets, or too little time passed between them",
            Self::FewWholeBrackets => "fewer than three brackets were not interrupted",
            Self::Ticked => {
                "one of the two is moved by the timer tick, which may come late: the bound takes for granted that it does \
                 not, and what looks like a step may be a late tick"
            }
            Self::OneRate => "one rate explains all brackets",
            Self::NoStep => "none was seen",
            Self::DidStep => "it stepped",
            Self::NoNominalFrequency => {
                "neither hardware nor hypervisor state a frequency that it could be compared with"
            }
            Self::ShowsTime => "it shows time, not counts",
            Self::NoBound => "no bound was asked for",
            Self::NotAskedFor => "not asked for",
            Self::ReadsFailed { failed, error } => {
                return write!(f, "{} failed; the first: {}", counted(*failed, "read"), error.words);
            }
            Self::RateOfStart => {
                "the timer or its reference stood still, stepped or changed its rate during the run: this is the timer's \
                 frequency at the start"
            }
            Self::NotMeasured { words, unreadable } => return f.write_str(&with_unreadable(words, unreadable)),
            Self::SteeringHidden { words } => words,
        };
        f.write_str(words)
    }
}

impl fmt::Display for ComparisonReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Absent => "it was not measured",
            Self::IsReference => "it is the reference itself",
            Self::NoOtherClock => "it was not compared with another clock",
            Self::NoJudge => "they differ, and no clock here shows which of them is right",
            Self::EmulatorsCosts { emulators } => {
                return write!(f, "these are the costs of {}, not of the machine", Emulator::names(emulators));
            }
            Self::OneSided => "one side or both have no cost of it",
            Self::NoCostOfSide => "it has no cost on this side",
            Self::NoCommonCounter => "no counter was read in all runs",
            Self::NoCommonLoop => "not every run has measured it",
            Self::NoSpeed => "no run shows the machine's speed",
            Self::OneRunPerSide => "each side is one run",
        };
        f.write_str(words)
    }
}

/// Reason why two clocks' rates were not compared, or not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RatePairFailure {
    /// The unit of one has no length: it has no rate against the reference.
    NoUnit,
    /// There were too few brackets, or too little time between them.
    TooFew,
    /// The timer tick moves one of them: a late tick looks like a step.
    Ticked,
    /// Fewer than three brackets were not interrupted.
    Interrupted,
}

impl fmt::Display for RatePairFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUnit => {
                f.write_str("one of the two has no rate against the reference by which its unit would have a length")
            }
            Self::TooFew => RateReason::FewBrackets.fmt(f),
            Self::Ticked => RateReason::Ticked.fmt(f),
            Self::Interrupted => RateReason::FewWholeBrackets.fmt(f),
        }
    }
}
