//! Counters of fewer than 64 bits, which begin anew at 0.

use core::sync::atomic::{AtomicU64, Ordering};

/// No counter of fewer than 64 bits has counted so far.
const UNSEEN: u64 = u64::MAX;

/// A narrow counter's value without wraps.
///
/// Right as long as it is asked once while the counter passes seven eighths of its range: every 4
/// minutes for an HPET of 32 bits, whose range is 5 minutes at 14.3 MHz. A value may be up to an
/// eighth of the range before one that was asked for earlier, as those of several threads are.
#[derive(Debug)]
pub struct Unwrapped {
    bits: u32,
    /// A value without wraps that was returned: any of the latest is near enough.
    last: AtomicU64,
}

impl Unwrapped {
    /// For a counter of `bits` bits, 8 to 63; beyond that, of the nearest such number.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        let bits = if bits < 8 {
            8
        } else if bits > 63 {
            63
        } else {
            bits
        };
        Self { bits, last: AtomicU64::new(UNSEEN) }
    }

    /// Returns the value of a reading without wraps; the first one is as it was read.
    #[inline]
    #[must_use]
    pub fn whole(&self, reading: u64) -> u64 {
        // Relaxed: no other memory depends on it.
        let mut last = self.last.load(Ordering::Relaxed);
        if last == UNSEEN {
            match self.last.compare_exchange(UNSEEN, reading, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return reading,
                Err(other) => last = other,
            }
        }
        let range = 1u64 << self.bits;
        let earlier = range / 8;
        // From an eighth of the range before the last value on.
        let ahead = reading.wrapping_sub(last).wrapping_add(earlier) & (range - 1);
        let whole = last.wrapping_sub(earlier).wrapping_add(ahead);
        self.last.store(whole, Ordering::Relaxed);
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_wraps_goes_on() {
        for bits in [8, 24, 32, 56, 63] {
            let range = 1u64 << bits;
            let (counter, start) = (Unwrapped::new(bits), range - range / 16);
            let mut whole = start;
            assert_eq!(counter.whole(start), start);
            // Steps of all sizes that are permitted, forth and back.
            for turn in 1..10_000u64 {
                let step = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
                whole = whole.wrapping_add(step).wrapping_sub(range / 8);
                assert_eq!(counter.whole(whole % range), whole, "{bits} bits, turn {turn}");
            }
        }
    }

    #[test]
    fn threads_agree_on_how_often_it_wrapped() {
        for _ in 0..200 {
            let counter = Unwrapped::new(32);
            let (early, late) = (u64::from(u32::MAX) - 5, 7);
            let (a, b) = std::thread::scope(|scope| {
                let a = scope.spawn(|| counter.whole(early));
                let b = scope.spawn(|| counter.whole(late));
                (a.join().unwrap(), b.join().unwrap())
            });
            assert_eq!(b.wrapping_sub(a), 13);
        }
    }
}
