//! The wall clock and the boot clock, by their offsets from our timeline.
//!
//! The system steers them as it steers its monotonic clock, so that an offset changes only when the
//! wall clock is set, when it leaps, and when the machine sleeps. It is compared at each renewal of
//! the line, and published with that. Without a line, the clock itself is served.
//!
//! Readings go back only where the clock was set back:
//!
//! - The published offset is the upper end of what a comparison allows, and it stays until a
//!   comparison contradicts it. So no reading of the clock itself is above a later one by the line:
//!   that one is no earlier on our timeline, and its offset is no smaller.
//! - A reading of the clock itself is not below an earlier one by a line: less the offset, it is
//!   compared with the floor, which is at the end of each line that has ended.

use core::sync::atomic::Ordering;

use super::layers::OffsetClocks;
use super::locking::SteeringGuard;
use super::offsets::{Distance, TRIES, enough_ns};
use super::page::version::Version;
use super::page::{ClockOffset, OffsetClock};
use super::use_rate::Usage;
use super::{Counter, OsClock};

/// Longest uninterrupted comparison, in ns: some system calls on a slow processor.
const MAX_COMPARISON_NS: u64 = 20_000;

impl<C: Counter, S: OsClock> OffsetClocks<C, S> {
    /// Reads the clock, ordered, in ns.
    #[inline(always)]
    pub(super) fn offset_clock_ns(&self, clock: OffsetClock) -> i64 {
        let by_line = self.page.read_offset_clock(clock, || self.counter.ordered());
        by_line.unwrap_or_else(|| self.offset_clock_slow(clock))
    }

    /// Reads the clock by a bare read of the counter, in ns.
    #[inline(always)]
    pub(super) fn offset_clock_ns_unordered(&self, clock: OffsetClock) -> i64 {
        let by_line = self.page.read_offset_clock(clock, || self.counter.unordered());
        by_line.unwrap_or_else(|| self.offset_clock_slow(clock))
    }

    /// Serves the clock where the fast path cannot.
    #[cold]
    #[inline(never)]
    fn offset_clock_slow(&self, clock: OffsetClock) -> i64 {
        if !self.is_steered_alike(clock) {
            // Each reading comes here, also beside a line.
            let clock_ns = self.read_itself(clock).or_else(|_| {
                // Another way may be open.
                self.prepare();
                self.read_itself(clock)
            });
            return clock_ns.unwrap_or_else(|_| self.offset_clock_otherwise(clock));
        }
        self.page.want(clock);
        loop {
            if let Some(clock_ns) = self.try_offset_clock(clock) {
                return clock_ns;
            }
        }
    }

    /// One attempt to serve the clock; `None` if another thread has replaced the version meanwhile,
    /// or if another way may be open now.
    #[inline(always)]
    fn try_offset_clock(&self, clock: OffsetClock) -> Option<i64> {
        let version = self.page.version();
        if version.has_line() {
            return self.offset_clock_by_line(clock);
        }
        if version.is_new() {
            // A first reading.
            self.read();
        }
        match self.read_itself(clock) {
            Ok(clock_ns) => self.serve_itself(clock, version, clock_ns),
            Err(_) if version.is_new() => {
                self.prepare();
                None
            }
            Err(_) => Some(self.offset_clock_otherwise(clock)),
        }
    }

    /// Serves a reading of the clock that was taken after `version` was loaded. If no line could
    /// begin meanwhile, none that begins later is below the reading. `None` as for
    /// [`Self::offset_clock_again`].
    #[inline(always)]
    fn serve_itself(&self, clock: OffsetClock, version: Version, clock_ns: i64) -> Option<i64> {
        let page = &self.page;
        let is_quiet = page.version_after(clock_ns as u64).is_quietly(version);
        if !is_quiet || self.is_clock_behind(clock, clock_ns) {
            return self.offset_clock_again(clock);
        }
        if version.is_tried() && Usage::is_sample(clock_ns as u64) {
            self.sample();
        }
        Some(clock_ns)
    }

    /// Serves the clock by the line, which is renewed if it has nearly expired. `None` as for
    /// [`Self::offset_clock_again`].
    #[cold]
    fn offset_clock_by_line(&self, clock: OffsetClock) -> Option<i64> {
        self.advance();
        let snapshot = self.snapshot();
        let offset = snapshot.offset(clock);
        match snapshot.line.at(snapshot.tick) {
            Some(ns) if offset.is_known() => Some(offset.clock_ns(ns.max(snapshot.floor))),
            _ => self.offset_clock_again(clock),
        }
    }

    /// Serves the clock while a line begins, or has no offset, or has ended ahead of the OS clock.
    /// `None` if the version was replaced meanwhile.
    #[cold]
    #[inline(never)]
    fn offset_clock_again(&self, clock: OffsetClock) -> Option<i64> {
        let page = &self.page;
        // No smaller than any reading by a line that came before.
        let ns = self.read();
        let snapshot = self.snapshot();
        // Before the comparison: one from before a set must not contradict the offset from after
        // it.
        let (known, width_ns) = page.offset_words(clock).known_with_width();
        let Ok(distance) = self.distance(clock) else { return Some(self.offset_clock_otherwise(clock)) };
        // No later reading by a line is smaller.
        page.raise_floor(distance.bracket.after);
        if !known.is_known() {
            return Some(distance.clock_ns());
        }
        if distance.agrees(known, width_ns) {
            return Some(distance.clock_ns().max(known.clock_ns(ns)));
        }
        let offset = snapshot.offset(clock);
        if snapshot.version.has_line() && offset.is_known() {
            // The renewal of the line shows the change.
            return Some(offset.clock_ns(ns));
        }
        // A thread that compared the clocks before this change may be about to publish a line. It
        // must not, once this reading has shown the change: readings would go back.
        if !self.prevent_line(snapshot.version, distance.bracket.after) {
            return None;
        }
        self.forget_offset(clock, known);
        Some(distance.clock_ns())
    }

    /// Makes sure that no line is published that was compared before a clock was read, `at_ns` on
    /// our timeline, after this version was loaded. `false` if the version was replaced meanwhile.
    fn prevent_line(&self, mut version: Version, at_ns: u64) -> bool {
        if !version.is_announced() {
            return self.page.version_after(at_ns).is_quietly(version);
        }
        let mode = version.mode();
        if version.has_line() {
            return self.end_line_unlocked(&mut version, mode);
        }
        let quiet = version.without_line(mode);
        self.page.replace(&mut version, quiet)
    }

    /// Serves a clock that does not answer: by the last known offset, or our own timeline.
    #[cold]
    fn offset_clock_otherwise(&self, clock: OffsetClock) -> i64 {
        let (known, ns) = (self.page.offset_words(clock).known(), self.read());
        if known.is_known() { known.clock_ns(ns) } else { ns as i64 }
    }

    /// Compares the clock with the timeline now. Where its offset has changed, the line is
    /// published with the new one, so that all readings after this show it.
    pub(super) fn check_offset(&self, clock: OffsetClock) {
        self.prepare();
        let page = &self.page;
        page.want(clock);
        let (known, width_ns) = page.offset_words(clock).known_with_width();
        let Some(distance) = self.narrowest_distance(clock, TRIES, enough_ns(width_ns)) else { return };
        if known.is_known() && distance.agrees(known, width_ns) {
            return;
        }
        match self.wait_lock().map(|mut guard| self.publish_offset(clock, &mut guard)) {
            Some(true) => return,
            Some(false) => {}
            None => self.end_line_of_stopped_holder(clock, &distance),
        }
        if !self.is_steered_alike(clock) {
            return;
        }
        // The known offset is compared with, and no reading is served by it.
        if known.is_known() {
            self.forget_offset(clock, known);
        }
        for _ in 0..TRIES {
            if self.learn_offset(clock, MAX_COMPARISON_NS).is_some() || page.offset_words(clock).known().is_known() {
                return;
            }
        }
    }

    /// Another thread is stopped with the lock: ends the line that it has published, or is about
    /// to, unless that agrees with this distance. Until the end of the line, the time is held.
    #[cold]
    pub(super) fn end_line_of_stopped_holder(&self, clock: OffsetClock, distance: &Distance) {
        loop {
            let snapshot = self.snapshot();
            let (known, width_ns) = self.page.offset_words(clock).known_with_width();
            let offset = snapshot.offset(clock);
            // Without an offset readings compare the clocks themselves.
            let is_right = !offset.is_known() || offset == known && distance.agrees(known, width_ns);
            let is_harmless = if snapshot.version.has_line() { is_right } else { !snapshot.version.is_announced() };
            if is_harmless || self.prevent_line(snapshot.version, distance.bracket.after) {
                return;
            }
        }
    }

    /// Compares the wall clock and the boot clock, if they were read before.
    pub(crate) fn check_other_clocks(&self) {
        for clock in OffsetClock::ALL {
            if self.page.wants(clock) {
                self.check_offset(clock);
            }
        }
    }

    /// Publishes the current line again, with the clock's offset now. Returns `false` if there is
    /// no line.
    fn publish_offset(&self, clock: OffsetClock, guard: &mut SteeringGuard<'_>) -> bool {
        let snapshot = self.snapshot();
        if snapshot.line.at(snapshot.tick).is_none() {
            return false;
        }
        let offset = self.offset_for_line(clock, guard);
        match clock {
            OffsetClock::Wall => guard.beside.set_wall(offset),
            OffsetClock::Boot => guard.beside.take_boot(offset),
        }
        self.publish(guard, &snapshot.line)
    }

    /// Compares the wall clock, and returns the number of its changes.
    pub(super) fn wall_generation(&self) -> u64 {
        self.check_offset(OffsetClock::Wall);
        self.wall_generation.load(Ordering::Relaxed)
    }

    /// Returns the error of the clock by its published offset against the clock itself, in ns: by a
    /// fresh comparison, and the largest since its offset changed. `None` if it does not answer.
    pub(crate) fn offset_error_ns(&self, clock: OffsetClock) -> Option<(u64, u64)> {
        self.check_offset(clock);
        let words = self.page.offset_words(clock);
        // Before the comparison, as in `offset_clock_again`.
        let served = self.served_offset(clock);
        let (known, width_ns) = words.known_with_width();
        let distance = self.narrowest_distance(clock, TRIES, enough_ns(width_ns))?;
        let now = served.map_or(0, |served| distance.error_ns(served));
        if words.known() == known {
            words.largest_error_ns.fetch_max(now, Ordering::Relaxed);
        }
        Some((now, words.largest_error_ns.load(Ordering::Relaxed).max(now)))
    }

    /// The offset that the line is published with, if the line has not expired and has one.
    fn served_offset(&self, clock: OffsetClock) -> Option<ClockOffset> {
        let snapshot = self.snapshot();
        snapshot.line.at(snapshot.tick)?;
        let offset = snapshot.offset(clock);
        if offset.is_known() { Some(offset) } else { None }
    }

    /// A clock's time at a moment of our timeline, with the offset now: that of the line, or of a
    /// fresh comparison. `None` if the clock does not answer, or out of range.
    #[cfg(not(clockscope_models))]
    pub(crate) fn offset_clock_at(&self, clock: OffsetClock, ns: i64) -> Option<i64> {
        let offset = match self.served_offset(clock) {
            Some(offset) => offset,
            None => self.offset_now(clock)?.0,
        };
        offset.ns().checked_add(ns)
    }

    /// The offset now and its largest error, in ns, by the narrowest of some comparisons; the known
    /// offset if that agrees.
    pub(crate) fn offset_now(&self, clock: OffsetClock) -> Option<(ClockOffset, u64)> {
        self.check_offset(clock);
        let (known, width_ns) = self.page.offset_words(clock).known_with_width();
        let distance = self.narrowest_distance(clock, TRIES, enough_ns(width_ns))?;
        let is_known = known.is_known() && distance.agrees(known, width_ns);
        let offset = if is_known { known } else { ClockOffset::from_ns(distance.most) };
        Some((offset, distance.error_ns(offset)))
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests;
