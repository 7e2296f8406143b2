//! Begins, renews and ends lines under the lock.

use core::sync::atomic::Ordering;

use clockscope_core::brackets::Bracket;

use super::layers::Steering;
use super::lines::agreement::RateJudgment;
use super::locking::SteeringGuard;
use super::page::line::{LinePosition, ServedLine};
use super::page::version::{ServingMode, Version};
use super::page::{ClockOffset, OffsetClock, PageSnapshot};
use super::rate::drawn_rate::DrawnRate;
use super::use_rate::Usage;
use super::{Counter, Demotion, OsClock};

/// Longest pause, in windows, in a calibration that has not led to a line: a clock may have stepped
/// in a longer one, and brackets would not show it.
pub(super) const MAX_PAUSE_WINDOWS: u64 = 8;

/// Largest lead over the OS clock, in ns, with which a line begins; until then the time is held.
const MAX_LEAD_NS: f64 = 10_000.0;

/// Longest tick of a counter that is used, in ns.
const MAX_TICK_NS: f64 = 1000.0;

/// Demand for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Readings that come one soon after the other.
    ByReadings,
    /// A question that only a line answers.
    ByQuestion,
}

impl<C: Counter, S: OsClock> Steering<C, S> {
    /// The line has nearly expired: publishes the next one, if it is in use and no other thread
    /// does so.
    #[cold]
    pub(super) fn renew(&self) {
        let Some(mut guard) = self.try_lock() else { return };
        // Loaded again under the lock: another thread may have been faster.
        let snapshot = self.snapshot();
        let LinePosition::NearlyExpired(_) = snapshot.line.position(snapshot.tick) else { return };
        if !self.is_in_use(&mut guard, &snapshot) {
            return;
        }
        let Some(bracket) = self.anchor(&mut guard, &snapshot) else { return };
        let rate = guard.rate.ns_per_tick();
        if rate <= 0.0 {
            return;
        }
        let ticks = self.next_ticks(&snapshot.line, rate);
        let from = (snapshot.line.end(), snapshot.line.end_value());
        let slope = slope(from, ticks, &bracket, &guard.rate);
        self.check_bounds(&mut guard, &bracket);
        self.take_offsets(&mut guard);
        self.publish(&mut guard, &snapshot.line.followed_by(slope, ticks));
    }

    /// Returns true if readings still come so often that a line pays.
    fn is_in_use(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) -> bool {
        let rate = guard.rate.ns_per_tick();
        guard.line_use.is_renewed(snapshot.line.due(), snapshot.tick, rate, self.window_ns())
    }

    /// There is no line to serve by: calibrates, or begins the next line, if it is wanted and no
    /// other thread does so. `os_ns` is the time now.
    #[cold]
    pub(super) fn resume(&self, os_ns: u64, wanted: Wanted) {
        let Some(mut guard) = self.lock() else { return };
        if !self.is_open(&mut guard) {
            return;
        }
        let snapshot = self.snapshot();
        if !matches!(snapshot.line.position(snapshot.tick), LinePosition::Expired(_)) {
            return;
        }
        if !self.is_wanted(&mut guard, &snapshot, os_ns, wanted) {
            // So that rare calls do not load an expired line.
            if snapshot.version.has_line() {
                self.end_line(&mut guard);
            }
        } else if !guard.rate.is_confirmed() {
            self.calibrate(&mut guard, &snapshot, os_ns);
        } else {
            self.begin_again(&mut guard, &snapshot);
        }
        if !guard.version.has_line() && guard.version.is_announced() {
            let quiet = guard.version.without_line(ServingMode::Open);
            self.page.replace(&mut guard.version, quiet);
        }
    }

    /// Removes the line of this version, which expired at this tick, long before `os_ns`, and whose
    /// end is in the floor. The next readings begin another one, if it was in use and they come
    /// often.
    #[inline(always)]
    pub(super) fn leave_expired(&self, version: Version, end_tick: u64, os_ns: u64) {
        let Some(mut guard) = self.lock() else { return };
        if version.has_line() && guard.version.is_as(version) {
            let was_in_use = guard.line_use.is_resumed(end_tick);
            self.page.keep_usage(if was_in_use { Usage::resumed(os_ns) } else { Usage::NONE });
            self.os.preemption_point();
            let next = guard.version.without_line(ServingMode::Open);
            self.page.replace(&mut guard.version, next);
        }
    }

    /// Returns true if a line, or a bracket for the calibration, is worth its cost.
    fn is_wanted(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot, os_ns: u64, wanted: Wanted) -> bool {
        if guard.version.has_line() && wanted != Wanted::ByQuestion {
            let is_wanted = guard.line_use.is_resumed(snapshot.line.end());
            self.page.keep_usage(if is_wanted { Usage::full(os_ns) } else { Usage::NONE });
            return is_wanted;
        }
        guard.line_use.begin();
        true
    }

    /// Returns true if the counter may be used. After a pause it is tried again.
    fn is_open(&self, guard: &mut SteeringGuard<'_>) -> bool {
        match guard.version.mode() {
            ServingMode::Open => true,
            ServingMode::Barred(reason) if reason.is_for_some_time() => {
                let open = guard.version.without_line(ServingMode::Open);
                let is_open = self.page.replace(&mut guard.version, open);
                if is_open {
                    guard.reopen();
                }
                is_open
            }
            ServingMode::New | ServingMode::Barred(_) => false,
        }
    }

    /// The counter is before the published line: it stepped back, or this CPU's is behind. `os_ns`
    /// is the time now.
    pub(super) fn step_back(&self, os_ns: u64) {
        let Some(mut guard) = self.lock() else { return };
        let snapshot = self.snapshot();
        if snapshot.line.position(snapshot.tick) == LinePosition::Before {
            self.disagree(&mut guard, os_ns, 0);
        }
    }

    /// A step of a calibration; begins the first line if it is good enough.
    fn calibrate(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot, os_ns: u64) {
        let since_last = os_ns.wrapping_sub(guard.rate.calibration().last().inner);
        if guard.rate.calibration().has_started() && since_last > MAX_PAUSE_WINDOWS * self.window_ns() {
            guard.rate.forget_brackets();
        }
        if guard.rate.calibration().has_started() {
            self.announce(guard);
        } else {
            guard.rate.start(self.trust.os_tick_ns());
            guard.os_speed.start(self.own_ticks());
            guard.generation.learn_suspends(|| self.suspended_ns());
        }
        let next_ns = os_ns.saturating_add(self.window_ns() / 8);
        self.page.next_try_ns.store(next_ns, Ordering::Relaxed);
        let Some(bracket) = self.bracket(guard) else { return };
        if let Some(slow_os_clock) = guard.os_speed.next_pause(&bracket, || self.own_ticks()) {
            self.pause_slow(guard, slow_os_clock, bracket.inner);
            return;
        }
        let os_tick_ns = guard.rate.os_tick_ns();
        if guard.ambiguous_change.is_open()
            && guard.ambiguous_change.is_settled_as_step(&bracket, os_tick_ns, self.window_ns())
        {
            self.disagree(guard, bracket.inner, 0);
            return;
        }
        self.add(guard, bracket);
        let Some(mean) = guard.rate.calibration().mean() else { return };
        let ns_per_tick = mean.rate.middle();
        if ns_per_tick > MAX_TICK_NS {
            self.demote(guard, Demotion::CoarseCounter);
        } else if C::BITS < 64 && ns_per_tick * 2f64.powi(C::BITS as i32) < C::MIN_PERIOD_NS {
            self.demote(guard, Demotion::Wraps);
        } else if mean.window_ns >= self.window_ns() as f64
            && guard.rate.ns_per_tick() > 0.0
            && self.begin_line(guard, &bracket, snapshot.line.end_value())
        {
            guard.rate.confirm();
            guard.generation.begin_line(bracket.inner);
        }
    }

    /// Begins a line after a period without one, if the OS clock has advanced at the calibrated
    /// rate. If its rate may have changed meanwhile, the calibration begins anew.
    fn begin_again(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) {
        self.announce(guard);
        let Some(bracket) = self.bracket(guard) else { return };
        let is_notable = self.raise_open_error(guard, &bracket);
        let before = *guard.errors.interval();
        match self.judge(guard, &before, &bracket) {
            _ if is_notable && guard.generation.had_suspend(self.suspended_ns()) => {
                self.disagree(guard, bracket.inner, 0)
            }
            RateJudgment::Stepped => self.disagree_since_last(guard, &bracket),
            RateJudgment::Slewed(_) if guard.version.has_line() && !self.end_line(guard) => (),
            RateJudgment::Slewed(_) => {
                guard.rate.forget();
                self.add(guard, bracket);
            }
            RateJudgment::AsBefore => {
                self.add(guard, bracket);
                self.begin_line(guard, &bracket, snapshot.line.end_value());
            }
        }
    }

    /// Publishes a line of one segment that starts now, at or above `least`; not while that is far
    /// ahead of the OS clock.
    fn begin_line(&self, guard: &mut SteeringGuard<'_>, bracket: &Bracket, least: u64) -> bool {
        let rate = guard.rate.ns_per_tick();
        let floor = self.page.floor();
        // After the floor, which other threads have raised since the bracket.
        let tick = self.counter.ordered();
        let since_bracket = tick.wrapping_sub(bracket.middle()) as i64 as f64 * rate;
        // An OS clock that is behind the recorded reading has stepped back: the next reading
        // notices that.
        let is_stale = since_bracket < 0.0 || since_bracket > self.window_ns() as f64 / 8.0;
        if is_stale || !guard.version.is_announced() || bracket.inner < self.page.recorded() {
            return false;
        }
        let os_ns = bracket.inner.saturating_add((since_bracket + guard.rate.os_tick_ns() as f64 / 2.0) as u64);
        let value = os_ns.max(least).max(floor);
        let lead = (value - os_ns) as f64;
        if lead > MAX_LEAD_NS {
            return false;
        }
        let width_ns = bracket.width() as f64 * rate;
        let error = ((lead + width_ns / 2.0) as u64).saturating_add(guard.rate.ticks_ns());
        guard.errors.begin(*bracket, rate, error);
        self.raise_largest_error(error, os_ns);
        let ticks = self.window_ticks(rate);
        let slope = slope((tick, value), ticks, bracket, &guard.rate);
        // No bracket has compared the counter since the line before.
        guard.beside.set_wall(ClockOffset::UNKNOWN);
        self.take_offsets(guard);
        self.publish(guard, &ServedLine::single(tick, value, slope, ticks))
    }

    /// Drops the system's statement, unless the OS clock has kept its rate until this bracket.
    fn check_bounds(&self, guard: &mut SteeringGuard<'_>, bracket: &Bracket) {
        let (os_tick_ns, had_bounds) = (guard.rate.os_tick_ns(), guard.beside.has_bounds());
        guard.beside.check(bracket, os_tick_ns);
        if had_bounds && !guard.beside.has_bounds() {
            // A slew may have begun that only the counter shows so soon: the next caller asks.
            self.shared.statement.forget();
        }
    }

    /// Takes the offsets of other clocks for the next line.
    fn take_offsets(&self, guard: &mut SteeringGuard<'_>) {
        let [wall, boot] = OffsetClock::ALL.map(|clock| self.offset_for_line(clock, guard));
        guard.beside.take_wall(wall);
        guard.beside.take_boot(boot);
    }

    /// The window in ticks.
    fn window_ticks(&self, rate: f64) -> u64 {
        ((self.window_ns() as f64 / rate) as u64).max(2)
    }

    /// Length of the segment after `line`, in ticks: a window, or up to a tenth more or less, so
    /// that a program that reads in periods of windows does not always seem to be in time.
    fn next_ticks(&self, line: &ServedLine, rate: f64) -> u64 {
        let random = line.end().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
        self.window_ticks(rate).saturating_mul(57 + 2 * random) / 64
    }
}

/// The slope of a segment from a point on for `ticks` ticks that meets the OS clock at its end: the
/// error is slewed, never stepped. Between half and one and a half of the rate, so that it always
/// rises.
fn slope((tick, value): (u64, u64), ticks: u64, bracket: &Bracket, rate: &DrawnRate) -> f64 {
    let (rate, os_tick_ns) = (rate.ns_per_tick(), rate.os_tick_ns());
    let end = tick.wrapping_add(ticks).wrapping_sub(bracket.middle()) as f64;
    let os_at_end = end * rate + os_tick_ns as f64 / 2.0;
    let rise = os_at_end - value.wrapping_sub(bracket.inner) as i64 as f64;
    // The panic of `clamp` would add the formatting of floats to every program.
    (rise / ticks as f64).max(0.5 * rate).min(1.5 * rate)
}
