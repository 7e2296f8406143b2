//! Reasons why no clock is advised, or the error of its rate is unknown.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::time;

/// Reason why no clock is advised, or the error of its rate is unknown.
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
        /// The correction that is still to be made, in s.
        correction_s: f64,
        /// The error that chronyd states beside it, in s.
        error_s: f64,
    },
}

impl fmt::Display for AdviceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Emulated => "costs under emulation are the emulator's",
            Self::NothingFit => "no clock that was measured is fit for intervals (see their events)",
            Self::NoDifferencesKept => {
                "the record lacks the differences of readings, which --repeat does not keep: advise from a single run"
            }
            Self::NothingMeasured => "no clock that intervals can be measured with was measured",
            Self::KeeperNotRecorded => {
                "the record does not state what keeps the clocks' rates: record it by measure --thorough"
            }
            Self::NotSynchronized => "no daemon synchronizes this machine",
            Self::NoRateStatement => "no daemon states the error of the clocks' rates",
            Self::OffsetWorkedOff { correction_s, error_s } => {
                return write!(
                    f,
                    "chronyd works off an offset of {}, above its error of {}, by a rate that it does not state",
                    time(correction_s.abs() * 1e9),
                    time(error_s * 1e9)
                );
            }
        };
        f.write_str(words)
    }
}
