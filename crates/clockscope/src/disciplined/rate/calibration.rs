//! Length of a tick, as all brackets of a window allow it.

use clockscope_core::brackets::{Bracket, RateBounds, Ticks};

/// Length of each half of a window, in ns, at which the first half is dropped. After ten seconds a
/// bracket of 40 ns bounds the mean rate to 0.004 ppm, and the next window starts from a bracket of
/// that age.
const HALF_WINDOW_NS: f64 = 10e9;

/// Largest change of the OS clock's rate within a window, as a share: NTP's corrections toggle by
/// 0.15 ppm.
const MAX_WANDER: f64 = 0.2e-6;

/// Brackets that confirm a rate. Two cannot distinguish a rate from a step.
const MIN_BRACKETS: u64 = 3;

/// A window of brackets that began with `start`. All zero is a window in which no bracket was
/// taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    brackets: u64,
    start: Bracket,
    /// The bracket at which the second half began, if it did. Becomes the start when that half is
    /// full.
    next_start: Bracket,
    last: Bracket,
    /// The mean rate over the tightest pair of ends so far, and that pair's later end.
    mean: RateBounds,
    mean_end: Bracket,
    /// Every constant rate that all pairs of the window allow.
    feasible: RateBounds,
    /// Widths of the narrowest bracket and of the next one, in ticks.
    narrowest: u64,
    second: u64,
}

/// The mean rate over a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanRate {
    /// In ns a tick.
    pub(crate) rate: RateBounds,
    /// Length of the window in ns.
    pub(crate) window_ns: f64,
}

impl Calibration {
    /// A window in which no bracket was taken.
    pub(crate) const ZERO: Self = Self {
        brackets: 0,
        start: Bracket::ZERO,
        next_start: Bracket::ZERO,
        last: Bracket::ZERO,
        mean: RateBounds::ZERO,
        mean_end: Bracket::ZERO,
        feasible: RateBounds::ZERO,
        narrowest: 0,
        second: 0,
    };

    /// Returns true if there is a bracket to compare with.
    pub(crate) fn has_started(&self) -> bool {
        self.brackets > 0
    }

    /// The bracket that was added last.
    pub(crate) fn last(&self) -> &Bracket {
        &self.last
    }

    /// Width of the second narrowest bracket, in ticks; `u64::MAX` before the first. One may be
    /// narrower than any because a reading of the counter was wrong.
    pub(crate) fn narrowest(&self) -> u64 {
        if self.has_started() { self.second } else { u64::MAX }
    }

    /// Takes `width` as the narrowest from now on: reads have become slower.
    pub(crate) fn accept_width(&mut self, width: u64) {
        (self.narrowest, self.second) = (width, width);
    }

    /// Takes a bracket that is later than all before. Where it contradicts them, the rate has
    /// changed, and a new window begins at the bracket before it.
    pub(crate) fn add(&mut self, bracket: Bracket, os_tick_ns: u64) {
        let is_young = bracket.inner_since(&self.start) < 5e6;
        if !self.has_started() || is_young && bracket.width() < self.start.width() / 2 {
            // The first bracket was interrupted, and a better start is worth more than the little
            // time since then.
            *self = Self {
                brackets: 1,
                start: bracket,
                last: bracket,
                narrowest: bracket.width(),
                second: bracket.width(),
                ..Self::ZERO
            };
            return;
        }
        self.brackets += 1;
        let width = bracket.width();
        if self.brackets == 2 || width < self.narrowest {
            self.second = self.narrowest.max(width);
        } else {
            self.second = self.second.min(width);
        }
        self.narrowest = self.narrowest.min(width);
        match bracket.rate_since(&self.start, both_ticks(os_tick_ns)) {
            Some(rate) if self.brackets == 2 => self.begin_mean(rate, bracket),
            Some(rate) => self.narrow(rate, bracket, os_tick_ns),
            // The counter is not after the start: it was reset, or wrapped, or stands still.
            None => self.restart(self.last, bracket, os_tick_ns),
        }
        self.last = bracket;
        self.slide(bracket, os_tick_ns);
    }

    /// Narrows the rates that all pairs allow by the rate from the start to `bracket`. If none is
    /// left, a new window begins.
    fn narrow(&mut self, rate: RateBounds, bracket: Bracket, os_tick_ns: u64) {
        match self.feasible.intersection(&rate.widened(MAX_WANDER)) {
            Some(feasible) => {
                self.feasible = feasible;
                if rate.relative() < self.mean.relative() {
                    (self.mean, self.mean_end) = (rate, bracket);
                }
            }
            None => self.restart(self.last, bracket, os_tick_ns),
        }
    }

    /// The mean rate over the tightest ends; `None` before a third bracket has confirmed it: a
    /// clock may have stepped between two.
    pub(crate) fn mean(&self) -> Option<MeanRate> {
        if self.brackets >= MIN_BRACKETS { self.unconfirmed() } else { None }
    }

    /// The mean rate over the tightest ends, from the second bracket on.
    pub(crate) fn unconfirmed(&self) -> Option<MeanRate> {
        if self.brackets < 2 || self.mean.low <= 0.0 {
            return None;
        }
        Some(MeanRate { rate: self.mean, window_ns: self.mean_end.inner_since(&self.start) })
    }

    /// Drops the first half of a window once the second is full, too.
    fn slide(&mut self, bracket: Bracket, os_tick_ns: u64) {
        let second_began = self.next_start.inner_since(&self.start) > 0.0;
        if !second_began && bracket.inner_since(&self.start) >= HALF_WINDOW_NS {
            self.next_start = bracket;
        } else if second_began && bracket.inner_since(&self.next_start) >= HALF_WINDOW_NS {
            self.restart(self.next_start, bracket, os_tick_ns);
            // The brackets of the remaining half confirm it.
            (self.next_start, self.brackets) = (bracket, MIN_BRACKETS);
        }
    }

    #[inline(never)]
    fn restart(&mut self, start: Bracket, end: Bracket, os_tick_ns: u64) {
        (self.start, self.next_start, self.brackets) = (start, start, 2);
        match end.rate_since(&start, both_ticks(os_tick_ns)) {
            Some(rate) => self.begin_mean(rate, end),
            None => (self.start, self.next_start, self.brackets) = (end, end, 1),
        }
    }

    #[inline(never)]
    fn begin_mean(&mut self, rate: RateBounds, end: Bracket) {
        (self.mean, self.mean_end, self.feasible) = (rate, end, rate.widened(MAX_WANDER));
    }
}

/// Returns the ticks of both clocks: one count of the counter, and that of the OS clock.
pub(crate) fn both_ticks(os_tick_ns: u64) -> Ticks {
    Ticks { outer: 1.0, inner: os_tick_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brackets of 40 ns, every `step` ns, on an OS clock of `rate` ns a tick.
    struct Machine {
        calibration: Calibration,
        tick: u64,
        os: f64,
    }

    impl Machine {
        fn new() -> Self {
            Self { calibration: Calibration::ZERO, tick: 1 << 40, os: 5e9 }
        }

        fn run(&mut self, rate: f64, step_ns: f64, steps: u32) {
            for _ in 0..steps {
                let ticks = (step_ns / rate) as u64;
                self.tick += ticks;
                self.os += ticks as f64 * rate;
                self.calibration
                    .add(Bracket { before: self.tick - 50, after: self.tick + 50, inner: self.os as u64 }, 1);
            }
        }
    }

    #[test]
    fn the_bound_is_the_width_over_the_window_and_holds_the_rate() {
        let mut machine = Machine::new();
        machine.run(0.4, 1e6, 1001);
        let mean = machine.calibration.mean().unwrap();
        assert!((mean.window_ns - 1e9).abs() < 2e6, "{mean:?}");
        assert!((mean.rate.relative() - 41e-9).abs() < 2e-9, "{mean:?}");
        assert!(mean.rate.low <= 0.4 && 0.4 <= mean.rate.high);
    }

    #[test]
    fn a_changed_rate_begins_a_new_window() {
        let mut machine = Machine::new();
        machine.run(0.4, 1e6, 1000);
        machine.run(0.4 * (1.0 + 100e-6), 1e6, 10);
        let mean = machine.calibration.mean().unwrap();
        assert!(mean.window_ns < 20e6, "{mean:?}");
        assert!((mean.rate.middle() / 0.4 - 1.0 - 100e-6).abs() < 10e-6, "{mean:?}");
    }

    #[test]
    fn a_wander_of_ntp_does_not() {
        let mut machine = Machine::new();
        for turn in 0..500 {
            machine.run(0.4 * (1.0 + if turn % 2 == 0 { 0.15e-6 } else { -0.15e-6 }), 1e6, 4);
        }
        assert!(machine.calibration.mean().unwrap().window_ns > 1.9e9);
    }

    #[test]
    fn an_interrupted_first_bracket_is_replaced() {
        let mut machine = Machine::new();
        machine.calibration.add(Bracket { before: 0, after: machine.tick, inner: 4_999_999_000 }, 1);
        machine.run(0.4, 1e5, 20);
        assert!(machine.calibration.mean().unwrap().rate.relative() < 30e-6);
    }

    #[test]
    fn a_window_never_grows_beyond_twice_full() {
        let mut machine = Machine::new();
        machine.run(0.4, 5e8, 100);
        let mean = machine.calibration.mean().unwrap();
        assert!((9e9..21e9).contains(&mean.window_ns), "{mean:?}");
        assert!(mean.rate.relative() < 0.005e-6);
    }
}
