//! A bracket: the OS clock read between two reads of the counter. All that is ever known of one
//! clock by another.

use super::Counter;
use crate::Errno;

/// The OS clock showed `os_ns` at some moment that is no earlier than the reading `before` and no
/// later than the reading `after`. Either clock may have been as much as one of its own ticks
/// further than it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bracket {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) os_ns: u64,
}

impl Bracket {
    /// In the place of one that was not taken.
    pub(crate) const ZERO: Self = Self { before: 0, after: 0, os_ns: 0 };

    /// The narrowest of up to `tries`, done early with one that is no wider than `enough` ticks. An
    /// interruption only ever widens a bracket, and the first after an idle spell is cold.
    ///
    /// # Errors
    /// The OS clock refused.
    pub(crate) fn narrowest(
        counter: &impl Counter,
        os_ns: impl Fn() -> Result<u64, Errno>,
        tries: u32,
        enough: u64,
    ) -> Result<Self, Errno> {
        let mut best = Self::take(counter, &os_ns)?;
        for _ in 1..tries {
            if best.width() <= enough {
                break;
            }
            let next = Self::take(counter, &os_ns)?;
            if next.width() < best.width() {
                best = next;
            }
        }
        Ok(best)
    }

    /// Where no branch precedes it, the first reading may be taken early, and the bracket is wider.
    /// The last one is not: the OS clock ends with a branch that depends on its own reading (the
    /// vDSO's loop on the sequence number, or a system call's return), and readings of one counter
    /// by one thread are in the program's order.
    fn take(counter: &impl Counter, os_ns: impl Fn() -> Result<u64, Errno>) -> Result<Self, Errno> {
        let before = counter.before_os();
        let os_ns = os_ns()?;
        Ok(Self { before, after: counter.ordered(), os_ns })
    }

    /// In how many ticks the OS clock's moment may lie: one or more.
    pub(crate) fn width(&self) -> u64 {
        self.after.wrapping_sub(self.before).saturating_add(1)
    }

    /// Whether the counter went back from one reading to the next. Nothing follows from such a
    /// bracket but that.
    pub(crate) fn went_back(&self) -> bool {
        (self.after.wrapping_sub(self.before) as i64) < 0
    }

    /// The tick in the middle.
    pub(crate) fn middle(&self) -> u64 {
        self.before.wrapping_add(self.after.wrapping_sub(self.before) / 2)
    }

    /// OS time from `earlier` to this one, in ns. Negative where the OS clock went back.
    pub(crate) fn os_ns_since(&self, earlier: &Self) -> f64 {
        self.os_ns.wrapping_sub(earlier.os_ns) as i64 as f64
    }

    /// Every mean rate from `earlier` to this one that both brackets allow, in ns a tick. Assumes
    /// nothing about what lies between. `None` where the counter did not clearly advance: no rate
    /// follows.
    pub(crate) fn rate_since(&self, earlier: &Self, os_tick_ns: u64) -> Option<Interval> {
        let fewest = (self.before.wrapping_sub(earlier.after) as i64).saturating_sub(1);
        let most = (self.after.wrapping_sub(earlier.before) as i64).saturating_add(1);
        if fewest <= 0 || most < fewest {
            return None;
        }
        let (ns, tick) = (self.os_ns_since(earlier), os_tick_ns as f64);
        // Where the numerator is negative, the division by fewer ticks makes it smaller, not
        // larger.
        let low = (ns - tick) / if ns < tick { fewest } else { most } as f64;
        let high = (ns + tick) / if ns < -tick { most } else { fewest } as f64;
        Some(Interval { low, high })
    }
}

/// A closed interval of rates in ns a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// In the place of one that is not known.
    pub(crate) const ZERO: Self = Self { low: 0.0, high: 0.0 };

    pub(crate) fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    /// Half of the width, relative to the middle.
    pub(crate) fn relative(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.middle()
    }

    /// What both allow; `None` for nothing.
    pub(crate) fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// The interval with `share` of its middle added on both sides.
    pub(crate) fn widened(&self, share: f64) -> Self {
        let more = self.middle().abs() * share;
        Self { low: self.low - more, high: self.high + more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// In ticks. Both readings of a slow counter are mostly the same.
    fn width() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), 0.0f64..5.0, 0.0f64..5000.0]
    }

    proptest! {
        /// Whatever the moment inside each bracket at which the OS clock was read, and wherever in
        /// its tick it was, the true mean rate is inside the interval.
        #[test]
        fn the_true_rate_is_never_outside(
            origin in any::<u64>(),
            ns_per_tick in 0.05f64..100.0,
            ticks_between in 10_000u64..(1 << 40),
            widths in (width(), width()),
            moments in (0.0f64..1.0, 0.0f64..1.0),
            fractions in (0.0f64..1.0, 0.0f64..1.0),
            os_tick in prop_oneof![Just(1u64), 2u64..500],
        ) {
            let os = |ticks: f64| ((ticks * ns_per_tick) as u64 + 1_000_000) / os_tick * os_tick;
            // From and to moments within a tick, of which the counter shows the beginning.
            let bracket = |from: f64, width: f64, moment: f64| Bracket {
                before: origin.wrapping_add(from as u64),
                after: origin.wrapping_add((from + width) as u64),
                os_ns: os(from + width * moment),
            };
            let first = bracket(fractions.0, widths.0, moments.0);
            let second = bracket(ticks_between as f64 + fractions.1, widths.1, moments.1);
            let rate = second.rate_since(&first, os_tick).unwrap();
            // f64 holds 53 bits: the last of a large product may be off.
            prop_assert!(rate.widened(1e-15).low <= ns_per_tick && ns_per_tick <= rate.widened(1e-15).high);
        }

        /// No script of readings makes it fail.
        #[test]
        fn any_two_brackets_are_answered(a in any::<[u64; 3]>(), b in any::<[u64; 3]>(), tick in any::<u64>()) {
            let [first, second] = [a, b].map(|[before, after, os_ns]| Bracket { before, after, os_ns });
            if let Some(rate) = second.rate_since(&first, tick) {
                prop_assert!(rate.low <= rate.high, "{rate:?}");
            }
        }
    }
}
