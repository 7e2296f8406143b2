//! Defines the results of measurements: plain types with units in their names, and the versioned
//! JSON that they become.
//!
//! This crate measures nothing and computes nothing. It renders only figures with their units
//! ([`units`]), for the sentences in records. Records of this machine and of others are alike. A
//! [`Figure`] is known or has the reason why it is not ([`Unknown`]). An `Option` is `None` where
//! there is nothing to report. Both are `null` in JSON, and the reason of a figure is in the object
//! `unknown` of its record.

mod advice;
mod all_clocks;
mod check;
mod clocksource;
mod comparison;
mod demand;
mod document;
mod emulator;
mod envelope;
mod environment;
mod failure;
mod figure;
mod gaps;
mod kernel_verdict;
mod measurement;
mod offsets;
mod order;
mod performance_counter;
mod policy;
mod rate;
mod reason;
mod recording;
mod runtimes;
mod schema;
mod shootout;
mod sleep;
mod steps;
mod summary;
mod synchronization;
mod text;
mod tick_evidence;
mod trust;
pub mod units;
mod verdict;
mod windows;
mod words;

pub use clockscope_core::counter::FrequencySource;
pub use clockscope_core::{CivilState, ClockBasis, ClockKind, Finding, ReadPath};

pub use advice::{
    Advice, AdviceRow, Candidate, ForShorter, LeftOut, LeftOutCause, Recommendation, ScaleSource, TickIs,
};
pub use all_clocks::{AllClocks, SystemClock};
pub use check::{
    Check, CheckEvidence, CheckKind, CostCause, HypervisorStatement, RateChange, ReadFailure, ReferenceProblem,
    Suspect, Untested,
};
pub use clocksource::{Clocksource, Clocksources, LeftBehind, Switched, SwitchedBy};
pub use comparison::{
    AppearedEvents, ChangedFact, ClockComparison, ComparedFact, ComparedSide, ComparedVerdict, Comparison,
    ComparisonBasis, CostChange, CostRatio, FactValue, FaultKind, MachineComparison, Undecided,
};
pub use demand::{Demand, DemandTarget, DemandValue, Demanded};
pub use document::{Document, DocumentKind, Info, Listing, ReadError};
pub use emulator::{Emulator, Hypervisor};
pub use envelope::{Contents, Envelope};
pub use environment::{CounterFlags, Cpu, Environment, Frequencies, Kernel, MoveNotice, MoveNotices, Program};
pub use failure::{CpuFailure, Failure, PairsFailure, RuntimeFailure};
/// A figure, or why it is unknown.
///
/// In JSON, an unknown figure is `null`, and its reason is in the object `unknown` of the nearest
/// record that has one, under the figure's path: `tick_ns`, `events.jump`.
pub use figure::Figure;
pub use figure::Figures;
pub use gaps::{Cause, CauseKind, CpuGaps, GapCounts, Gaps, InterruptCount, WorstGap};
pub use kernel_verdict::{KernelCause, KernelVerdict, LogFault, WatchdogIntervals};
pub use measurement::{
    Baseline, BaselineRun, BetweenRuns, ClockIdentity, ClockRecord, Cost, Events, Extended, FastestCounter, Listed,
    Measurement, Monotonic, Run, TimerRecord,
};
pub use offsets::{CpuOffset, OffsetPair, Offsets};
pub use order::{HandoffPair, Handoffs, LostPair, Order, Sequence};
pub use performance_counter::{BootCommand, PerformanceCounter, PerformanceHardware, PerformanceReason};
pub use policy::{ClockDemands, Policy};
pub use rate::{Adjtimex, Allan, Changed, Mtie, RatePair, RateRecord, Rates, Step};
pub use reason::{
    ClockReason, CpuLimit, CpusReason, ErrorCause, OtherReason, PairsReason, RatePairFailure, RateReason,
    ReadingsReason, SignalMeaning, SystemError, TickReason, Unknown, UnreadableClock, texts, with_unreadable,
};
pub use recording::{RecordedBatch, RecordedClock, RecordedRun, RecordedTimer, Recording, Resolution, TimerRate, Unit};
pub use runtimes::{
    ComparedApi, MovedBy, RuntimeFound, RuntimeRecord, Runtimes, RuntimesFound, SurprisingApi, SurprisingFact,
};
pub use schema::{DOCUMENT_SCHEMA, POLICY_SCHEMA, RECORDING_SCHEMA, SCHEMA_VERSION, indented};
pub use shootout::{Metric, MetricKind, Shootout, Winner};
pub use sleep::{Sleep, SleepRow};
pub use steps::{Bin, DifferenceRecord, ModeRecord, Steps, StepsRecord, Worst, WorstRecord};
pub use summary::Summary;
pub use synchronization::{ChronyTracking, PtpClock, Synchronization};
pub use text::{counted, grouped, is_steering, printable, show_cpus};
pub use tick_evidence::{ExactTick, Strength, TickEvidence};
pub use trust::{Trust, Verdict};
pub use units::TimeUnit;
pub use verdict::{Trustworthiness, Use, Uses};
pub use windows::{TimeAdjustment, WindowsFacts};
