//! The slow path's work under the lock: brackets, calibration, the next line, and what to do when
//! the clocks disagree.

use core::sync::atomic::Ordering;

use clockscope_core::brackets::Bracket;

use super::agreement::{AmbiguousChange, RateJudgment};
use super::bounds::Carried;
use super::bracket::take_narrowest;
use super::calibration::{Calibration, MeanRate};
use super::errors::{BracketInterval, unseen_error_ns, unseen_slew_ns};
use super::holding::SteeringGuard;
use super::line::{LinePosition, ServedLine};
use super::os_changes::{PAUSE_NS, SlowOsClock, TimeHold};
use super::page::{Civil, PageSnapshot, WallOffset};
use super::sync::stored_before_reading;
use super::use_rate::{InUse, LATE_NS, MANY_LATE, MANY_LATE_NS, Usage};
use super::version::{ServingMode, Version};
use super::{Counter, Demotion, Disciplined, OsClock};

/// The lock's content. All zero is the state before the first use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steering {
    /// The version that the last holder left. Where there is another one, another thread has
    /// decided something without the lock, and nothing is known any more.
    pub(super) version_left: Version,
    pub(super) calibration: Calibration,
    /// OS time at which this generation's first line began; 0 before that.
    pub(super) began_ns: u64,
    pub(super) os_tick_ns: u64,
    /// The rate to draw lines by, in ns a tick; 0 while there is none.
    pub(super) ns_per_tick: f64,
    /// True if a line may begin at once.
    is_calibrated: bool,
    /// Generations in a row that ended soon.
    pub(super) short_generations: u32,
    /// For how long the machine was suspended when this generation began, in ns, plus 1; 0 where
    /// that is not known.
    pub(super) suspended_ns: u64,
    /// Brackets in a row that were too wide.
    wide: u32,
    /// Use of the line, and the tick at which it was last seen to be due or spent.
    in_use: InUse,
    seen_due: u64,
    /// Readings since then that did not renew the line, and the tick of the first.
    late: u32,
    late_since: u64,
    /// The time at the end of the line that was published last: no reading by it was later.
    pub(super) line_end_ns: u64,
    pub(super) interval: BracketInterval,
    pub(super) ambiguous_change: AmbiguousChange,
    /// Duration of [`OWN_READS`] reads of the counter, in ticks, when the calibration began.
    pub(super) own_ticks: u64,
    pub(super) slow_os_clock: SlowOsClock,
    pub(super) hold: TimeHold,
    /// The offset that is published with the next line.
    pub(super) wall: WallOffset,
    pub(super) carried: Carried,
}

/// Brackets tried at a re-anchoring, and at the start of a calibration.
const TRIES: u32 = 4;
const FIRST_TRIES: u32 = 8;

/// A bracket this many times wider than the narrowest was interrupted.
pub(super) const TOO_WIDE: u64 = 4;

/// So many in a row were not interrupted: the OS clock has become slower, or the counter has.
const WIDE_IN_A_ROW: u32 = 8;

/// A pause of so many windows ends a calibration that has not led to a line: a clock may have
/// stepped meanwhile, which only brackets that are as close as the pause is long could show.
const PAUSE_WINDOWS: u64 = 8;

/// A line begins no further than this ahead of the OS clock, in ns; until then the clock stands
/// still.
const LEAD_NS: f64 = 10_000.0;

/// Error that a first line may have at its end, in ns. (Twice the bracket's width where that is
/// more.)
const GOOD_ENOUGH_NS: f64 = 100.0;

/// The slowest counter that is worth it: 1 µs a tick.
const COARSE_NS: f64 = 1000.0;

/// Demand for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Readings that come one soon after the other.
    ByReadings,
    /// A question that only a line answers.
    ByQuestion,
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// The line is nearly spent: publishes the next one, if it is in use and nobody else is doing
    /// it.
    #[cold]
    #[inline(never)]
    pub(super) fn renew(&self) {
        let Some(mut guard) = self.try_lock() else { return };
        // Looked at again under the lock: another thread may have been faster.
        let snapshot = self.snapshot();
        if let LinePosition::NearlySpent(_) = snapshot.line.position(snapshot.tick)
            && self.is_in_use(&mut guard, &snapshot)
            && let statement = self.ask_if_due(&guard, snapshot.tick)
            && let Some(bracket) = self.anchor(&mut guard, &snapshot)
        {
            let rate = guard.ns_per_tick;
            if rate <= 0.0 {
                return;
            }
            let ticks = self.next_ticks(&snapshot.line, rate);
            let slope =
                slope((snapshot.line.end(), snapshot.line.end_value()), ticks, &bracket, rate, guard.os_tick_ns);
            self.carry_bounds(&mut guard, statement, &bracket);
            self.take_wall(&mut guard);
            self.publish(&mut guard, &snapshot.line.followed_by(slope, ticks));
        }
    }

    /// Returns true if readings still come so often that a line pays: by how late the first one is
    /// after the moment at which the next line was due.
    fn is_in_use(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) -> bool {
        let due = snapshot.line.due();
        if due != guard.seen_due {
            guard.seen_due = due;
            let late_ns = snapshot.tick.wrapping_sub(due) as f64 * guard.ns_per_tick;
            guard.in_use = guard.in_use.after(late_ns <= LATE_NS.min(self.window_ns() / 8) as f64);
            (guard.late, guard.late_since) = (0, snapshot.tick);
        }
        if !guard.in_use.is_renewed() {
            self.count_late(guard, snapshot);
        }
        guard.in_use.is_renewed()
    }

    /// Counts the readings of a line that is not renewed: if they are many, only a pause came at
    /// the wrong moment.
    fn count_late(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) {
        guard.late += 1;
        if guard.late >= MANY_LATE {
            let took_ns = snapshot.tick.wrapping_sub(guard.late_since) as f64 * guard.ns_per_tick;
            if took_ns <= MANY_LATE_NS.min(self.window_ns() / 4) as f64 {
                guard.in_use = InUse::BEGUN;
            }
            (guard.late, guard.late_since) = (0, snapshot.tick);
        }
    }

    /// There is no line to serve by: calibrates, or begins the next line, if it is wanted and
    /// nobody else is doing it. `os_ns` is the time now.
    #[cold]
    #[inline(never)]
    pub(super) fn resume(&self, os_ns: u64, wanted: Wanted) {
        let Some(mut guard) = self.lock() else { return };
        if !self.is_open(&mut guard) {
            return;
        }
        let snapshot = self.snapshot();
        if !matches!(snapshot.line.position(snapshot.tick), LinePosition::Spent(_)) {
            return;
        }
        if !self.is_wanted(&mut guard, &snapshot, os_ns, wanted) {
            // So that a rare call need not look at a spent line.
            if snapshot.version.has_line() {
                self.withdraw(&mut guard);
            }
        } else if !guard.is_calibrated {
            self.calibrate(&mut guard, &snapshot, os_ns);
        } else {
            self.begin_again(&mut guard, &snapshot);
        }
        if !guard.version.has_line() && guard.version.is_announced() {
            let quiet = guard.version.without_line(ServingMode::Open);
            self.shared.page.replace(&mut guard.version, quiet);
        }
    }

    /// Returns true if a line, or a bracket for the calibration, is worth its cost.
    fn is_wanted(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot, os_ns: u64, wanted: Wanted) -> bool {
        if guard.version.has_line() && wanted != Wanted::ByQuestion {
            // A line is spent that nobody has renewed in time: counted once.
            if guard.seen_due != snapshot.line.end() {
                guard.seen_due = snapshot.line.end();
                guard.in_use = guard.in_use.after(false);
            }
            let is_wanted = guard.in_use.is_renewed();
            self.shared.page.keep_usage(if is_wanted { Usage::full(os_ns) } else { Usage::NONE });
            return is_wanted;
        }
        guard.in_use = InUse::BEGUN;
        true
    }

    /// Returns true if the counter may be used. After a pause it is tried again.
    fn is_open(&self, guard: &mut SteeringGuard<'_>) -> bool {
        match guard.version.mode() {
            ServingMode::Open => true,
            ServingMode::Barred(reason) if reason.is_for_some_time() => {
                let open = guard.version.without_line(ServingMode::Open);
                let is_open = self.shared.page.replace(&mut guard.version, open);
                if is_open {
                    **guard = Steering { slow_os_clock: guard.slow_os_clock, ..guard.restarted() };
                }
                is_open
            }
            ServingMode::New | ServingMode::Barred(_) => false,
        }
    }

    /// The counter is before the line that was published: it stepped back, or this CPU's is behind.
    /// `os_ns` is the time now.
    pub(super) fn step_back(&self, os_ns: u64) {
        let Some(mut guard) = self.lock() else { return };
        let snapshot = self.snapshot();
        if snapshot.line.position(snapshot.tick) == LinePosition::Before {
            self.disagree(&mut guard, os_ns, 0);
        }
    }

    /// A bracket, compared with the line and added to the calibration. `None` if it was
    /// interrupted, or if it contradicts the one before, so that the line is no more.
    fn anchor(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) -> Option<Bracket> {
        let bracket = self.bracket(guard)?;
        // Interrupted for so long that the line is spent: the next call begins another.
        let (first, last) = (snapshot.line.at(bracket.before)?, snapshot.line.at(bracket.after)?);
        let served = (first.max(snapshot.floor), last.max(snapshot.floor));
        // Just after a step, readings are off by that and by what they were off before.
        let before = guard.interval;
        let error = self.record_error(guard, &snapshot.line, &bracket, served).saturating_add(before.worst_ns());
        match self.judge(guard, &before, &bracket) {
            RateJudgment::Stepped => {
                self.disagree(guard, bracket.inner, error);
                return None;
            }
            // While it changes, no rate is better than that of the last two.
            RateJudgment::Slewed(rate) => {
                self.add(guard, bracket);
                guard.ns_per_tick = rate;
            }
            RateJudgment::AsBefore => self.add(guard, bracket),
        }
        Some(bracket)
    }

    /// A step of a calibration; begins the first line if it is good enough.
    fn calibrate(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot, os_ns: u64) {
        let since_last = os_ns.wrapping_sub(guard.calibration.last().inner);
        if guard.calibration.has_started() && since_last > PAUSE_WINDOWS * self.window_ns() {
            guard.calibration = Calibration::ZERO;
        }
        if guard.calibration.has_started() {
            self.announce(guard);
        } else {
            guard.os_tick_ns = self.system_answers.answers().map_or(1, |answers| answers.os_tick_ns);
            guard.own_ticks = self.own_ticks();
            if guard.suspended_ns == 0 {
                guard.suspended_ns = self.suspended_ns();
            }
        }
        let next_ns = os_ns.saturating_add(self.window_ns() / 8);
        self.shared.page.next_try_ns.store(next_ns, Ordering::Relaxed);
        let Some(bracket) = self.bracket(guard) else { return };
        if guard.slow_os_clock.usual != 0 && !self.is_as_fast_again(guard, &bracket) {
            return;
        }
        if guard.ambiguous_change.is_open() && self.is_settled_as_step(guard, &bracket) {
            self.disagree(guard, bracket.inner, 0);
            return;
        }
        self.add(guard, bracket);
        let Some(mean) = guard.calibration.mean() else { return };
        let ns_per_tick = mean.rate.middle();
        if ns_per_tick > COARSE_NS {
            self.demote(guard, Demotion::CoarseCounter);
        } else if C::BITS < 64 && ns_per_tick * 2f64.powi(C::BITS as i32) < C::SHORTEST_PERIOD_NS {
            self.demote(guard, Demotion::Wraps);
        } else if mean.window_ns >= self.window_ns() as f64
            && guard.ns_per_tick > 0.0
            && self.begin_line(guard, &bracket, snapshot.line.end_value())
        {
            guard.is_calibrated = true;
            guard.began_ns = if guard.began_ns == 0 { bracket.inner.max(1) } else { guard.began_ns };
        }
    }

    /// Says that a line may begin with a bracket that is taken from here on: see the page's
    /// protocol.
    pub(super) fn announce(&self, guard: &mut SteeringGuard<'_>) {
        if !guard.version.is_announced() {
            let announced = guard.version.announced();
            self.shared.page.replace(&mut guard.version, announced);
            stored_before_reading();
        }
    }

    /// Adds a bracket to the calibration. Its rate is drawn by from when such a line errs by no
    /// more, where it ends, than is good enough; a window that has only begun goes on with the rate
    /// of the one before.
    fn add(&self, guard: &mut SteeringGuard<'_>, bracket: Bracket) {
        let os_tick_ns = guard.os_tick_ns;
        guard.calibration.add(bracket, os_tick_ns);
        let Some(mean) = guard.calibration.mean() else { return };
        let width_ns = bracket.width() as f64 * mean.rate.middle();
        if mean.rate.relative() * 2.0 * self.window_ns() as f64 <= GOOD_ENOUGH_NS.max(2.0 * width_ns) {
            guard.ns_per_tick = mean.rate.middle();
        }
    }

    /// Begins a line after a spell in which there was none, if the OS clock has gone on as the
    /// calibration says. Where its rate may have changed meanwhile, the calibration begins anew.
    fn begin_again(&self, guard: &mut SteeringGuard<'_>, snapshot: &PageSnapshot) {
        self.announce(guard);
        let Some(bracket) = self.bracket(guard) else { return };
        let is_notable = self.is_notable(guard, &bracket);
        if is_notable {
            self.raise_largest_error(unseen_slew_ns(guard, &bracket));
        }
        let before = guard.interval;
        match self.judge(guard, &before, &bracket) {
            _ if is_notable && self.was_suspended(guard) => self.disagree(guard, bracket.inner, 0),
            RateJudgment::Stepped => {
                let error = unseen_error_ns(guard, &bracket);
                self.disagree(guard, bracket.inner, error);
            }
            RateJudgment::Slewed(_) if guard.version.has_line() && !self.withdraw(guard) => (),
            RateJudgment::Slewed(_) => {
                guard.calibration = Calibration::ZERO;
                (guard.is_calibrated, guard.ns_per_tick) = (false, 0.0);
                self.add(guard, bracket);
            }
            RateJudgment::AsBefore => {
                self.add(guard, bracket);
                self.begin_line(guard, &bracket, snapshot.line.end_value());
            }
        }
    }

    /// Publishes a line of one segment that starts now, at or above `least`; not while that is far
    /// ahead of the OS.
    fn begin_line(&self, guard: &mut SteeringGuard<'_>, bracket: &Bracket, least: u64) -> bool {
        let rate = guard.ns_per_tick;
        let floor = self.shared.page.floor();
        // After the floor: others have raised it since the bracket, by as much as has passed.
        let tick = self.counter.ordered();
        let since_bracket = tick.wrapping_sub(bracket.middle()) as i64 as f64 * rate;
        // An OS clock that is behind what was written down has stepped back: the next reading finds
        // that.
        let is_stale = since_bracket < 0.0 || since_bracket > self.window_ns() as f64 / 8.0;
        if is_stale || !guard.version.is_announced() || bracket.inner < self.shared.page.written() {
            return false;
        }
        let os_ns = bracket.inner.saturating_add((since_bracket + guard.os_tick_ns as f64 / 2.0) as u64);
        let value = os_ns.max(least).max(floor);
        let lead = (value - os_ns) as f64;
        if lead > LEAD_NS {
            return false;
        }
        let width_ns = bracket.width() as f64 * rate;
        let error = ((lead + width_ns / 2.0) as u64).saturating_add(guard.ticks_ns());
        guard.interval = BracketInterval::before(*bracket, rate, error);
        self.raise_largest_error(error);
        let ticks = self.window_ticks(rate);
        let slope = slope((tick, value), ticks, bracket, rate, guard.os_tick_ns);
        // No bracket has compared the counter since the line before.
        (guard.wall, guard.carried) = (WallOffset::UNKNOWN, Carried::NONE);
        self.take_wall(guard);
        self.publish(guard, &ServedLine::single(tick, value, slope, ticks))
    }

    /// Takes the wall clock's offset for the next line. Where that clock was set, the system is
    /// asked about civil time anew: it may state something else.
    fn take_wall(&self, guard: &mut SteeringGuard<'_>) {
        let before = guard.wall;
        guard.wall = self.learn_wall(guard);
        if guard.wall != before {
            guard.carried = Carried::NONE;
        }
    }

    /// A bracket that was not interrupted.
    fn bracket(&self, guard: &mut SteeringGuard<'_>) -> Option<Bracket> {
        if !self.is_where_it_was(guard) {
            return None;
        }
        let narrowest = guard.calibration.narrowest();
        let (tries, enough) = if guard.calibration.has_started() {
            (TRIES, narrowest.saturating_add(narrowest / 8))
        } else {
            (FIRST_TRIES, 0)
        };
        let bracket = take_narrowest(&self.counter, || self.os_ns(), tries, enough).ok()?;
        if bracket.went_back() {
            self.disagree(guard, bracket.inner, 0);
            return None;
        }
        if bracket.width() <= narrowest.saturating_mul(TOO_WIDE) {
            guard.wide = 0;
            return Some(bracket);
        }
        guard.wide += 1;
        if guard.wide == WIDE_IN_A_ROW {
            guard.wide = 0;
            let worst_ns = guard.interval.worst_ns();
            let slow_os_clock = SlowOsClock { usual: narrowest, own_ticks: guard.own_ticks, pause_ns: PAUSE_NS };
            if self.is_slower_itself(guard, slow_os_clock.own_ticks) {
                guard.calibration.accept_width(bracket.width());
            } else if self.turn_away(guard, slow_os_clock, bracket.inner) {
                self.next_generation(worst_ns);
            }
        }
        None
    }

    /// Gives the counter up. `false` if another thread has just decided otherwise.
    pub(super) fn demote(&self, guard: &mut SteeringGuard<'_>, reason: Demotion) -> bool {
        self.end_line(guard, ServingMode::Barred(reason))
    }

    /// From here on no tick is covered. `false` if another thread has ended the line.
    pub(super) fn withdraw(&self, guard: &mut SteeringGuard<'_>) -> bool {
        self.end_line(guard, guard.version.mode())
    }

    pub(super) fn end_line(&self, guard: &mut SteeringGuard<'_>, mode: ServingMode) -> bool {
        self.shared.os.preemption_point();
        let next = guard.version.without_line(mode);
        self.shared.page.end_line_of(&mut guard.version, next)
    }

    /// Publishes the line, unless another thread has ended the line that it follows.
    pub(super) fn publish(&self, guard: &mut SteeringGuard<'_>, line: &ServedLine) -> bool {
        self.shared.os.preemption_point();
        let civil = Civil { wall: guard.wall, bounds: guard.carried.bounds };
        let is_published = self.shared.page.publish(&mut guard.version, line, &civil);
        if is_published {
            guard.line_end_ns = line.end_value();
        }
        is_published
    }

    /// The window in ticks.
    fn window_ticks(&self, rate: f64) -> u64 {
        ((self.window_ns() as f64 / rate) as u64).max(2)
    }

    /// Length of the segment after `line`, in ticks: a window, or up to a tenth more or less, lest
    /// a program that reads every so many windows always seems to be in time.
    fn next_ticks(&self, line: &ServedLine, rate: f64) -> u64 {
        let any = line.end().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
        self.window_ticks(rate).saturating_mul(57 + 2 * any) / 64
    }

    /// Compares the line with a fresh bracket, for whoever asks: what contradicts it is found now,
    /// and not when the line is renewed. (A counter that stands still would never have it renewed.)
    /// Returns the ticks of both clocks in ns, as the calibration knows them; `None` without a
    /// line.
    pub(super) fn verify(&self) -> Option<u64> {
        self.with_steering(|guard| {
            if !self.is_where_it_was(guard) {
                return None;
            }
            let snapshot = self.snapshot();
            if snapshot.line.at(snapshot.tick).is_none() {
                self.prove_spent(guard);
                return None;
            }
            self.anchor(guard, &snapshot);
            Some(guard.ticks_ns()).filter(|_| self.shared.page.version().has_line())
        })
    }

    /// The mean rate that the calibration knows.
    pub(super) fn mean_rate(&self) -> Option<MeanRate> {
        self.with_steering(|guard| {
            let calibration = &guard.calibration;
            calibration.mean().or_else(|| calibration.unconfirmed().filter(|_| guard.is_calibrated))
        })
    }

    /// Compares the clocks once more after a line was spent, so that readings between its last
    /// bracket and its end are covered by the largest error.
    fn prove_spent(&self, guard: &mut SteeringGuard<'_>) {
        if !guard.is_calibrated || guard.line_end_ns <= guard.calibration.last().inner {
            return;
        }
        let Some(bracket) = self.bracket(guard) else { return };
        if self.is_notable(guard, &bracket) {
            self.raise_largest_error(unseen_slew_ns(guard, &bracket));
        }
        guard.line_end_ns = 0;
    }
}

impl Steering {
    /// The state before the first use.
    pub(super) const ZERO: Self = Self {
        version_left: Version::NEW,
        calibration: Calibration::ZERO,
        began_ns: 0,
        os_tick_ns: 0,
        ns_per_tick: 0.0,
        is_calibrated: false,
        short_generations: 0,
        suspended_ns: 0,
        wide: 0,
        in_use: InUse::NOT,
        seen_due: 0,
        late: 0,
        late_since: 0,
        line_end_ns: 0,
        interval: BracketInterval::NONE,
        ambiguous_change: AmbiguousChange::NONE,
        own_ticks: 0,
        slow_os_clock: SlowOsClock::NONE,
        hold: TimeHold::NONE,
        wall: WallOffset::UNKNOWN,
        carried: Carried::NONE,
    };

    /// By how much readings of both clocks together may be behind, in ns.
    pub(super) fn ticks_ns(&self) -> u64 {
        self.os_tick_ns.saturating_add(self.ns_per_tick as u64)
    }

    /// State that is known when a generation begins.
    pub(super) fn restarted(&self) -> Self {
        Self { hold: self.hold, short_generations: self.short_generations, ..Self::ZERO }
    }
}

/// The slope of a segment of so many ticks from a point on that meets the OS clock at its end: the
/// error is worked off, never jumped over. Between half and one and a half of the rate, so that it
/// always rises.
fn slope((tick, value): (u64, u64), ticks: u64, bracket: &Bracket, rate: f64, os_tick_ns: u64) -> f64 {
    let end = tick.wrapping_add(ticks).wrapping_sub(bracket.middle()) as f64;
    let os_at_end = end * rate + os_tick_ns as f64 / 2.0;
    let rise = os_at_end - value.wrapping_sub(bracket.inner) as i64 as f64;
    (rise / ticks as f64).clamp(0.5 * rate, 1.5 * rate)
}
