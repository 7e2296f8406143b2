//! The slow path's work under the lock: brackets, calibration, the next line, and what to do when the clocks disagree.

use core::sync::atomic::Ordering;

use super::bracket::Bracket;
use super::calibration::{Calibration, MeanRate};
use super::line::{Line, Place};
use super::page::{Look, Mode};
use super::{Counter, Demotion, Disciplined, OsClock};

/// The lock's content. All zero is the state before the first use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steering {
    calibration: Calibration,
    /// OS time at which this generation's first line began; 0 while it is being calibrated.
    began_ns: u64,
    /// OS time at which system and hardware were last asked about the counter.
    asked_ns: u64,
    os_tick_ns: u64,
    /// The rate to draw lines by, in ns a tick; 0 before there is one.
    ns_per_tick: f64,
    /// Generations in a row that ended soon.
    strikes: u32,
    /// Brackets in a row that were too wide.
    wide: u32,
    last_error_ns: u64,
}

/// Brackets tried at a re-anchoring, and at the start of a calibration.
const TRIES: u32 = 4;
const FIRST_TRIES: u32 = 8;

/// A bracket this many times wider than the narrowest was interrupted.
const TOO_WIDE: u64 = 4;

/// So many in a row were not interrupted: the OS clock has become slower.
const WIDE_IN_A_ROW: u32 = 8;

/// The kernel is asked about the counter after this time, in ns, and whenever there is a reason.
const ASK_EVERY_NS: u64 = 60_000_000_000;

/// A generation that ends within this time, in ns, ended soon; after so many of them in a row the counter is given up.
const SOON_NS: u64 = 10_000_000_000;
const STRIKES: u32 = 3;

/// A pause of so many windows ends a calibration that has not led to a line: a clock may have stepped meanwhile, which
/// only brackets that are as close as the pause is long could show.
const PAUSE_WINDOWS: u64 = 8;

/// The OS clock's rate may change by this share at any time: from NTP's 500 ppm and adjtime's 500 ppm in one direction to
/// as much in the other.
const SLEW_SHARE: f64 = 2e-3;

/// A line begins no further than this ahead of the OS clock, in ns; until then the clock stands still.
const LEAD_NS: f64 = 10_000.0;

/// Error that a first line may have at its end, in ns. (Twice the bracket's width where that is more.)
const GOOD_ENOUGH_NS: f64 = 100.0;

/// The slowest counter that is worth it: 1 µs a tick. An OS clock of such a tick is too coarse to be followed.
const COARSE_NS: f64 = 1000.0;

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// The line is nearly spent: publishes the next one, if nobody else is doing it.
    #[cold]
    #[inline(never)]
    pub(super) fn renew(&self) {
        let Some(mut steering) = self.shared.steering.try_lock() else { return };
        // Looked at again under the lock: another thread may have been faster.
        let look = self.look();
        if let Place::NearlySpent(_) = look.line.place(look.tick)
            && let Some(bracket) = self.anchor(&mut steering, &look)
        {
            let rate = steering.ns_per_tick;
            let slope = self.slope(look.line.end(), look.line.end_value(), &bracket, rate, steering.os_tick_ns);
            self.publish(&look.line.followed_by(slope, self.window_ticks(rate)));
        }
    }

    /// There is no line to serve by: calibrates, or begins the next line, if nobody else is doing it. `os_ns` is the time
    /// now.
    #[cold]
    #[inline(never)]
    pub(super) fn resume(&self, os_ns: u64) {
        let Some(mut steering) = self.shared.steering.try_lock() else { return };
        let look = self.look();
        if !matches!(look.line.place(look.tick), Place::Spent(_)) {
            return;
        }
        if steering.began_ns == 0 {
            self.calibrate(&mut steering, os_ns)
        } else {
            self.begin_again(&mut steering, &look)
        }
    }

    /// Nobody calls often enough for a line: takes a spent one away, so that a call need not look at it.
    #[cold]
    #[inline(never)]
    pub(super) fn rest(&self) {
        let Some(_steering) = self.shared.steering.try_lock() else { return };
        let look = self.look();
        if let Place::Spent(_) = look.line.place(look.tick) {
            self.withdraw(&look.line);
        }
    }

    /// The counter is before the line that was published: it stepped back, or this CPU's is behind.
    pub(super) fn step_back(&self) {
        let Some(mut steering) = self.shared.steering.try_lock() else { return };
        let look = self.look();
        if look.line.place(look.tick) == Place::Before {
            let os_ns = self.shared.os.now_ns().unwrap_or(0);
            self.disagree(&mut steering, &look.line, os_ns);
        }
    }

    /// A bracket, compared with the line and added to the calibration. `None` if it was interrupted, or if it contradicts
    /// the line, which then is no more.
    fn anchor(&self, steering: &mut Steering, look: &Look) -> Option<Bracket> {
        let bracket = self.bracket(steering)?;
        // Interrupted for so long that the line is spent: the next call begins another.
        let (first, last) = (look.line.at(bracket.before)?, look.line.at(bracket.after)?);
        let error = error_ns(first.max(look.floor), last.max(look.floor), bracket.os_ns, steering.os_tick_ns);
        let elapsed = bracket.os_ns_since(steering.calibration.last());
        let allowed = self.allowed_ns(steering, &bracket, elapsed).saturating_add(steering.last_error_ns);
        if error > allowed {
            self.disagree(steering, &look.line, bracket.os_ns);
            return None;
        }
        let at_joint = error_at_joint(&look.line, steering.calibration.last(), &bracket, steering.os_tick_ns);
        self.shared.page.largest_error_ns.fetch_max(error.max(at_joint.unwrap_or(0)), Ordering::Relaxed);
        steering.last_error_ns = error;
        self.add(steering, bracket);
        if bracket.os_ns.wrapping_sub(steering.asked_ns) > ASK_EVERY_NS && !self.ask(steering, bracket.os_ns) {
            return None;
        }
        Some(bracket)
    }

    /// A step of a calibration; begins the first line if it is good enough.
    fn calibrate(&self, steering: &mut Steering, os_ns: u64) {
        let since_last = os_ns.wrapping_sub(steering.calibration.last().os_ns);
        if steering.calibration.has_started() && since_last > PAUSE_WINDOWS * self.window_ns() {
            steering.calibration = Calibration::ZERO;
        }
        if !steering.calibration.has_started() {
            steering.os_tick_ns = self.shared.os.tick_ns().max(1);
            steering.asked_ns = os_ns;
            if steering.os_tick_ns as f64 >= COARSE_NS {
                self.demote(&Line::default(), Demotion::CoarseOsClock);
                return;
            }
        } else if since_last < self.window_ns() / 8 {
            return;
        }
        let Some(bracket) = self.bracket(steering) else { return };
        self.add(steering, bracket);
        let Some(mean) = steering.calibration.mean() else { return };
        let ns_per_tick = mean.rate.middle();
        if ns_per_tick > COARSE_NS {
            self.demote(&Line::default(), Demotion::CoarseCounter);
        } else if C::BITS < 64 && ns_per_tick * 2f64.powi(C::BITS as i32) < C::SHORTEST_PERIOD_NS {
            self.demote(&Line::default(), Demotion::Wraps);
        } else if mean.window_ns >= self.window_ns() as f64
            && steering.ns_per_tick > 0.0
            && self.begin_line(steering, &bracket, 0)
        {
            steering.began_ns = bracket.os_ns.max(1);
        }
    }

    /// Adds a bracket to the calibration. Its rate is drawn by from when such a line errs by no more, where it ends, than
    /// is good enough; a window that has only begun goes on with the rate of the one before.
    fn add(&self, steering: &mut Steering, bracket: Bracket) {
        steering.calibration.add(bracket, steering.os_tick_ns);
        let Some(mean) = steering.calibration.mean() else { return };
        let width_ns = bracket.width() as f64 * mean.rate.middle();
        if mean.rate.relative() * 2.0 * self.window_ns() as f64 <= GOOD_ENOUGH_NS.max(2.0 * width_ns) {
            steering.ns_per_tick = mean.rate.middle();
        }
    }

    /// Begins a line after a spell in which there was none, if the OS clock has gone on as the calibration says.
    fn begin_again(&self, steering: &mut Steering, look: &Look) {
        let Some(bracket) = self.bracket(steering) else { return };
        let last = *steering.calibration.last();
        let elapsed = bracket.os_ns_since(&last);
        let ticks = bracket.middle().wrapping_sub(last.middle()) as i64 as f64;
        let expected = ticks * steering.ns_per_tick;
        if (elapsed - expected).abs() > self.allowed_ns(steering, &bracket, elapsed) as f64 {
            self.disagree(steering, &look.line, bracket.os_ns);
            return;
        }
        self.add(steering, bracket);
        let is_permitted =
            bracket.os_ns.wrapping_sub(steering.asked_ns) <= ASK_EVERY_NS || self.ask(steering, bracket.os_ns);
        if is_permitted {
            self.begin_line(steering, &bracket, look.line.end_value());
        }
    }

    /// Publishes a line of one segment from the bracket on, at or above `least`; not while that is far ahead of the OS.
    fn begin_line(&self, steering: &mut Steering, bracket: &Bracket, least: u64) -> bool {
        let rate = steering.ns_per_tick;
        let since_middle = bracket.after.wrapping_sub(bracket.middle()) as f64 * rate;
        let os_ns = bracket.os_ns.saturating_add((since_middle + steering.os_tick_ns as f64 / 2.0) as u64);
        let value = os_ns.max(least).max(self.shared.page.floor());
        let lead = (value - os_ns) as f64;
        if lead > LEAD_NS {
            return false;
        }
        let slope = self.slope(bracket.after, value, bracket, rate, steering.os_tick_ns);
        steering.last_error_ns = lead as u64;
        let width_ns = bracket.width() as f64 * rate;
        let error = (lead + width_ns / 2.0) as u64 + steering.os_tick_ns;
        self.shared.page.largest_error_ns.fetch_max(error, Ordering::Relaxed);
        self.publish(&Line::single(bracket.after, value, slope, self.window_ticks(rate)));
        true
    }

    /// The slope of a segment from `(tick, value)` on that meets the OS clock at its end: the error is worked off, never
    /// jumped over. Between half and one and a half of the rate, so that it always rises.
    fn slope(&self, tick: u64, value: u64, bracket: &Bracket, rate: f64, os_tick_ns: u64) -> f64 {
        let ticks = self.window_ticks(rate);
        let end = tick.wrapping_add(ticks).wrapping_sub(bracket.middle()) as f64;
        let os_at_end = end * rate + os_tick_ns as f64 / 2.0;
        let rise = os_at_end - value.wrapping_sub(bracket.os_ns) as i64 as f64;
        (rise / ticks as f64).clamp(0.5 * rate, 1.5 * rate)
    }

    /// A bracket that was not interrupted.
    fn bracket(&self, steering: &mut Steering) -> Option<Bracket> {
        let narrowest = steering.calibration.narrowest();
        let (tries, enough) =
            if steering.calibration.has_started() { (TRIES, narrowest + narrowest / 8) } else { (FIRST_TRIES, 0) };
        let bracket = Bracket::narrowest(&self.counter, &self.shared.os, tries, enough).ok()?;
        if bracket.width() <= narrowest.saturating_mul(TOO_WIDE) {
            steering.wide = 0;
            return Some(bracket);
        }
        steering.wide += 1;
        if steering.wide == WIDE_IN_A_ROW {
            // The OS clock has become slower: has the kernel turned away from the counter?
            steering.wide = 0;
            steering.calibration.accept_width(bracket.width());
            self.ask(steering, bracket.os_ns);
        }
        None
    }

    /// How far the two clocks may part within `elapsed` ns without contradicting each other, in ns.
    fn allowed_ns(&self, steering: &Steering, bracket: &Bracket, elapsed: f64) -> u64 {
        let width_ns = bracket.width() as f64 * steering.ns_per_tick;
        let slewed_ns = (elapsed.max(0.0) + self.window_ns() as f64) * SLEW_SHARE;
        (2.0 * width_ns + slewed_ns) as u64 + 2 * steering.os_tick_ns
    }

    /// The clocks contradict each other: whatever was known of the rate is no longer known, and the generation ends.
    fn disagree(&self, steering: &mut Steering, line: &Line, os_ns: u64) {
        // Before it began is soon, too: the OS clock went back, or is read through the same counter and differs between CPUs.
        let ended_soon = os_ns.saturating_sub(steering.began_ns) < SOON_NS;
        let strikes = if ended_soon { steering.strikes + 1 } else { 1 };
        *steering = Steering { strikes, ..Steering::ZERO };
        // First of all: to ask the kernel takes microseconds, in which others would be served by what is known to be wrong.
        self.withdraw(line);
        self.next_generation();
        if strikes >= STRIKES {
            self.demote(line, Demotion::Unsteady);
        } else {
            self.ask(steering, os_ns);
        }
    }

    /// Asks system and hardware about the counter again. `false`: it may no longer be used, and was given up.
    fn ask(&self, steering: &mut Steering, os_ns: u64) -> bool {
        steering.asked_ns = os_ns;
        let refused = self.refusal();
        if let Some(reason) = refused {
            let look = self.look_at_line();
            self.next_generation();
            self.demote(&look, reason);
        }
        refused.is_none()
    }

    /// Gives the counter up.
    pub(super) fn demote(&self, line: &Line, reason: Demotion) {
        self.shared.page.demotion.store(reason as u32, Ordering::Relaxed);
        self.withdraw(line);
        self.shared.page.set_mode(Mode::Demoted);
    }

    /// From here on no tick is covered. Readings by the line may have been as late as its end, so nothing may be earlier
    /// than that any more: the clock may stand still for as long as the line would have lasted.
    fn withdraw(&self, line: &Line) {
        self.shared.page.raise_floor(line.end_value());
        self.publish(&Line::default());
    }

    fn publish(&self, line: &Line) {
        self.shared.os.preemption_point();
        self.shared.page.publish(line);
    }

    /// The window in ticks.
    fn window_ticks(&self, rate: f64) -> u64 {
        ((self.window_ns() as f64 / rate) as u64).max(2)
    }

    /// Compares the line with a fresh bracket, for whoever asks: what contradicts it is found now, and not when the line is
    /// renewed. (A counter that stands still would never have it renewed.) The OS clock's tick in ns, as the calibration
    /// knows it; `None` where there is no line.
    pub(super) fn verify(&self) -> Option<u64> {
        self.with_steering(|steering| {
            // Otherwise the counter may be one that must not be read.
            if self.shared.page.mode() != Mode::Disciplined {
                return None;
            }
            let look = self.look();
            look.line.at(look.tick)?;
            self.anchor(steering, &look);
            Some(steering.os_tick_ns).filter(|_| self.shared.page.has_line())
        })
    }

    /// The mean rate that the calibration knows.
    pub(super) fn mean_rate(&self) -> Option<MeanRate> {
        self.with_steering(|steering| steering.calibration.mean())
    }

    /// Takes the counter back after it was given up: the calibration begins anew.
    pub(super) fn begin_anew(&self) {
        self.with_steering(|steering| {
            *steering = Steering::ZERO;
            self.next_generation();
            self.withdraw(&Line::default());
            self.shared.page.set_mode(Mode::Disciplined);
            Some(())
        });
    }

    /// Gives the counter up for a reason that is not found here.
    pub(super) fn abandon(&self) {
        self.with_steering(|steering| {
            *steering = Steering::ZERO;
            self.next_generation();
            self.demote(&self.look_at_line(), Demotion::OutOfOrder);
            Some(())
        });
    }

    /// Waits for the lock: for questions, never for readings.
    fn with_steering<T>(&self, work: impl Fn(&mut Steering) -> Option<T>) -> Option<T> {
        // The holder is done within microseconds, or is not running: then one turn of a scheduler will do.
        for _ in 0..1000 {
            if let Some(mut steering) = self.shared.steering.try_lock() {
                return work(&mut steering);
            }
            std::thread::yield_now();
        }
        None
    }
}

impl Steering {
    /// The state before the first use.
    pub(super) const ZERO: Self = Self {
        calibration: Calibration::ZERO,
        began_ns: 0,
        asked_ns: 0,
        os_tick_ns: 0,
        ns_per_tick: 0.0,
        strikes: 0,
        wide: 0,
        last_error_ns: 0,
    };
}

/// |ours − OS| at worst, in ns, where the line's segments meet. No bracket is taken there, but the line's slope changes: the
/// error may be larger than at the brackets around it. The OS clock's time there is interpolated between these. `None` where
/// they do not enclose the joint.
fn error_at_joint(line: &Line, earlier: &Bracket, later: &Bracket, os_tick_ns: u64) -> Option<u64> {
    let (tick, value) = line.joint()?;
    let elapsed = later.middle().wrapping_sub(earlier.middle());
    let before = tick.wrapping_sub(earlier.middle());
    if before >= elapsed {
        return None;
    }
    let os_ns = later.os_ns_since(earlier);
    let since_earlier_ns = os_ns * (before as f64 / elapsed as f64);
    let joint_os_ns = earlier.os_ns.wrapping_add(since_earlier_ns.max(0.0) as u64);
    // The moments of both brackets are known to half of their widths.
    let width_ns = (earlier.width().max(later.width()) as f64 / elapsed as f64 * os_ns.max(0.0)) as u64;
    Some(error_ns(value, value, joint_os_ns, os_tick_ns).saturating_add(width_ns / 2 + 1))
}

/// |ours − OS| at worst, in ns, when ours was `first` before and `last` after the OS clock showed `os_ns`.
pub(super) fn error_ns(first: u64, last: u64, os_ns: u64, os_tick_ns: u64) -> u64 {
    let ahead = last.wrapping_sub(os_ns) as i64;
    let behind = os_ns.wrapping_add(os_tick_ns).wrapping_sub(first) as i64;
    ahead.max(behind).max(0) as u64
}
