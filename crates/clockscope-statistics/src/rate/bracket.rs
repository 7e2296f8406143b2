//! One bracket, and what it says about the clock's phase.

/// A reading of the clock between two of the reference, each in ns since some moment of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The reference before.
    pub before: f64,
    /// The clock.
    pub clock: f64,
    /// The reference after.
    pub after: f64,
}

/// By how much readings may be late, in ns: what clocks move in steps of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ticks {
    /// The reference.
    pub reference: f64,
    /// The clock.
    pub clock: f64,
}

impl Bracket {
    pub(super) fn width(&self) -> f64 {
        self.after - self.before
    }

    /// Where the phase lies, in ns.
    pub(super) fn phase(&self, ticks: Ticks) -> (f64, f64) {
        (self.clock - self.after - ticks.reference, self.clock + ticks.clock - self.before)
    }

    /// The reference's reading in the middle.
    pub(super) fn moment(&self) -> f64 {
        f64::midpoint(self.before, self.after)
    }

    /// The phase in the middle of what is possible.
    pub(super) fn middle(&self) -> f64 {
        self.clock - self.moment()
    }
}
