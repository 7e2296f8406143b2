//! Reasons why facts on what keeps civil time are unknown.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reason why something about the synchronization of civil time is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum SynchronizationReason {
    /// No chronyd answers on the loopback.
    NoChrony,
    /// chronyd answers that it is not synchronized.
    ChronyUnsynchronized,
    /// The kernel's figures cannot be read.
    KernelFiguresHidden {
        /// The reason, in the system's own words.
        words: String,
    },
    /// A device cannot be opened.
    PtpUnopened {
        /// The path of its file.
        path: String,
        /// The reason, in the system's own words.
        words: String,
    },
    /// A device was opened, and a clock cannot be read.
    PtpUnreadable {
        /// The path of its file.
        path: String,
        /// The reason, in the system's own words.
        words: String,
    },
    /// Civil time was set during each comparison with a device.
    CivilTimeWasSet,
    /// The kernel does not show the name of a device.
    PtpNameHidden,
}

impl fmt::Display for SynchronizationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::NoChrony => "no chronyd answers on the loopback",
            Self::ChronyUnsynchronized => "chronyd answers that it is not synchronized",
            Self::KernelFiguresHidden { words } => words,
            Self::PtpUnopened { path, words } => return write!(f, "open of {path}: {words}"),
            Self::PtpUnreadable { path, words } => return write!(f, "clock_gettime of {path}: {words}"),
            Self::CivilTimeWasSet => "civil time was set during each comparison",
            Self::PtpNameHidden => "the kernel does not show the device's name",
        };
        f.write_str(words)
    }
}
