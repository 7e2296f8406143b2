//! Reasons why a fact about Windows is unknown.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reason why Windows does not show something, or why what it shows of QueryPerformanceCounter
/// names no hardware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum WindowsReason {
    /// A call failed.
    CallFailed {
        /// Its name.
        call: String,
    },
    /// A call failed with a status.
    CallStatus {
        /// Its name.
        call: String,
        /// The status (NTSTATUS).
        status: u32,
    },
    /// This Windows lacks a function.
    NoFunction {
        /// Its name.
        function: String,
    },
    /// Windows states no text of its build.
    NoBuildText,
    /// Windows shows it since version 6.2.
    BeforeWindows8,
    /// The version of Windows, on which its place depends, is unknown.
    VersionUnknown,
    /// This Windows does not state it.
    NotStated,
    /// The performance counter's frequency is 0.
    ZeroFrequency,
    /// QueryPerformanceFrequency states 0 counts per second.
    NoPerformanceCounter,
    /// Wine makes the performance counter of the host's monotonic clock.
    OfWine,
    /// Two kinds of hardware have this frequency, and nothing shows which one is read.
    AmbiguousFrequency {
        /// The frequency.
        frequency_hz: u64,
    },
    /// It is a frequency of hardware outside of the processor, but programs read the processor's
    /// counter.
    ContradictoryFrequency {
        /// The frequency.
        frequency_hz: u64,
    },
    /// No hardware is known to count at this frequency.
    UnfamiliarFrequency {
        /// The frequency.
        frequency_hz: u64,
    },
}

impl fmt::Display for WindowsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CallFailed { call } => write!(f, "{call} failed"),
            Self::CallStatus { call, status } => write!(f, "{call}: status {status:#010x}"),
            Self::NoFunction { function } => write!(f, "this Windows has no {function}"),
            Self::NoBuildText => f.write_str("Windows states no text of its build"),
            Self::BeforeWindows8 => f.write_str("Windows shows it since version 6.2"),
            Self::VersionUnknown => f.write_str("the version of Windows, on which its place depends, is unknown"),
            Self::NotStated => f.write_str("this Windows does not state it"),
            Self::ZeroFrequency => f.write_str("the performance counter's frequency is 0"),
            Self::NoPerformanceCounter => f.write_str(
                "QueryPerformanceFrequency states 0 counts per second: this Windows has no performance counter",
            ),
            Self::OfWine => {
                f.write_str("Wine makes it of the host's monotonic clock: run `clockscope clocksource` on the host")
            }
            Self::AmbiguousFrequency { frequency_hz } => write!(
                f,
                "{frequency_hz} Hz is both the processor's counter's and the hypervisor's, and nothing shows which one is read"
            ),
            Self::ContradictoryFrequency { frequency_hz } => write!(
                f,
                "{frequency_hz} Hz is a frequency of hardware outside of the processor, but programs read the processor's \
                 counter"
            ),
            Self::UnfamiliarFrequency { frequency_hz } => {
                write!(f, "no hardware is known to count at {frequency_hz} Hz")
            }
        }
    }
}
