//! Findings about order across CPUs.

use serde::{Deserialize, Serialize};

use crate::{Figure, Unknown};

/// The result of `clockscope order`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Order", transform = crate::schema::add_unknown))]
pub struct Order {
    /// CPUs that took part, ascending.
    pub cpus: Vec<u32>,
    /// Rounds in which every CPU met every other once.
    pub rounds: u32,
    /// True if the pairs of a round were tested one after the other instead of all at once.
    pub serial: bool,
    /// Pairs of CPUs that were tested.
    pub pairs_checked: u64,
    /// Pairs of CPUs that could not be tested, or not to the end, and why: two for each CPU at
    /// most.
    pub lost: Vec<LostPair>,
    /// Reason why nothing could be tested: `null` where at least one pair of CPUs was.
    pub untestable: Option<Unknown>,
    /// Messages that two threads pass back and forth with no clock in between, per second: what the
    /// hardware can do. `null` where nothing was tested.
    pub bare_handoffs_per_second: Figure<f64>,
    /// One entry a clock and reading sequence.
    pub sequences: Vec<Sequence>,
    /// The readings that each two CPUs handed to each other, all clocks together: each pair that
    /// was tested, ascending.
    pub pairs: Vec<HandoffPair>,
    /// Order of a thread's own stores and its readings: not there without `--stores`, or if no two
    /// CPUs could be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Stores"))]
    pub stores: Option<Stores>,
}

/// The readings that two CPUs handed to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "HandoffPair", transform = crate::schema::add_unknown))]
pub struct HandoffPair {
    /// One CPU.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Mean time of a message from one to the other with no clock read in between, in ns: half of a
    /// round trip.
    pub handoff_ns: Figure<f64>,
    /// Readings that one handed to the other, of all clocks, in both directions.
    pub handoffs: u64,
    /// Those of clocks whose reads are ordered after which the receiver read less.
    pub ordered_regressions: u64,
    /// The same of the other clocks, which may go back without anything being wrong.
    pub unordered_regressions: u64,
}

/// A pair of CPUs that was not tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LostPair {
    /// One CPU.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Reason why it was not tested.
    pub reason: Unknown,
}

/// The result for one clock, read by one sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Sequence", transform = crate::schema::add_unknown))]
pub struct Sequence {
    /// Name of the clock, with its path where that is not the usual one.
    pub name: String,
    /// True if its reads are ordered by their definition. One that is not may step back without
    /// anything being wrong.
    pub ordered: bool,
    /// True if it could be read.
    pub available: bool,
    /// Reason why it could not, or what ended its readings; `null` when nothing did.
    pub reason: Option<Unknown>,
    /// Readings that one CPU handed to another, all pairs together, in both kinds of handoff.
    pub handoffs: u64,
    /// Handoffs per second of one pair.
    pub handoffs_per_second: Figure<f64>,
    /// Times that the receiver then read less than it had been given; `null` if nothing was handed
    /// over.
    pub regressions: Figure<u64>,
    /// Regressions per million handoffs.
    pub regressions_per_million: Figure<f64>,
    /// The largest regression, in ns; `null` if there was none.
    pub worst_ns: Figure<f64>,
    /// The CPUs of that regression, from and to; `null` if there was none.
    pub worst_pair: Figure<[u32; 2]>,
    /// Through a mailbox: each CPU publishes its readings and takes the other's newest.
    pub mailbox: Figure<Handoffs>,
    /// Through a lock: each CPU in its turn reads the clock while it holds it.
    pub lock: Figure<Handoffs>,
}

/// The result of one kind of handoff.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Handoffs {
    /// Readings handed over.
    pub handoffs: u64,
    /// Backward steps.
    pub regressions: u64,
    /// The largest, in ns; `null` if there was none.
    pub worst_ns: Option<f64>,
}

/// The order of a thread's own stores and its readings, tested on two CPUs. One thread stores and
/// then reads the clock; the other reads the clock and then loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stores {
    /// CPU of the thread that stores.
    pub writer: u32,
    /// CPU of the thread that loads.
    pub reader: u32,
    /// One entry for each ordered clock.
    pub clocks: Vec<StoreOrder>,
}

/// The rounds of one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreOrder {
    /// Name of the clock, as in `sequences`.
    pub name: String,
    /// Reason why there are no rounds, or what ended them; `null` if nothing did.
    pub reason: Option<Unknown>,
    /// Rounds in which the writer reads the clock right after its stores.
    pub bare: StoreRoundCounts,
    /// Rounds in which a full fence is between its stores and the reading.
    pub fenced: StoreRoundCounts,
}

/// Counts of rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreRoundCounts {
    /// Rounds.
    pub rounds: u64,
    /// Rounds in which the reader loaded the value from before the store.
    pub earlier_values: u64,
    /// Those of them in which the reader's time was later than the writer's.
    pub violations: u64,
    /// The largest difference of the two times in a violation, in ns; `null` if there was none.
    pub worst_ns: Option<f64>,
}
