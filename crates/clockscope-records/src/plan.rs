//! Which clock to use for intervals of which length.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figure::{add_unknown, record};
use crate::unnamed::known_word;
use crate::{Figure, UnfitFailure};

/// The result of `clockscope advise`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "Plan", transform = add_unknown)]
pub struct Plan {
    /// The relative error that is accepted, e.g. 0.01.
    pub error: f64,
    /// One row an interval, in ascending order; `[]` where it is unknown.
    #[serde(with = "crate::figure::list")]
    #[schemars(with = "Vec<PlanRow>")]
    pub rows: Figure<Vec<PlanRow>>,
    /// Every clock that was weighed, the one with the smallest error first.
    pub clocks: Vec<Candidate>,
    /// Clocks that were not weighed, and why.
    pub unfit: Vec<Unfit>,
}

record!(Plan { rows });

/// What to do for intervals of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRow {
    /// The interval's length, in ns.
    pub interval_ns: f64,
    /// The clock whose single measurement is off by least.
    pub clock: String,
    /// By what share a single measurement may be off: (overhead + tick + jitter) / interval.
    pub single_error: f64,
    /// How often to repeat what is measured between the two reads, so that the error is at most the
    /// one accepted.
    pub repetitions: u64,
    /// The cheapest clock whose single measurement is good enough; `null` where none is.
    pub cheapest_sufficient: Option<String>,
}

/// A clock that was weighed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Its name.
    pub clock: String,
    /// Cost per read, in ns.
    pub cost_ns: f64,
    /// Overhead of a measurement, in ns: the median difference of two reads with nothing
    /// between them, or what a read costs if that is more.
    pub overhead_ns: f64,
    /// Its tick, or what is known instead: its upper bound, the smallest step that was seen.
    pub tick_ns: f64,
    /// What that is.
    pub tick_is: TickIs,
    /// 99th percentile of the differences less the median, in ns.
    pub jitter_ns: f64,
    /// What two reads in one expression usually differ by, in ns: from the smallest to the 99th
    /// percentile.
    pub two_reads_ns: [f64; 2],
    /// The most that two reads in a row differed by or may differ by, in ns: one tick at least.
    pub two_reads_max_ns: f64,
}

/// What a figure says of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TickIs {
    /// It is this.
    Found,
    /// It is at most this.
    AtMost,
    /// It is not known; this is the smallest step that was seen.
    ObservedStep,
}

/// A clock that was not weighed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unfit {
    /// Its name.
    pub clock: String,
    /// Why, for people: clockscope makes it of `failure` whenever it writes a document.
    pub reason: Option<String>,
    /// The same for programs; `null` in older records.
    #[serde(default, deserialize_with = "known_word")]
    pub failure: Option<UnfitFailure>,
}
