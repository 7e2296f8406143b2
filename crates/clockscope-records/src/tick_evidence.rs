//! What was found about a clock's tick.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::demand::ignored;

/// What a tick is based on, or how far the search for it came.
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
    /// The tick exactly, where it has a simple form; `null` where it has none.
    pub exact_tick: Option<ExactTick>,
    /// The same for people. Renderers write it beside the data; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<TickProse>,
    /// What is known to tick so.
    pub recognized: Option<String>,
}

/// A tick in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TickProse {
    /// The exact tick: `125/3 ns`, `1/3.579545 MHz`, `26 counts of 2596.160 MHz`; `null` where it
    /// has no simple form.
    pub period: Option<String>,
}

/// A tick that has a simple form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum ExactTick {
    /// A fraction of a unit of time.
    Fraction {
        /// Its numerator.
        numerator: u64,
        /// Its denominator; 1 for a whole number.
        denominator: u32,
        /// The unit.
        unit: TimeUnit,
    },
    /// A whole number of counts of the counter that the clock is, or is based on.
    Counts {
        /// How many.
        counts: u32,
        /// The counter's frequency, in Hz.
        frequency_hz: f64,
    },
    /// The period of a frequency.
    Period {
        /// The frequency, in Hz.
        frequency_hz: f64,
    },
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
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
