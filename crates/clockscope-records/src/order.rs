//! Findings about order across CPUs.

use serde::{Deserialize, Serialize};

use crate::figure::record;
use crate::{CpuFailure, Failure, Figure, PairsFailure, Unknown};

/// The result of `clockscope order`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Order", transform = crate::schema::add_unknown))]
#[serde(remote = "Self")]
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
    /// The failure; `null` if nothing failed.
    pub failure: Option<PairsFailure>,
    /// Messages that two threads pass back and forth with no clock in between, per second: what the
    /// hardware can do. `null` where nothing was tested.
    pub bare_handoffs_per_second: Figure<f64>,
    /// One entry a clock and reading sequence.
    pub sequences: Vec<Sequence>,
    /// The readings that each two CPUs handed to each other, all clocks together: each pair that
    /// was tested, ascending.
    pub pairs: Vec<HandoffPair>,
}

record!(Order { bare_handoffs_per_second });

/// The readings that two CPUs handed to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "HandoffPair", transform = crate::schema::add_unknown))]
#[serde(remote = "Self")]
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

record!(HandoffPair { handoff_ns });

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
    /// The failure.
    pub failure: Option<CpuFailure>,
}

/// The result for one clock, read by one sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Sequence", transform = crate::schema::add_unknown))]
#[serde(remote = "Self")]
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
    /// The failure; `null` if nothing failed.
    pub failure: Option<Failure>,
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

record!(Sequence { handoffs_per_second, regressions, regressions_per_million, worst_ns, worst_pair, mailbox, lock });

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
