//! Reasons why a rate, or a comparison of two clocks or of runs, has no figure.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::texts;
use super::{SystemError, UnreadableClock, with_unreadable};
use crate::printable::counted;

/// Reason why a clock's rate is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RateReason {
    /// The timer tick moves one of the two clocks.
    Ticked,
    /// Reads failed.
    ReadsFailed {
        /// So many.
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
                "one of the two is moved by the timer tick, which may come late: the bound takes for granted that it does \
                 not, and what looks like a step may be a late tick",
            ),
            Self::ReadsFailed { failed, error } => {
                write!(f, "{} failed; the first: {}", counted(*failed, "read"), error.words)
            }
            Self::NotMeasured { words, unreadable } => f.write_str(&with_unreadable(words, unreadable)),
        }
    }
}

/// Reason why two clocks' rates were not compared, or not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
            Self::TooFew => f.write_str(texts::FEW_BRACKETS),
            Self::Ticked => RateReason::Ticked.fmt(f),
            Self::Interrupted => f.write_str(texts::FEW_WHOLE_BRACKETS),
        }
    }
}
