//! The Arm generic timer's virtual counter, CNTVCT_EL0.
//!
//! Ordering as the Arm ARM (D12.2) states it: a read of CNTVCT_EL0 may be done early; ISB before it forbids that;
//! CNTVCTSS_EL0 (FEAT_ECV) is self-synchronised and needs no ISB.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

use super::{Claims, about, about_unordered, counter};
use crate::{Entry, Unavailable, Visitor};

counter!(
    /// CNTVCT_EL0 alone: may be read early.
    Cntvct,
    cntvct
);
counter!(
    /// ISB; CNTVCT_EL0: after all earlier instructions.
    CntvctIsb,
    isb_cntvct
);
counter!(
    /// CNTVCTSS_EL0: self-synchronised. Only made where the kernel reports FEAT_ECV.
    Cntvctss,
    cntvctss
);
counter!(
    /// ISB; CNTVCT_EL0; ISB: ordered on both sides.
    Ordered,
    isb_cntvct_isb
);

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "isb_cntvct_isb";

/// The kernel's clocksources that are this counter and nothing else.
pub const CLOCKSOURCES: &[&str] = &["arch_sys_counter"];

/// The generic timer counts at a constant rate in every power state by definition (Arm ARM, D12.1.2).
#[must_use]
pub fn is_invariant() -> Option<bool> {
    Some(true)
}

/// CNTFRQ_EL0 (Arm ARM, D12.1): what firmware wrote there.
#[must_use]
pub fn claims() -> Claims {
    Claims { cntfrq_hz: frequency_hz(), ..Claims::default() }
}

/// The sequence that batches are timed with. CNTVCT_EL0 exists on every aarch64; a kernel may still trap it.
///
/// # Errors
/// None on this architecture.
pub fn ordered() -> Result<Ordered, Unavailable> {
    Ok(Ordered(()))
}

/// Hands every reading sequence to `visitor`.
pub fn each(visitor: &mut impl Visitor) {
    let hz = frequency_hz().map(|hz| hz as f64);
    visitor.visit(Entry {
        about: about_unordered("cntvct", &[], hz, "CNTVCT_EL0, may be read early"),
        clock: Ok(Cntvct(())),
    });
    visitor
        .visit(Entry { about: about("cntvct_isb", &["isb_cntvct"], hz, "ISB; CNTVCT_EL0"), clock: Ok(CntvctIsb(())) });
    let cntvctss = if has_ecv() { Ok(Cntvctss(())) } else { Err(Unavailable::Instruction("CNTVCTSS_EL0 (FEAT_ECV)")) };
    visitor.visit(Entry { about: about("cntvctss", &[], hz, "CNTVCTSS_EL0, self-synchronised"), clock: cntvctss });
}

/// CNTFRQ_EL0: what firmware wrote there. 0 where it wrote nothing, which is told as unknown.
fn frequency_hz() -> Option<u64> {
    let hz: u64;
    // SAFETY: CNTFRQ_EL0 is readable wherever CNTVCT_EL0 is; the read has no effect on memory or flags.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
    (hz != 0).then_some(hz)
}

/// FEAT_ECV by the kernel's HWCAP2_ECV (bit 19, Linux Documentation/arch/arm64/elf_hwcaps.rst).
#[cfg(all(feature = "std", target_os = "linux"))]
fn has_ecv() -> bool {
    // SAFETY: getauxval takes any number and answers 0 for an unknown one.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & (1 << 19) != 0 }
}

/// Without an operating system to ask, the sequence is not offered: the identification registers trap in user mode.
#[cfg(not(all(feature = "std", target_os = "linux")))]
fn has_ecv() -> bool {
    false
}

/// One read as assembly into one register.
macro_rules! read {
    ($name:ident, $text:literal) => {
        #[inline(always)]
        pub(crate) fn $name() -> u64 {
            let value: u64;
            // SAFETY: the registers exist on every aarch64 (CNTVCTSS_EL0 only where `has_ecv` said so) and reading them
            // changes nothing. Not `nomem`: it may not be moved across memory accesses.
            unsafe { core::arch::asm!($text, out(reg) value, options(nostack, preserves_flags)) };
            value
        }
    };
}

pub(crate) use {cntvct as unordered, isb_cntvct as after, isb_cntvct_isb as fenced};

read!(cntvct, "mrs {}, cntvct_el0");
read!(isb_cntvct, "isb\nmrs {}, cntvct_el0");
read!(isb_cntvct_isb, "isb\nmrs {}, cntvct_el0\nisb");
// By its encoding: assemblers older than Armv8.6 do not know the name.
read!(cntvctss, "mrs {}, s3_3_c14_c0_6");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawClock;

    #[test]
    fn sequences_agree_with_each_other() {
        let (mut before, mut middle, mut after) = (0, 0, 0);
        for _ in 0..1000 {
            Ordered(()).read(&mut before).unwrap();
            CntvctIsb(()).read(&mut middle).unwrap();
            Ordered(()).read(&mut after).unwrap();
            assert!(before <= middle && middle <= after, "{before} {middle} {after}");
        }
    }
}
