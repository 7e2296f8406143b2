//! Ticks to time and back, for as long as the process lives.

use core::fmt;
use core::time::Duration;

use crate::evidence::Frequency;
use crate::tick_length::TickLength;
use crate::{Errno, Instant};

/// Conversion of the counter's ticks into time: a moment at which both were known, and the rate.
///
/// Products have 128 bits, so that no difference of ticks overflows. The rate is the mean of the
/// window that it was taken in; over a long time the counter departs from CLOCK_MONOTONIC by the
/// bound of that rate and by whatever the kernel steers. A conversion that is taken anew
/// ([`crate::conversion`]) starts from zero again.
///
/// Cost of a conversion: one multiplication and, from ns to ticks, one division.
///
/// ```
/// use clockscope::ticks;
/// use std::time::Duration;
///
/// let conversion = clockscope::calibrate_blocking(Duration::from_millis(1))?;
/// let (start, end) = (ticks::start(), ticks::stop());
/// println!("{} ns", conversion.ns(end - start));
/// # Ok::<(), clockscope::Uncalibrated>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    tick: u64,
    ns: u64,
    tick_length: TickLength,
    frequency: Frequency,
}

/// Reason why the counter has no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uncalibrated {
    /// The process may not read the counter, or the processor has none that is known.
    NotPermitted,
    /// No clock answers that it could be compared with.
    NoClock(Errno),
    /// Counter or clock did not advance.
    Stuck,
}

impl Conversion {
    /// At `tick` the time was `ns`.
    pub(crate) fn new(tick: u64, ns: u64, frequency: Frequency) -> Self {
        Self { tick, ns, tick_length: TickLength::new(1e9 / frequency.hz), frequency }
    }

    /// Returns the counter's frequency, with its bound.
    #[must_use]
    pub fn frequency(&self) -> &Frequency {
        &self.frequency
    }

    /// Converts a number of ticks to ns. Saturates where that does not fit (584 years).
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        self.tick_length.ns(ticks)
    }

    /// Converts a number of ticks to a duration.
    #[must_use]
    pub fn duration(&self, ticks: u64) -> Duration {
        Duration::from_nanos(self.ns(ticks))
    }

    /// Converts a duration to ticks, rounded down. `None` where they do not fit into 64 bits.
    #[must_use]
    pub fn ticks(&self, duration: Duration) -> Option<u64> {
        let ns = duration.as_nanos();
        // Step by step, because the shifted dividend must fit into 128 bits.
        let mantissa = u128::from(self.tick_length.mantissa);
        let mut ticks = 0u128;
        let mut remainder = ns;
        let mut shift = self.tick_length.shift;
        // At most as many turns as a shift by the free bits leaves to be done: three.
        loop {
            let step = shift.min(remainder.leading_zeros());
            remainder <<= step;
            if ticks.leading_zeros() < step {
                return None;
            }
            ticks = ticks.checked_shl(step)?.checked_add(remainder / mantissa)?;
            remainder %= mantissa;
            shift -= step;
            if shift == 0 {
                return u64::try_from(ticks).ok();
            }
        }
    }

    /// Returns the moment of a counter's reading, before or after the one at which the conversion
    /// was taken; [`Instant::MIN`] or [`Instant::MAX`] where it lies outside.
    #[must_use]
    pub fn instant(&self, tick: u64) -> Instant {
        let since = tick.wrapping_sub(self.tick) as i64;
        let ns = self.ns(since.unsigned_abs());
        let here = Instant::from_ns(self.ns).as_signed_ns();
        let ns = if since >= 0 { here.saturating_add_unsigned(ns) } else { here.saturating_sub_unsigned(ns) };
        Instant::from_signed_ns(ns)
    }

    /// Returns the same as seconds and nanoseconds of a `timespec` of CLOCK_MONOTONIC.
    #[must_use]
    pub fn timespec(&self, tick: u64) -> (i64, i64) {
        self.instant(tick).as_timespec()
    }

    /// Returns the counter's reading at a moment, modulo 2^64; `None` where its distance in
    /// ticks does not fit.
    #[must_use]
    pub fn tick_at(&self, moment: Instant) -> Option<u64> {
        let here = Instant::from_ns(self.ns);
        if moment >= here {
            Some(self.tick.wrapping_add(self.ticks(moment.duration_since(here))?))
        } else {
            Some(self.tick.wrapping_sub(self.ticks(here.duration_since(moment))?))
        }
    }
}

impl fmt::Display for Uncalibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPermitted => {
                f.write_str("the counter may not be read by this process, or there is none that is known")
            }
            Self::NoClock(errno) => write!(f, "no clock answers that the counter could be compared with: {errno}"),
            Self::Stuck => f.write_str("the counter or the system's clock did not advance: ask for a longer time"),
        }
    }
}

impl core::error::Error for Uncalibrated {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn conversion(hz: f64) -> Conversion {
        let frequency = Frequency { hz, lowest_hz: hz, highest_hz: hz, window: Duration::from_secs(1) };
        Conversion::new(1 << 40, 5_000_000_000, frequency)
    }

    proptest! {
        #[test]
        fn ticks_become_the_exact_ns(hz in 1e4f64..2e10, ticks in any::<u64>()) {
            let exact = ticks as f64 * (1e9 / hz);
            let ns = conversion(hz).ns(ticks) as f64;
            prop_assert!((ns - exact.min(u64::MAX as f64)).abs() <= 1.0 + exact * 4e-16, "{ns} {exact}");
        }

        #[test]
        fn there_and_back(hz in 1e6f64..2e10, ns in 0u64..(1 << 62)) {
            let conversion = conversion(hz);
            if let Some(ticks) = conversion.ticks(Duration::from_nanos(ns)) {
                let back = conversion.ns(ticks);
                prop_assert!(back <= ns && ns - back <= (1e9 / hz) as u64 + 1, "{ns} {ticks} {back}");
            }
        }

        #[test]
        fn moments_before_and_after(hz in 1e6f64..2e10, offset in -5_000_000_000i64..5_000_000_000) {
            let conversion = conversion(hz);
            let moment = Instant::from_ns(5_000_000_000u64.wrapping_add_signed(offset));
            let back = conversion.instant(conversion.tick_at(moment).unwrap());
            let error = back.ns_since(moment) + moment.ns_since(back);
            prop_assert!(error <= (1e9 / hz) as u64 + 1);
        }
    }

    #[test]
    fn two_hundred_years_do_not_overflow() {
        let years = 200.0 * 365.25 * 86400.0;
        let ns = conversion(2.5e9).ns((years * 2.5e9) as u64) as f64;
        assert!((ns / (years * 1e9) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_rate_of_whole_numbers_is_not_rounded() {
        // 24 MHz: 41.67 ns a tick, which whole nanoseconds would make 1.6 % slow.
        assert_eq!(conversion(24e6).ns(24_000_000), 999_999_999);
        assert_eq!(conversion(1e9).ns(u64::MAX), u64::MAX);
    }

    /// The timeline's zero is 5 s before the moment at which the conversion was taken.
    #[test]
    fn moments_before_zero_and_beyond_the_ends() {
        let conversion = conversion(1e9);
        let at = |ticks: i64| conversion.instant((1u64 << 40).wrapping_add_signed(ticks)).as_signed_ns();
        assert_eq!([-5_000_000_001, -5_000_000_000, -4_999_999_999].map(at), [-1, 0, 1]);
        assert_eq!(at(i64::MIN), i64::MIN + 5_000_000_000);
        let slow = Conversion::new(1 << 40, 5_000_000_000, self::conversion(1e8).frequency);
        assert_eq!(slow.instant((1u64 << 40).wrapping_add_signed(i64::MIN)), Instant::MIN);
        let late = Conversion::new(0, i64::MAX as u64 - 1, conversion.frequency);
        assert_eq!([1, 2, 1 << 40].map(|tick| late.instant(tick)), [Instant::MAX; 3]);
    }
}
