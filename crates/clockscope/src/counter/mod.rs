//! The processor's counter, one file an architecture, all with the same four items:
//!
//! - `each(visitor)`: every reading sequence;
//! - `Ordered`: the sequence that starts after all earlier instructions and ends before all later ones, for timing;
//! - `ordered()`: that sequence if this processor has it;
//! - `ORDERED_NAME`: its name.

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
mod arch;

pub use arch::*;

use crate::{About, Kind, Path, Resolution, Unit};
use alloc::borrow::Cow;

/// Description of a reading sequence; `frequency_hz` where the hardware states it.
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
    }
}

/// Defines a counter: a unit type whose read is the given instructions.
#[allow(unused_macros, reason = "absent.rs defines none")]
macro_rules! counter {
    ($(#[$doc:meta])* $name:ident, $read:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name(());

        impl crate::Clock for $name {
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
