//! A quantity that goes on at a constant rate until that is changed.

/// Bits of fraction of a value, and of a rate.
pub(crate) const FRACTION: u32 = 48;

/// A quantity as a function of true time, since the last change of its rate.
///
/// Values wrap at 2^80, rates are in units a picosecond with 48 bits of fraction: exact for
/// centuries of any clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    since_ps: u128,
    value: i128,
    per_ps: i128,
}

impl Linear {
    /// Begins at time 0 with `value` units, and goes on at `per_second`.
    #[must_use]
    pub fn new(value: u64, per_second: f64) -> Self {
        Self { since_ps: 0, value: i128::from(value) << FRACTION, per_ps: rate(per_second) }
    }

    fn fixed(&self, now_ps: u128) -> i128 {
        let passed = now_ps.wrapping_sub(self.since_ps) as i128;
        self.value.wrapping_add(passed.wrapping_mul(self.per_ps))
    }

    /// The value in whole units. `now_ps` is true time, as in all of these.
    #[must_use]
    pub fn at(&self, now_ps: u128) -> i128 {
        self.fixed(now_ps) >> FRACTION
    }

    /// The first time at which the value is `units` or more; `None` of one that does not rise.
    pub(crate) fn when(&self, units: i128) -> Option<u128> {
        if self.per_ps <= 0 {
            return None;
        }
        let left = units.wrapping_shl(FRACTION).wrapping_sub(self.value);
        let whole = left.div_euclid(self.per_ps);
        let ps = whole + i128::from(whole * self.per_ps < left);
        Some(self.since_ps.wrapping_add(ps as u128))
    }

    /// The rate in units a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.per_ps as f64 / (1u64 << FRACTION) as f64 * 1e12
    }

    /// Goes on at another rate from now on: 0 stops it, less than 0 runs it down.
    pub fn set_rate(&mut self, now_ps: u128, per_second: f64) {
        *self = Self { since_ps: now_ps, value: self.fixed(now_ps), per_ps: rate(per_second) };
    }

    /// Turns around.
    pub fn reverse(&mut self, now_ps: u128) {
        *self = Self { since_ps: now_ps, value: self.fixed(now_ps), per_ps: -self.per_ps };
    }

    /// Jumps by `units`.
    pub fn step(&mut self, units: i128) {
        self.value = self.value.wrapping_add(units.wrapping_shl(FRACTION));
    }

    /// Is set to `units` now.
    pub fn set(&mut self, now_ps: u128, units: i128) {
        *self = Self { since_ps: now_ps, value: units.wrapping_shl(FRACTION), ..*self };
    }

    /// Stood still for `ps` until now: the machine was suspended, and this left the time out.
    pub fn leave_out(&mut self, ps: u128) {
        self.since_ps = self.since_ps.wrapping_add(ps);
    }
}

fn rate(per_second: f64) -> i128 {
    (per_second / 1e12 * (1u64 << FRACTION) as f64) as i128
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is changed on the way, the sum of what was passed at each rate is what shows.
        #[test]
        fn changes_add_up(parts in prop::collection::vec((0u64..1 << 50, -2e9f64..4e9, -1000i64..1000), 1..20)) {
            let mut line = Linear::new(0, 0.0);
            let (mut now, mut expected) = (0u128, 0i128);
            for (ps, hz, step) in parts {
                line.set_rate(now, hz);
                line.step(step.into());
                now += u128::from(ps);
                expected += i128::from(ps) * rate(hz) + (i128::from(step) << FRACTION);
                prop_assert_eq!(line.at(now), expected >> FRACTION);
            }
        }
    }

    #[test]
    fn a_suspend_is_left_out() {
        let mut line = Linear::new(5, 1e9);
        assert_eq!(line.at(2_500), 7);
        for units in [3, 6, 7] {
            let when = line.when(units).unwrap();
            assert!(line.at(when) == units && line.at(when.wrapping_sub(1)) == units - 1, "{units}: {when}");
        }
        line.leave_out(1_000_000);
        assert_eq!(line.at(1_003_500), 8);
        line.reverse(1_003_500);
        assert_eq!(line.at(1_004_900), 7);
        line.set(1_005_000, 40);
        assert_eq!(line.at(1_006_500), 38);
    }
}
