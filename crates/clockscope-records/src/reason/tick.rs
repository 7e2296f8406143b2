//! Why readings show no tick.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a clock's tick is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum TickReason {
    /// Fewer than three readings differed from the one before.
    FewSteps,
    /// Too few readings differ to show a tick.
    FewDifferences,
    /// The steps may be the read's own cost.
    ConstantCost,
    /// Several ticks fit so few readings.
    SeveralTicks,
    /// Its reads take too long for its unit.
    SlowReads,
    /// Its rate changed while it was read.
    RateChanged,
    /// It steps back too often.
    StepsBack,
    /// Its readings lie on no lattice that was looked for.
    NoLattice,
    /// It is too fine to be separated from the clock's unit.
    TooFine {
        /// It is at most this.
        at_most_ns: f64,
    },
    /// It is too fine to be separated from the API's unit.
    TooFineForApi {
        /// It is at most this.
        at_most_ns: f64,
    },
    /// Too few readings separate a tick from the read's own cost.
    LikeCost {
        /// It is at most this.
        at_most_ns: f64,
    },
    /// All readings differ by multiples of so many counts, which may be the tick or the read's own
    /// cost.
    MultiplesOf {
        /// So many counts.
        counts: u64,
        /// Their length: it is at most this.
        at_most_ns: f64,
    },
    /// It moved fewer than eight times, and the nominal resolution is another.
    FewEqualSteps {
        /// It is at most this.
        at_most_ns: f64,
    },
}
