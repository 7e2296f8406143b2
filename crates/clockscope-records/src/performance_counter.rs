//! What is behind QueryPerformanceCounter of Windows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Figure;
use crate::demand::ignored;
use crate::figure::{add_unknown, record};

/// QueryPerformanceCounter of Windows: what it counts by, and how that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "PerformanceCounter", transform = add_unknown)]
pub struct PerformanceCounter {
    /// Counts per second, as QueryPerformanceFrequency states them, in Hz.
    pub frequency_hz: Figure<u64>,
    /// Counts of the processor's counter per count, measured.
    pub counter_counts: Figure<f64>,
    /// How it is read without the kernel: the byte QpcBypassEnabled of KUSER_SHARED_DATA.
    pub bypass_flags: Figure<u8>,
    /// By how many bits the processor's counter is shifted on that way: the byte QpcShift.
    pub bypass_shift: Figure<u8>,
    /// Whether a read enters the kernel (NtQuerySystemInformation, class 124).
    pub enters_kernel: Figure<bool>,
    /// The hardware that counts.
    pub hardware: Figure<PerformanceHardware>,
    /// What shows that it is this hardware.
    pub reasons: Vec<PerformanceReason>,
    /// The same for people. Renderers write it beside the data; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<PerformanceProse>,
}

record!(PerformanceCounter { frequency_hz, counter_counts, bypass_flags, bypass_shift, enters_kernel, hardware });

/// Hardware that Windows builds its performance counter on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PerformanceHardware {
    /// The time-stamp counter, shifted right: Windows 7 to early Windows 10, and XP without a
    /// shift.
    TscShifted {
        /// By so many bits.
        bits: u8,
    },
    /// The time-stamp counter, scaled to 10 MHz: Windows 10 and newer.
    TscScaled,
    /// The time-stamp counter, scaled to 10 MHz by a page of the hypervisor.
    HypervisorPage,
    /// The system counter of an Arm processor.
    ArmCounter,
    /// The High Precision Event Timer.
    Hpet,
    /// The ACPI power management timer.
    AcpiPm,
    /// The programmable interval timer, the 8254.
    Pit,
}

/// What shows which hardware counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PerformanceReason {
    /// The frequency is the one that this hardware has by its specification.
    Frequency,
    /// The processor's counter makes a power of two of counts per count.
    PowerOfTwo,
    /// The frequency is the one that the processor states for its counter.
    StatedByProcessor,
    /// The bypass flags: programs read the processor's counter without the kernel.
    Bypass,
    /// The bypass flags: programs scale the processor's counter by the hypervisor's page.
    HypervisorPage,
    /// The bypass flags: reads enter the kernel, as those of hardware outside of the processor do.
    NoBypass,
    /// There is no hypervisor whose page could be used instead.
    NoHypervisor,
}

/// What is behind the performance counter, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PerformanceProse {
    /// The hardware; or why it is unknown.
    pub based_on: String,
    /// What shows that.
    pub why: Vec<String>,
    /// What to do.
    pub advice: String,
    /// The commands that show and change what Windows uses.
    pub commands: Vec<BootCommand>,
}

/// A command that shows or changes how Windows boots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootCommand {
    /// The command.
    pub command: String,
    /// What it does.
    pub effect: String,
}
