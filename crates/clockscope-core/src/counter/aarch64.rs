//! The Arm generic timer's virtual counter, CNTVCT_EL0.
//!
//! Ordering as the Arm ARM (DDI 0487, "The Generic Timer in AArch64 state") states it:
//!
//! - A read of CNTVCT_EL0 may be done early. No later instruction is executed before an ISB is
//!   complete, so that an ISB before the read forbids it.
//! - An ISB does not wait for loads. It does wait for a branch that depends on a load: the manual's
//!   example polls a word, branches, and then has ISB and the read.
//! - Without such a branch only DSB waits for loads. A DSB alone is not enough: later instructions
//!   may read system registers before it is complete (B2, Data Synchronization Barrier).
//! - CNTVCTSS_EL0 (FEAT_ECV) is not read speculatively and needs no ISB. It waits for loads as
//!   little as ISB does.
//! - No memory barrier orders the read before later accesses. A store waits for a branch that
//!   depends on the reading.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::nominal::NominalFrequencies;
use crate::Unavailable;

/// The name of the kernel's clocksource that is this counter and nothing else.
pub const CLOCKSOURCE: Option<&str> = Some("arch_sys_counter");

/// The generic timer counts at a constant rate in every power state by definition (Arm ARM,
/// D12.1.2).
#[must_use]
pub fn is_invariant() -> Option<bool> {
    Some(true)
}

/// CNTFRQ_EL0 (Arm ARM, D12.1): what firmware wrote there. On Apple's M3 and later, macOS chooses
/// it, and the counter's frequency with it, by the SDK that the program was linked with (xnu,
/// osfmk/arm64/machine_task.c).
#[must_use]
pub fn nominal_frequencies() -> NominalFrequencies {
    NominalFrequencies { cntfrq_hz: frequency_hz(), ..NominalFrequencies::default() }
}

/// Checks that this processor has the counter.
///
/// # Errors
/// None: CNTVCT_EL0 exists on every aarch64. A kernel may still trap it.
pub fn has_counter() -> Result<(), Unavailable> {
    Ok(())
}

/// CNTFRQ_EL0: what firmware wrote there. 0 where it wrote nothing, which is reported as unknown.
fn frequency_hz() -> Option<u64> {
    let hz: u64;
    // SAFETY: CNTFRQ_EL0 is readable wherever CNTVCT_EL0 is; the read has no effect on memory or
    // flags.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
    (hz != 0).then_some(hz)
}

/// Checks that this processor has CNTVCTSS_EL0.
///
/// # Errors
/// The kernel does not report FEAT_ECV.
pub fn has_cntvctss() -> Result<(), Unavailable> {
    if has_ecv() { Ok(()) } else { Err(Unavailable::Instruction("CNTVCTSS_EL0 (FEAT_ECV)")) }
}

/// FEAT_ECV by the kernel's HWCAP2_ECV (bit 19, Linux Documentation/arch/arm64/elf_hwcaps.rst).
#[cfg(all(feature = "std", target_os = "linux"))]
fn has_ecv() -> bool {
    // SAFETY: getauxval takes any number and answers 0 for an unknown one.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & (1 << 19) != 0 }
}

/// Without an operating system to ask, the sequence is not offered: the identification registers
/// trap in user mode.
#[cfg(not(all(feature = "std", target_os = "linux")))]
fn has_ecv() -> bool {
    false
}

/// One read as assembly into one register.
macro_rules! read {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u64 {
            let value: u64;
            // SAFETY: the registers exist on every aarch64 but for CNTVCTSS_EL0, whose absence ends
            // the process by a signal, and reading them changes nothing. Not `nomem`: it may not be
            // moved across memory accesses.
            unsafe { core::arch::asm!($text, out(reg) value, options(nostack, preserves_flags)) };
            value
        }
    };
}

pub use {cntvct as unordered, dsb_isb_cntvct as after, dsb_isb_cntvct_isb as fenced, isb_cntvct as after_branches};

read!(
    /// Reads CNTVCT_EL0 alone: may be read early.
    cntvct,
    "mrs {0}, cntvct_el0"
);
read!(
    /// Reads by ISB; CNTVCT_EL0: after every load that an earlier branch depends on.
    isb_cntvct,
    "isb\nmrs {0}, cntvct_el0"
);
// ISHLD: only loads are waited for, as on x86, where LFENCE does not wait for stores. The branch
// goes to the next instruction either way; a store after it is not seen by others before the
// reading is taken.
read!(
    /// Reads by DSB ISHLD; ISB; CNTVCT_EL0: after all earlier loads, and before later stores.
    dsb_isb_cntvct,
    "dsb ishld\nisb\nmrs {0}, cntvct_el0\ncbz {0}, 2f\n2:"
);
read!(
    /// Reads by DSB ISHLD; ISB; CNTVCT_EL0; ISB: ordered on both sides.
    dsb_isb_cntvct_isb,
    "dsb ishld\nisb\nmrs {0}, cntvct_el0\nisb"
);
// By its encoding: assemblers older than Armv8.6 do not know the name.
read!(
    /// Reads CNTVCTSS_EL0: self-synchronized. Only where [`has_cntvctss`].
    cntvctss,
    "mrs {0}, s3_3_c14_c0_6"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_agree_with_each_other() {
        fn check(read: fn() -> u64) {
            for _ in 0..1000 {
                let (before, middle, after) = (fenced(), read(), fenced());
                assert!(before <= middle && middle <= after, "{before} {middle} {after}");
            }
        }
        check(isb_cntvct);
        check(dsb_isb_cntvct);
    }
}
