//! The result of a comparison of a machine's records with later ones.

use serde::{Deserialize, Serialize};

use crate::{Figure, Trustworthiness};

/// The result of `clockscope compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The records that are compared with.
    pub base: ComparedSide,
    /// The records that are judged.
    pub new: ComparedSide,
    /// True if they are of another machine.
    pub is_other_machine: bool,
    /// The change of a cost that does not matter, as a share: ratios from 1 / (1 + margin) to 1 +
    /// margin are the same.
    pub margin: f64,
    /// Probability, at most, that bounds of any of the clocks miss the truth.
    pub misrate: f64,
    /// Facts that differ.
    pub changes: Vec<ChangedFact>,
    /// Clocks whose verdicts both sides have; empty for records of `measure`.
    pub verdicts: Vec<ComparedVerdict>,
    /// The change of the machine's speed, which moves all costs; `null` for records of `check`.
    pub machine: Option<MachineComparison>,
    /// One entry a clock and path that either side has; empty for records of `check`.
    pub clocks: Vec<ClockComparison>,
}

/// One of the two sides of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedSide {
    /// The names of the files; empty for what was measured just now.
    pub files: Vec<String>,
    /// Number of runs that the records are of.
    pub runs: u32,
    /// Time at which the first record was made, RFC 3339 in UTC; `null` where that is unknown.
    pub first_recorded_at: Option<String>,
    /// Time at which the last one was made; `null` where that is unknown.
    pub last_recorded_at: Option<String>,
}

/// A fact that differs between the two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangedFact {
    /// The fact.
    pub fact: ComparedFact,
    /// The clock that it is about; `null` for the machine.
    pub clock: Option<String>,
    /// Its values in the records that are compared with; empty where none of them has it.
    pub base: Vec<FactValue>,
    /// Its values in the records that are judged.
    pub new: Vec<FactValue>,
}

/// A record's value of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FactValue {
    /// Nothing, as of a period that was not requested: `null` in JSON.
    Nothing,
    /// True if it is so.
    Flag(bool),
    /// A number: how many, or of which CPU.
    Number(u64),
    /// A time.
    Time {
        /// In ns.
        ns: f64,
    },
    /// The name of it.
    Name(String),
    /// The names of them: of clocksources, or of flags that are set.
    Names(Vec<String>),
    /// The program.
    Program {
        /// Its version.
        version: String,
        /// The architecture and the system that it was built for.
        target: String,
        /// True if it was built without optimization.
        debug_build: bool,
    },
}

/// A fact that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedFact {
    /// The kernel's clocksource.
    Clocksource,
    /// The clocksources that the kernel offers.
    ClocksourcesAvailable,
    /// The kernel's vDSO: mapped or not.
    Vdso,
    /// The clock that `measure` recommends for intervals.
    Recommendation,
    /// The clock's readability.
    Readable,
    /// The clock's tick.
    Tick,
    /// The kernel: name, release and build.
    Kernel,
    /// The program: version, target and build.
    Program,
    /// The processor: architecture, vendor and model.
    Processor,
    /// The processor's family, model and stepping.
    ProcessorIdentity,
    /// The revision of the processor's microcode.
    Microcode,
    /// CPUs that are online.
    CpusOnline,
    /// The hypervisor.
    Hypervisor,
    /// The statements of processor and kernel on the counter.
    CounterFlags,
    /// The permission to read the counter.
    CounterReadable,
    /// The governor of the CPU's frequency.
    Governor,
    /// Emulators that the program ran under.
    Emulation,
    /// The CPU that was measured on.
    MeasuredCpu,
    /// The period of the system's timer that was requested.
    TimerPeriod,
}

/// The verdicts on a clock, the worst of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedVerdict {
    /// The clock's name.
    pub clock: String,
    /// The former verdict.
    pub base: Trustworthiness,
    /// The verdict now.
    pub new: Trustworthiness,
}

/// An estimate with its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bounds {
    /// The estimate, within the bounds.
    pub estimate: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The change of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostChange {
    /// It is larger, by more than the margin.
    Slower,
    /// It is smaller, by more than the margin.
    Faster,
    /// It is the same within the margin.
    Same,
    /// It may be any of these.
    Inconclusive,
}

impl CostChange {
    /// Returns the word that JSON has for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The speed of the machine, which moves the costs of all clocks together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MachineComparison", transform = crate::schema::add_unknown))]
pub struct MachineComparison {
    /// The change of the machine's speed, by both of the following: slower, faster or the same.
    pub change: CostChange,
    /// Name of the counter's reading sequence; `null` where no counter was read in all runs.
    pub counter_name: Option<String>,
    /// Ratio of the costs of reading that counter.
    pub counter: Figure<Bounds>,
    /// Ratio of the costs of a turn of the measuring loop without a clock in it.
    pub empty_loop: Figure<Bounds>,
}

/// The cost of a clock on both sides, and the events that only the new side has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ClockComparison", transform = crate::schema::add_unknown))]
pub struct ClockComparison {
    /// The clock's name, with the path where that is not the usual one.
    pub name: String,
    /// The change of the cost of a read, beyond what the machine's speed explains.
    pub change: CostChange,
    /// Reason why that is not known; `null` if it is.
    pub undecided: Option<Undecided>,
    /// Median of the medians of the runs that are compared with, in ns.
    pub base_ns: Figure<f64>,
    /// Median of the medians of the runs that are judged, in ns.
    pub new_ns: Figure<f64>,
    /// The new cost divided by the former one.
    pub ratio: Figure<Bounds>,
    /// The same relative to the machine's speed: within these bounds both by the counter's read and
    /// by the empty loop, or by the one of them that can be used.
    pub own: Figure<Bounds>,
    /// Bounds of the difference of the costs, in ns.
    pub difference_ns: Figure<[f64; 2]>,
    /// The basis of the bounds; `null` where there are none.
    pub basis: Option<ComparisonBasis>,
    /// Runs that have a cost: of those that are compared with, and of those that are judged.
    pub runs: [u32; 2],
    /// Faults that new runs show and none of the others; `null` where a side did not look.
    pub appeared: Option<Vec<AppearedEvents>>,
}

/// The basis of the bounds of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonBasis {
    /// Differences from run to run.
    Runs,
    /// Differences within one run a side, and an allowance for those from run to run.
    Rounds,
}

/// Reason why it is not known if a cost has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// Others were compared: the ones that programs usually read. Each clock more widens the bounds
    /// of all.
    NotCompared,
    /// One side or both have no cost of it.
    NotMeasured,
    /// Each side is one run, and its rounds are not apart by more than runs may be.
    OneRun,
    /// Each side is one run, and has no rounds.
    NoRounds,
    /// A side has fewer than five runs, and they are not apart by more than so few may be.
    FewRuns,
    /// The bounds include both a change and none.
    WideBounds,
    /// An emulator ran the program: costs are its own.
    Emulated,
    /// One side is of a build without optimization.
    DebugBuild,
}

/// A kind of events that new runs show, and none of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AppearedEvents {
    /// The kind.
    pub event: FaultKind,
    /// Their number.
    pub count: u64,
    /// New readings that were checked.
    pub reads: u64,
    /// Former readings that were checked, without such an event.
    pub base_reads: u64,
}

/// A kind of events that a clock must not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Readings smaller than the one before.
    Regression,
    /// Losses of time that no reading shows as a step back.
    HiddenRegression,
    /// Steps forward that the reference did not see.
    Jump,
    /// Runs of 200 repeats or more that the clock's tick does not explain.
    Stuck,
    /// Reads that failed.
    Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_the_words_that_json_has() {
        for change in [CostChange::Slower, CostChange::Faster, CostChange::Same, CostChange::Inconclusive] {
            assert_eq!(serde_json::to_value(change).unwrap(), change.as_str());
        }
    }
}
