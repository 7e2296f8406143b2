//! A bracket in ns, and what it says about the clock's phase.

use clockscope_core::brackets::{Bracket, Ticks};

/// A reading of the clock between two of the reference, each in ns since some moment of its own.
///
/// Apart from [`Bracket`], because least squares and convex hulls compute with fractions of ns.
/// Made from it once differences are small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BracketNs {
    /// The reference before.
    pub before: f64,
    /// The clock.
    pub inner: f64,
    /// The reference after.
    pub after: f64,
}

impl BracketNs {
    /// Returns a bracket since the readings of `origin`. `unit` is each clock's unit in ns.
    #[must_use]
    pub fn since(origin: &Bracket, bracket: &Bracket, unit: Ticks) -> Self {
        let [before, inner, after] = bracket.since(origin).map(|units| units as f64);
        Self { before: before * unit.outer, inner: inner * unit.inner, after: after * unit.outer }
    }

    /// Distance of the reference's readings, without its tick.
    pub(super) fn span(&self) -> f64 {
        self.after - self.before
    }

    /// Bounds of the phase, in ns.
    pub(super) fn phase(&self, ticks: Ticks) -> (f64, f64) {
        (self.inner - self.after - ticks.outer, self.inner + ticks.inner - self.before)
    }

    /// The reference's reading in the middle.
    pub(super) fn moment(&self) -> f64 {
        f64::midpoint(self.before, self.after)
    }

    /// The phase in the middle of what is possible.
    pub(super) fn middle(&self) -> f64 {
        self.inner - self.moment()
    }
}
