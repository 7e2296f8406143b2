//! Why a fact about Windows is unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why Windows does not show something, or why what it shows of QueryPerformanceCounter names no
/// hardware.
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
