//! The machine that a measurement was made on.

use serde::{Deserialize, Serialize};

use crate::{Cpu, Emulator, Figure, Hypervisor};

/// Facts about the machine and the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Environment", transform = crate::schema::add_unknown))]
pub struct Environment {
    /// The program that measured.
    pub program: Program,
    /// The processor.
    pub cpu: Cpu,
    /// Statements of processor and kernel about the time-stamp counter; `null` on architectures
    /// without one.
    pub counter_flags: Figure<CounterFlags>,
    /// Nominal frequencies of the counter, as hardware or hypervisor state them. Not measured.
    pub frequencies: Frequencies,
    /// True if this process may read the counter; `null` where that is unknown.
    pub counter_readable: Figure<bool>,
    /// Name of the hypervisor ("KVM", "VMware", …), "none" on bare hardware.
    pub hypervisor: Figure<Hypervisor>,
    /// The ways by which this machine learns that it was moved or restored from a snapshot.
    pub move_notices: MoveNotices,
    /// The operating system's kernel.
    pub kernel: Kernel,
    /// The clocksource that the kernel builds its clocks on now.
    pub clocksource: Figure<String>,
    /// The clocksources that the kernel could use.
    pub clocksources_available: Figure<Vec<String>>,
    /// True if the kernel mapped a vDSO into this process.
    pub vdso: Figure<bool>,
    /// CPU frequency governor of the first CPU.
    pub governor: Figure<String>,
    /// Emulators and recorders that this process runs under ("qemu-user", "fex", "rosetta",
    /// "translator", "qemu-tcg", "rr", "valgrind", "gvisor", "wine"); empty when none was found.
    /// With any of them no statement about cost is made.
    pub emulation: Vec<Emulator>,
}

/// Devices by which a hypervisor announces that it has moved the machine, or restored it from a
/// snapshot. `null` where the kernel does not show what the firmware offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MoveNotices", transform = crate::schema::add_unknown))]
pub struct MoveNotices {
    /// VMClock: a page with a marker that changes, /dev/vmclock0.
    pub vmclock: Figure<MoveNotice>,
    /// The VM generation ID, which is for the kernel's own use.
    pub vm_generation: Figure<MoveNotice>,
}

/// The availability of such a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MoveNotice {
    /// This process can use it.
    Available,
    /// There is one, and this process may not open it.
    NotPermitted,
    /// The kernel uses it, and it is not among this process's devices.
    KernelOnly,
    /// The firmware offers one, but the kernel has no driver that has taken it.
    NoDriver,
    /// There is none.
    NotOffered,
}

/// The program that measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Program {
    /// Version of clockscope.
    pub version: String,
    /// Architecture and operating system that it was built for, e.g. `x86_64-linux`.
    pub target: String,
    /// `true` for a build without optimization, whose costs are not those of the clocks.
    pub debug_build: bool,
}

/// The x86 time-stamp counter's flags, named as /proc/cpuinfo names them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CounterFlags", transform = crate::schema::add_unknown))]
pub struct CounterFlags {
    /// The counter exists (CPUID 1 EDX bit 4).
    pub tsc: Figure<bool>,
    /// The RDTSCP instruction exists (CPUID 80000001h EDX bit 27).
    pub rdtscp: Figure<bool>,
    /// The counter's rate does not follow the core's frequency (kernel's judgment).
    pub constant_tsc: Figure<bool>,
    /// The counter goes on in deep sleep states (kernel's judgment).
    pub nonstop_tsc: Figure<bool>,
    /// The register that shifts the counter exists (CPUID 7 EBX bit 1).
    pub tsc_adjust: Figure<bool>,
    /// The local APIC can fire at a counter value (CPUID 1 ECX bit 24).
    pub tsc_deadline_timer: Figure<bool>,
    /// The kernel was given the frequency and did not have to calibrate (kernel's judgment).
    pub tsc_known_freq: Figure<bool>,
    /// Constant rate in all power states (CPUID 80000007h EDX bit 8).
    pub invariant: Figure<bool>,
}

/// Frequencies that hardware and hypervisor state; `null` where nothing is stated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Frequencies", transform = crate::schema::add_unknown))]
pub struct Frequencies {
    /// CPUID 15h: crystal x ratio, in Hz.
    pub cpuid_15h_hz: Figure<u64>,
    /// CPUID 16h: the processor's base frequency, in MHz.
    pub cpuid_16h_base_mhz: Figure<u32>,
    /// CPUID 40000010h: the hypervisor's figure for the counter, in kHz.
    pub cpuid_40000010h_tsc_khz: Figure<u32>,
    /// aarch64 CNTFRQ_EL0, in Hz.
    pub cntfrq_hz: Figure<u64>,
    /// The frequency that the kernel turns counts into time with, in Hz (the page that perf events
    /// share).
    pub perf_mmap_hz: Figure<f64>,
}

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Kernel", transform = crate::schema::add_unknown))]
pub struct Kernel {
    /// "Linux", …
    pub name: Figure<String>,
    /// Release, as uname gives it.
    pub release: Figure<String>,
    /// Build, as uname gives it.
    pub version: Figure<String>,
}
