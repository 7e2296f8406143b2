//! The x86 time-stamp counter.
//!
//! Ordering as the Intel SDM (vol. 2B, RDTSC and RDTSCP) and the AMD APM (vol. 3) state it: RDTSC
//! is not ordered at all. LFENCE waits until all earlier instructions have completed, loads among
//! them, and starts no later one before. Stores may still be in the store buffer. RDTSCP waits for
//! earlier instructions, but later ones may start before it. CPUID serializes (and leaves the guest
//! on most hypervisors). A later store is never seen by others before an earlier instruction is
//! complete.

#![allow(unsafe_code, reason = "a counter is read by instructions that have no safe form")]

#[cfg(target_arch = "x86")]
use core::arch::x86 as arch;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as arch;

use super::nominal::NominalFrequencies;
use crate::Unavailable;

/// The name of the kernel's clocksource that is this counter and nothing else.
pub const CLOCKSOURCE: Option<&str> = Some("tsc");

/// Returns true if the processor says that the counter's rate never changes and that it runs in
/// every sleep state (CPUID 80000007h, EDX bit 8: Intel SDM vol. 3B 18.17.1, AMD APM vol. 3).
#[must_use]
pub fn is_invariant() -> Option<bool> {
    let said = cpuid(0x8000_0000).eax >= 0x8000_0007;
    Some(said && cpuid(0x8000_0007).edx & (1 << 8) != 0)
}

/// CPUID 15h, 16h (Intel SDM vol. 2A) and 40000010h (VMware's convention, which KVM follows).
#[must_use]
pub fn nominal_frequencies() -> NominalFrequencies {
    let leaves = cpuid(0).eax;
    let crystal = (leaves >= 0x15).then(|| cpuid(0x15)).filter(|leaf| leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0);
    let base = (leaves >= 0x16).then(|| cpuid(0x16).eax & 0xffff);
    let is_guest = cpuid(1).ecx & (1 << 31) != 0;
    let guest = (is_guest && cpuid(0x4000_0000).eax >= 0x4000_0010).then(|| cpuid(0x4000_0010).eax);
    NominalFrequencies {
        cpuid_15h_hz: crystal.map(|leaf| u64::from(leaf.ecx) * u64::from(leaf.ebx) / u64::from(leaf.eax)),
        cpuid_16h_base_mhz: base.filter(|mhz| *mhz != 0),
        cpuid_40000010h_khz: guest.filter(|khz| *khz != 0),
        cntfrq_hz: None,
    }
}

/// Checks that this processor has the counter.
///
/// # Errors
/// It has no RDTSC.
pub fn has_counter() -> Result<(), Unavailable> {
    // Bit 4 of EDX of leaf 1: RDTSC exists.
    if cpuid(1).edx & (1 << 4) != 0 { Ok(()) } else { Err(Unavailable::Instruction("RDTSC")) }
}

/// Checks that this processor has the counter and RDTSCP.
///
/// # Errors
/// Which of the two instructions it lacks.
pub fn has_rdtscp() -> Result<(), Unavailable> {
    has_counter()?;
    // Bit 27 of EDX of leaf 80000001h: RDTSCP exists; without it the instruction is illegal.
    let exists = cpuid(0x8000_0000).eax >= 0x8000_0001 && cpuid(0x8000_0001).edx & (1 << 27) != 0;
    if exists { Ok(()) } else { Err(Unavailable::Instruction("RDTSCP")) }
}

#[allow(unused_unsafe, reason = "newer compilers declare the intrinsic safe")]
fn cpuid(leaf: u32) -> arch::CpuidResult {
    // SAFETY: every x86 that this crate is compiled for (i586 and later) has CPUID.
    unsafe { arch::__cpuid(leaf) }
}

/// One read as assembly; `$text` leaves the low half in EAX and the high half in EDX.
macro_rules! read {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u64 {
            // As wide as registers are, because the instruction clears their upper halves and the
            // compiler does not know that.
            let (low, high): (usize, usize);
            // SAFETY: an instruction that the processor lacks ends the process by a signal; callers
            // ask `has_counter` or `has_rdtscp` before. The sequence writes no memory and no
            // register but those declared. That it may not be moved across memory accesses is why
            // `nomem` is not claimed.
            unsafe {
                core::arch::asm!($text, out("eax") low, out("edx") high, options(nostack, preserves_flags));
            }
            ((high as u64) << 32) | low as u64
        }
    };
}

/// One read by assembly that also writes ECX (RDTSCP's processor id); `$text` leaves the low half
/// in EAX and the high half in EDX.
macro_rules! read_rdtscp {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u64 {
            let (low, high): (usize, usize);
            // SAFETY: as above; ECX, which RDTSCP fills with IA32_TSC_AUX, is declared as
            // overwritten.
            unsafe {
                core::arch::asm!($text, out("eax") low, out("edx") high, out("ecx") _, options(nostack, preserves_flags));
            }
            ((high as u64) << 32) | low as u64
        }
    };
}

pub use {lfence_rdtsc as after, lfence_rdtsc as after_branches, lfence_rdtsc_lfence as fenced, rdtsc as unordered};

read!(
    /// Reads by RDTSC: not ordered against anything around it.
    rdtsc,
    "rdtsc"
);
read!(
    /// Reads by LFENCE; RDTSC: after all earlier instructions.
    lfence_rdtsc,
    "lfence; rdtsc"
);
read!(
    /// Reads by LFENCE; RDTSC; LFENCE: ordered on both sides on every x86 with a counter.
    lfence_rdtsc_lfence,
    "lfence; rdtsc; lfence"
);
read_rdtscp!(
    /// Reads by RDTSCP: after all earlier instructions and loads. Only where [`has_rdtscp`].
    rdtscp,
    "rdtscp"
);
read_rdtscp!(
    /// Reads by RDTSCP; LFENCE: after all earlier instructions, and before all later ones. Only
    /// where [`has_rdtscp`].
    rdtscp_lfence,
    "rdtscp; lfence"
);

/// Reads by CPUID; RDTSC: the serialization of older manuals; a hypervisor usually intercepts
/// CPUID.
#[inline(always)]
#[must_use]
pub fn cpuid_rdtsc() -> u64 {
    // Leaf 0 is the cheapest; its answer is thrown away. `black_box` is not needed: the intrinsic
    // is volatile.
    let _ = cpuid(0);
    rdtsc()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_agree_with_each_other() {
        // Sandwich: an ordered read before and after must enclose every ordered sequence.
        fn check(read: fn() -> u64) {
            for _ in 0..1000 {
                let (before, middle, after) = (fenced(), read(), fenced());
                assert!(before <= middle && middle <= after, "{before} {middle} {after}");
            }
        }
        check(rdtsc);
        check(lfence_rdtsc);
        check(cpuid_rdtsc);
        if has_rdtscp().is_ok() {
            check(rdtscp);
            check(rdtscp_lfence);
        }
    }
}
