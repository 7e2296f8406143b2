//! Why no clock is advised, or the error of its rate is unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why no clock is advised, or the error of its rate is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum AdviceReason {
    /// An emulator runs the program: costs are its own.
    Emulated,
    /// No clock that was measured is fit for intervals.
    NothingFit,
    /// The record lacks the differences of readings, which several runs do not keep.
    NoDifferencesKept,
    /// No clock that intervals may be measured with was measured.
    NothingMeasured,
    /// The record does not say what keeps the clocks' rates right.
    KeeperNotRecorded,
    /// No daemon synchronizes the machine.
    NotSynchronized,
    /// No daemon states the error of the rate.
    NoRateStatement,
    /// chronyd is working off an offset, by a rate that it does not state.
    OffsetWorkedOff {
        /// What is still to be corrected, in s.
        correction_s: f64,
        /// The error that chronyd states beside it, in s.
        error_s: f64,
    },
}
