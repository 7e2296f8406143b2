//! Flags of the x86 time-stamp counter, named as /proc/cpuinfo and Coreinfo name them.

use clockscope_records::{CounterFlags, Figure};

/// The processor's own bits by CPUID (Intel SDM vol. 2A, AMD APM vol. 3); the kernel's judgments
/// from /proc/cpuinfo.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
pub(crate) fn read(cpuinfo: &str) -> Figure<CounterFlags> {
    let cpuid = raw_cpuid::CpuId::new();
    let features = cpuid.get_feature_info();
    let extended = cpuid.get_extended_processor_and_feature_identifiers();
    let flags = crate::pseudo_files::field(cpuinfo, "flags");
    Figure::Known(CounterFlags {
        // A leaf that is not there has none of its bits.
        tsc: Figure::Known(features.as_ref().is_some_and(|features| features.has_tsc())),
        rdtscp: Figure::Known(extended.as_ref().is_some_and(|extended| extended.has_rdtscp())),
        constant_tsc: judgment(flags, "constant_tsc"),
        nonstop_tsc: judgment(flags, "nonstop_tsc"),
        tsc_adjust: Figure::Known(
            cpuid.get_extended_feature_info().is_some_and(|features| features.has_tsc_adjust_msr()),
        ),
        tsc_deadline_timer: Figure::Known(features.as_ref().is_some_and(|features| features.has_tsc_deadline())),
        tsc_known_freq: judgment(flags, "tsc_known_freq"),
        invariant: Figure::Known(cpuid.get_advanced_power_mgmt_info().is_some_and(|power| power.has_invariant_tsc())),
    })
}

/// The kernel's judgment of this name, by its flags.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn judgment(flags: Option<&str>, name: &str) -> Figure<bool> {
    let found = flags.map(|line| crate::pseudo_files::has_word(line, name));
    Figure::of(found, "the kernel's judgment is in /proc/cpuinfo, which cannot be read")
}

/// Other architectures have no such flags.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
pub(crate) fn read(_: &str) -> Figure<CounterFlags> {
    Figure::unknown("this architecture has no time-stamp counter of x86's kind")
}
