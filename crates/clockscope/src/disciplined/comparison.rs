//! Compares the clocks under the lock, and ends the line where they disagree.
//!
//! Owns the choice of a bracket, the judgment of each by the ones before, and the end of a
//! generation that they contradict. It begins no line.

use clockscope_core::brackets::Bracket;

use super::layers::Comparison;
use super::lines::agreement::{RateJudgment, is_notable, is_step};
use super::lines::errors::BracketInterval;
use super::lines::os_speed::Width;
use super::lines::state::SteeringState;
use super::locking::SteeringGuard;
use super::page::PageSnapshot;
use super::rate::calibration::MeanRate;
use super::{Counter, Demotion, OsClock};

/// Brackets tried at a re-anchoring, and at the start of a calibration.
const TRIES: u32 = 4;
const FIRST_TRIES: u32 = 8;

impl<C: Counter, S: OsClock> Comparison<C, S> {
    /// A bracket, compared with the line and added to the calibration. `None` if it was
    /// interrupted, or if it contradicts the one before, which ends the line.
    pub(super) fn anchor(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) -> Option<Bracket> {
        let bracket = self.bracket(guard)?;
        // Interrupted until the line expired: the next call begins another.
        let (first, last) = (snapshot.line.at(bracket.before)?, snapshot.line.at(bracket.after)?);
        let served = (first.max(snapshot.floor), last.max(snapshot.floor));
        // Just after a step, its size adds to the errors before.
        let (before, worst_ns) = (*guard.errors.interval(), guard.errors.worst_ns());
        let ticks_ns = guard.rate.ticks_ns();
        let (error, largest) = guard.errors.record(&snapshot.line, &bracket, served, ticks_ns, self.window_ns());
        self.raise_largest_error(largest, bracket.inner);
        match self.judge(guard, &before, &bracket) {
            RateJudgment::Stepped => {
                self.disagree(guard, bracket.inner, error.saturating_add(worst_ns));
                return None;
            }
            RateJudgment::Slewed(rate) => {
                self.add(guard, bracket);
                guard.rate.follow(rate);
            }
            RateJudgment::AsBefore => self.add(guard, bracket),
        }
        Some(bracket)
    }

    /// A bracket that was not interrupted.
    pub(super) fn bracket(&self, guard: &mut SteeringGuard<'_>) -> Option<Bracket> {
        if !self.is_unmoved(guard) {
            return None;
        }
        let narrowest = guard.rate.calibration().narrowest();
        let (tries, enough) = if guard.rate.calibration().has_started() {
            (TRIES, narrowest.saturating_add(narrowest / 8))
        } else {
            (FIRST_TRIES, 0)
        };
        let bracket = self.narrowest_bracket(tries, enough).ok()?;
        if bracket.went_back() {
            self.disagree(guard, bracket.inner, 0);
            return None;
        }
        match guard.os_speed.judge(&bracket, narrowest) {
            Width::Usual => return Some(bracket),
            Width::Interrupted => {}
            Width::Slower => {
                let worst_ns = guard.errors.open_ns();
                let slow_os_clock = guard.os_speed.slow_os_clock(narrowest);
                if guard.os_speed.is_counter_slower(self.own_ticks(), &bracket, narrowest) {
                    guard.rate.accept_width(bracket.width());
                } else if self.pause_slow(guard, slow_os_clock, bracket.inner) {
                    self.next_generation(worst_ns, Some(bracket.inner));
                }
            }
        }
        None
    }

    #[inline(never)]
    pub(super) fn add(&self, guard: &mut SteeringGuard<'_>, bracket: Bracket) {
        guard.rate.add(bracket, self.window_ns());
    }

    /// Judges the OS clock's rate since the end of the interval `before`.
    pub(super) fn judge(
        &self,
        guard: &mut SteeringGuard<'_>,
        before: &BracketInterval,
        bracket: &Bracket,
    ) -> RateJudgment {
        let SteeringState { rate, ambiguous_change, .. } = &mut **guard;
        ambiguous_change.judge(rate, before, bracket, self.window_ns())
    }

    /// Raises the largest error for readings that a line gave after its last bracket: no later one
    /// shows the OS clock's rate meanwhile. Returns true if only a change of that rate explains the
    /// clock's advance.
    pub(super) fn raise_open_error(&self, guard: &SteeringGuard<'_>, bracket: &Bracket) -> bool {
        let last = guard.rate.calibration().last();
        if guard.errors.are_open_since(last) {
            self.raise_largest_error(guard.errors.unseen_slew_ns(last), last.inner);
        }
        is_notable(&guard.rate, bracket)
    }

    /// The clocks contradict each other since the last bracket, after which readings were taken by
    /// a line.
    pub(super) fn disagree_since_last(&self, guard: &mut SteeringGuard<'_>, bracket: &Bracket) {
        let error = guard.errors.unseen_ns(guard.rate.calibration().last(), bracket, guard.rate.ns_per_tick());
        self.disagree(guard, bracket.inner, error);
    }

    /// The clocks contradict each other: drops the calibration, and ends the generation. Readings
    /// by it may have been off by `error_ns`.
    pub(super) fn disagree(&self, guard: &mut SteeringGuard<'_>, os_ns: u64, error_ns: u64) {
        if !self.end_line(guard) {
            return;
        }
        // The error covers the readings just before, too, and those while the time is held.
        let floor = self.page.floor();
        let error_ns = error_ns.max(guard.errors.open_ns()).max(floor.saturating_sub(os_ns));
        self.next_generation(error_ns, Some(os_ns));
        let suspended_ns = self.suspended_ns();
        if guard.generation.had_suspend(suspended_ns) {
            let next = guard.generation.after_suspend(suspended_ns);
            guard.restart(next);
            return;
        }
        // Not by the OS clock only, which may have gone back: no reading is below the floor.
        let ended_ns = os_ns.max(self.page.floor());
        let next = guard.generation.after_contradiction(ended_ns, suspended_ns);
        guard.restart(next);
        if let Some(pause_ns) = next.pause_ns() {
            self.pause(guard, Demotion::Unsteady, os_ns, pause_ns);
        }
    }

    /// Compares the line with a fresh bracket, for a question: a contradiction shows now, and not
    /// when the line is renewed. (A counter that stands still would never have it renewed.) Returns
    /// the sum of both clocks' ticks in ns; `None` without a line.
    pub(super) fn verify(&self) -> Option<u64> {
        let mut guard = self.wait_lock()?;
        if !self.is_unmoved(&mut guard) {
            return None;
        }
        let snapshot = self.snapshot();
        if snapshot.line.at(snapshot.tick).is_none() {
            self.prove_expired(&mut guard);
            return None;
        }
        self.anchor(&mut guard, &snapshot);
        if self.page.version().has_line() { Some(guard.rate.ticks_ns()) } else { None }
    }

    /// The mean rate that the calibration knows.
    pub(super) fn mean_rate(&self) -> Option<MeanRate> {
        self.wait_lock()?.rate.mean()
    }

    /// Compares the clocks once more after a line has expired, so that the largest error covers
    /// readings between its last bracket and its end.
    fn prove_expired(&self, guard: &mut SteeringGuard<'_>) {
        if !guard.rate.is_confirmed() || !guard.errors.are_open_since(guard.rate.calibration().last()) {
            return;
        }
        let Some(bracket) = self.bracket(guard) else { return };
        if !self.raise_open_error(guard, &bracket) {
            guard.errors.close();
        } else if guard.generation.had_suspend(self.suspended_ns()) {
            self.disagree(guard, bracket.inner, 0);
        } else if is_step(&guard.rate, &bracket) {
            // Rare callers may never begin the line that would show the step.
            self.disagree_since_last(guard, &bracket);
        }
    }
}
