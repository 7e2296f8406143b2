//! The processor's counter, one table an architecture: each of its reading sequences as a clock.
//!
//! Every table has the same items:
//!
//! - `each(visitor)`: every reading sequence, the cheapest first;
//! - `ORDERED_NAME`: the name of [`Ordered`].

// Its own file, table.rs, is that of all other architectures.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "x86"), path = "counter/x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "counter/aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "counter/riscv64.rs")]
#[cfg_attr(target_arch = "powerpc64", path = "counter/powerpc64.rs")]
#[cfg_attr(target_arch = "s390x", path = "counter/s390x.rs")]
mod table;

use clockscope_core::counter as arch;

use crate::{ClockInfo, Errno, RawClock, Resolution, Unavailable, Unit};

pub use arch::is_invariant;
pub use table::{ORDERED_NAME, each};

/// Defines a counter: a unit type whose read is the given function.
macro_rules! counter {
    ($(#[$doc:meta])* $vis:vis $name:ident, $read:path) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name(());

        impl RawClock for $name {
            type Raw = u64;

            #[inline(always)]
            fn read(&self, raw: &mut u64) -> Result<(), Errno> {
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

/// Defines the counters of a table, and `each`. A row: the type, its name in the catalog, what
/// reads it, and whether this processor has it.
#[allow(unused_macros, reason = "table.rs has no rows")]
macro_rules! counters {
    (
        frequency_hz: $frequency_hz:expr;
        $($name:ident: $text:literal, $read:path, $is_there:expr;)*
    ) => {
        $(counter!(#[doc = concat!("The clock `", $text, "`.")] $name, $read);)*

        /// Hands every reading sequence to `visitor`.
        pub fn each(visitor: &mut impl Visitor) {
            let frequency_hz: Option<f64> = $frequency_hz;
            $(visitor.visit(Entry {
                info: with_frequency(cataloged!($text), frequency_hz),
                clock: $is_there.map(|()| $name(())),
            });)*
        }
    };
}
#[allow(unused_imports, reason = "table.rs has no rows")]
use {counter, counters};

counter!(
    /// The sequence that starts after all earlier instructions and ends before all later ones, for
    /// timing.
    pub Ordered,
    arch::fenced
);

/// Returns the sequence that batches are timed with.
///
/// # Errors
/// The processor has no counter.
pub fn ordered() -> Result<Ordered, Unavailable> {
    arch::has_counter().map(|()| Ordered(()))
}

/// Adds the frequency of a counter that the hardware states.
#[allow(dead_code, reason = "table.rs describes nothing")]
fn with_frequency(info: ClockInfo, frequency_hz: Option<f64>) -> ClockInfo {
    let resolution = frequency_hz.map_or(Resolution::OneCount, |hz| Resolution::Nanoseconds(1e9 / hz));
    ClockInfo { unit: Unit::Counts(frequency_hz), resolution, ..info }
}
