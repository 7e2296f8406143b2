//! The wall clock, by its offset from our timeline.
//!
//! Both clocks of the system are steered alike, so that the offset changes only where the wall
//! clock is set, where it leaps, and where the machine sleeps. It is compared at each renewal of
//! the line, and published with that. Where there is no line, the wall clock itself is served.
//!
//! Readings go back only where the wall clock was set back:
//!
//! - The published offset is the upper end of what a comparison allows, and it stays until a
//!   comparison contradicts it. So no reading of the wall clock itself is above a later one by the
//!   line: that one is no earlier on our timeline, and its offset is no smaller.
//! - A reading of the wall clock itself is not below an earlier one by a line: less the offset, it
//!   is compared with the floor, which is at the end of each line that has ended.

use core::sync::atomic::Ordering;

use clockscope_core::brackets::{Bracket, narrowest};

use super::holding::SteeringGuard;
use super::os_speed::TOO_WIDE;
use super::page::{WANTS_WALL, WallOffset};
use super::use_rate::Usage;
use super::version::Version;
use super::{Counter, Disciplined, OsClock};
use crate::Errno;

/// Comparisons for an offset that is not known, and for one that is.
const FIRST_TRIES: u32 = 8;
const TRIES: u32 = 4;
/// A comparison takes less than this, unless it is interrupted: some system calls on a slow
/// processor.
const INTERRUPTED_NS: u64 = 20_000;
/// Distance by which an offset may be above the true one where nothing else is known of that.
const UNKNOWN_WIDTH_NS: u64 = 1_000_000;

/// By how much the wall clock is ahead of our timeline, between two numbers of ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Distance {
    least: i64,
    most: i64,
    /// The wall clock, read between two readings of the OS clock.
    bracket: Bracket,
}

impl Distance {
    /// Either clock may be a tick further than it shows.
    fn of(bracket: Bracket, tick_ns: u64) -> Self {
        let (least, most) = bracket.ahead();
        let (least, most) = (least.saturating_sub_unsigned(tick_ns), most.saturating_add_unsigned(tick_ns));
        Self { least, most, bracket }
    }

    /// The wall clock's reading.
    fn wall_ns(&self) -> i64 {
        self.bracket.inner as i64
    }

    /// Both ticks are part of it: unlike a bracket's width, it is a bound of an offset.
    fn width_ns(&self) -> u64 {
        self.most.wrapping_sub(self.least) as u64
    }

    /// Returns true if an offset that is up to `width_ns` above the true one is compatible with
    /// this.
    fn agrees(&self, offset: WallOffset, width_ns: Option<u64>) -> bool {
        let ns = offset.ns();
        self.least <= ns && ns.saturating_sub_unsigned(width_ns.unwrap_or(UNKNOWN_WIDTH_NS)) <= self.most
    }

    /// By how much this offset is off at worst, in ns.
    fn error_ns(&self, offset: WallOffset) -> u64 {
        let ns = offset.ns();
        ns.saturating_sub(self.least).max(self.most.saturating_sub(ns)).max(0) as u64
    }
}

/// A comparison that is no wider is enough for one with an offset that is so wide.
fn enough_ns(width_ns: Option<u64>) -> u64 {
    width_ns.map_or(0, |ns| ns.saturating_add(ns / 4))
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// The wall clock's time in ns since the Unix epoch, ordered as [`Disciplined::now`] is while
    /// that clock is not set back. At the epoch and after where no wall clock answers.
    ///
    /// Error: [`Disciplined::wall_error_ns`]. Cost: that of `now`.
    #[inline(always)]
    pub fn wall_ns(&self) -> i64 {
        self.shared.page.read_wall(|| self.counter.ordered()).unwrap_or_else(|| self.wall_slow())
    }

    /// The same by a bare read of the counter: [`Disciplined::now_unordered`].
    #[inline(always)]
    pub fn wall_ns_unordered(&self) -> i64 {
        self.shared.page.read_wall(|| self.counter.unordered()).unwrap_or_else(|| self.wall_slow())
    }

    /// Serves the wall clock where the fast path cannot.
    #[cold]
    #[inline(never)]
    fn wall_slow(&self) -> i64 {
        let page = &self.shared.page;
        page.want(WANTS_WALL);
        let version = page.version();
        if version.has_line() {
            return self.wall_by_line();
        }
        if version.is_new() {
            // Asks what the first readings ask: reading any clock may be fatal.
            self.now();
        }
        match self.shared.os.wall_ns() {
            Ok(wall_ns) => self.serve_wall(version, wall_ns),
            Err(_) => self.wall_otherwise(),
        }
    }

    /// Serves a reading of the wall clock that was taken after `version` was loaded. If no line
    /// could begin meanwhile, none that begins later is below it.
    #[inline(always)]
    fn serve_wall(&self, version: Version, wall_ns: i64) -> i64 {
        let page = &self.shared.page;
        let is_quiet = page.version_after(wall_ns as u64).is_quietly(version);
        if !is_quiet || self.is_wall_behind(wall_ns) {
            return self.wall_again();
        }
        if version.is_tried() && Usage::is_sample(wall_ns as u64) {
            self.sample();
        }
        wall_ns
    }

    /// Returns true if readings by a line that has ended may have been later.
    #[inline(always)]
    fn is_wall_behind(&self, wall_ns: i64) -> bool {
        let (known, floor) = (self.shared.page.wall_known(), self.shared.page.floor());
        known.is_known() && wall_ns < known.wall_ns(floor)
    }

    /// Counts a reading as one of the OS clock, so that a line begins for who reads often.
    #[cold]
    #[inline(never)]
    pub(super) fn sample(&self) {
        if let Ok(os_ns) = self.os_ns() {
            self.serve_sample(os_ns);
        }
    }

    /// By the line, which is renewed if it is nearly spent.
    #[cold]
    fn wall_by_line(&self) -> i64 {
        self.advance();
        let snapshot = self.snapshot();
        match snapshot.line.at(snapshot.tick) {
            Some(ns) if snapshot.wall.is_known() => snapshot.wall.wall_ns(ns.max(snapshot.floor)),
            _ => self.wall_again(),
        }
    }

    /// While a line begins, or is served without an offset, or has ended ahead of the OS clock.
    #[cold]
    #[inline(never)]
    fn wall_again(&self) -> i64 {
        let page = &self.shared.page;
        // No smaller than any reading by a line that came before.
        let ns = self.now().as_ns();
        // Before the comparison: one from before a set must not contradict the offset from after
        // it.
        let (known, width_ns) = page.wall();
        let Ok(seen) = self.distance() else { return self.wall_otherwise() };
        // What is served by a line after this is no smaller.
        page.raise_floor(seen.bracket.after);
        if !known.is_known() {
            return seen.wall_ns();
        }
        if !seen.agrees(known, width_ns) {
            self.forget_wall(known);
            return seen.wall_ns();
        }
        seen.wall_ns().max(known.wall_ns(ns))
    }

    /// No wall clock answers: the last offset that was known, or our own timeline.
    #[cold]
    fn wall_otherwise(&self) -> i64 {
        let (known, ns) = (self.shared.page.wall_known(), self.now().as_ns());
        if known.is_known() { known.wall_ns(ns) } else { ns as i64 }
    }

    /// One comparison of the wall clock with the timeline.
    fn distance(&self) -> Result<Distance, Errno> {
        let before = self.os_ns()?;
        let inner = self.shared.os.wall_ns()? as u64;
        let bracket = Bracket { before, inner, after: self.os_ns()? };
        Ok(Distance::of(bracket, self.trust.os_tick_ns()))
    }

    /// The narrowest of several comparisons, done early with one that is no wider than `enough_ns`.
    fn narrowest_distance(&self, tries: u32, enough_ns: u64) -> Option<Distance> {
        narrowest(|| self.distance(), Distance::width_ns, tries, enough_ns).ok()
    }

    /// The offset to publish with the next line: the one that is known, as long as nothing
    /// contradicts it. It is not replaced by a smaller one that is better known: readings would go
    /// back. Unknown where nobody asked for the wall clock, or all comparisons were interrupted.
    pub(super) fn learn_wall(&self, guard: &SteeringGuard<'_>) -> WallOffset {
        let page = &self.shared.page;
        if !page.wants(WANTS_WALL) || !self.shared.os.is_wall_steered_alike() {
            return WallOffset::UNKNOWN;
        }
        let (known, width_ns) = page.wall();
        if known.is_known() {
            match self.narrowest_distance(TRIES, enough_ns(width_ns)) {
                None => return WallOffset::UNKNOWN,
                Some(seen) if seen.agrees(known, width_ns) => {
                    if width_ns.is_none() {
                        page.keep_wall_width(known, known.ns().abs_diff(seen.least));
                    }
                    page.largest_wall_error_ns.fetch_max(seen.error_ns(known), Ordering::Relaxed);
                    return known;
                }
                Some(_) => self.forget_wall(known),
            }
        }
        // Two reads of the OS clock lie in a bracket, and one and a half in a comparison.
        let usual_ns = (2 * guard.rate.calibration().narrowest()) as f64 * guard.rate.ns_per_tick();
        self.learn_offset((usual_ns as u64).saturating_mul(TOO_WIDE)).unwrap_or(WallOffset::UNKNOWN)
    }

    /// Learns the offset where none is known. `None` if another thread has, or if all comparisons
    /// were interrupted: wider than `limit_ns` and the tick.
    fn learn_offset(&self, limit_ns: u64) -> Option<WallOffset> {
        let page = &self.shared.page;
        let tick_ns = self.trust.os_tick_ns();
        let seen = self.narrowest_distance(FIRST_TRIES, 0)?;
        if seen.width_ns() > limit_ns.saturating_add(4 * tick_ns) {
            return None;
        }
        let offset = WallOffset::of(seen.most);
        let is_learned = page.replace_wall(WallOffset::UNKNOWN, offset, seen.width_ns());
        page.largest_wall_error_ns.fetch_max(seen.error_ns(offset), Ordering::Relaxed);
        is_learned.then_some(offset)
    }

    /// The wall clock was set, or leapt, or the machine slept: says so, once.
    fn forget_wall(&self, known: WallOffset) {
        if self.shared.page.replace_wall(known, WallOffset::UNKNOWN, 0) {
            self.shared.page.largest_wall_error_ns.store(0, Ordering::Relaxed);
            self.wall_generation.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Compares the wall clock with the timeline now. Where it was set, the line is published with
    /// its new offset, so that all readings after this show it.
    pub fn check_wall(&self) {
        self.prepare();
        let page = &self.shared.page;
        page.want(WANTS_WALL);
        let (known, width_ns) = page.wall();
        let Some(seen) = self.narrowest_distance(TRIES, enough_ns(width_ns)) else { return };
        if known.is_known() && seen.agrees(known, width_ns) {
            return;
        }
        let is_published = self.with_steering(|guard| self.publish_wall(guard)).is_some();
        if is_published || !self.shared.os.is_wall_steered_alike() {
            return;
        }
        // No line: what is known is compared with, and served by no reading.
        if known.is_known() {
            self.forget_wall(known);
        }
        let _ = (0..TRIES).find(|_| self.learn_offset(INTERRUPTED_NS).is_some() || page.wall_known().is_known());
    }

    /// The system says that the wall clock was set: as [`Disciplined::check_wall`], where anybody
    /// has asked for wall time.
    #[cfg(not(clockscope_models))]
    pub(crate) fn wall_was_set(&self) {
        if self.shared.page.wants(WANTS_WALL) {
            self.check_wall();
        }
    }

    /// Publishes the line that there is with the offset of now. `None` if there is no line.
    fn publish_wall(&self, guard: &mut SteeringGuard<'_>) -> Option<()> {
        let snapshot = self.snapshot();
        snapshot.line.at(snapshot.tick)?;
        let wall = self.learn_wall(guard);
        guard.civil.set_wall(wall);
        self.publish(guard, &snapshot.line).then_some(())
    }

    /// Moves when the wall clock was found to have been set, to have leapt, or to have gone on
    /// while the machine slept. Compares it now.
    pub fn wall_generation(&self) -> u64 {
        self.check_wall();
        self.wall_generation.load(Ordering::Relaxed)
    }

    /// By how much [`Disciplined::wall_ns`] is off from the wall clock beyond what
    /// [`Disciplined::error_bound`] says, in ns: by a fresh comparison, and at most since the wall
    /// clock was set. `None` where it does not answer. Looks at the wall clock first:
    /// [`Disciplined::check_wall`].
    pub fn wall_error_ns(&self) -> Option<(u64, u64)> {
        self.check_wall();
        let page = &self.shared.page;
        // Before the comparison, as in `wall_again`.
        let served = self.snapshot().wall;
        let (known, width_ns) = page.wall();
        let seen = self.narrowest_distance(TRIES, enough_ns(width_ns))?;
        let now = if served.is_known() { seen.error_ns(served) } else { 0 };
        if page.wall_known() == known {
            page.largest_wall_error_ns.fetch_max(now, Ordering::Relaxed);
        }
        Some((now, page.largest_wall_error_ns.load(Ordering::Relaxed).max(now)))
    }

    /// The wall clock's time at a moment of our timeline, with the offset of now: that of the line,
    /// or of a fresh comparison. `None` where no wall clock answers, or out of range.
    pub fn wall_at(&self, ns: i64) -> Option<i64> {
        let snapshot = self.snapshot();
        let offset = if snapshot.wall.is_known() && snapshot.line.at(snapshot.tick).is_some() {
            snapshot.wall
        } else {
            self.offset_now()?.0
        };
        offset.ns().checked_add(ns)
    }

    /// The offset of now and by how much it is off at most, in ns, by the narrowest of some
    /// comparisons; the offset that is known where that agrees.
    pub(crate) fn offset_now(&self) -> Option<(WallOffset, u64)> {
        self.check_wall();
        let page = &self.shared.page;
        let (known, width_ns) = page.wall();
        let seen = self.narrowest_distance(TRIES, enough_ns(width_ns))?;
        let offset = if known.is_known() && seen.agrees(known, width_ns) { known } else { WallOffset::of(seen.most) };
        Some((offset, seen.error_ns(offset)))
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests;
