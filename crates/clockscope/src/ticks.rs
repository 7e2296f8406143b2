//! The counter itself: readings in ticks of a rate that nobody states.
//!
//! For timing a few instructions, and for who converts later ([`crate::conversion`], [`crate::calibrate_blocking`]). A
//! difference is to be taken wrapping. Nothing is watched here: whether the counter may be trusted, [`crate::evidence`]
//! tells. Where reading it is forbidden ([`is_permitted`]), a reading ends the process.
//!
//! This module is there on architectures whose counter is known: x86, aarch64, riscv64, powerpc64, s390x.

use crate::counter::arch;

/// A bare reading (RDTSC): the processor may take it earlier, or later, than the program says.
///
/// Unit: ticks. Cost: that of the instruction.
///
/// ```
/// use clockscope::ticks;
/// let start = ticks::now_unordered();
/// let ticks = ticks::now_unordered().wrapping_sub(start);
/// # let _ = ticks;
/// ```
#[inline(always)]
#[must_use]
pub fn now_unordered() -> u64 {
    arch::unordered()
}

/// An ordered reading: after all earlier instructions. Of two readings in happens-before order, on any CPUs, the later is
/// not smaller, as far as the CPUs' counters agree.
///
/// Unit: ticks. Cost: on x86 a fence and the instruction, twice a bare RDTSC.
///
/// ```
/// use clockscope::ticks;
/// let first = ticks::now();
/// assert!(ticks::now().wrapping_sub(first) < 1 << 63);
/// ```
#[inline(always)]
#[must_use]
pub fn now() -> u64 {
    arch::after()
}

/// The reading before the code to be timed: after all earlier instructions, and before any of the timed ones.
///
/// Unit: ticks. Cost: on x86 two fences and the instruction, some 2.5 times a bare RDTSC.
///
/// ```
/// use clockscope::ticks;
/// let start = ticks::start();
/// let root = std::hint::black_box(2.0f64).sqrt();
/// let ticks = ticks::stop() - start;
/// # let _ = (root, ticks);
/// ```
#[inline(always)]
#[must_use]
pub fn start() -> u64 {
    arch::fenced()
}

/// The reading after the code to be timed: after all of its instructions, and before any later one.
///
/// Unit, cost and example: [`start`].
#[inline(always)]
#[must_use]
pub fn stop() -> u64 {
    arch::fenced()
}

/// Whether this process may read the counter; `None` where the system does not tell, which means that nothing forbids it
/// as far as is known.
///
/// ```
/// assert_ne!(clockscope::ticks::is_permitted(), Some(false));
/// ```
#[cfg(all(feature = "std", not(loom)))]
#[must_use]
pub fn is_permitted() -> Option<bool> {
    crate::os::counter_is_permitted()
}
