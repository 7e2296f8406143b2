//! Why a rate, or a comparison of two clocks or of runs, has no figure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SystemError, UnreadableClock};
use crate::Emulator;

/// Why a clock's rate is unknown.
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
        /// Why, in the words of the measurement.
        words: String,
        /// The clocks that it lacked, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<UnreadableClock>,
    },
    /// The kernel does not say how it steers its clock.
    SteeringHidden {
        /// Why, in the system's own words.
        words: String,
    },
}

/// Why two clocks, or the runs of two sides, cannot be compared in one respect.
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
