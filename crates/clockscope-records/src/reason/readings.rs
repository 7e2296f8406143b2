//! Reasons why the readings of one clock show no figure.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::Failure;

/// Reason why a clock's readings show no cost, no step and no event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ReadingsReason {
    /// The clock cannot be read, or failed.
    ClockFailed {
        /// The failure.
        failure: Option<Failure>,
        /// The reason.
        because: Box<Unknown>,
    },
    /// No batch of reads was completed.
    NoBatch,
    /// Fewer batches were completed than a cost needs.
    NoCost {
        /// So many are needed.
        fewest: u64,
    },
    /// Fewer batches were completed than this figure needs.
    FewBatches {
        /// So many are needed.
        fewest: u64,
    },
    /// Batches of reads took no time on the timer.
    CoarseTimer,
    /// Most batches of reads took no time on the runtime's own timer.
    CoarseRuntimeTimer,
    /// No counter could be measured to compare with.
    NoCounterMeasured,
    /// No two successive readings differed by a positive step.
    NoForwardStep,
    /// No two successive readings of one batch did.
    NoForwardStepInBatch,
    /// It counts core cycles, whose length changes.
    NoLength,
    /// No two readings followed one another.
    NoDifferences,
    /// All differences are 0.
    NoAdvance,
    /// There are fewer than two readings.
    FewReadings,
    /// It counts processor time, which stands still while the thread does not run.
    CpuTime,
    /// It counts work, not time.
    CountsWork,
    /// The clock's tick is longer than a batch of reads.
    LongTick,
    /// Its value changed between no two batches of reads.
    NoChange,
    /// The kernel's clocksource is not known, which decides whether two clocks share hardware.
    ClocksourceUnknown,
    /// The kernel does not show its clocksource, which the clock is based on.
    ClocksourceHidden,
    /// This program does not know the kernel's clocksource.
    ClocksourceUnfamiliar {
        /// Its name.
        clocksource: String,
    },
    /// The kernel does not show what the scheduler's clock is based on.
    SchedulerHidden,
    /// It is one count, whose length has to be measured.
    OneCount,
    /// The clock states no resolution.
    NoNominalResolution {
        /// The reason, in the words of the clock's description.
        words: String,
    },
    /// The API states neither a frequency nor a resolution.
    NoNominalInApi,
    /// The probe does not state it.
    NotStatedByProbe,
    /// There were several runs: `between_runs` has what they show.
    SeveralRuns,
    /// There were fewer runs than an interval between runs needs.
    FewRuns {
        /// So many are needed.
        fewest: u32,
    },
    /// The runs found different ticks.
    DifferentTicks,
    /// Not every run found it.
    NotEveryRun,
    /// The record has none of its events.
    NoEvents,
}

impl fmt::Display for ReadingsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::ClockFailed { because, .. } => return because.fmt(f),
            Self::NoNominalResolution { words } => words,
            Self::NoBatch => "no batch of reads was completed",
            Self::NoCost { fewest } => {
                return write!(f, "fewer than {fewest} batches were completed: interruptions would count as cost");
            }
            Self::FewBatches { fewest } => return write!(f, "fewer than {fewest} batches: give it more time"),
            Self::CoarseTimer => "batches of reads took no time on the timer",
            Self::CoarseRuntimeTimer => {
                "the runtime's own timer is too coarse: most batches of reads took no time on it"
            }
            Self::NoCounterMeasured => "no counter could be measured to compare with",
            Self::NoForwardStep => "no two successive readings differed by a positive step",
            Self::NoForwardStepInBatch => "it never stepped forward within a batch of reads: give it more time",
            Self::NoLength => "it counts core cycles, whose length changes",
            Self::NoDifferences => "no two readings followed one another",
            Self::NoAdvance => "all differences are 0: the clock did not advance",
            Self::FewReadings => "fewer than two readings",
            Self::CpuTime => "a CPU-time clock rightly stands still while the thread does not run",
            Self::CountsWork => "it counts work, not time",
            Self::LongTick => "the clock's tick is longer than a batch of reads",
            Self::NoChange => "its value changed between no two batches of reads",
            Self::ClocksourceUnknown => "the kernel's clocksource is not known",
            Self::ClocksourceHidden => "the kernel does not show its clocksource",
            Self::ClocksourceUnfamiliar { clocksource } => {
                return write!(f, "this program does not know the clocksource {clocksource}");
            }
            Self::SchedulerHidden => "the kernel does not show what the scheduler's clock is based on",
            Self::OneCount => "one count, whose length has to be measured",
            Self::NoNominalInApi => {
                "the API states neither a frequency nor a resolution, and gives a floating-point number"
            }
            Self::NotStatedByProbe => "the probe does not state it",
            Self::SeveralRuns => "there were several runs: see between_runs",
            Self::FewRuns { fewest } => return write!(f, "fewer than {fewest} runs"),
            Self::DifferentTicks => "the runs found different ticks",
            Self::NotEveryRun => "not every run found it",
            Self::NoEvents => "it was not found",
        };
        f.write_str(words)
    }
}
