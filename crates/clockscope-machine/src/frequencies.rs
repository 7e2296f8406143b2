//! Frequencies that hardware or hypervisor claim for the counter. Claims, to be checked against a measurement.

#![allow(unsafe_code, reason = "aarch64 states its frequency in a register that has no safe accessor")]

use clockscope_records::{Frequencies, Unknown};

use crate::known;

const NOT_STATED: &str = "the processor does not state it";

pub(crate) fn read(unknown: &mut Unknown) -> Frequencies {
    let claimed = claimed();
    Frequencies {
        cpuid_15h_hz: known(claimed.cpuid_15h_hz, unknown, "frequencies.cpuid_15h_hz", NOT_STATED),
        cpuid_16h_base_mhz: known(claimed.cpuid_16h_base_mhz, unknown, "frequencies.cpuid_16h_base_mhz", NOT_STATED),
        cpuid_40000010h_tsc_khz: known(
            claimed.cpuid_40000010h_tsc_khz,
            unknown,
            "frequencies.cpuid_40000010h_tsc_khz",
            "no hypervisor states it",
        ),
        cntfrq_hz: known(
            claimed.cntfrq_hz,
            unknown,
            "frequencies.cntfrq_hz",
            "not an aarch64 processor, or its firmware states 0",
        ),
    }
}

/// CPUID 15h, 16h (Intel SDM vol. 2A) and 40000010h (VMware's convention, which KVM follows).
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn claimed() -> Frequencies {
    let cpuid = raw_cpuid::CpuId::new();
    let hypervisor = cpuid.get_hypervisor_info();
    Frequencies {
        cpuid_15h_hz: cpuid.get_tsc_info().and_then(|info| info.tsc_frequency()).filter(|hz| *hz != 0),
        cpuid_16h_base_mhz: cpuid
            .get_processor_frequency_info()
            .map(|info| u32::from(info.processor_base_frequency()))
            .filter(|mhz| *mhz != 0),
        cpuid_40000010h_tsc_khz: hypervisor.and_then(|info| info.tsc_frequency()).filter(|khz| *khz != 0),
        cntfrq_hz: None,
    }
}

/// CNTFRQ_EL0 (Arm ARM, D12.1): what firmware wrote there.
#[cfg(target_arch = "aarch64")]
fn claimed() -> Frequencies {
    let hz: u64;
    // SAFETY: CNTFRQ_EL0 is readable in user mode wherever CNTVCT_EL0 is; the read has no other effect.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
    Frequencies { cntfrq_hz: Some(hz).filter(|hz| *hz != 0), ..Frequencies::default() }
}

/// Nothing is claimed in a register.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
fn claimed() -> Frequencies {
    Frequencies::default()
}
