//! Findings about a clock's tick.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{TimeUnit, significant};
use crate::words::{worded, written};

/// The basis of a tick, or the progress of the search for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TickEvidence", transform = crate::schema::add_words::<TickEvidence>))]
#[serde(remote = "Self")]
pub struct TickEvidence {
    /// The reliability of the finding.
    pub strength: Strength,
    /// Readings that differed from the one before: only these show a tick.
    pub steps: u64,
    /// Bound of a tick that was not found: it is at most this, in ns; `null` where not even that is
    /// known.
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
    /// Clocks that are known to tick so; `null` if none is.
    pub recognized: Option<String>,
}

worded!(TickEvidence {
    /// The exact tick: `125/3 ns`, `1/3.579545 MHz`, `26 counts of 2596.160 MHz`; `null` where it
    /// has no simple form.
    period: Option<String> = |evidence: &TickEvidence| evidence.exact_tick.as_ref().map(ToString::to_string),
});
written!(TickEvidence);

/// A tick that has a simple form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
        /// Number of counts.
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

impl fmt::Display for ExactTick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fraction { numerator, denominator: 1, unit } => write!(f, "{numerator} {unit}"),
            Self::Fraction { numerator, denominator, unit } => write!(f, "{numerator}/{denominator} {unit}"),
            Self::Counts { counts, frequency_hz } => {
                let plural = if counts == 1 { "" } else { "s" };
                write!(f, "{counts} count{plural} of {:.3} MHz", frequency_hz / 1e6)
            }
            Self::Period { frequency_hz } => write!(f, "1/{} MHz", significant(frequency_hz / 1e6, 7)),
        }
    }
}

/// The reliability of the finding of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_ticks_are_written_with_their_units() {
        let fraction = |numerator, denominator, unit| ExactTick::Fraction { numerator, denominator, unit };
        let counts = |counts| ExactTick::Counts { counts, frequency_hz: 2_596_160_000.0 };
        let period = |frequency_hz| ExactTick::Period { frequency_hz };
        for (tick, text) in [
            (fraction(125, 3, TimeUnit::Ns), "125/3 ns"),
            (fraction(16, 1, TimeUnit::Ns), "16 ns"),
            (fraction(1000, 1, TimeUnit::Ns), "1000 ns"),
            (fraction(10, 3, TimeUnit::Ms), "10/3 ms"),
            (fraction(1, 1, TimeUnit::S), "1 s"),
            (counts(26), "26 counts of 2596.160 MHz"),
            (counts(1), "1 count of 2596.160 MHz"),
            (period(14_318_181.818_2), "1/14.31818 MHz"),
            (period(3_579_545.454_5), "1/3.579545 MHz"),
        ] {
            assert_eq!(tick.to_string(), text);
        }
    }
}
