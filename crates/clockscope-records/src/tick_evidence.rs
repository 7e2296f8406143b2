//! What was found about a clock's tick.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a tick stands on, or how far the search for it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TickEvidence {
    /// How much the finding may be relied on.
    pub strength: Strength,
    /// Readings that differed from the one before: only these show a tick.
    pub steps: u64,
    /// Where no tick was found: it is at most this, in ns; `null` where not even that is known.
    pub at_most_ns: Option<f64>,
    /// Ticks a second.
    pub frequency_hz: Option<f64>,
    /// By how many parts per million the tick may be off, as far as the readings show. The clock's
    /// own rate is not in it.
    pub error_ppm: Option<f64>,
    /// Width of the band around the ticks in which the readings lie, in ns. Values that are
    /// truncated to whole ns make it 1.
    pub spread_ns: Option<f64>,
    /// Share of the blocks of readings that lie on the lattice of this tick.
    pub agreement: Option<f64>,
    /// The tick as a fraction, where it is one: `125/3 ns`, `1/3.579545 MHz`,
    /// `26 counts of 2596.160 MHz`.
    pub period: Option<String>,
    /// What is known to tick so.
    pub recognised: Option<String>,
}

/// How much the finding of a tick may be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// At least a thousand steps, all but one in a hundred blocks on the lattice.
    Strong,
    /// At least eight steps.
    Fair,
    /// At least three steps.
    Weak,
    /// No tick was found.
    None,
}
