//! Reasons why a question about several CPUs has no figure.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::{CpuFailure, Failure};

/// Reason why no pair of CPUs could be tested.
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
        /// The failure.
        failure: Option<Failure>,
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
        /// The failure of the first pair; `null` where that has no word.
        failure: Option<CpuFailure>,
        /// The reason.
        because: Box<Unknown>,
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
    /// The pair was not tested to the end.
    PairFailed {
        /// The failure.
        failure: Option<CpuFailure>,
        /// The reason.
        because: Box<Unknown>,
    },
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
            Self::NoCounter { because, .. } | Self::AllLost { because, .. } => because.fmt(f),
            Self::Stuck { reference } => {
                write!(f, "the counter stood still while it was compared with {reference}")
            }
        }
    }
}

impl fmt::Display for CpusReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PairFailed { because, .. } => because.fmt(f),
            Self::CpuMissing { words } => write!(f, "no thread can be bound: {words}"),
            Self::BindDenied { cpu, words } => {
                not_bound(f, *cpu, words, "does a seccomp filter or a container forbid it?")
            }
            Self::NotBound { cpu, words } => not_bound(f, *cpu, words, "is it online, and in the cpuset?"),
            Self::MovedAway { from, to } => {
                write!(f, "its thread was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?")
            }
            Self::OfPair { a, b, because } => write!(f, "CPUs {a} and {b}: {because}"),
        }
    }
}

fn not_bound(f: &mut fmt::Formatter<'_>, cpu: u32, words: &str, hint: &str) -> fmt::Result {
    write!(f, "no thread can be bound to CPU {cpu} ({words}): {hint}")
}
