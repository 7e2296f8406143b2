//! The rate by which lines are drawn.

use clockscope_core::brackets::Bracket;

use super::calibration::{Calibration, MeanRate};

/// Largest error of a line at its end by a rate that is drawn by, in ns. (Twice the bracket's width
/// if that is more.)
const MAX_END_ERROR_NS: f64 = 100.0;

/// The counter's rate by the brackets of a generation, and the rate that lines have. All
/// zero is the state before the first bracket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnRate {
    calibration: Calibration,
    os_tick_ns: u64,
    /// In ns a tick; 0 while there is none.
    ns_per_tick: f64,
    /// True if a line has begun by it, so that the next one may begin at once.
    is_confirmed: bool,
}

impl DrawnRate {
    pub(crate) const NONE: Self =
        Self { calibration: Calibration::ZERO, os_tick_ns: 0, ns_per_tick: 0.0, is_confirmed: false };

    /// In ns a tick; 0 while there is none.
    pub(crate) fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// The OS clock's tick, in ns.
    pub(crate) fn os_tick_ns(&self) -> u64 {
        self.os_tick_ns
    }

    /// Sum of both clocks' ticks, in ns.
    pub(crate) fn ticks_ns(&self) -> u64 {
        self.os_tick_ns.saturating_add(self.ns_per_tick as u64)
    }

    pub(crate) fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Returns true if a line may begin at once.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// The mean rate that is known; of a clock whose rate has just changed, that of two brackets.
    pub(crate) fn mean(&self) -> Option<MeanRate> {
        if self.is_confirmed { self.calibration.unconfirmed() } else { self.calibration.mean() }
    }

    /// The next bracket is the first: the OS clock has this tick, in ns.
    pub(crate) fn start(&mut self, os_tick_ns: u64) {
        self.os_tick_ns = os_tick_ns;
    }

    /// Adds a bracket. Lines are drawn by the mean rate once the error of such a line is small
    /// enough after a window; until then, by the rate of the calibration before.
    #[inline(never)]
    pub(crate) fn add(&mut self, bracket: Bracket, window_ns: u64) {
        self.calibration.add(bracket, self.os_tick_ns);
        let Some(mean) = self.calibration.mean() else { return };
        let width_ns = bracket.width() as f64 * mean.rate.middle();
        if mean.rate.relative() * 2.0 * window_ns as f64 <= MAX_END_ERROR_NS.max(2.0 * width_ns) {
            self.ns_per_tick = mean.rate.middle();
        }
    }

    /// Follows an OS clock that is slewed: its best rate is that of the last two brackets.
    pub(crate) fn follow(&mut self, ns_per_tick: f64) {
        self.ns_per_tick = ns_per_tick;
    }

    /// A line begins by it.
    pub(crate) fn confirm(&mut self) {
        self.is_confirmed = true;
    }

    /// Forgets the brackets.
    pub(crate) fn forget_brackets(&mut self) {
        self.calibration = Calibration::ZERO;
    }

    /// Forgets brackets and rate.
    pub(crate) fn forget(&mut self) {
        *self = Self { os_tick_ns: self.os_tick_ns, ..Self::NONE };
    }

    /// Takes `width` as the narrowest bracket's from now on, in ticks.
    pub(crate) fn accept_width(&mut self, width: u64) {
        self.calibration.accept_width(width);
    }
}
