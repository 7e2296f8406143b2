//! A clock's tick, a bound of it, or why there is neither.

use clockscope_records::TickReason;

/// Periods shorter than this, in units, cannot be distinguished from the truncation to whole units.
pub const MIN_PERIOD_UNITS: f64 = 3.0;

/// By what factors a lattice may be finer than the tick that it is a part of.
pub(super) const PRIMES: [u64; 25] =
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97];

/// A clock's tick, as far as readings show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tick {
    /// The period of this lattice.
    Found(Lattice),
    /// Too fine to be distinguished from the clock's unit.
    AtMost {
        /// Whatever it is, it is at most this, in units.
        units: f64,
        /// Readings that differed from the one before.
        steps: u64,
    },
    /// Unknown, with the reason.
    Unknown(TickReason),
}

/// A lattice on which the readings lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Distance of its points, in the clock's unit.
    pub period: f64,
    /// By what share the period may be off.
    pub error: f64,
    /// Width of the band around its points in which nine in ten blocks of readings lie, in units; 0
    /// if they lie exactly on them.
    pub spread: f64,
    /// Readings that differed from the one before: what the finding is based on.
    pub steps: u64,
    /// Share of the blocks of readings that lie on it.
    pub agreement: f64,
}

/// Weight of a lattice as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A thousand steps and more, nearly all of which lie on it.
    Strong,
    /// Enough steps that it is no accident.
    Fair,
    /// Few steps.
    Weak,
}

impl Lattice {
    /// Returns the number of periods nearest to a step.
    pub(super) fn periods(&self, step: u64) -> u64 {
        (step as f64 / self.period).round() as u64
    }

    /// Returns its weight as evidence.
    #[must_use]
    pub fn weight(&self) -> Weight {
        match self.steps {
            1000.. if self.agreement >= 0.99 => Weight::Strong,
            8.. => Weight::Fair,
            _ => Weight::Weak,
        }
    }
}

impl Tick {
    /// In units that are `scale` times finer.
    pub(super) fn scaled(self, scale: f64) -> Self {
        match self {
            Self::Found(lattice) => {
                Self::Found(Lattice { period: lattice.period * scale, spread: lattice.spread * scale, ..lattice })
            }
            Self::AtMost { units, steps } => Self::AtMost { units: units * scale, steps },
            Self::Unknown(_) => self,
        }
    }
}
