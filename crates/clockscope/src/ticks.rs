//! The counter itself: readings in ticks of an unknown rate.
//!
//! For timing a few instructions, and for callers that convert later ([`crate::conversion`],
//! [`crate::calibrate_blocking`]). Take differences wrapping. Nothing is watched here:
//! [`crate::evidence`] reports whether the counter may be trusted. Where reading it is forbidden
//! ([`is_permitted`]), a reading ends the process.
//!
//! This module is an extension, the one public part of the crate that some architectures lack: it
//! exists where the counter is known (x86, aarch64, riscv64, powerpc64, s390x). Portable code uses
//! [`crate::now_unordered`], or names this module under the same `cfg`.

use clockscope_core::counter as arch;

/// Reads the counter by the bare instruction (RDTSC, CNTVCT_EL0, MFTB, RDTIME, STCKF): the
/// processor may do it earlier, or later, than the program says.
///
/// Unit: ticks. Ordering: none. Cost: that of the instruction.
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

/// Reads the counter after all earlier loads. Of two readings in happens-before order, on any CPUs,
/// the later is not smaller, as far as the CPUs' counters agree.
///
/// - Unit: ticks.
/// - Ordering: every earlier load has its value before the counter is read. Earlier stores may not
///   be seen by other CPUs yet, except on POWER, riscv64 and s390x. A later store is not seen by
///   them before the counter is read. Later loads may be done before.
/// - Cost: on x86, twice a bare RDTSC. On the other processors it was not measured, and depends on
///   the loads that are outstanding: measure `cntvct_dsb_isb`, `timebase_sync`, `rdtime_fence` or
///   `stckf_bcr` with `clockscope measure`. [`crate::now`] needs neither DSB nor SYNC.
///
/// | | instructions | waits for arithmetic whose result is not used |
/// |---|---|---|
/// | x86 | `lfence; rdtsc` | yes |
/// | aarch64 | `dsb ishld; isb; mrs cntvct_el0` | not promised |
/// | POWER | `sync; mftb` | yes |
/// | riscv64 | `fence iorw, iorw; rdtime` | no |
/// | s390x | `bcr 15,0; stckf` | yes |
///
/// On aarch64, POWER and riscv64 a branch to the next instruction follows, which depends on the
/// reading: release stores and fences of the memory model do not wait for a counter there.
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

/// Reads the counter before code that is to be timed: after all earlier loads, and before any of
/// the timed instructions.
///
/// - Unit: ticks.
/// - Ordering: as [`now`], and no later instruction begins before the counter is read. (On riscv64
///   no later load or store; arithmetic may begin.)
/// - Cost: on x86 two fences and the instruction, some 2.5 times a bare RDTSC. Elsewhere not
///   measured: [`now`]'s instructions and ISB on aarch64, ISYNC on POWER, another FENCE on riscv64,
///   another BCR on s390x.
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

/// Reads the counter after code that is to be timed: after all of its loads, and before any later
/// instruction.
///
/// Stores of the timed code may still be on their way to memory: what they cost later is not in the
/// difference. Arithmetic is in it as far as [`now`] waits for it.
///
/// Unit, ordering, cost and example: [`start`].
#[inline(always)]
#[must_use]
pub fn stop() -> u64 {
    arch::fenced()
}

/// Returns whether this process may read the counter; `None` where the system does not report it,
/// which means that nothing forbids it as far as is known.
///
/// ```
/// assert_ne!(clockscope::ticks::is_permitted(), Some(false));
/// ```
#[cfg(all(feature = "std", not(clockscope_models)))]
#[must_use]
pub fn is_permitted() -> Option<bool> {
    clockscope_core::os::counter_is_permitted()
}
