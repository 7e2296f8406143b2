//! Random numbers that a seed decides.

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
        let often = (0..10_000).filter(|_| one.happens(0.25)).count();
        assert!((2300..2700).contains(&often), "{often}");
    }
}
