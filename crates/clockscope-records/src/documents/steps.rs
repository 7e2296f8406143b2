//! Findings from sequential reads of clocks.

use serde::{Deserialize, Serialize};

use crate::{ClockIdentity, Events, Figure, Summary, TickEvidence, Unknown};

/// One run of `clockscope steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Steps {
    /// One record a clock and path, in the order of the catalog.
    pub clocks: Vec<StepsRecord>,
}

/// The differences between successive readings of one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "StepsRecord", transform = crate::schema::add_unknown))]
pub struct StepsRecord {
    /// Its identity.
    #[serde(flatten)]
    pub identity: ClockIdentity,
    /// True if it could be read.
    pub available: bool,
    /// Reason why it could not be read, or what disturbed its readings; `null` when nothing did.
    pub reason: Option<Unknown>,
    /// Length of the unit of `units` below, in ns: one count of a counter, 1 for a clock in ns.
    pub unit_ns: Figure<f64>,
    /// The step of the lattice on which the readings lie, in ns.
    pub tick_ns: Figure<f64>,
    /// The evidence for the tick.
    pub tick_evidence: Option<TickEvidence>,
    /// The distinct differences in ascending order, up to 99.99 % of all. Readings of a batch
    /// follow one another without a pause; differences across batches are not among them.
    pub differences: Vec<DifferenceRecord>,
    /// The ten largest distinct differences, the largest first.
    pub largest: Vec<DifferenceRecord>,
    /// Differences that were rounded down to 0.1 %, because tens of thousands of others were known
    /// already.
    pub rounded: u64,
    /// Figures of all differences, in ns.
    pub summary: Figure<Summary>,
    /// Figures of the differences other than 0, in ns.
    pub summary_nonzero: Figure<Summary>,
    /// The values around which the differences gather, in ascending order: one for a plain
    /// distribution.
    pub modes: Vec<Mode>,
    /// All differences in bins of equal ratio, eight for each doubling; steps back and zeros in
    /// bins of their own.
    pub histogram: Vec<Bin>,
    /// The first readings of all, in units and less the first of them: as a staircase. Older
    /// records do not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_readings: Vec<i64>,
    /// Events between readings.
    pub events: Option<Events>,
    /// The ten worst of each kind of event.
    pub worst: Worst,
}

/// Number of times that a difference was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceRecord {
    /// The difference, in the clock's own unit.
    pub units: i64,
    /// The same in ns; `null` for a clock whose unit has no fixed length.
    pub ns: Option<f64>,
    /// Number of times that it was seen.
    pub count: u64,
}

/// A value around which differences gather.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mode {
    /// Its most frequent difference, in ns.
    pub ns: f64,
    /// The share of all differences that belong to it, 0 to 1.
    pub share: f64,
}

/// A bin of a histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bin {
    /// Its lower end, in ns; `null` for all that is below.
    pub from_ns: Option<f64>,
    /// Its upper end, in ns, which is not in it; the bin of 0 has both ends at 0.
    pub to_ns: f64,
    /// Differences in it.
    pub count: u64,
}

/// The ten worst events of each kind, the worst first. docs/reference/method/events.md has the
/// definitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "as in Events")]
pub struct Worst {
    pub stuck: Vec<WorstEvent>,
    pub stall: Vec<WorstEvent>,
    pub warp: Vec<WorstEvent>,
    pub jump: Vec<WorstEvent>,
    pub gap: Vec<WorstEvent>,
    pub regression: Vec<WorstEvent>,
    pub hidden_regression: Vec<WorstEvent>,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstEvent {
    /// Its time, in seconds since the clock's first batch; as exact as a batch is long.
    pub at_s: f64,
    /// Its size in ns; `null` for stuck readings and stalls.
    pub size_ns: Option<f64>,
    /// Repeats of one value; `null` for all but stuck readings and stalls.
    pub repeats: Option<u64>,
}

impl WorstEvent {
    /// Returns an event of this size at this time, both in ns.
    #[must_use]
    pub fn sized(at_ns: f64, size_ns: f64) -> Self {
        Self { at_s: at_ns / 1e9, size_ns: Some(size_ns), repeats: None }
    }

    /// Returns a run of repeats at this time, in ns.
    #[must_use]
    pub fn repeated(at_ns: f64, repeats: u64) -> Self {
        Self { at_s: at_ns / 1e9, size_ns: None, repeats: Some(repeats) }
    }
}
