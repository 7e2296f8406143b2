//! Meaning of a difference of the clocks: the OS clock is slewed, or one of the two has stepped.

use clockscope_core::brackets::Bracket;

use super::errors::{BracketInterval, MAX_SLOWDOWN, MAX_SPEEDUP};
use crate::disciplined::rate::drawn_rate::DrawnRate;

/// Largest change of the rate, as a share, that is accepted at once: from NTP's 500 ppm and
/// adjtime(3)'s 500 ppm in one direction to both in the other.
const MAX_USUAL_CHANGE: f64 = 2e-3;

/// Largest change of a known rate, as a share, between two uses of the clock, by NTP's usual
/// corrections.
const MAX_WANDER: f64 = 1e-6;

/// A change is judged by the rates before and after it, unless this many windows passed between two
/// brackets: a slew may have begun and ended in them.
const MAX_WINDOWS: f64 = 2.0;

/// Largest difference of two equal rates, as a share, beside their uncertainty.
pub(crate) const MAX_RATE_DIFFERENCE: f64 = 100e-6;

/// A bracket's verdict on the OS clock's rate since the bracket before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RateJudgment {
    /// It is as before.
    AsBefore,
    /// It has changed, or may have: to this, in ns a tick.
    Slewed(f64),
    /// No rate explains it.
    Stepped,
}

/// A difference that either a slew or a small step explains. After a step the rate is what it was
/// before; a slew lasts longer than that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AmbiguousChange {
    /// The rate before, in ns a tick; 0 without an ambiguous change.
    before: f64,
    /// The OS clock's difference from that rate, as a share.
    share: f64,
    /// The bracket that showed the difference.
    since: Bracket,
}

/// Advance of both clocks from one bracket to the next.
struct Advance {
    elapsed_ns: f64,
    ticks: f64,
    /// The uncertainty of `elapsed_ns`, in ticks.
    uncertain_ticks: f64,
    os_tick_ns: f64,
}

impl Advance {
    #[inline(never)]
    fn new(from: &Bracket, to: &Bracket, os_tick_ns: u64) -> Self {
        Self {
            elapsed_ns: to.inner_since(from),
            ticks: to.middle_since(from),
            uncertain_ticks: (from.width() as f64) + (to.width() as f64),
            os_tick_ns: os_tick_ns as f64,
        }
    }

    fn uncertain_ns(&self, rate: f64) -> f64 {
        self.uncertain_ticks * rate + 2.0 * self.os_tick_ns
    }

    /// The OS clock's advance beyond that at this rate, in ns.
    fn excess_ns(&self, rate: f64) -> f64 {
        self.elapsed_ns - self.ticks * rate
    }

    /// Returns true if a slew explains the excess over this rate, which was slewed itself.
    fn is_lawful(&self, rate: f64) -> bool {
        let (excess, expected) = (self.excess_ns(rate), (self.ticks * rate).max(0.0));
        let uncertain = self.uncertain_ns(rate);
        (-MAX_SLOWDOWN * expected - uncertain..=MAX_SPEEDUP * expected + uncertain).contains(&excess)
    }

    /// Returns true if a usual change explains it, when the rate was known for `known_ns` more.
    fn is_usual(&self, rate: f64, known_ns: f64) -> bool {
        let usual = MAX_USUAL_CHANGE * (self.elapsed_ns.max(0.0) + known_ns);
        self.excess_ns(rate).abs() <= usual + self.uncertain_ns(rate)
    }

    /// Returns true if the rate was this one.
    fn is_at(&self, rate: f64) -> bool {
        self.excess_ns(rate).abs() <= MAX_RATE_DIFFERENCE * self.elapsed_ns.max(0.0) + self.uncertain_ns(rate)
    }
}

/// Returns true if the rate from one bracket to the other was this one.
pub(crate) fn is_at(from: &Bracket, to: &Bracket, os_tick_ns: u64, rate: f64) -> bool {
    Advance::new(from, to, os_tick_ns).is_at(rate)
}

impl AmbiguousChange {
    pub(crate) const NONE: Self = Self { before: 0.0, share: 0.0, since: Bracket::ZERO };

    pub(crate) fn is_open(&self) -> bool {
        self.before > 0.0
    }

    /// Compares a bracket with the last one of the calibration, and with the last one that was some
    /// time ago: the end of the interval `before`.
    pub(crate) fn judge(
        &mut self,
        rate: &DrawnRate,
        before: &BracketInterval,
        bracket: &Bracket,
        window_ns: u64,
    ) -> RateJudgment {
        let (ns_per_tick, os_tick_ns) = (rate.ns_per_tick(), rate.os_tick_ns());
        if is_step(rate, bracket) {
            return RateJudgment::Stepped;
        }
        let advance = Advance::new(before.end(), bracket, os_tick_ns);
        // A short time shows no rate.
        if advance.elapsed_ns < window_ns as f64 / 4.0 || advance.ticks <= 0.0 {
            return RateJudgment::AsBefore;
        }
        let slewed = RateJudgment::Slewed(advance.elapsed_ns / advance.ticks);
        if self.is_open() {
            return if self.is_settled_as_step(bracket, os_tick_ns, window_ns) {
                RateJudgment::Stepped
            } else {
                slewed
            };
        }
        if advance.is_usual(ns_per_tick, window_ns as f64) {
            return RateJudgment::AsBefore;
        }
        if advance.elapsed_ns <= MAX_WINDOWS * window_ns as f64 && before.is_at(ns_per_tick, MAX_RATE_DIFFERENCE) {
            let share = (advance.excess_ns(ns_per_tick) / advance.elapsed_ns).abs();
            *self = Self { before: ns_per_tick, share, since: *bracket };
        }
        slewed
    }

    /// Returns true if the rate since the ambiguous change is the rate before it: then it was a
    /// step. Decides when enough time has passed to notice such a slew, and never after a pause in
    /// which it may have ended.
    pub(crate) fn is_settled_as_step(&mut self, bracket: &Bracket, os_tick_ns: u64, window_ns: u64) -> bool {
        let Self { before, share, since } = *self;
        let after = Advance::new(&since, bracket, os_tick_ns);
        let is_paused = after.elapsed_ns > MAX_WINDOWS * window_ns as f64;
        let shows =
            after.uncertain_ns(before) + MAX_RATE_DIFFERENCE * after.elapsed_ns <= share / 2.0 * after.elapsed_ns;
        if !is_paused && (!shows || after.elapsed_ns < window_ns as f64 / 4.0) {
            return false;
        }
        *self = Self::NONE;
        !is_paused && after.is_at(before)
    }
}

/// Returns true if no rate that the kernel permits explains the OS clock's advance since the last
/// bracket.
pub(crate) fn is_step(rate: &DrawnRate, bracket: &Bracket) -> bool {
    let advance = Advance::new(rate.calibration().last(), bracket, rate.os_tick_ns());
    !advance.is_lawful(rate.ns_per_tick())
}

/// Returns true if only a change of the OS clock's rate explains its advance since the last
/// bracket: the difference is larger than the rate's uncertainty and wander.
pub(crate) fn is_notable(rate: &DrawnRate, bracket: &Bracket) -> bool {
    let uncertain = rate.calibration().unconfirmed().map_or(1.0, |mean| mean.rate.relative());
    let advance = Advance::new(rate.calibration().last(), bracket, rate.os_tick_ns());
    let wandered_ns = (MAX_WANDER + uncertain) * advance.elapsed_ns.abs();
    advance.excess_ns(rate.ns_per_tick()).abs() > wandered_ns + advance.uncertain_ns(rate.ns_per_tick())
}
