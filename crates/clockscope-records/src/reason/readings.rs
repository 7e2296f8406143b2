//! Reasons why the readings of one clock show no figure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Reason why a clock's readings show no cost, no step and no event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ReadingsReason {
    /// Fewer batches were completed than a cost needs.
    NoCost {
        /// So many are needed.
        fewest: u64,
    },
    /// Fewer batches were completed than this figure needs.
    FewBatches {
        /// So many are needed.
        fewest: u64,
    },
    /// There were fewer runs than an interval between runs needs.
    FewRuns {
        /// So many are needed.
        fewest: u32,
    },
}

impl fmt::Display for ReadingsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCost { fewest } => {
                write!(f, "fewer than {fewest} batches were completed: interruptions would count as cost")
            }
            Self::FewBatches { fewest } => write!(f, "fewer than {fewest} batches: give it more time"),
            Self::FewRuns { fewest } => write!(f, "fewer than {fewest} runs"),
        }
    }
}
