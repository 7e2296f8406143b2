//! Recovers a clock's tick, the step of the lattice on which all of its readings lie, also where a
//! read takes many ticks and where readings are truncated to whole units.
//!
//! A greatest common divisor is tried first: it is exact, but blind to truncation and ruined by a
//! single reading beside the lattice. What is left is searched for the lattice's period in the
//! spectrum of the differences ([`spectrum`]); a candidate counts only if the readings themselves,
//! block by block, lie on its lattice ([`lattice`]). [`search`] goes through the candidates.
//!
//! The read's own cost looks like a lattice, too. So a tick is believed only with a [`proof`].

mod collector;
mod lattice;
mod phase;
mod proof;
mod readings;
mod result;
mod search;
mod spectrum;

use clockscope_records::TickReason;
pub use collector::{Elapsed, TickCollector};
use lattice::{CERTAIN_BLOCK_SHARE, StepProfile};
use readings::TickReadings;
pub use result::{Lattice, MIN_PERIOD_UNITS, Tick, Weight};
use search::{MIN_CONCLUSIVE_STEPS, Search};

/// Steps that show nothing with fewer.
const MIN_STEPS: usize = 3;
/// Steps that a spectrum needs.
const MIN_SPECTRAL_STEPS: usize = 200;
/// A clock with no step shorter than this, in units, that stands still most of the time, is coarse.
const MIN_COARSE_STEP_UNITS: u64 = 4096;
/// Share of its tick by which a coarse clock's single step may be off: the kernel stretches them.
const MAX_COARSE_STEP_ERROR_SHARE: f64 = 2e-4;
/// Share of a coarse clock's steps that must be alike.
const MIN_ALIKE_STEP_SHARE: f64 = 0.95;
/// Share of the steps that must be 1 where a counter answers further reads within its tick with one
/// more each.
const MIN_SINGLE_UNIT_STEP_SHARE: f64 = 0.05;

/// Ratio of a tick to the least time between two readings from which on each tick can be seen.
const MIN_VISIBLE_TICK_READS: f64 = 8.0;
/// The tick of a clock that gave these readings, one after another. Linear in their number but for
/// a transform of at most 2^19 points; under 100 ms for 40,000 of them.
#[must_use]
pub fn tick(readings: &[u64]) -> Tick {
    let mut collector = TickCollector::new(readings.len());
    collector.push(readings);
    collector.tick()
}

impl TickReadings {
    fn tick(&self) -> Tick {
        let steps = self.steps();
        if steps.len() < MIN_STEPS {
            return Tick::Unknown(TickReason::FewSteps);
        }
        let divisor = steps.iter().copied().fold(0, gcd);
        let scaled = Self { values: self.values.iter().map(|value| value / divisor).collect(), ..*self };
        let scaled_steps: Vec<u64> = steps.iter().map(|step| step / divisor).collect();
        let found = match scaled.search(&scaled_steps) {
            Tick::Found(lattice) => Tick::Found(lattice),
            other if divisor > 1 => other,
            other => self.found_without_one_more(&steps).unwrap_or(other),
        };
        let found = match found {
            Tick::Found(_) | Tick::Unknown(TickReason::RateChanged) => found,
            _ => self.common_divisor(divisor, &steps).unwrap_or_else(|| bounded(found, divisor, &steps)),
        };
        self.unless_unseen(found.scaled(divisor as f64))
    }

    /// A tick that is so long that single ones could have been seen, but of which none was: each
    /// step took as long as several shorter ticks would. A thread that runs only between timer
    /// ticks sees none of them. Or one was seen and, at least as quickly, longer ones: that may
    /// have been no tick, but what happened to the clock (it left out a suspend).
    fn unless_unseen(&self, found: Tick) -> Tick {
        let Tick::Found(lattice) = found else { return found };
        let [shortest, next] = self.shortest_seen;
        let is_visible = lattice.period > MIN_VISIBLE_TICK_READS * self.quietest;
        let longest = 1.5 * lattice.period;
        if is_visible && shortest as f64 > longest {
            Tick::AtMost { units: lattice.period * (1.0 + lattice.error), steps: lattice.steps }
        } else if is_visible && next as f64 > longest && next < u64::MAX {
            Tick::Unknown(TickReason::SeveralTicks)
        } else {
            found
        }
    }

    /// The greatest common divisor, where it can be neither an accident nor the read's cost.
    fn common_divisor(&self, divisor: u64, steps: &[u64]) -> Option<Tick> {
        // Truncated to whole units, a period that is nearly a whole number looks like it until it
        // is a unit off.
        let error = 1.0 / steps.iter().sum::<u64>() as f64;
        let lattice = Lattice { period: 1.0, error, spread: 0.0, steps: steps.len() as u64, agreement: 1.0 };
        let one_tick = steps.iter().filter(|step| **step == divisor).count();
        let proved = proof::is_often_unchanged(self.repeats, one_tick, steps.len()) || proof::divides(steps, divisor);
        if divisor == 1 || !proved {
            return None;
        }
        // A single reading that was moved by half a tick halves the divisor, unless such a step was
        // seen at once.
        if steps.len() < MIN_SPECTRAL_STEPS {
            let is_seen = self.shortest_seen[0] <= divisor;
            return (is_seen || !proof::are_most_wider(steps, divisor)).then_some(Tick::Found(lattice));
        }
        let (scale, profile) = (divisor as f64, StepProfile::from_steps(steps));
        let unscaled = Lattice { period: scale, ..lattice };
        let widest = lattice::widest(&self.values, profile, unscaled, |wider| {
            wider.agreement >= CERTAIN_BLOCK_SHARE && proof::is_proved(&self.values, profile, self.repeats, wider, 1)
        });
        Some(Tick::Found(Lattice { period: widest.period / scale, spread: widest.spread / scale, ..widest }))
    }

    /// Returns true if a part of the steps has a lattice that differs from that of all of them.
    fn differs(part: &[u64], all: Tick) -> bool {
        match (Self::of_steps(part).spectral(part), all) {
            (Tick::Found(part), Tick::Found(all)) => (part.period / all.period - 1.0).abs() > 2e-3,
            (Tick::Found(_), Tick::AtMost { .. }) => true,
            _ => false,
        }
    }

    /// Looks for a lattice of several units.
    fn search(&self, steps: &[u64]) -> Tick {
        if let Some(coarse) = self.coarse(steps) {
            return coarse;
        }
        let found = self.spectral(steps);
        // Two lattices, one after the other, may hide each other's lines, or have a part in common.
        let quarters: Vec<&[u64]> = steps.chunks(steps.len().div_ceil(4)).collect();
        let ends = [quarters.first(), quarters.last()];
        let is_reported = matches!(found, Tick::Found(_) | Tick::AtMost { .. });
        if is_reported && ends.into_iter().flatten().any(|steps| Self::differs(steps, found)) {
            // Parts of a short series may lie on lattices that are not theirs.
            let is_short = steps.len() < MIN_CONCLUSIVE_STEPS;
            return Tick::Unknown(if is_short { TickReason::SeveralTicks } else { TickReason::RateChanged });
        }
        found
    }

    fn of_steps(steps: &[u64]) -> Self {
        let mut sum = 0;
        let values = steps.iter().map(|step| {
            sum += step;
            sum
        });
        Self { values: std::iter::once(0).chain(values).collect(), ..Self::default() }
    }

    fn steps(&self) -> Vec<u64> {
        self.values.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// The tick of a counter that answers further reads within a tick with one more each, found as
    /// if it had repeated itself; `None` for any other.
    fn found_without_one_more(&self, steps: &[u64]) -> Option<Tick> {
        let ones = steps.iter().filter(|step| **step == 1).count() as u64;
        if (ones as f64) < MIN_SINGLE_UNIT_STEP_SHARE * steps.len() as f64 || self.repeats > ones / 10 {
            return None;
        }
        // Reads of nearly constant cost go one unit or two: that is a tick of one unit.
        let twos = steps.iter().filter(|step| **step == 2).count() as u64;
        if 2 * twos > steps.len() as u64 - ones {
            return None;
        }
        let others = self.values.windows(2).filter(|pair| pair[1] - pair[0] != 1).map(|pair| pair[1]);
        let values = std::iter::once(0).chain(others).collect();
        let once = Self { values, repeats: self.repeats + ones, ..*self };
        Some(once.spectral(&once.steps())).filter(|found| matches!(found, Tick::Found(_)))
    }

    /// Looks for it in the spectrum of the differences.
    fn spectral(&self, steps: &[u64]) -> Tick {
        if steps.len() < MIN_SPECTRAL_STEPS {
            return Tick::Unknown(TickReason::FewDifferences);
        }
        Search::new(self, steps).run()
    }

    /// The tick of a coarse clock, whose steps are alike but for the kernel's corrections; `None`
    /// for any other.
    fn coarse(&self, steps: &[u64]) -> Option<Tick> {
        let shortest = *steps.iter().min()?;
        if shortest < MIN_COARSE_STEP_UNITS || self.repeats < steps.len() as u64 {
            return None;
        }
        let multiples = steps.iter().map(|step| (*step as f64 / shortest as f64).round());
        let period = steps.iter().sum::<u64>() as f64 / multiples.clone().sum::<f64>();
        let slack = (MAX_COARSE_STEP_ERROR_SHARE * period).max(2.0);
        let errors = steps.iter().zip(multiples).map(|(step, multiple)| (*step as f64 - multiple * period).abs());
        let small: Vec<f64> = errors.filter(|error| *error <= slack).collect();
        let alike = small.len() as f64 / steps.len() as f64;
        let spread = small.into_iter().fold(0.0, f64::max);
        let error = spread / period / (steps.len() as f64).sqrt();
        let lattice = Lattice { period, error, spread, steps: steps.len() as u64, agreement: alike };
        (alike >= MIN_ALIKE_STEP_SHARE).then_some(Tick::Found(lattice))
    }
}

/// The result in units of the divisor where nothing proves that the divisor is the tick: if not the
/// tick, then the read's cost makes it up of whole ticks. `MIN_SPECTRAL_STEPS` that are all
/// multiples of it leave room for no longer one.
fn bounded(found: Tick, divisor: u64, steps: &[u64]) -> Tick {
    if divisor == 1 || steps.len() < MIN_SPECTRAL_STEPS {
        return found;
    }
    let error = 1.0 / steps.iter().sum::<u64>() as f64;
    Tick::AtMost { units: 1.0 + error, steps: steps.len() as u64 }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
