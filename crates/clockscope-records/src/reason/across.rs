//! Why a question about several CPUs, or about a thread's time, has no figure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SystemError, Unknown};
use crate::unnamed::known_word;
use crate::{CpuFailure, Failure};

/// Why no pair of CPUs could be tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PairsReason {
    /// The system does not show which CPUs the process may run on.
    UnknownCpus,
    /// One CPU alone takes part.
    OneCpu {
        /// This one.
        cpu: u32,
        /// Why no other takes part; `null` in older records.
        #[serde(default, deserialize_with = "known_word")]
        limit: Option<CpuLimit>,
    },
    /// No clock is there that could be tested.
    NoClock,
    /// No counter can be read.
    NoCounter {
        /// What failed; `null` in records of older programs.
        #[serde(default, deserialize_with = "known_word")]
        failure: Option<Failure>,
        /// Why; a sentence in records of older programs.
        #[serde(alias = "words")]
        because: Box<Unknown>,
    },
    /// The counter stood still while it was calibrated.
    StoodStill {
        /// The clock that it was compared with.
        reference: String,
    },
    /// No pair could be tested to the end.
    AllLost {
        /// What failed of the first pair; `null` where that has no word.
        #[serde(default, deserialize_with = "known_word")]
        failure: Option<CpuFailure>,
        /// Why; a sentence in records of older programs.
        #[serde(alias = "words")]
        because: Box<Unknown>,
    },
}

/// The reason that one CPU alone takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CpuLimit {
    /// The machine has no other that is online.
    Machine,
    /// The process may run on no other.
    Process,
    /// No other was asked for.
    Request,
}

/// Why a pair of CPUs, a CPU or a thread has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CpusReason {
    /// The pair was not tested to the end.
    PairFailed {
        /// What failed; `null` in records of older programs.
        #[serde(default, deserialize_with = "known_word")]
        failure: Option<CpuFailure>,
        /// Why; a sentence in records of older programs.
        #[serde(alias = "words")]
        because: Box<Unknown>,
    },
    /// The system started no thread.
    ThreadNotStarted {
        /// The error.
        error: SystemError,
    },
    /// The thread panicked.
    ThreadPanicked,
    /// The machine has no such CPU that a thread could be bound to.
    CpuMissing {
        /// The CPU, and those that are there, in the system's own words.
        words: String,
    },
    /// The system denies it to bind a thread to the CPU.
    BindDenied {
        /// The CPU.
        cpu: u32,
        /// The error, in the system's own words.
        words: String,
    },
    /// A thread could not be bound to the CPU.
    NotBound {
        /// The CPU.
        cpu: u32,
        /// The error, in the system's own words.
        words: String,
    },
    /// The thread was on another CPU when it ended.
    MovedAway {
        /// The CPU that it was bound to.
        from: u32,
        /// The CPU that it was on.
        to: u32,
    },
    /// The thread on the other CPU did not come.
    PeerMissing,
    /// A recording holds no other threads.
    NotRecorded,
    /// The vDSO refused to read the kernel's clock.
    VdsoRefused {
        /// The error.
        error: SystemError,
    },
    /// The kernel's clock stood still.
    KernelClockStill,
    /// The first CPU's counter did not advance as the kernel's clock did.
    CounterParted,
    /// The counter did not advance as the reference did.
    ReferenceParted,
    /// The timer stood still, or went back.
    TimerFailed,
    /// A pair has no offset.
    OfPair {
        /// One CPU.
        a: u32,
        /// The other.
        b: u32,
        /// Why.
        because: Box<Unknown>,
    },
    /// No constant offset explains all exchanges.
    NoConstantOffset,
    /// No exchange was completed.
    NoExchange,
    /// Too little time was left for exchanges in both directions.
    FewExchanges,
    /// Every exchange of one direction was interrupted.
    InterruptedDirection,
    /// One direction alone was measured, or its offset changed.
    OneDirection,
    /// No pair of CPUs was tested.
    NoPairTested,
    /// No pair of CPUs has an offset.
    NoPairOffset,
    /// Fewer than three CPUs have offsets.
    FewCpus,
    /// The run was interrupted before anything was handed over.
    NoHandoffInTime,
    /// The time of no slice is known.
    Untimed,
    /// The run was interrupted before its turn.
    Interrupted,
    /// The time was over before its turn.
    OutOfTime,
    /// Nothing was handed over.
    NoHandoff,
    /// All of its readings were the same.
    SameReadings,
    /// No reading went back.
    NoRegression,
}

/// Why a thread's lost time, its sleeps or its CPU are unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ThreadReason {
    /// There was no gap.
    NoGap,
    /// Nothing was looked at.
    NotLookedAt,
    /// There were fewer gaps than this figure needs.
    FewGaps {
        /// So many are needed.
        fewest: u64,
    },
    /// The thread could not be pinned.
    Unbound,
    /// The kernel keeps no account of it, or nothing was looked at.
    NoAccount,
    /// The system does not show by how much a sleep may be late.
    TimerSlackHidden,
    /// There were fewer sleeps than this figure needs.
    FewSleeps {
        /// So many are needed.
        fewest: u64,
    },
    /// The clock by which the calls sleep cannot be read.
    SleepersClockUnreadable,
    /// The clock did not measure the sleeps.
    SleepsLeftOut {
        /// So many.
        left_out: u64,
    },
    /// A thread is on each of several CPUs.
    OnEachCpu {
        /// These.
        cpus: Vec<u32>,
    },
    /// The thread is not pinned.
    NotPinned {
        /// Why, in the system's own words.
        words: String,
    },
    /// The system does not show which CPU the thread runs on.
    CpuHidden,
    /// The thread was moved to another CPU.
    ThreadMoved {
        /// From this one.
        from: u32,
        /// To this one.
        to: u32,
    },
}
