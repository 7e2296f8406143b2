//! Random numbers that a seed decides.

use std::f64::consts::TAU;

/// A generator (splitmix64, by Sebastiano Vigna, in the public domain).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.any()) * u128::from(end)) >> 64) as u64
    }

    /// A number between these, the second left out.
    pub fn between(&mut self, first: u64, end: u64) -> u64 {
        first + self.below(end.saturating_sub(first))
    }

    /// A fraction, from 0 on and below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.any() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between these, from `low` on and below `high`.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + self.fraction() * (high - low)
    }

    /// A number between these, from `low` on and below `high`, whose logarithm is as likely
    /// anywhere.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.within(low.ln(), high.ln()).exp()
    }

    /// A number of mean 0 and variance 1, normally distributed (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (self.fraction() + f64::EPSILON).ln()).sqrt() * (TAU * self.fraction()).cos()
    }

    /// Time until the next of events that come at random, `mean` apart.
    pub fn waiting(&mut self, mean: u64) -> u64 {
        (-(1.0 - self.fraction()).ln() * mean as f64) as u64
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_and_bounds_hold() {
        let (mut one, mut same, mut other) = (Random::new(7), Random::new(7), Random::new(8));
        assert!((0..100).all(|_| one.any() == same.any()));
        assert_ne!(one.any(), other.any());
        assert!((0..1000).all(|_| (5..9).contains(&one.between(5, 9)) && one.below(0) == 0));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&one.fraction())));
        let mean = (0..10_000).map(|_| one.waiting(1000)).sum::<u64>() / 10_000;
        assert!((950..1050).contains(&mean), "{mean}");
        assert!((0..1000).all(|_| (2.0..3.0).contains(&one.within(2.0, 3.0)) && one.scale(1.0, 100.0) < 100.0));
        let above = (0..10_000).filter(|_| one.scale(1.0, 100.0) > 10.0).count();
        assert!((4700..5300).contains(&above), "{above}");
        let normal: Vec<f64> = (0..10_000).map(|_| one.normal()).collect();
        let moment = |power: i32| normal.iter().map(|value| value.powi(power)).sum::<f64>() / normal.len() as f64;
        assert!(moment(1).abs() < 0.05 && (moment(2) - 1.0).abs() < 0.05 && (moment(4) - 3.0).abs() < 0.3);
        let often = (0..10_000).filter(|_| one.happens(0.25)).count();
        assert!((2300..2700).contains(&often), "{often}");
    }
}
