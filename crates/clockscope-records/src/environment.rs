//! The machine that a measurement was made on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unknown;

/// Facts about the machine and the program. `None` is unknown, with the reason in [`Environment::unknown`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The program that measured.
    pub program: Program,
    /// The processor.
    pub cpu: Cpu,
    /// What processor and kernel say about the time-stamp counter; `null` on architectures without one.
    pub counter_flags: Option<CounterFlags>,
    /// Nominal frequencies of the counter, as hardware or hypervisor state them. Not measured.
    pub frequencies: Frequencies,
    /// Whether this process may read the counter; `null` where it cannot be told.
    pub counter_readable: Option<bool>,
    /// Name of the hypervisor ("KVM", "VMware", …), "none" on bare hardware.
    pub hypervisor: Option<String>,
    /// How this machine learns that it was moved or restored from a snapshot.
    #[serde(default)]
    pub announcements: Announcements,
    /// The operating system's kernel.
    pub kernel: Kernel,
    /// The clocksource that the kernel builds its clocks on now.
    pub clocksource: Option<String>,
    /// The clocksources that the kernel could use.
    pub clocksources_available: Option<Vec<String>>,
    /// Whether the kernel mapped a vDSO into this process.
    pub vdso: Option<bool>,
    /// CPU frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Emulators and recorders that this process runs under ("qemu-user", "qemu-tcg", "rr", "valgrind", "gvisor");
    /// empty when none was found. With any of them no claim about cost is made.
    pub emulation: Vec<String>,
    /// Why fields above are `null`.
    pub unknown: Unknown,
}

/// Devices by which a hypervisor announces that it has moved the machine, or restored it from a snapshot. `null` where the
/// kernel does not show what the firmware offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Announcements {
    /// VMClock: a page with a marker that changes, /dev/vmclock0.
    pub vmclock: Option<Announcement>,
    /// The VM generation ID, which is for the kernel's own use.
    pub vm_generation: Option<Announcement>,
}

/// Whether such a device can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Announcement {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Version of clockscope.
    pub version: String,
    /// Architecture and operating system that it was built for, e.g. `x86_64-linux`.
    pub target: String,
    /// `true` for a build without optimisation, whose costs are not those of the clocks.
    pub debug_build: bool,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Architecture, e.g. `x86_64`.
    pub architecture: String,
    /// Vendor, as the processor names it.
    pub vendor: Option<String>,
    /// Model, as the processor names it.
    pub model: Option<String>,
    /// CPUs that the system has online.
    pub online: Option<u32>,
    /// CPUs that this process may run on.
    pub allowed: Option<Vec<u32>>,
}

/// The x86 time-stamp counter's flags, named as /proc/cpuinfo names them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterFlags {
    /// The counter exists (CPUID 1 EDX bit 4).
    pub tsc: Option<bool>,
    /// The RDTSCP instruction exists (CPUID 80000001h EDX bit 27).
    pub rdtscp: Option<bool>,
    /// The counter's rate does not follow the core's frequency (kernel's judgement).
    pub constant_tsc: Option<bool>,
    /// The counter goes on in deep sleep states (kernel's judgement).
    pub nonstop_tsc: Option<bool>,
    /// The register that shifts the counter exists (CPUID 7 EBX bit 1).
    pub tsc_adjust: Option<bool>,
    /// The local APIC can fire at a counter value (CPUID 1 ECX bit 24).
    pub tsc_deadline_timer: Option<bool>,
    /// The kernel was told the frequency and did not have to calibrate (kernel's judgement).
    pub tsc_known_freq: Option<bool>,
    /// Constant rate in all power states (CPUID 80000007h EDX bit 8).
    pub invariant: Option<bool>,
}

/// What hardware and hypervisor state; `null` where nothing is stated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frequencies {
    /// CPUID 15h: crystal x ratio, in Hz.
    pub cpuid_15h_hz: Option<u64>,
    /// CPUID 16h: the processor's base frequency, in MHz.
    pub cpuid_16h_base_mhz: Option<u32>,
    /// CPUID 40000010h: the hypervisor's figure for the counter, in kHz.
    pub cpuid_40000010h_tsc_khz: Option<u32>,
    /// aarch64 CNTFRQ_EL0, in Hz.
    pub cntfrq_hz: Option<u64>,
    /// What the kernel turns ticks into time with, in Hz (the page that perf events share).
    #[serde(default)]
    pub perf_mmap_hz: Option<f64>,
}

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// "Linux", …
    pub name: Option<String>,
    /// Release, as uname gives it.
    pub release: Option<String>,
    /// Build, as uname gives it.
    pub version: Option<String>,
}
