//! Why a fact about the machine is unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UnreadableClock;

/// Why a fact about the processor, the kernel or its clocksources is unknown.
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
        /// Why, in the system's own words.
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
        /// What it holds.
        content: String,
    },
    /// The system does not show which CPUs this process may use.
    AllowedCpusHidden,
    /// The CPUs that this process may use are unknown.
    NoAffinity {
        /// Why, in the system's own words.
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

/// Why a property of a clocksource is unknown.
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
        /// Why, in the words of the measurement.
        words: String,
        /// The clocks that it lacked, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<UnreadableClock>,
    },
}
