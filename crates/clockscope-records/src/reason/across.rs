//! Reasons why a question about several CPUs, or about a thread's time, has no figure.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NOT_RECORDED, SystemError, Unknown};
use crate::{CpuFailure, Failure, show_cpus};

/// Reason why no pair of CPUs could be tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PairsReason {
    /// The system does not show which CPUs the process may run on.
    UnknownCpus,
    /// One CPU alone takes part.
    OneCpu {
        /// This one.
        cpu: u32,
        /// Reason why no other takes part.
        limit: Option<CpuLimit>,
    },
    /// No clock is there that could be tested.
    NoClock,
    /// No counter can be read.
    NoCounter {
        /// The failure.
        failure: Option<Failure>,
        /// The reason.
        because: Box<Unknown>,
    },
    /// The counter stood still while it was calibrated.
    StoodStill {
        /// The clock that it was compared with.
        reference: String,
    },
    /// No pair could be tested to the end.
    AllLost {
        /// The failure of the first pair; `null` where that has no word.
        failure: Option<CpuFailure>,
        /// The reason.
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

/// Reason why a pair of CPUs, a CPU or a thread has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CpusReason {
    /// The pair was not tested to the end.
    PairFailed {
        /// The failure.
        failure: Option<CpuFailure>,
        /// The reason.
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
        /// The reason.
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

/// Reason why a thread's lost time, its sleeps or its CPU are unknown.
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
        /// The reason, in the system's own words.
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

impl fmt::Display for PairsReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCpus => f.write_str("the system does not show which CPUs this process may run on"),
            Self::OneCpu { cpu, limit } => match limit {
                Some(CpuLimit::Machine) => {
                    write!(f, "CPU {cpu} is the only one that is online, so that no other can disagree")
                }
                Some(CpuLimit::Process) => {
                    write!(f, "this process may run on CPU {cpu} alone (taskset, cpuset), and two CPUs are needed")
                }
                Some(CpuLimit::Request) => {
                    write!(f, "only CPU {cpu} was asked for, and two are needed: name two by --cpus")
                }
                None => write!(f, "only CPU {cpu} takes part, and two are needed"),
            },
            Self::NoClock => f.write_str("no clock whose order could be tested"),
            Self::NoCounter { because, .. } | Self::AllLost { because, .. } => because.fmt(f),
            Self::StoodStill { reference } => {
                write!(f, "the counter stood still while it was compared with {reference}")
            }
        }
    }
}

impl fmt::Display for CpusReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::PairFailed { because, .. } => return because.fmt(f),
            Self::ThreadNotStarted { error } => return write!(f, "no thread can be started: {}", error.words),
            Self::ThreadPanicked => "its thread ended by a panic",
            Self::CpuMissing { words } => return write!(f, "no thread can be bound: {words}"),
            Self::BindDenied { cpu, words } => {
                return not_bound(f, *cpu, words, "does a seccomp filter or a container forbid it?");
            }
            Self::NotBound { cpu, words } => return not_bound(f, *cpu, words, "is it online, and in the cpuset?"),
            Self::MovedAway { from, to } => return moved(f, "its thread", *from, *to),
            Self::PeerMissing => "the thread on the other CPU did not come",
            Self::NotRecorded => NOT_RECORDED,
            Self::VdsoRefused { error } => return write!(f, "the vDSO refused: {}", error.words),
            Self::KernelClockStill => "the kernel's clock stood still",
            Self::CounterParted => "the first CPU's counter did not advance as the kernel's clock did",
            Self::ReferenceParted => {
                "the counter did not advance as the reference did: one of them stood still, stepped or changed its rate"
            }
            Self::TimerFailed => "the timer stood still, or went back",
            Self::OfPair { a, b, because } => return write!(f, "CPUs {a} and {b}: {}", because),
            Self::NoConstantOffset => "no constant offset explains all exchanges: it changed during the run",
            Self::NoExchange => "no exchange was completed",
            Self::FewExchanges => "other programs left too little time for exchanges in both directions",
            Self::InterruptedDirection => "other programs interrupted every exchange of one direction",
            Self::OneDirection => "one direction alone was measured, or its offset changed",
            Self::NoPairTested => "no pair of CPUs was tested",
            Self::NoPairOffset => "no pair of CPUs has an offset",
            Self::FewCpus => "it takes three CPUs whose offsets are known",
            Self::NoHandoffInTime => "interrupted before anything was handed over",
            Self::Untimed => {
                "the reference failed, or did not advance as the counter did: one of them stood still, stepped or changed \
                 its rate"
            }
            Self::Interrupted => "interrupted before its turn",
            Self::OutOfTime => "the time was over before its turn",
            Self::NoHandoff => "nothing was handed over",
            Self::SameReadings => "all of its readings were the same",
            Self::NoRegression => "no reading went back",
        };
        f.write_str(words)
    }
}

impl fmt::Display for ThreadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGap => f.write_str("there was no gap"),
            Self::NotLookedAt => f.write_str("nothing was looked at"),
            Self::FewGaps { fewest } => write!(f, "fewer than {fewest} gaps"),
            Self::Unbound => f.write_str("the thread could not be pinned"),
            Self::NoAccount => f.write_str("the kernel keeps no account of it, or nothing was looked at"),
            Self::TimerSlackHidden => f.write_str("the system does not show it"),
            Self::FewSleeps { fewest } => write!(f, "fewer than {fewest} sleeps"),
            Self::SleepersClockUnreadable => f.write_str("CLOCK_MONOTONIC, by which the calls sleep, cannot be read"),
            Self::SleepsLeftOut { left_out } => {
                write!(
                    f,
                    "{left_out} sleeps are left out: the clock refused, stood still, went back or jumped meanwhile"
                )
            }
            Self::OnEachCpu { cpus } => write!(f, "a thread on each of CPUs {}", show_cpus(cpus)),
            Self::NotPinned { words } => write!(f, "not pinned: {words}"),
            Self::CpuHidden => f.write_str("not pinned: the system does not show which CPU the thread runs on"),
            Self::ThreadMoved { from, to } => moved(f, "not pinned: the thread", *from, *to),
        }
    }
}

fn not_bound(f: &mut fmt::Formatter<'_>, cpu: u32, words: &str, hint: &str) -> fmt::Result {
    write!(f, "no thread can be bound to CPU {cpu} ({words}): {hint}")
}

fn moved(f: &mut fmt::Formatter<'_>, thread: &str, from: u32, to: u32) -> fmt::Result {
    write!(f, "{thread} was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?")
}
