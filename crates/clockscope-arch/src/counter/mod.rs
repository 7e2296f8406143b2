//! The processor's counter, one file an architecture, all with the same items:
//!
//! - `unordered()`: the bare read;
//! - `after()`: the read after all earlier loads, whose value is taken before a later store is
//!   seen;
//! - `after_branches()`: the read after every load that an earlier branch depends on. Cheaper than
//!   `after()` on some processors, the same on others;
//! - `fenced()`: `after()`, which is also before all later instructions. The caller of these four
//!   knows that the counter may be read;
//! - `has_counter()`: whether this processor has it;
//! - `CLOCKSOURCES`, `is_invariant()`, `claims()`: what kernel and processor say about it.
//!
//! x86 and aarch64 have several instructions that read the counter. Their files have a function for
//! each sequence of them, and a `has_*` for those that some processors lack.

// Its own file, arch.rs, is that of all other architectures.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "x86"), path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "riscv64.rs")]
#[cfg_attr(target_arch = "powerpc64", path = "powerpc64.rs")]
#[cfg_attr(target_arch = "s390x", path = "s390x.rs")]
mod arch;
pub mod order;

pub use arch::*;

/// Whether this crate knows the architecture's counter.
pub const EXISTS: bool = !CLOCKSOURCES.is_empty();

/// Frequencies that processor, firmware or hypervisor claim for the counter: to be checked against a measurement, never
/// taken for one. `None` where nothing is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// CPUID leaf 15h, in Hz.
    pub cpuid_15h_hz: Option<u64>,
    /// CPUID leaf 16h: the processor's base frequency in MHz.
    pub cpuid_16h_base_mhz: Option<u32>,
    /// CPUID leaf 40000010h of a hypervisor, in kHz.
    pub cpuid_40000010h_khz: Option<u32>,
    /// CNTFRQ_EL0, in Hz.
    pub cntfrq_hz: Option<u64>,
}
