//! Reasons why a rate, or a comparison of two clocks, has no figure.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{SystemError, UnreadableClock, with_unreadable};
use crate::printable::counted;

/// Reason why a clock's rate, or the rate of one clock against another, is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RateReason {
    /// The timer tick moves one of the two clocks: a late tick looks like a step.
    Ticked,
    /// The unit of one has no length: it has no rate against the reference.
    NoUnit,
    /// There were too few brackets, or too little time between them.
    FewBrackets,
    /// Fewer than three brackets were not interrupted.
    BracketsInterrupted,
    /// Reads failed.
    ReadsFailed {
        /// Number of reads that failed.
        failed: u64,
        /// The first error.
        error: SystemError,
    },
    /// No rate was measured.
    NotMeasured {
        /// The reason, in the words of the measurement.
        words: String,
        /// The clocks that it lacked, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<UnreadableClock>,
    },
}

impl fmt::Display for RateReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ticked => f.write_str(
                "one of the two is moved by the timer tick, which may come late: the bound assumes that it does \
                 not, and what looks like a step may be a late tick",
            ),
            Self::NoUnit => {
                f.write_str("one of the two has no rate against the reference by which its unit would have a length")
            }
            Self::FewBrackets => f.write_str("it took too few brackets, or too little time passed between them"),
            Self::BracketsInterrupted => f.write_str("fewer than three brackets were not interrupted"),
            Self::ReadsFailed { failed, error } => {
                write!(f, "{} failed; the first: {}", counted(*failed, "read"), error.words)
            }
            Self::NotMeasured { words, unreadable } => f.write_str(&with_unreadable(words, unreadable)),
        }
    }
}
