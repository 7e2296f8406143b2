//! The order of memory and readings of a clock: for a caller whose loads and stores say whether a
//! reading may be used.
//!
//! The counter is no memory: fences order it only as far as the processor's manual says. What is
//! promised here is that of a store, `stored_before_reading`, then a reading on one thread, and a
//! reading, then `load_after_reading` on another, either the load sees the store, or the second
//! reading is not the later one.

#![allow(unsafe_code, reason = "barriers, and a load whose address depends on a reading, have no safe form")]

use crate::atomic::AtomicU64;

/// Waits until all earlier stores are visible to every CPU. Any later reading of a clock is taken
/// after that, whichever instruction reads it.
///
/// - x86: MFENCE, which is complete once the store buffer is empty. Every ordered reading begins
///   with an instruction that waits for it: LFENCE, RDTSCP or SYSCALL (Intel SDM vol. 2B, RDTSC:
///   "MFENCE;LFENCE immediately before RDTSC"). LFENCE alone leaves stores in the buffer. So does
///   an operation with LOCK, which compilers use for a fence: after it, on AMD EPYC (family 25,
///   model 1), up to 5,255 of 10^6 rounds had a later time with the earlier value, by up to 1.5 µs.
///   After MFENCE there was none in 1.4 · 10^8.
/// - aarch64: DMB ISH; DSB ISH; ISB. DMB orders memory accesses, and a read of CNTVCT_EL0 is not
///   one. DSB is complete once the stores are visible, but a system register may be read before
///   that. No later instruction executes before the ISB, which waits for the DSB (Arm ARM, B2.3.12
///   and D12.2.1).
/// - riscv64: FENCE rw,rw; FENCE iorw,iorw. The first, the memory model's, does not order a read of
///   the counter, which is device input.
/// - POWER: SYNC. It waits for stores and starts no later instruction before it is complete.
/// - s390x: BCR. All earlier accesses are complete before a later instruction executes.
#[inline(always)]
pub fn stored_before_reading() {
    // MFENCE and LFENCE are instructions of SSE2.
    #[cfg(target_feature = "sse2")]
    // SAFETY: waits, and changes neither registers nor memory.
    unsafe {
        core::arch::asm!("mfence", options(nostack, preserves_flags));
    }
    #[cfg(not(target_feature = "sse2"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: waits, and changes neither registers nor memory.
    unsafe {
        core::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "riscv64")]
    // SAFETY: orders accesses, and changes neither registers nor memory.
    unsafe {
        core::arch::asm!("fence iorw, iorw", options(nostack, preserves_flags));
    }
}

/// Loads the word as it is after a clock showed `reading`.
///
/// A processor may load before it has read its counter, although the program says otherwise. It
/// cannot load from an address that it does not know: here that depends on the reading, of which
/// nothing is left but a zero that the processor does not foresee (Arm ARM, B2.3.2, address
/// dependency; x86 knows no AND that does not wait for its operands). A fence would cost more than
/// all else that the caller does.
///
/// Other processors than these two get a fence. riscv64: one that orders device input, which a
/// reading of the counter is (see `counter/riscv64.rs`), before loads. POWER and s390x: SYNC and
/// BCR wait for the reading as for every earlier instruction.
#[inline(always)]
#[must_use]
pub fn load_after_reading(word: &AtomicU64, reading: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let value: u64;
        // SAFETY: reads the eight bytes of the word, which are aligned, and so at once.
        unsafe {
            core::arch::asm!(
                "and {zero:e}, 0",
                "mov {value}, qword ptr [{word} + {zero}]",
                zero = inout(reg) reading => _,
                word = in(reg) word,
                value = out(reg) value,
                options(nostack, readonly),
            );
        }
        value
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "and {zero}, {zero}, xzr",
                "ldr {value}, [{word}, {zero}]",
                zero = inout(reg) reading => _,
                word = in(reg) word,
                value = out(reg) value,
                options(nostack, readonly, preserves_flags),
            );
        }
        value
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        use core::sync::atomic::{Ordering, fence};
        let _ = reading;
        #[cfg(target_arch = "riscv64")]
        // SAFETY: orders accesses, and changes neither registers nor memory.
        unsafe {
            core::arch::asm!("fence iorw, iorw", options(nostack, preserves_flags));
        }
        fence(Ordering::SeqCst);
        word.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_loaded_whatever_the_reading() {
        for reading in [0, 1, u64::MAX, 1 << 40] {
            let word = AtomicU64::new(reading ^ 0x5555_5555_5555_5555);
            stored_before_reading();
            assert_eq!(load_after_reading(&word, reading), reading ^ 0x5555_5555_5555_5555);
        }
    }
}
