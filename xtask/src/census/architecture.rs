//! Architectures of the fleet: what clouds offer, kernels and clocksources.

use clockscope_records::{FrequencySource, ProcessorIdentity};

/// A model of processors.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) vendor: &'static str,
    pub(super) name: &'static str,
    /// Family, model and stepping.
    pub(super) identity: ProcessorIdentity,
    /// Nominal frequency of its counter.
    pub(super) khz: u32,
    /// Costs relative to those of the base record.
    pub(super) cost: f64,
    /// Cost of a system call that reads a clock.
    pub(super) syscall_ns: f64,
}

/// A type of machines that a cloud offers.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) cloud: &'static str,
    pub(super) name: &'static str,
    pub(super) model: &'static Model,
    pub(super) cpus: u32,
}

/// What hosts of an architecture have in common.
#[derive(Debug)]
pub(super) struct Architecture {
    /// Its name in records.
    pub(super) name: &'static str,
    /// Half of its hosts, and those with [`super::fault::Fault::Outlier`], have the first one.
    pub(super) offers: &'static [Offer],
    /// Releases of the kernel, from the oldest on.
    pub(super) releases: [&'static str; 3],
    /// The release of [`super::fault::Fault::SlowerKernel`].
    pub(super) slower_release: &'static str,
    /// The counter's clocksource, and those that can replace it.
    pub(super) clocksources: &'static [&'static str],
    /// States the nominal frequency.
    pub(super) source: FrequencySource,
}

static MODELS: [Model; 2] = [
    Model {
        vendor: "AuthenticAMD",
        name: "AMD EPYC 9R14",
        identity: ProcessorIdentity::from_cpuid(0x00a1_0f11),
        khz: 2_600_000,
        cost: 1.0,
        syscall_ns: 260.0,
    },
    Model {
        vendor: "GenuineIntel",
        name: "Intel(R) Xeon(R) Platinum 8488C",
        identity: ProcessorIdentity::from_cpuid(0x0008_06f8),
        khz: 2_400_000,
        cost: 1.37,
        syscall_ns: 356.0,
    },
];

pub(super) static X86: Architecture = Architecture {
    name: "x86_64",
    offers: &[
        Offer { cloud: "Amazon EC2", name: "m7a.large", model: &MODELS[0], cpus: 2 },
        Offer { cloud: "Amazon EC2", name: "m7i.xlarge", model: &MODELS[1], cpus: 4 },
        Offer { cloud: "Google Compute Engine", name: "c3-standard-8", model: &MODELS[1], cpus: 8 },
    ],
    releases: ["6.1.0-40-cloud-amd64", "6.8.0-1031-generic", "6.12.48-cloud-amd64"],
    slower_release: "6.12.51-cloud-amd64",
    clocksources: &["tsc", "hpet", "acpi_pm"],
    source: FrequencySource::Hypervisor,
};

/// Neoverse V1, by the codes that the kernel shows. Its counter has the frequency, and the tick, of
/// the emulated machine.
static NEOVERSE: Model = Model {
    vendor: "0x41",
    name: "0xd40",
    identity: ProcessorIdentity::from_midr(0x411f_d401),
    khz: 62_500,
    cost: 0.2,
    syscall_ns: 210.0,
};

pub(super) static ARM: Architecture = Architecture {
    name: "aarch64",
    offers: &[Offer { cloud: "Amazon EC2", name: "m7g.large", model: &NEOVERSE, cpus: 2 }],
    releases: ["6.1.0-40-cloud-arm64", "6.8.0-1031-aws", "6.12.48-cloud-arm64"],
    slower_release: "6.12.51-cloud-arm64",
    clocksources: &["arch_sys_counter"],
    source: FrequencySource::Firmware,
};
