//! Findings about the offsets of the CPUs' counters.

use serde::{Deserialize, Serialize};

use crate::{Figure, Unknown};

/// The result of `clockscope order --offsets`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Offsets", transform = crate::schema::add_unknown))]
pub struct Offsets {
    /// The counter's reading sequence; `null` where no counter can be read.
    pub counter: Figure<String>,
    /// CPUs that took part, ascending.
    pub cpus: Vec<u32>,
    /// Rounds in which every CPU met every other once.
    pub rounds: u32,
    /// True if the pairs of a round were tested one after the other instead of all at once.
    pub serial: bool,
    /// Reason why nothing could be tested: `null` where at least one pair of CPUs was.
    pub untestable: Option<Unknown>,
    /// Steps that the counter moves in, in ns: part of every bound.
    pub tick_ns: Figure<f64>,
    /// One entry a pair of CPUs.
    pub pairs: Vec<OffsetPair>,
    /// The counter of each CPU against the kernel's clock there, relative to the first CPU; empty
    /// where the kernel has no vDSO.
    pub vdso: Vec<CpuOffset>,
    /// The largest offset that is possible between any two CPUs, in ns: all are synchronized within
    /// this. `null` unless every pair was tested.
    pub within_ns: Figure<f64>,
    /// The pair that may be furthest apart; first of all one whose offset changed during the run.
    pub worst_pair: Figure<[u32; 2]>,
    /// Pairs that are certainly apart.
    pub apart: u64,
    /// The most by which the offsets of three CPUs fail to add up, in ns: what ways of unequal
    /// length account for, beside what the bounds allow. `null` for fewer than three CPUs.
    pub closure_ns: Figure<f64>,
}

/// The offset between two CPUs' counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OffsetPair", transform = crate::schema::add_unknown))]
pub struct OffsetPair {
    /// One CPU.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// The counter of `b` less that of `a`, in ns.
    pub offset_ns: Figure<f64>,
    /// Bound of its error, in ns.
    pub bound_ns: Figure<f64>,
    /// The same offset in the counter's unit.
    pub offset_counts: Figure<f64>,
    /// Messages that went back and forth.
    pub exchanges: u64,
    /// The tightest round trip, in ns, without the time to answer.
    pub round_trip_ns: Figure<f64>,
    /// By how much the offset differs if the other CPU begins, in ns.
    pub asymmetry_ns: Figure<f64>,
    /// True if that is less than a fifth of the tightest round trip and two of the counter's steps:
    /// otherwise which CPU starts makes a difference. A way that takes longer in one direction,
    /// whoever asks, looks like an offset; it is inside the bound.
    pub symmetric: Figure<bool>,
    /// True if the two are certainly apart: zero is outside of the bound, or no constant offset
    /// explains what was seen. `null` for a pair that was not tested.
    pub apart: Figure<bool>,
    /// Reason why the pair was not tested; `null` when it was.
    pub reason: Option<Unknown>,
}

/// The counter of one CPU against the kernel's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CpuOffset {
    /// The CPU.
    pub cpu: u32,
    /// The lead of its counter over the kernel's clock, less the same on the first CPU, in ns.
    pub offset_ns: Option<f64>,
    /// Bound of its error, in ns.
    pub bound_ns: Option<f64>,
    /// Reason why there is none; `null` when there is.
    pub reason: Option<Unknown>,
}
