//! Compares the wall clock and the boot clock with our timeline, and keeps their offsets.
//!
//! Owns the known offsets, and the number of changes of the wall clock. A known offset is the upper
//! end of what a comparison allows, and it stays until a comparison contradicts it. A line gets its
//! offsets here before it is published. It neither serves a clock nor publishes a line.

use core::sync::atomic::Ordering;

use clockscope_core::brackets::{Bracket, narrowest};

use super::layers::Offsets;
use super::lines::os_speed::MAX_WIDTH_RATIO;
use super::locking::SteeringGuard;
use super::page::{ClockOffset, OffsetClock};
use super::{Counter, OsClock};
use crate::Errno;

/// Comparisons for an offset that is not known.
const FIRST_TRIES: u32 = 8;
/// Comparisons for an offset that is known.
pub(super) const TRIES: u32 = 4;
/// Width of an offset of unknown width: its largest distance above the true offset.
const UNKNOWN_WIDTH_NS: u64 = 1_000_000;

/// A clock's lead over our timeline, between two numbers of ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Distance {
    pub(super) least: i64,
    pub(super) most: i64,
    /// The clock, read between two readings of the OS clock.
    pub(super) bracket: Bracket,
}

impl Distance {
    /// Makes it of a bracket. Either clock may be a tick further than it shows.
    pub(super) fn new(bracket: Bracket, tick_ns: u64) -> Self {
        let (least, most) = bracket.ahead();
        let (least, most) = (least.saturating_sub_unsigned(tick_ns), most.saturating_add_unsigned(tick_ns));
        Self { least, most, bracket }
    }

    /// The clock's reading.
    pub(super) fn clock_ns(&self) -> i64 {
        self.bracket.inner as i64
    }

    /// Its width, with both ticks: unlike a bracket's width, it is a bound of an offset.
    fn width_ns(&self) -> u64 {
        self.most.wrapping_sub(self.least) as u64
    }

    /// Returns true if an offset that is up to `width_ns` above the true one is compatible with
    /// this.
    pub(super) fn agrees(&self, offset: ClockOffset, width_ns: Option<u64>) -> bool {
        let ns = offset.ns();
        self.least <= ns && ns.saturating_sub_unsigned(width_ns.unwrap_or(UNKNOWN_WIDTH_NS)) <= self.most
    }

    /// Largest error of this offset, in ns.
    pub(super) fn error_ns(&self, offset: ClockOffset) -> u64 {
        let ns = offset.ns();
        ns.saturating_sub(self.least).max(self.most.saturating_sub(ns)).max(0) as u64
    }
}

/// Width of a comparison that is narrow enough for one with an offset of this width, in ns.
pub(super) fn enough_ns(width_ns: Option<u64>) -> u64 {
    width_ns.map_or(0, |ns| ns.saturating_add(ns / 4))
}

impl<C: Counter, S: OsClock> Offsets<C, S> {
    /// Reads the clock itself.
    #[inline(always)]
    pub(super) fn read_itself(&self, clock: OffsetClock) -> Result<i64, Errno> {
        match clock {
            OffsetClock::Wall => self.os.wall_ns(),
            OffsetClock::Boot => self.os.boot_ns(),
        }
    }

    /// Returns true if an offset carries the clock.
    pub(super) fn is_steered_alike(&self, clock: OffsetClock) -> bool {
        match clock {
            OffsetClock::Wall => self.os.is_wall_steered_alike(),
            OffsetClock::Boot => self.os.is_boot_steered_alike(),
        }
    }

    /// Returns true if readings by a line that has ended may have been later.
    #[inline(always)]
    pub(super) fn is_clock_behind(&self, clock: OffsetClock, clock_ns: i64) -> bool {
        let (known, floor) = (self.page.offset_words(clock).known(), self.page.floor());
        known.is_known() && clock_ns < known.clock_ns(floor)
    }

    /// One comparison of the clock with the timeline.
    pub(super) fn distance(&self, clock: OffsetClock) -> Result<Distance, Errno> {
        let before = self.os_ns_at_once()?;
        let inner = self.read_itself(clock)? as u64;
        let bracket = Bracket { before, inner, after: self.os_ns_at_once()? };
        Ok(Distance::new(bracket, self.trust.os_tick_ns()))
    }

    /// The narrowest of several comparisons; one that is no wider than `enough_ns` is the last.
    #[inline(never)]
    pub(super) fn narrowest_distance(&self, clock: OffsetClock, tries: u32, enough_ns: u64) -> Option<Distance> {
        narrowest(|| self.distance(clock), Distance::width_ns, tries, enough_ns).ok()
    }

    /// The offset to publish with the next line: the known one, until a comparison contradicts it.
    /// It is not replaced by a smaller one of less uncertainty: readings would go back. Unknown if
    /// the clock was not read yet, or all comparisons were interrupted.
    pub(super) fn offset_for_line(&self, clock: OffsetClock, guard: &SteeringGuard<'_>) -> ClockOffset {
        if !self.page.wants(clock) || !self.is_steered_alike(clock) {
            return ClockOffset::UNKNOWN;
        }
        let words = self.page.offset_words(clock);
        let (known, width_ns) = words.known_with_width();
        if known.is_known() {
            match self.narrowest_distance(clock, TRIES, enough_ns(width_ns)) {
                None => return ClockOffset::UNKNOWN,
                Some(seen) if seen.agrees(known, width_ns) => {
                    if width_ns.is_none() {
                        words.keep_width(known, known.ns().abs_diff(seen.least));
                    }
                    words.largest_error_ns.fetch_max(seen.error_ns(known), Ordering::Relaxed);
                    return known;
                }
                Some(_) => self.forget_offset(clock, known),
            }
        }
        // Two reads of the OS clock lie in a bracket, and one and a half in a comparison.
        let usual_ns = (2 * guard.rate.calibration().narrowest()) as f64 * guard.rate.ns_per_tick();
        self.learn_offset(clock, (usual_ns as u64).saturating_mul(MAX_WIDTH_RATIO)).unwrap_or(ClockOffset::UNKNOWN)
    }

    /// Learns the offset where none is known. `None` if another thread has, or if all comparisons
    /// were interrupted: wider than `limit_ns` and the tick.
    pub(super) fn learn_offset(&self, clock: OffsetClock, limit_ns: u64) -> Option<ClockOffset> {
        let words = self.page.offset_words(clock);
        let tick_ns = self.trust.os_tick_ns();
        let seen = self.narrowest_distance(clock, FIRST_TRIES, 0)?;
        if seen.width_ns() > limit_ns.saturating_add(4 * tick_ns) {
            return None;
        }
        let offset = ClockOffset::from_ns(seen.most);
        let is_learned = words.replace(ClockOffset::UNKNOWN, offset, seen.width_ns());
        words.largest_error_ns.fetch_max(seen.error_ns(offset), Ordering::Relaxed);
        if is_learned { Some(offset) } else { None }
    }

    /// The clock was set, or leapt, or the machine slept: forgets the known offset, once.
    pub(super) fn forget_offset(&self, clock: OffsetClock, known: ClockOffset) {
        let words = self.page.offset_words(clock);
        if words.replace(known, ClockOffset::UNKNOWN, 0) {
            words.largest_error_ns.store(0, Ordering::Relaxed);
            if clock == OffsetClock::Wall {
                self.wall_generation.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
