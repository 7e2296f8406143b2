//! Meaning of a difference of the clocks: the OS clock is slewed, or one of the two has stepped.

use clockscope_core::brackets::Bracket;

use super::errors::{BracketInterval, FASTER, SLOWER};
use crate::disciplined::rate::drawn_rate::DrawnRate;

/// A change of the rate by less than this share is no question: NTP's 500 ppm and adjtime(3)'s 500
/// ppm in one direction to as much in the other.
const USUAL: f64 = 2e-3;

/// A rate that is known wanders by no more than this share between two uses of the clock, as far as
/// NTP's usual corrections go.
const WANDERS: f64 = 1e-6;

/// A change is judged by the rates before and after it, unless so many windows went by unseen: a
/// slew may have begun and ended in them.
const DOUBTED_WINDOWS: f64 = 2.0;

/// Two rates are the same if they differ by no more than this share, and by what is not known of
/// them.
pub(crate) const SAME: f64 = 100e-6;

/// A bracket's verdict on the OS clock's rate, in ns a tick, since the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RateJudgment {
    /// It is as before.
    AsBefore,
    /// It has changed, or may have, and was this.
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
    /// By what share the OS clock ran faster or slower than that.
    share: f64,
    /// The bracket at which the difference was seen.
    since: Bracket,
}

/// Advance of both clocks from one bracket to the next.
struct Advance {
    elapsed_ns: f64,
    ticks: f64,
    /// By how much `elapsed_ns` may be off, at a rate.
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

    /// By how much more time has passed on the OS clock than at this rate.
    fn excess_ns(&self, rate: f64) -> f64 {
        self.elapsed_ns - self.ticks * rate
    }

    /// Returns true if a slew explains the excess over this rate, which was slewed itself.
    fn is_lawful(&self, rate: f64) -> bool {
        let (excess, expected) = (self.excess_ns(rate), (self.ticks * rate).max(0.0));
        let uncertain = self.uncertain_ns(rate);
        (-SLOWER * expected - uncertain..=FASTER * expected + uncertain).contains(&excess)
    }

    /// Returns true if what is usual explains it, when the rate was known for `known_ns` more.
    fn is_usual(&self, rate: f64, known_ns: f64) -> bool {
        let usual = USUAL * (self.elapsed_ns.max(0.0) + known_ns);
        self.excess_ns(rate).abs() <= usual + self.uncertain_ns(rate)
    }

    /// Returns true if the rate was this one.
    fn is_at(&self, rate: f64) -> bool {
        self.excess_ns(rate).abs() <= SAME * self.elapsed_ns.max(0.0) + self.uncertain_ns(rate)
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
        // By a short time no rate is known.
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
        if advance.elapsed_ns <= DOUBTED_WINDOWS * window_ns as f64 && before.is_at(ns_per_tick, SAME) {
            let share = (advance.excess_ns(ns_per_tick) / advance.elapsed_ns).abs();
            *self = Self { before: ns_per_tick, share, since: *bracket };
        }
        slewed
    }

    /// Returns whether the rate since the ambiguous change is the rate before it: then it was a
    /// step. Decides when enough time has passed for such a slew to show, and never after a pause
    /// in which it may have ended.
    pub(crate) fn is_settled_as_step(&mut self, bracket: &Bracket, os_tick_ns: u64, window_ns: u64) -> bool {
        let Self { before, share, since } = *self;
        let after = Advance::new(&since, bracket, os_tick_ns);
        let is_paused = after.elapsed_ns > DOUBTED_WINDOWS * window_ns as f64;
        let shows = after.uncertain_ns(before) + SAME * after.elapsed_ns <= share / 2.0 * after.elapsed_ns;
        if !is_paused && (!shows || after.elapsed_ns < window_ns as f64 / 4.0) {
            return false;
        }
        *self = Self::NONE;
        !is_paused && after.is_at(before)
    }
}

/// Returns whether no rate of the OS clock that the kernel permits explains its advance since the
/// last bracket.
pub(crate) fn is_step(rate: &DrawnRate, bracket: &Bracket) -> bool {
    let advance = Advance::new(rate.calibration().last(), bracket, rate.os_tick_ns());
    !advance.is_lawful(rate.ns_per_tick())
}

/// Returns whether only a change of the OS clock's rate explains its advance since the last
/// bracket: it differs by more than the rate is uncertain and wanders.
pub(crate) fn is_notable(rate: &DrawnRate, bracket: &Bracket) -> bool {
    let uncertain = rate.calibration().unconfirmed().map_or(1.0, |mean| mean.rate.relative());
    let advance = Advance::new(rate.calibration().last(), bracket, rate.os_tick_ns());
    let wandered_ns = (WANDERS + uncertain) * advance.elapsed_ns.abs();
    advance.excess_ns(rate.ns_per_tick()).abs() > wandered_ns + advance.uncertain_ns(rate.ns_per_tick())
}
