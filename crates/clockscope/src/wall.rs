//! The time of day at the cost of a timestamp.
//!
//! [`now`] is CLOCK_REALTIME, by the counter. Its offset from the timeline of [`crate::now`] is
//! compared at each renewal, once a millisecond, from the first call of this module on; programs
//! that never ask for the time of day pay nothing. Callers too rare to be served by the counter
//! read CLOCK_REALTIME itself.
//!
//! ```
//! use clockscope::wall;
//!
//! let stamp = wall::now();
//! println!("{stamp}");
//! # assert!(stamp.as_unix_ns() > 0);
//! ```
//!
//! Wall time can be set, and then goes back: order events by [`crate::Instant`]s, and convert those
//! with an [`Anchor`] when you export them.

use clockscope_core::atomic::AtomicI64;
use core::sync::atomic::Ordering;
use core::time::Duration;

use clockscope_core::os::keep_errno;

use crate::disciplined::OffsetClock;
use crate::evidence::ErrorBound;
use crate::native::CLOCK;
use crate::{Instant, WallTime};

/// Returns the time of day now: CLOCK_REALTIME.
///
/// - Unit: a [`WallTime`] counts nanoseconds since the Unix epoch, without leap seconds.
/// - Error: [`error_bound`]; a fraction of a microsecond against CLOCK_REALTIME, and whatever that
///   is off from true time: [`crate::bounded::now`] bounds it.
/// - Ordering: as [`crate::now`], while CLOCK_REALTIME is not set back: a reading taken after
///   another one, on any thread, in happens-before order, is not smaller, across suspends of 2.2 ms
///   and more, unless the process joins another time namespace. Where that clock is set back, so is
///   this one.
/// - Steps: a clock that is set, leaps, or went on while the machine slept shows within 2.2 ms of
///   use, at once after [`crate::recheck`], and at once where an [`Upkeep`](crate::Upkeep) runs
///   (Linux). [`generation`] moves. Slews show as in [`crate::now`].
/// - Cost: that of [`crate::now`] and a load. A program that calls less often than every fifteen
///   microseconds is served CLOCK_REALTIME at about its cost.
/// - Allocates nothing, takes no lock that it waits for, and may be called in a signal handler.
///   Where no wall clock answers, it goes on by the last offset that was known; without one it is
///   our own timeline, and shows 1970.
///
/// ```
/// let now = std::time::SystemTime::from(clockscope::wall::now());
/// assert!(now > std::time::SystemTime::UNIX_EPOCH);
/// ```
#[inline(always)]
#[must_use]
pub fn now() -> WallTime {
    WallTime::from_unix_ns(CLOCK.wall_ns())
}

/// Returns the time of day now by a bare read of the counter, which the processor may take earlier
/// or later than the program says: [`crate::now_unordered`].
///
/// - Unit, error, steps: as [`now`]. Ordering: none. Cost: that of [`crate::now_unordered`] and a
///   load.
///
/// ```
/// assert!(clockscope::wall::now_unordered().as_unix_ns() > 0);
/// ```
#[inline(always)]
#[must_use]
pub fn now_unordered() -> WallTime {
    WallTime::from_unix_ns(CLOCK.wall_ns_unordered())
}

/// The time of day that never goes back within a process, and its lead over [`now`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Monotone {
    /// The time.
    pub time: WallTime,
    /// Its lead over [`now`]: zero, unless CLOCK_REALTIME was set back.
    pub ahead: Duration,
}

/// The largest time that [`now_monotone`] returned. A forked child inherits it.
static MAX_RETURNED_NS: AtomicI64 = AtomicI64::new(i64::MIN);

/// Returns the time of day that is never smaller than any that this function has returned in this
/// process, or in its ancestors before they forked it.
///
/// If CLOCK_REALTIME is set back, the time stands still until that clock has caught up, and
/// [`Monotone::ahead`] is its lead: an hour after a set back by an hour. For the length of an
/// interval use [`crate::now`].
///
/// - Unit and error: as [`now`], and [`Monotone::ahead`].
/// - Ordering: total, on all threads.
/// - Cost: that of [`now`] and an atomic exchange, for which threads wait for each other.
///
/// ```
/// use clockscope::wall;
///
/// let (first, second) = (wall::now_monotone(), wall::now_monotone());
/// assert!(first.time <= second.time);
/// ```
#[inline]
#[must_use]
pub fn now_monotone() -> Monotone {
    let now = CLOCK.wall_ns();
    let before = MAX_RETURNED_NS.fetch_max(now, Ordering::AcqRel);
    let ahead = if before <= now { Duration::ZERO } else { ahead_of_now(before) };
    Monotone { time: WallTime::from_unix_ns(before.max(now)), ahead }
}

/// Lead of this time, which was read before, over the present one: another thread may only have
/// been faster.
#[cold]
fn ahead_of_now(before: i64) -> Duration {
    Duration::from_nanos(before.saturating_sub(CLOCK.wall_ns()).max(0) as u64)
}

/// Compares CLOCK_REALTIME now, and returns a number that changes whenever a comparison shows that
/// it was set, or leapt, or that the machine slept.
///
/// The number changes, too, when the process joins another time namespace, whose CLOCK_MONOTONIC is
/// another one. It stays at 0 where no line carries the wall clock: on systems other than Linux and
/// Android.
///
/// - Cost: three reads of the system's clocks, some 70 ns; up to twelve where those are
///   interrupted, and the publication of a line where the clock was set.
/// - May be called in a signal handler. It waits for a lock for some milliseconds at most.
///
/// ```
/// let before = clockscope::wall::generation();
/// // Stamps.
/// if clockscope::wall::generation() != before {
///     println!("the clock was set meanwhile");
/// }
/// ```
#[must_use]
pub fn generation() -> u64 {
    CLOCK.wall_generation()
}

/// Returns how far [`now`] is from CLOCK_REALTIME: by a fresh comparison, and at most since that
/// clock was set last. `None` where no clock answers.
///
/// The sum of [`crate::error_bound`] and of what is known of the offset. A clock that is set is an
/// error until it is noticed, for 2.2 ms of use at most, which no bound includes.
///
/// - Cost: some thirty reads of the system's clocks, about 1 µs.
///
/// ```
/// if let Some(bound) = clockscope::wall::error_bound() {
///     assert!(bound.now <= bound.largest);
/// }
/// ```
#[must_use]
pub fn error_bound() -> Option<ErrorBound> {
    keep_errno(|| CLOCK.layers.offset_error_bound(OffsetClock::Wall))
}

impl Instant {
    /// Converts the moment to the time of day, with the offset between both clocks of now. `None`
    /// where no wall clock answers, or beyond the range of [`WallTime`].
    ///
    /// Between two calls the clock may be set: use an [`Anchor`] for moments whose order is to be
    /// kept.
    ///
    /// - Error: [`error_bound`].
    /// - Cost: a reading; some 150 ns more where the counter is not used.
    ///
    /// ```
    /// use clockscope::Instant;
    ///
    /// let moment = Instant::now();
    /// if let Some(wall) = moment.to_wall() {
    ///     println!("{wall}");
    /// }
    /// ```
    #[must_use]
    pub fn to_wall(self) -> Option<WallTime> {
        keep_errno(|| CLOCK.layers.offset_clock_at(OffsetClock::Wall, self.as_signed_ns())).map(WallTime::from_unix_ns)
    }
}

/// A moment on both clocks: converts a batch of [`Instant`]s to the time of day, and keeps their
/// order.
///
/// For tracers that take an [`Instant`] for each event and convert when they export. The conversion
/// is an addition.
///
/// ```
/// use clockscope::{Anchor, now};
///
/// let stamps = [now(), now(), now()];
/// let anchor = Anchor::now().expect("a wall clock");
/// let exported = stamps.map(|stamp| anchor.to_wall(stamp));
/// assert!(exported.is_sorted());
/// assert_eq!(anchor.to_instant(exported[0]), Some(stamps[0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    offset_ns: i64,
    bound_ns: u64,
    generation: u64,
}

impl Anchor {
    /// Takes an anchor now. `None` where no wall clock answers.
    ///
    /// - Cost: nine reads of the system's clocks, some 200 ns; up to four times as many where those
    ///   are interrupted.
    #[must_use]
    pub fn now() -> Option<Self> {
        keep_errno(|| {
            // Before the offset: a set between both makes the anchor one that is not current.
            let generation = CLOCK.wall_generation();
            let (offset, bound_ns) = CLOCK.layers.offset_now(OffsetClock::Wall)?;
            Some(Self { offset_ns: offset.ns(), bound_ns, generation })
        })
    }

    /// Returns an anchor of two equal moments, within `bound`: from another process, or a record.
    /// `None` if more than 292 years are between them.
    #[must_use]
    pub fn new(instant: Instant, wall: WallTime, bound: Duration) -> Option<Self> {
        let offset_ns = i64::try_from(i128::from(wall.as_unix_ns()) - i128::from(instant.as_signed_ns())).ok()?;
        let bound_ns = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        Some(Self { offset_ns, bound_ns, generation: CLOCK.wall_generation() })
    }

    /// Converts a moment to the time of day: that of the anchor and the time in between. Saturates
    /// at the ends of [`WallTime`].
    #[inline(always)]
    #[must_use]
    pub const fn to_wall(&self, moment: Instant) -> WallTime {
        WallTime::from_unix_ns(self.offset_ns.saturating_add(moment.as_signed_ns()))
    }

    /// Converts the time of day to a moment; `None` beyond the range of [`Instant`].
    #[must_use]
    pub fn to_instant(&self, wall: WallTime) -> Option<Instant> {
        let ns = i128::from(wall.as_unix_ns()) - i128::from(self.offset_ns);
        i64::try_from(ns).ok().map(Instant::from_signed_ns)
    }

    /// Returns the largest distance of the anchor's two moments. Converted moments have their own
    /// error, too: [`crate::error_bound`].
    #[must_use]
    pub const fn error_bound(&self) -> Duration {
        Duration::from_nanos(self.bound_ns)
    }

    /// Returns true if both moments are still one: the distance of the clocks is unchanged, within
    /// the bounds of both comparisons, and no set was noticed since the anchor was taken. `false`
    /// if no wall clock answers.
    ///
    /// - Cost: that of [`Anchor::now`].
    #[must_use]
    pub fn is_current(&self) -> bool {
        generation() == self.generation
            && Self::now()
                .is_some_and(|now| now.offset_ns.abs_diff(self.offset_ns) <= self.bound_ns.saturating_add(now.bound_ns))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::time::SystemTime;

    /// Between two readings of CLOCK_REALTIME, within the bound; unless the clock is set meanwhile.
    #[test]
    fn it_is_the_systems_wall_clock() {
        for turn in 0..200_000 {
            let generation = if turn % 1000 == 0 { generation() } else { 0 };
            let (before, now, after) = (SystemTime::now(), now(), SystemTime::now());
            let [before, after] = [before, after].map(|moment| WallTime::try_from(moment).unwrap());
            let slack = Duration::from_micros(20);
            let is_inside = before.saturating_sub(slack) <= now && now <= after.saturating_add(slack);
            assert!(is_inside || generation != super::generation(), "{before} {now} {after}");
        }
    }

    #[test]
    fn a_batch_keeps_its_order_and_comes_back() {
        let stamps: Vec<Instant> = (0..1000).map(|_| crate::now()).collect();
        let anchor = Anchor::now().unwrap();
        let exported: Vec<WallTime> = stamps.iter().map(|stamp| anchor.to_wall(*stamp)).collect();
        assert!(exported.is_sorted());
        assert!(exported.iter().zip(&stamps).all(|(wall, stamp)| anchor.to_instant(*wall) == Some(*stamp)));
        assert!(anchor.error_bound() < Duration::from_millis(10));
        let again = Anchor::new(stamps[0], exported[0], Duration::ZERO).unwrap();
        assert_eq!(again.to_wall(stamps[999]), exported[999]);
        assert_eq!(anchor.to_wall(Instant::from_ns(u64::MAX)), WallTime::MAX);
        assert_eq!(anchor.to_instant(WallTime::MIN), None);
        // Unless the clock is set meanwhile.
        assert!(anchor.is_current() || generation() != anchor.generation);
    }

    #[test]
    fn an_anchor_of_other_clocks_is_not_current() {
        let now = crate::now();
        let wall = now.to_wall().unwrap();
        for (ahead, bound, is_of_now) in [(0, 10, true), (3600, 10, false), (3600, 3610, true), (0, 0, true)] {
            let moment = wall.checked_add(Duration::from_secs(ahead)).unwrap();
            let anchor = Anchor::new(now, moment, Duration::from_secs(bound)).unwrap();
            let was_set = generation() != anchor.generation;
            assert!(anchor.is_current() == is_of_now || was_set, "{ahead} s ahead within {bound} s");
        }
    }

    #[test]
    fn no_moment_is_converted_beyond_the_range() {
        assert_eq!(Instant::MAX.to_wall(), None);
        let in_240_years = crate::now() + Duration::from_secs(240 * 31_557_600);
        assert_eq!(in_240_years.to_wall(), None);
    }

    #[test]
    fn threads_never_see_it_go_back() {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut last = WallTime::MIN;
                    for _ in 0..200_000 {
                        let Monotone { time, .. } = now_monotone();
                        assert!(time >= last);
                        last = time;
                    }
                });
            }
        });
    }
}
