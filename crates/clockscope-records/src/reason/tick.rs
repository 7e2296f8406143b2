//! Reasons why readings show no tick.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::printable::counted;

/// Reason why a clock's tick is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// No tick shows that is longer than a few of its units, and its readings are too regular to
    /// show a shorter one.
    NoneShown,
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
    /// All readings differ by multiples of a number of counts, which may be the tick or the read's
    /// own cost.
    MultiplesOf {
        /// The number of counts.
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

impl fmt::Display for TickReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::FewSteps => "its value changed fewer than three times: give it more time",
            Self::FewDifferences => "too few readings differ to show a tick: give it more time",
            Self::ConstantCost => "its steps may be the read's own cost, which cannot be separated from a tick",
            Self::SeveralTicks => "several ticks fit so few readings: give it more time",
            Self::SlowReads => "its reads take too long for its unit",
            Self::RateChanged => "its rate changed while it was read",
            Self::StepsBack => "it steps back too often",
            Self::NoLattice => "its readings are not multiples of one length",
            Self::NoneShown => "its reads are too regular to show a tick shorter than three units",
            Self::TooFine { at_most_ns } => {
                return at_most(f, "too fine to be separated from the clock's unit", *at_most_ns);
            }
            Self::TooFineForApi { at_most_ns } => {
                return at_most(f, "too fine to be separated from the API's unit", *at_most_ns);
            }
            Self::LikeCost { at_most_ns } => {
                return at_most(f, "too few readings to separate a tick from the read's own cost", *at_most_ns);
            }
            Self::MultiplesOf { counts, at_most_ns } => {
                let counts = counted(*counts, "count");
                let why = format!("each difference is a multiple of {counts}, by its tick or by the read's own cost");
                return at_most(f, &why, *at_most_ns);
            }
            Self::FewEqualSteps { at_most_ns } => {
                return at_most(f, "it moved fewer than eight times: give it more time", *at_most_ns);
            }
        };
        f.write_str(words)
    }
}

fn at_most(f: &mut fmt::Formatter<'_>, why: &str, ns: f64) -> fmt::Result {
    write!(f, "{why}: at most {ns:.3} ns")
}
