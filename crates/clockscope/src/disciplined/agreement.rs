//! Meaning of a difference of the clocks: the OS clock is slewed, or one of the two has stepped.

use core::sync::atomic::Ordering;

use clockscope_core::brackets::Bracket;

use super::errors::BracketInterval;
use super::holding::SteeringGuard;
use super::os_changes::{LONGEST_PAUSE_NS, PAUSE_NS};
use super::{Counter, Demotion, Disciplined, OsClock};

/// adjtimex(2) changes the OS clock's rate by up to 10 % (ADJ_TICK) and 500 ppm (ADJ_FREQUENCY) in
/// either direction: the share by which a clock may become faster or slower when it is slewed from
/// one end to the other.
const SLEWED: f64 = 0.1005;
pub(super) const FASTER: f64 = (1.0 + SLEWED) / (1.0 - SLEWED) - 1.0;
const SLOWER: f64 = 1.0 - (1.0 - SLEWED) / (1.0 + SLEWED);

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
pub(super) const SAME: f64 = 100e-6;

/// A generation that ends within this time, in ns, ended soon.
pub(super) const SOON_NS: u64 = 10_000_000_000;

/// After so many of them in a row the OS clock alone is served, for a second at first, then twice
/// as long each time.
const SHORT_GENERATIONS: u32 = 3;

/// A suspend is longer than this, in ns: the two clocks that show it are read one after the other.
const SHORTEST_SUSPEND_NS: u64 = 1_000_000;

/// A bracket's verdict on the OS clock's rate, in ns a tick, since the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RateJudgment {
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
pub(super) struct AmbiguousChange {
    /// The rate before, in ns a tick; 0 without an ambiguous change.
    before: f64,
    /// By what share the OS clock ran faster or slower than that.
    share: f64,
    /// The bracket at which the difference was seen.
    since: Bracket,
}

impl AmbiguousChange {
    pub(super) const NONE: Self = Self { before: 0.0, share: 0.0, since: Bracket::ZERO };

    pub(super) fn is_open(&self) -> bool {
        self.before > 0.0
    }
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
pub(super) fn is_at(from: &Bracket, to: &Bracket, os_tick_ns: u64, rate: f64) -> bool {
    Advance::new(from, to, os_tick_ns).is_at(rate)
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// Compares a bracket with the last one of the calibration, and with the last one that was some
    /// time ago: the end of the interval `before`.
    pub(super) fn judge(
        &self,
        guard: &mut SteeringGuard<'_>,
        before: &BracketInterval,
        bracket: &Bracket,
    ) -> RateJudgment {
        let (window_ns, rate) = (self.window_ns() as f64, guard.ns_per_tick);
        if !Advance::new(guard.calibration.last(), bracket, guard.os_tick_ns).is_lawful(rate) {
            return RateJudgment::Stepped;
        }
        let advance = Advance::new(before.end(), bracket, guard.os_tick_ns);
        // By a short time no rate is known.
        if advance.elapsed_ns < window_ns / 4.0 || advance.ticks <= 0.0 {
            return RateJudgment::AsBefore;
        }
        let slewed = RateJudgment::Slewed(advance.elapsed_ns / advance.ticks);
        if guard.ambiguous_change.is_open() {
            return if self.is_settled_as_step(guard, bracket) { RateJudgment::Stepped } else { slewed };
        }
        if advance.is_usual(rate, window_ns) {
            return RateJudgment::AsBefore;
        }
        if advance.elapsed_ns <= DOUBTED_WINDOWS * window_ns && before.is_at(rate, SAME) {
            let share = (advance.excess_ns(rate) / advance.elapsed_ns).abs();
            guard.ambiguous_change = AmbiguousChange { before: rate, share, since: *bracket };
        }
        slewed
    }

    /// Returns whether only a change of the OS clock's rate explains its advance since the last
    /// bracket: it differs by more than the rate is uncertain and wanders.
    pub(super) fn is_notable(&self, guard: &SteeringGuard<'_>, bracket: &Bracket) -> bool {
        let uncertain = guard.calibration.unconfirmed().map_or(1.0, |mean| mean.rate.relative());
        let advance = Advance::new(guard.calibration.last(), bracket, guard.os_tick_ns);
        let wandered_ns = (WANDERS + uncertain) * advance.elapsed_ns.abs();
        advance.excess_ns(guard.ns_per_tick).abs() > wandered_ns + advance.uncertain_ns(guard.ns_per_tick)
    }

    /// Returns whether the machine was suspended in this generation. After a long pause, a suspend
    /// differs by no more than a slew might.
    pub(super) fn was_suspended(&self, guard: &SteeringGuard<'_>) -> bool {
        is_suspend(guard.suspended_ns, self.suspended_ns())
    }

    /// Returns whether the rate since the ambiguous change is the rate before it: then it was a
    /// step. Decides when enough time has passed for such a slew to show, and never after a pause
    /// in which it may have ended.
    pub(super) fn is_settled_as_step(&self, guard: &mut SteeringGuard<'_>, bracket: &Bracket) -> bool {
        let AmbiguousChange { before, share, since } = guard.ambiguous_change;
        let after = Advance::new(&since, bracket, guard.os_tick_ns);
        let is_paused = after.elapsed_ns > DOUBTED_WINDOWS * self.window_ns() as f64;
        let shows = after.uncertain_ns(before) + SAME * after.elapsed_ns <= share / 2.0 * after.elapsed_ns;
        if !is_paused && (!shows || after.elapsed_ns < self.window_ns() as f64 / 4.0) {
            return false;
        }
        guard.ambiguous_change = AmbiguousChange::NONE;
        !is_paused && after.is_at(before)
    }

    /// The clocks contradict each other: whatever was known of the rate is no longer known, and the
    /// generation ends. Readings by it may have been off by `error_ns`.
    pub(super) fn disagree(&self, guard: &mut SteeringGuard<'_>, os_ns: u64, error_ns: u64) {
        if !self.withdraw(guard) {
            return;
        }
        // A question that is asked now is asked of the readings just before, too, and of those that
        // stand still now.
        let ahead_ns = self.shared.page.floor().saturating_sub(os_ns);
        self.next_generation(error_ns.max(guard.interval.worst_ns()).max(ahead_ns));
        let suspended_ns = self.suspended_ns();
        if is_suspend(guard.suspended_ns, suspended_ns) {
            // No fault of either clock.
            **guard = guard.restarted();
            guard.suspended_ns = suspended_ns;
            return;
        }
        // Not by the OS clock alone, which may have gone back: no reading is below the floor.
        let ended_ns = os_ns.max(self.shared.page.floor());
        let ended_soon = guard.began_ns == 0 || ended_ns.saturating_sub(guard.began_ns) < SOON_NS;
        let short_generations = if ended_soon { guard.short_generations.saturating_add(1) } else { 1 };
        **guard = guard.restarted();
        (guard.short_generations, guard.suspended_ns) = (short_generations, suspended_ns);
        if short_generations >= SHORT_GENERATIONS {
            let doublings = (short_generations - SHORT_GENERATIONS).min((LONGEST_PAUSE_NS / PAUSE_NS).ilog2());
            self.pause(guard, Demotion::Unsteady, os_ns, PAUSE_NS << doublings);
        }
    }

    /// Serves the OS clock alone for some time. `false` if another thread has just decided
    /// otherwise.
    pub(super) fn pause(&self, guard: &mut SteeringGuard<'_>, reason: Demotion, os_ns: u64, pause_ns: u64) -> bool {
        let is_away = self.demote(guard, reason);
        if is_away {
            let until = os_ns.saturating_add(pause_ns);
            self.shared.page.next_try_ns.store(until, Ordering::Relaxed);
        }
        is_away
    }

    /// For how long the machine was suspended, in ns, plus 1; 0 where that is not known.
    pub(super) fn suspended_ns(&self) -> u64 {
        self.shared.os.suspended_ns().map_or(0, |ns| ns.saturating_add(1))
    }
}

/// Returns true if the machine was suspended between two answers.
fn is_suspend(before: u64, now: u64) -> bool {
    let asleep = now.wrapping_sub(before) as i64;
    before != 0 && now != 0 && asleep.unsigned_abs() > SHORTEST_SUSPEND_NS
}
