//! Reasons why a question about several CPUs has no figure.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Unknown, texts};
use crate::printable::counted;

/// Reason why no pair of CPUs was tested, or not enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
        /// The reason.
        because: Box<Unknown>,
    },
    /// The counter stood still while it was calibrated.
    Stuck {
        /// The clock that it was compared with.
        reference: String,
    },
    /// No pair could be tested to the end.
    AllLost {
        /// The reason of the first pair.
        because: Box<Unknown>,
    },
    /// Too few readings were handed over.
    FewHandoffs {
        /// Their number.
        handoffs: u64,
    },
}

/// The reason that one CPU alone takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CpusReason {
    /// The system refused to start a thread.
    NotStarted {
        /// The error, in the system's own words.
        words: String,
    },
    /// The thread panicked.
    Panicked,
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
    /// The thread on the other CPU ended before the handoffs.
    PeerMissing,
    /// The run was interrupted before the CPU's turn.
    Interrupted,
    /// The kernel's clock, which the counters are compared with, cannot be read by the vDSO.
    ClockRefused {
        /// The error, in the system's own words.
        words: String,
    },
    /// The timer stood still, or went back.
    TimerStopped,
    /// The kernel's clock stood still.
    KernelClockStopped,
    /// The counters and the reference did not advance alike.
    ReferenceParted,
    /// The first CPU's counter and the kernel's clock did not advance alike.
    KernelClockParted,
    /// A pair has no offset.
    OfPair {
        /// One CPU.
        a: u32,
        /// The other.
        b: u32,
        /// The reason.
        because: Box<Unknown>,
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
            Self::NoCounter { because } | Self::AllLost { because } => because.fmt(f),
            Self::Stuck { reference } => {
                write!(f, "the counter stood still while it was compared with {reference}")
            }
            Self::FewHandoffs { handoffs } => write!(f, "{} are too few", counted(*handoffs, "handoff")),
        }
    }
}

impl fmt::Display for CpusReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { words } => write!(f, "no thread can be started: {words}"),
            Self::Panicked => f.write_str("its thread ended by a panic"),
            Self::CpuMissing { words } => write!(f, "no thread can be bound: {words}"),
            Self::BindDenied { cpu, words } => {
                not_bound(f, *cpu, words, "does a seccomp filter or a container forbid it?")
            }
            Self::NotBound { cpu, words } => not_bound(f, *cpu, words, "is it online, and in the cpuset?"),
            Self::MovedAway { from, to } => {
                write!(f, "its thread was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?")
            }
            Self::PeerMissing => f.write_str("the thread on the other CPU ended before the handoffs"),
            Self::Interrupted => f.write_str(texts::INTERRUPTED),
            Self::ClockRefused { words } => write!(f, "the vDSO refused: {words}"),
            Self::TimerStopped => f.write_str("the timer stood still, or went back"),
            Self::KernelClockStopped => f.write_str("the kernel's clock stood still"),
            Self::ReferenceParted => f.write_str(
                "the counter did not advance as the reference did: one of them stood still, stepped or changed its rate",
            ),
            Self::KernelClockParted => {
                f.write_str("the first CPU's counter did not advance as the kernel's clock did")
            }
            Self::OfPair { a, b, because } => write!(f, "CPUs {a} and {b}: {because}"),
        }
    }
}

fn not_bound(f: &mut fmt::Formatter<'_>, cpu: u32, words: &str, hint: &str) -> fmt::Result {
    write!(f, "no thread can be bound to CPU {cpu} ({words}): {hint}")
}
