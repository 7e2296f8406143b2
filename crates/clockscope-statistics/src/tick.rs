//! Recovers a clock's tick, the step of the lattice on which all of its readings lie, also where a read takes many
//! ticks and where readings are truncated to whole units.
//!
//! A greatest common divisor is tried first: it is exact, but blind to truncation and ruined by a single reading beside
//! the lattice. What is left is searched for the lattice's period in the spectrum of the differences ([`spectrum`]);
//! a candidate counts only if the readings themselves, block by block, lie on its lattice ([`lattice`]).
//!
//! A constant cost of the read looks like a lattice, too. So a tick is believed only where readings were one tick apart
//! in one place and more, or none, in another.

mod collector;
mod lattice;
mod spectrum;

use std::collections::HashMap;

pub use collector::TickCollector;
use lattice::Fit;

/// Steps that show nothing with fewer.
const FEWEST_STEPS: usize = 3;
/// Steps that a spectrum needs.
const SPECTRAL_STEPS: usize = 200;
/// Periods shorter than this, in units, cannot be told from the truncation to whole units.
const SHORTEST: f64 = 3.0;
/// A clock with no step shorter than this, in units, that stands still most of the time, is coarse.
const COARSE: u64 = 4096;
/// Share of its tick by which a coarse clock's single step may be off: the kernel stretches them.
const COARSE_SLACK: f64 = 2e-4;
/// Share of a coarse clock's steps that must be alike.
const ALIKE: f64 = 0.95;
/// Share of the steps that a number of ticks must have to be more than an exception.
const DIVERSE: f64 = 0.005;
/// A common divisor is accidental with a probability below one in this.
const ACCIDENT: f64 = 1e9;

/// What readings tell about a clock's tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tick {
    /// It is this.
    Found(Lattice),
    /// Whatever it is, it is at most this, in units.
    AtMost(f64),
    /// Nothing can be said.
    Unknown(NoTick),
}

/// A lattice on which the readings lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Distance of its points, in the clock's unit.
    pub period: f64,
    /// By what share the period may be off.
    pub error: f64,
    /// Width of the band around its points in which readings lie, in units; 0 if all lie exactly on them.
    pub spread: f64,
    /// Readings that differed from the one before: what the finding stands on.
    pub steps: u64,
    /// Share of the blocks of readings that lie on it.
    pub agreement: f64,
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTick {
    /// Fewer than three readings differed from the one before.
    TooFewSteps,
    /// There is no lattice in so few readings, but there may be one.
    TooFewReadings,
    /// All differences are alike: the read's own cost cannot be told from a tick.
    ConstantCost,
    /// Parts of the readings lie on different lattices: the clock's rate changed.
    RateChanged,
    /// The differences look like a lattice, but the readings do not lie on one.
    NoLattice,
}

impl NoTick {
    /// In a sentence, for people.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooFewSteps => "its value changed fewer than three times: give it more time",
            Self::TooFewReadings => "too few readings differ to tell a tick: give it more time",
            Self::ConstantCost => "all steps are alike: the cost of the read cannot be told from a tick",
            Self::RateChanged => "its rate changed while it was read",
            Self::NoLattice => "its readings lie on no lattice of 3 units or more",
        }
    }
}

/// Readings without repeats and steps back, from the first on, and how many repeats there were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings {
    /// Ascending, from 0.
    values: Vec<u64>,
    repeats: u64,
}

/// The tick of a clock that gave these readings, one after another. Linear in their number but for a transform
/// of at most 2^19 points; under 100 ms for 40,000 of them.
#[must_use]
pub fn tick(readings: &[u64]) -> Tick {
    let mut collector = TickCollector::new(readings.len());
    collector.push(readings);
    collector.tick()
}

impl Readings {
    fn tick(&self) -> Tick {
        let steps: Vec<u64> = self.values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if steps.len() < FEWEST_STEPS {
            return Tick::Unknown(NoTick::TooFewSteps);
        }
        let divisor = steps.iter().copied().fold(0, gcd);
        let scaled = Self { values: self.values.iter().map(|value| value / divisor).collect(), repeats: self.repeats };
        let scaled_steps: Vec<u64> = steps.iter().map(|step| step / divisor).collect();
        let found = scaled.search(&scaled_steps);
        let found = match found {
            Tick::Found(_) | Tick::Unknown(NoTick::RateChanged) => found,
            _ => self.common_divisor(divisor, &steps).unwrap_or(found),
        };
        found.scaled(divisor as f64)
    }

    /// The greatest common divisor, where it can be neither an accident nor the read's cost.
    fn common_divisor(&self, divisor: u64, steps: &[u64]) -> Option<Tick> {
        let accident = (divisor as f64).powi(steps.len().min(1000) as i32 - 1);
        let diverse = || self.is_diverse(&counts(steps), divisor as f64);
        let lattice = Lattice { period: 1.0, error: 0.0, spread: 0.0, steps: steps.len() as u64, agreement: 1.0 };
        (divisor > 1 && accident > ACCIDENT && diverse()).then_some(Tick::Found(lattice))
    }

    /// Looks for a lattice of several units.
    fn search(&self, steps: &[u64]) -> Tick {
        if let Some(coarse) = self.coarse(steps) {
            return coarse;
        }
        let found = self.spectral(steps);
        // Two lattices, one after the other, may hide each other's lines.
        let alone = |steps: &[u64]| matches!(Readings::of_steps(steps).spectral(steps), Tick::Found(_));
        if found == Tick::AtMost(SHORTEST) && steps.chunks(steps.len().div_ceil(4)).any(alone) {
            return Tick::Unknown(NoTick::RateChanged);
        }
        found
    }

    fn of_steps(steps: &[u64]) -> Self {
        let mut sum = 0;
        let values = steps.iter().map(|step| {
            sum += step;
            sum
        });
        Self { values: std::iter::once(0).chain(values).collect(), repeats: 0 }
    }

    /// Looks for it in the spectrum of the differences.
    fn spectral(&self, steps: &[u64]) -> Tick {
        if steps.len() < SPECTRAL_STEPS {
            return Tick::Unknown(NoTick::TooFewReadings);
        }
        let counts = counts(steps);
        let mut constant = false;
        let mut failed = false;
        for line in spectrum::candidates(steps) {
            let Some(frequency) = lattice::first_look(&self.values, line) else {
                failed = true;
                continue;
            };
            if 1.0 / frequency < SHORTEST {
                break;
            }
            // Cheaper than the fit.
            if !self.is_diverse(&counts, 1.0 / frequency) {
                constant = true;
                continue;
            }
            match lattice::fit(&self.values, frequency) {
                Fit::Nowhere => failed = true,
                Fit::Changing => return Tick::Unknown(NoTick::RateChanged),
                Fit::On(lattice) if self.is_confirmed(&lattice) => {
                    return Tick::Found(lattice::widest(&self.values, lattice, |wider| self.is_confirmed(wider)));
                }
                Fit::On(_) => constant = true,
            }
        }
        match (constant, failed && !self.is_dense(&counts)) {
            (true, _) => Tick::Unknown(NoTick::ConstantCost),
            (_, true) => Tick::Unknown(NoTick::NoLattice),
            _ => Tick::AtMost(SHORTEST),
        }
    }

    /// The tick of a coarse clock, whose steps are alike but for the kernel's corrections; `None` for any other.
    fn coarse(&self, steps: &[u64]) -> Option<Tick> {
        let shortest = *steps.iter().min()?;
        if shortest < COARSE || self.repeats < steps.len() as u64 {
            return None;
        }
        let multiple = |step: u64| (step as f64 / shortest as f64).round();
        let period = steps.iter().sum::<u64>() as f64 / steps.iter().map(|step| multiple(*step)).sum::<f64>();
        let off = |step: u64| (step as f64 - multiple(step) * period).abs();
        let slack = (COARSE_SLACK * period).max(2.0);
        let alike = steps.iter().filter(|step| off(**step) <= slack).count() as f64 / steps.len() as f64;
        let spread = steps.iter().map(|step| off(*step)).filter(|off| *off <= slack).fold(0.0, f64::max);
        let error = spread / period / (steps.len() as f64).sqrt();
        let lattice = Lattice { period, error, spread, steps: steps.len() as u64, agreement: alike };
        (alike >= ALIKE).then_some(Tick::Found(lattice))
    }

    /// Whether readings went different numbers of ticks where they lie on the lattice, too: elsewhere pauses may
    /// have made them different.
    fn is_confirmed(&self, lattice: &Lattice) -> bool {
        self.is_diverse(&counts(&lattice::steps_on(&self.values, lattice)), lattice.period)
    }

    /// Whether readings went different numbers of ticks: neighbouring numbers, or none and one.
    fn is_diverse(&self, steps: &Counts, period: f64) -> bool {
        let mut counts = Counts::from([(0, self.repeats)]);
        for (step, count) in steps {
            *counts.entry((*step as f64 / period).round() as u64).or_insert(0) += count;
        }
        let all = steps.values().sum::<u64>() as f64;
        let often = |ticks: u64| counts.get(&ticks).is_some_and(|count| *count as f64 >= DIVERSE * all);
        counts.keys().any(|ticks| often(*ticks) && often(ticks + 1))
    }

    /// Whether the steps prove that no tick is longer than [`SHORTEST`]: on such a lattice at most two neighbouring
    /// whole numbers can be steps, three if now and then a reading is one more than it should be.
    fn is_dense(&self, steps: &Counts) -> bool {
        let often = |step: u64| steps.get(&step).is_some_and(|count| *count as f64 >= DIVERSE * self.steps());
        steps.keys().any(|step| (0..4).all(|further| often(step + further)))
    }

    fn steps(&self) -> f64 {
        self.values.len() as f64 - 1.0
    }
}

/// How often each number occurs.
type Counts = HashMap<u64, u64>;

fn counts(steps: &[u64]) -> Counts {
    let mut counts = Counts::new();
    for step in steps {
        *counts.entry(*step).or_insert(0) += 1;
    }
    counts
}

impl Tick {
    /// In units that are `scale` times finer.
    fn scaled(self, scale: f64) -> Self {
        match self {
            Self::Found(lattice) => {
                Self::Found(Lattice { period: lattice.period * scale, spread: lattice.spread * scale, ..lattice })
            }
            Self::AtMost(units) => Self::AtMost(units * scale),
            Self::Unknown(_) => self,
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
