//! The processor's counter, one file an architecture, all with the same items:
//!
//! - `each(visitor)`: every reading sequence;
//! - `Ordered`: the sequence that starts after all earlier instructions and ends before all later ones, for timing;
//! - `ordered()`: that sequence if this processor has it;
//! - `ORDERED_NAME`: its name;
//! - `unordered()`: the bare read;
//! - `after()`: the read after all earlier loads, whose value is taken before a later store is
//!   seen;
//! - `after_branches()`: the read after every load that an earlier branch depends on. Cheaper than
//!   `after()` on some processors, the same on others;
//! - `fenced()`: `after()`, which is also before all later instructions. The caller of these four
//!   knows that the counter may be read;
//! - `CLOCKSOURCES`, `is_invariant()`, `claims()`: what kernel and processor say about it.

#[cfg_attr(any(target_arch = "x86_64", target_arch = "x86"), path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "riscv64.rs")]
#[cfg_attr(target_arch = "powerpc64", path = "powerpc64.rs")]
#[cfg_attr(target_arch = "s390x", path = "s390x.rs")]
#[cfg_attr(
    not(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "powerpc64",
        target_arch = "s390x"
    )),
    path = "absent.rs"
)]
pub(crate) mod arch;
#[cfg(feature = "std")]
pub(crate) mod order;

pub use arch::*;

use crate::{About, Kind, Path, Resolution, Unit};
use alloc::borrow::Cow;

/// Whether this crate knows the architecture's counter.
pub const EXISTS: bool = cfg!(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "powerpc64",
    target_arch = "s390x"
));

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

/// Description of a reading sequence that is ordered, at least after loads that a branch depends
/// on; `frequency_hz` where the hardware states it.
#[allow(dead_code, reason = "absent.rs describes nothing")]
fn about(
    name: &'static str,
    aliases: &'static [&'static str],
    frequency_hz: Option<f64>,
    summary: &'static str,
) -> About {
    About {
        name: Cow::Borrowed(name),
        aliases,
        kind: Kind::Counter,
        path: Path::Instruction,
        unit: Unit::Ticks(frequency_hz),
        resolution: frequency_hz.map_or(Resolution::OneTick, |hz| Resolution::Nanoseconds(1e9 / hz)),
        summary,
        on_clocksource: false,
        is_ordered: true,
    }
}

/// The same of one that may be done early.
#[allow(dead_code, reason = "absent.rs describes nothing")]
fn about_unordered(
    name: &'static str,
    aliases: &'static [&'static str],
    frequency_hz: Option<f64>,
    summary: &'static str,
) -> About {
    About { is_ordered: false, ..about(name, aliases, frequency_hz, summary) }
}

/// Defines a counter: a unit type whose read is the given instructions.
#[allow(unused_macros, reason = "absent.rs defines none")]
macro_rules! counter {
    ($(#[$doc:meta])* $name:ident, $read:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name(());

        impl crate::RawClock for $name {
            type Raw = u64;

            #[inline(always)]
            fn read(&self, raw: &mut u64) -> Result<(), crate::Errno> {
                *raw = $read();
                Ok(())
            }

            #[inline(always)]
            fn value(&self, raw: &u64) -> u64 {
                *raw
            }
        }
    };
}
#[allow(unused_imports, reason = "absent.rs defines none")]
use counter;
