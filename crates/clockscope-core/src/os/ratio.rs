//! Counts of a clock whose unit is a fraction of a nanosecond, as nanoseconds.

use core::sync::atomic::{AtomicU64, Ordering};

/// The unit of a clock in ns, as a fraction in lowest terms that is found once: 100/1 for
/// QueryPerformanceCounter at 10 MHz, 125/3 for mach_absolute_time at 24 MHz.
#[derive(Debug)]
pub(super) struct Ratio(AtomicU64);

impl Ratio {
    /// Makes one that was not found yet.
    pub(super) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Returns the counts in ns, rounded down; exact for all counts whose time fits 64 bits, and
    /// modulo 2^64 beyond. The first call asks for the unit; `None` while the system states none.
    /// Cost: a multiplication for whole units and for 125/3, two divisions for others.
    #[inline(always)]
    pub(super) fn ns(&self, counts: u64, unit: impl FnOnce() -> Option<(u64, u64)>) -> Option<u64> {
        let word = match self.0.load(Ordering::Relaxed) {
            0 => self.find(unit)?,
            word => word,
        };
        Some(scaled(counts, word >> u32::BITS, word & u64::from(u32::MAX)))
    }

    /// Stores the unit. Threads that race store the same.
    #[cold]
    fn find(&self, unit: impl FnOnce() -> Option<(u64, u64)>) -> Option<u64> {
        let (numerator, denominator) = unit().and_then(|(numerator, denominator)| lowest(numerator, denominator))?;
        let word = u64::from(numerator) << u32::BITS | u64::from(denominator);
        self.0.store(word, Ordering::Relaxed);
        Some(word)
    }
}

/// Returns the fraction in lowest terms; `None` where one of both is 0, or is too large.
fn lowest(numerator: u64, denominator: u64) -> Option<(u32, u32)> {
    let (mut divisor, mut remainder) = (numerator, denominator);
    while remainder != 0 {
        (divisor, remainder) = (remainder, divisor % remainder);
    }
    let numerator = u32::try_from(numerator.checked_div(divisor)?).ok()?;
    let denominator = u32::try_from(denominator.checked_div(divisor)?).ok()?;
    (numerator > 0 && denominator > 0).then_some((numerator, denominator))
}

/// Multiplies by a fraction of terms below 2^32, rounded down, modulo 2^64.
#[inline(always)]
fn scaled(counts: u64, numerator: u64, denominator: u64) -> u64 {
    match (numerator, denominator) {
        // Divisions by a constant are multiplications.
        (_, 1) => counts.wrapping_mul(numerator),
        (125, 3) => quotient_and_remainder(counts, 125, 3),
        _ => quotient_and_remainder(counts, numerator, denominator),
    }
}

/// Multiplies by a fraction, rounded down, modulo 2^64: quotient and remainder separately. The
/// product of the remainder is below 2^64, as both factors are below 2^32.
#[inline(always)]
fn quotient_and_remainder(counts: u64, numerator: u64, denominator: u64) -> u64 {
    (counts / denominator).wrapping_mul(numerator).wrapping_add(counts % denominator * numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn ns(counts: u64, unit: (u64, u64)) -> Option<u64> {
        Ratio::new().ns(counts, || Some(unit))
    }

    #[test]
    fn counts_are_exact_nanoseconds() {
        // 10 MHz, 3.579545 MHz, 14.31818 MHz, TSC/1024, 24 MHz, 1 GHz, 62.5 MHz.
        let units = [
            (SECOND, 10_000_000),
            (SECOND, 3_579_545),
            (SECOND, 14_318_180),
            (SECOND, 2_929_687),
            (125, 3),
            (1, 1),
            (16, 1),
        ];
        // 31 minutes at 10 MHz are 2^64 / 10^9 counts, where a product of 64 bits overflows.
        let counts = [0, 1, 2, 3, 999, 18_446_744_073, 18_446_744_074, 1 << 40, (1 << 53) + 1, u64::MAX / 200];
        for (numerator, denominator) in units {
            for count in counts {
                let exact = u128::from(count) * u128::from(numerator) / u128::from(denominator);
                assert_eq!(
                    ns(count, (numerator, denominator)),
                    Some(exact as u64),
                    "{count} × {numerator}/{denominator}"
                );
            }
        }
    }

    #[test]
    fn a_unit_that_makes_no_sense_is_no_clock() {
        for unit in [(SECOND, 0), (0, 3), (0, 0), (u64::MAX, 2), (1, u64::MAX)] {
            assert_eq!(ns(5, unit), None, "{unit:?}");
        }
        assert_eq!(Ratio::new().ns(5, || None), None);
    }

    #[test]
    fn the_unit_is_requested_once() {
        let ratio = Ratio::new();
        assert_eq!(ratio.ns(3, || Some((125, 3))), Some(125));
        assert_eq!(ratio.ns(6, || unreachable!()), Some(250));
    }
}
