//! Reasons why a fact about the machine is unknown.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{UnreadableClock, with_unreadable};

/// Reason why a fact about the processor, the kernel or its clocksources is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum MachineReason {
    /// Only Linux shows it in a file.
    OnlyLinux,
    /// Only Linux shows which devices the firmware offers.
    DevicesOnlyLinux,
    /// The kernel does not show which devices the firmware offers.
    DevicesHidden,
    /// The processor does not state it.
    ProcessorSilent,
    /// No hypervisor states it.
    HypervisorSilent,
    /// It is not an aarch64 processor, or its firmware states 0.
    NoArmFrequency,
    /// The kernel does not state the counter's frequency on the page of a perf event.
    NoPerfPage {
        /// The reason, in the system's own words.
        words: String,
    },
    /// The system does not show whether there is a hypervisor.
    HypervisorHidden,
    /// The system has no uname.
    NoUname,
    /// A file cannot be read.
    UnreadableFile {
        /// Its path.
        path: String,
    },
    /// A file of the folder /sys cannot be read.
    UnreadableSysfs {
        /// Its path.
        path: String,
    },
    /// A file holds no name of a clocksource.
    NoClocksourceName {
        /// Its path.
        path: String,
        /// Its content.
        content: String,
    },
    /// The system does not show which CPUs this process may use.
    AllowedCpusHidden,
    /// The CPUs that this process may use are unknown.
    NoAffinity {
        /// The reason, in the system's own words.
        words: String,
    },
    /// The system does not control the CPU's frequency.
    NoCpufreq,
    /// Only Linux has a vDSO.
    NoVdso,
    /// Only a read shows whether the counter can be read.
    CounterAccessHidden,
    /// The kernel's judgment of the counter cannot be read.
    CpuinfoUnreadable,
    /// This architecture has no time-stamp counter of x86's kind.
    NoTimeStampCounter,
    /// Neither the processor nor the kernel names it.
    NoName,
}

/// Reason why a property of a clocksource is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ClocksourceReason {
    /// This program does not know the clocksource.
    Unfamiliar,
    /// It depends on the hardware, which does not show it.
    DependsOnHardware,
    /// The hardware's registers do not show it.
    NotInRegisters,
    /// It is the kernel's HZ, which nothing shows.
    KernelsHz,
    /// Nothing shows it.
    NotShown,
    /// There is no such hardware.
    NoHardware,
    /// It was not measured.
    Unmeasured {
        /// The reason, in the words of the measurement.
        words: String,
        /// The clocks that it lacked, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<UnreadableClock>,
    },
}

impl fmt::Display for MachineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::OnlyLinux => "only Linux shows it in a file",
            Self::DevicesOnlyLinux => "only Linux shows which devices the firmware offers",
            Self::DevicesHidden => "the kernel does not show which devices the firmware offers",
            Self::ProcessorSilent => "the processor does not state it",
            Self::HypervisorSilent => "no hypervisor states it",
            Self::NoArmFrequency => "not an aarch64 processor, or its firmware states 0",
            Self::NoPerfPage { words } | Self::NoAffinity { words } => words,
            Self::HypervisorHidden => "the system does not show whether there is one",
            Self::NoUname => "the system has no uname",
            Self::UnreadableFile { path } => return write!(f, "{path} cannot be read"),
            Self::UnreadableSysfs { path } => return write!(f, "{path} cannot be read: is /sys mounted?"),
            Self::NoClocksourceName { path, content } => {
                return write!(f, "{path} holds no name of a clocksource: {content:?}");
            }
            Self::AllowedCpusHidden => "the system does not show which CPUs this process may use",
            Self::NoCpufreq => "the system does not control the CPU's frequency (no cpufreq)",
            Self::NoVdso => "only Linux has a vDSO",
            Self::CounterAccessHidden => "the system does not show it; a read does",
            Self::CpuinfoUnreadable => "the kernel's judgment is in /proc/cpuinfo, which cannot be read",
            Self::NoTimeStampCounter => "this architecture has no time-stamp counter of x86's kind",
            Self::NoName => "neither the processor nor /proc/cpuinfo names it",
        };
        f.write_str(words)
    }
}

impl fmt::Display for ClocksourceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Unfamiliar => "this program has never heard of it",
            Self::DependsOnHardware => "it depends on the hardware, which does not show it",
            Self::NotInRegisters => "its registers do not show it",
            Self::KernelsHz => "it is the kernel's HZ, which nothing shows",
            Self::NotShown => "nothing shows it",
            Self::NoHardware => "there is none",
            Self::Unmeasured { words, unreadable } => return f.write_str(&with_unreadable(words, unreadable)),
        };
        f.write_str(words)
    }
}
