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
//! - `CLOCKSOURCE`, `is_invariant()`, `nominal_frequencies()`: what kernel and processor say about
//!   it.
//!
//! x86 and aarch64 have several instructions that read the counter. Their files have a function for
//! each sequence of them, and a `has_*` for those that some processors lack.

// Its own file, arch.rs, is that of all other architectures.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "x86"), path = "counter/x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "counter/aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "counter/riscv64.rs")]
#[cfg_attr(target_arch = "powerpc64", path = "counter/powerpc64.rs")]
#[cfg_attr(target_arch = "s390x", path = "counter/s390x.rs")]
mod arch;
pub mod memory_order;
mod nominal;

pub use arch::*;
pub use nominal::{FrequencySource, NominalFrequencies};

/// True if this crate knows the architecture's counter.
pub const EXISTS: bool = CLOCKSOURCE.is_some();
