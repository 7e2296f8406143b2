//! Stamps: a bare count now, the exact time later.
//!
//! A [`Stamp`] is what the processor's counter showed: eight bytes, taken by one instruction. It
//! becomes a time when a program asks, from a history of comparisons of the counter with
//! CLOCK_MONOTONIC that the process keeps: what loggers, tracers and profilers need, who take
//! millions of stamps and look at few of them, or at all of them at leisure.
//!
//! ```
//! use clockscope::stamps;
//!
//! let stamps = stamps::counter().unwrap_or_else(|_| stamps::os());
//!
//! let begun = stamps.now_unordered();
//! // Work.
//! let done = stamps.now_unordered();
//! let (begun, done) = (stamps.instant(begun)?, stamps.instant(done)?);
//! println!("{:?}, from {begun:?} on", done - begun);
//! # Ok::<(), stamps::StampError>(())
//! ```
//!
//! If the counter is not fit, [`counter`] returns the reason, and [`os()`] takes stamps of the
//! system's clock. Both return the same type; [`Stamps::clock`] shows which clock it reads.
//!
//! # The history
//!
//! It begins with [`counter`], or [`os()`], and goes on with each renewal: by [`crate::Upkeep`],
//! once a period; by [`renew`], from any thread; and by the conversion of a stamp that is later
//! than the last renewal. Between two renewals the counter goes straight. How far CLOCK_MONOTONIC
//! may be from that is [`Stamps::error_bound`]: some 0.1 µs where its rate stays the same, and more
//! where it changed. The table in the project's guide says how often to renew for which bound
//! ([Stamps](https://github.com/clockscope/clockscope/blob/HEAD/docs/reference/stamps.md)).
//!
//! Conversions are permanent: an earlier stamp never becomes a later time, whenever and by
//! whichever thread each is converted. The history takes a megabyte, enough for a quiet day. When
//! it is full, the oldest parts that converted no stamp are joined, and their bounds grow. If there
//! are none, the oldest are dropped.
//!
//! A stamp is a number that does not show its origin. One of another machine or boot becomes a
//! wrong time, if the history covers that count. So a file of stamps begins with a [`Header`], by
//! which `clockscope stamps` or [`Header::convert`] turns them into times.
//!
//! # Where the counter is disabled later
//!
//! A stamp of the counter is read without a question. If the process is forbidden to read it
//! later (`prctl(PR_SET_TSC)`), the next stamp ends the process, as any read of the vDSO's clocks
//! does. [`crate::survive_disabled_counter`] lets it survive that.

mod boot;
mod by_piece;
mod errors;
mod header;
mod stamp;

use core::time::Duration;

use clockscope_core::{counter as arch, os, pause};

use crate::disciplined::{BoundsRequest, Unobserved};
use crate::evidence::Demotion;
use crate::history::{Excerpt, History, Piece, Uncovered, Unrenewed};
use crate::native::CLOCK;
use crate::process::process_mark;
use crate::{Instant, Interval, WallTime};
use by_piece::{bounded_by, instant_by, wall_by};
pub use errors::{Refused, StampError};
pub use header::{Converted, Header, HeaderError};
pub use stamp::{Stamp, StampClock};

/// Time between the first three comparisons.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);

/// Pieces of a history: a megabyte.
const PIECES: usize = 16_000;

/// The histories of the counter and of the OS clock, whose count is its time.
static COUNTER: History<PIECES> = History::new();
static OS: History<PIECES> = History::new();

/// A source of stamps, and their conversion: [`counter`] or [`os()`] returns it.
///
/// One of the counter is proof that this process was permitted to read it, and that it was fit,
/// when [`counter`] returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    clock: StampClock,
}

impl Stamps {
    const COUNTER: Self = Self { clock: StampClock::Counter };
    const OS: Self = Self { clock: StampClock::Os };

    /// Returns the clock that the stamps are taken of.
    #[inline(always)]
    #[must_use]
    pub const fn clock(self) -> StampClock {
        self.clock
    }

    /// Takes a stamp that is ordered by nothing: the processor may take it earlier or later than
    /// the program says, by as much as it has instructions in flight.
    ///
    /// - Cost: the counter's instruction and a predicted branch. For stamps of the system's clock,
    ///   that of the clock, as in [`Stamps::now`].
    #[inline(always)]
    #[must_use]
    pub fn now_unordered(self) -> Stamp {
        match self.clock {
            StampClock::Counter => Stamp(arch::unordered()),
            StampClock::Os => os_stamp(),
        }
    }

    /// Takes a stamp after all earlier loads: of two in happens-before order, on any threads, the
    /// later is not before the other.
    ///
    /// - Ordering and cost: [`ticks::now`](crate::ticks::now), and a predicted branch.
    /// - Stamps of the system's clock: its reading. Zero if no clock answers.
    #[inline(always)]
    #[must_use]
    pub fn now(self) -> Stamp {
        match self.clock {
            StampClock::Counter => Stamp(arch::after()),
            StampClock::Os => os_stamp(),
        }
    }

    /// Returns the moment of a stamp, on the timeline of CLOCK_MONOTONIC.
    ///
    /// - Error: [`Stamps::error_bound`].
    /// - Ordering: an earlier stamp is never a later moment, whenever each is converted. Moments of
    ///   [`crate::now`] are of another function: beside them, they are as exact as both bounds.
    /// - Cost: a search in the history, some 20 ns; where the stamp is later than the last renewal,
    ///   a renewal, some microseconds, without a system call where the vDSO answers.
    /// - May be called in a signal handler.
    ///
    /// # Errors
    /// The history does not have it.
    pub fn instant(self, stamp: Stamp) -> Result<Instant, StampError> {
        self.instant_with_bound(stamp).map(|(instant, _)| instant)
    }

    /// Returns the largest distance of [`Stamps::instant`] from CLOCK_MONOTONIC at that moment, if
    /// CLOCK_MONOTONIC changes its rate at most once in any two periods of renewal. (Periods that
    /// are shorter than a quarter of a millisecond, or than half of the one before, count as one.)
    /// The next renewals may show that it is smaller, or larger.
    ///
    /// # Errors
    /// The history does not have it.
    pub fn error_bound(self, stamp: Stamp) -> Result<Duration, StampError> {
        self.instant_with_bound(stamp).map(|(_, bound)| bound)
    }

    /// Returns moment and error bound of a stamp, by one state of the history.
    ///
    /// # Errors
    /// The history does not have it.
    pub fn instant_with_bound(self, stamp: Stamp) -> Result<(Instant, Duration), StampError> {
        if self.clock == StampClock::Os {
            return os_instant(stamp).map(|instant| (instant, Duration::ZERO));
        }
        let piece = self.piece(stamp, BoundsRequest::Unasked)?;
        Ok((instant_by(&piece, stamp)?, Duration::from_nanos(piece.error_ns())))
    }

    /// Returns the wall clock's time at a stamp: [`Stamps::instant`] and CLOCK_REALTIME's lead at
    /// that moment.
    ///
    /// - Error: [`Stamps::error_bound`], and that of the offset, which is no more than a comparison
    ///   of both clocks is wide: a fraction of a microsecond.
    /// - Ordering: on Linux, that of [`Stamps::instant`] while the wall clock is not set. Other
    ///   systems may steer the two clocks differently: there, offsets of two times differ by their
    ///   errors.
    ///
    /// # Errors
    /// The history does not have it, or the wall clock was set between the renewals around it.
    pub fn wall(self, stamp: Stamp) -> Result<WallTime, StampError> {
        wall_by(&self.piece(stamp, BoundsRequest::Unasked)?, stamp)
    }

    /// Returns the interval in which the true time was at a stamp, as [`crate::bounded::now`] would
    /// have returned it, and wider by what may have happened between two renewals: where they are a
    /// second apart, by 0.5 ms at each end, and by as much again where others nearby are.
    ///
    /// - System calls: as [`crate::bounded::now`], where the stamp is later than the last renewal.
    ///   Conversions of other kinds, which renew as well, carry on what was stated before: a bound
    ///   from then on grows by 0.5 ms a second until [`renew`] or this asks again. There is none
    ///   after a clock was set or a suspend, around midnight of UTC, and without
    ///   CLOCK_MONOTONIC_RAW.
    ///
    /// # Errors
    /// The history does not have it.
    pub fn bounded(self, stamp: Stamp) -> Result<Interval, StampError> {
        bounded_by(&self.piece(stamp, BoundsRequest::Asked)?, stamp)
    }

    /// Returns the history of stamps from this one to now, for a file of stamps: another program
    /// converts them by it as this process does. Renews first; where that fails, the history ends
    /// with the last renewal, and later stamps are [`StampError::AfterHeader`] to it.
    ///
    /// All parts that the header has count as converted from: they are not joined any more.
    ///
    /// - Cost: two renewals, and a copy of the history: up to some 1.5 MB. Allocates.
    /// - Not async-signal-safe.
    ///
    /// # Errors
    /// No history has begun, it is being written, or the counter went back from CPU to CPU.
    pub fn header(self, from: Stamp) -> Result<Header, StampError> {
        self.in_order()?;
        Ok(Header::new(self.clock, self.excerpt(from)?))
    }

    /// Converts many stamps, each as [`Stamps::instant`] does: some 2.5 ns each where neighbors are
    /// close in time.
    pub fn instants(
        self,
        stamps: impl IntoIterator<Item = Stamp>,
    ) -> impl Iterator<Item = Result<Instant, StampError>> {
        let mut by_history = self.batch(BoundsRequest::Unasked, instant_by);
        stamps.into_iter().map(move |stamp| match self.clock {
            StampClock::Counter => by_history(stamp),
            StampClock::Os => os_instant(stamp),
        })
    }

    /// Converts many stamps, each as [`Stamps::wall`] does.
    pub fn walls(self, stamps: impl IntoIterator<Item = Stamp>) -> impl Iterator<Item = Result<WallTime, StampError>> {
        stamps.into_iter().map(self.batch(BoundsRequest::Unasked, wall_by))
    }

    /// Converts many stamps, each as [`Stamps::bounded`] does.
    pub fn boundeds(
        self,
        stamps: impl IntoIterator<Item = Stamp>,
    ) -> impl Iterator<Item = Result<Interval, StampError>> {
        stamps.into_iter().map(self.batch(BoundsRequest::Asked, bounded_by))
    }

    /// The conversion of many stamps, which searches a piece only if the last one does not have the
    /// next stamp.
    fn batch<T>(
        self,
        bounds: BoundsRequest,
        by: impl Fn(&Piece, Stamp) -> Result<T, StampError>,
    ) -> impl FnMut(Stamp) -> Result<T, StampError> {
        let mut last: Option<Piece> = None;
        move |stamp| {
            if let Some(piece) = &last
                && piece.is_of(stamp.0)
            {
                return by(piece, stamp);
            }
            by(last.insert(self.piece(stamp, bounds)?), stamp)
        }
    }

    fn history(self) -> &'static History<PIECES> {
        match self.clock {
            StampClock::Counter => &COUNTER,
            StampClock::Os => &OS,
        }
    }

    /// Compares the clocks for the history, and asks for the time of day or does not.
    fn renew(self, bounds: BoundsRequest) -> Result<(), Unrenewed> {
        let owner = process_mark();
        match self.clock {
            StampClock::Counter => COUNTER.renew_by(owner, |enough| CLOCK.layers.observe(enough, bounds)),
            StampClock::Os => OS.renew_by(owner, |_| CLOCK.layers.observe_os(bounds)),
        }
    }

    /// Fails if the counter went back from CPU to CPU: brackets on one CPU do not show that.
    fn in_order(self) -> Result<(), StampError> {
        match (self.clock, CLOCK.layers.barred()) {
            (StampClock::Counter, Some(reason @ Demotion::OutOfOrder)) => Err(StampError::GivenUp(reason)),
            _ => Ok(()),
        }
    }

    /// The part of the history that has this stamp, after a renewal if the stamp is later than the
    /// last one.
    fn piece(self, stamp: Stamp, bounds: BoundsRequest) -> Result<Piece, StampError> {
        self.in_order()?;
        let (history, owner) = (self.history(), process_mark());
        let found = history.find_by(stamp.0, owner);
        if found != Err(Uncovered::After) {
            return found.map_err(StampError::from);
        }
        // Twice, where the first finds that the clocks did not go on, and only begins.
        for _ in 0..2 {
            let renewed = os::keep_errno(|| self.renew(bounds));
            match (history.find_by(stamp.0, owner), renewed) {
                (Err(Uncovered::After), Err(reason)) => return Err(reason.into()),
                (Err(Uncovered::After), Ok(())) => {}
                (found, _) => return found.map_err(StampError::from),
            }
        }
        Err(StampError::Future)
    }

    /// The history from a stamp on, after two renewals: one that finds that the clocks did not go
    /// on only begins. Where they fail the history ends before them.
    fn excerpt(self, from: Stamp) -> Result<Excerpt, StampError> {
        let history = self.history();
        os::keep_errno(|| {
            if history.is_of(process_mark()) {
                let _ = self.renew(BoundsRequest::Unasked).and_then(|()| self.renew(BoundsRequest::Unasked));
            }
            Ok(history.excerpt(from.0)?)
        })
    }
}

/// Reads the system's clock; zero if none answers. Not inlined, so that a stamp of the counter is
/// short where it is taken.
#[cold]
#[inline(never)]
fn os_stamp() -> Stamp {
    // A child of the process that began the history may not have read a clock yet.
    CLOCK.prepare();
    Stamp(CLOCK.layers.os_ns_at_once().unwrap_or(0))
}

/// The moment of a stamp of the system's clock: the stamp is the time, but for one that no
/// [`Instant`] has.
#[inline(always)]
fn os_instant(stamp: Stamp) -> Result<Instant, StampError> {
    i64::try_from(stamp.0).map(Instant::from_signed_ns).map_err(|_| StampError::Future)
}

/// Begins the history and returns the source of stamps of the counter, or says why the counter is
/// not fit for that. Asks the kernel again.
///
/// Cost: more than two milliseconds at first, for three comparisons that far apart; later tens of
/// microseconds. Not async-signal-safe. Call it before the process confines itself:
/// later conversions make no system call where the vDSO answers. [`renew`] and [`Stamps::bounded`]
/// ask `adjtimex`, as [`crate::bounded::now`] does.
///
/// # Errors
/// It is not, for one of these reasons.
pub fn counter() -> Result<Stamps, Refused> {
    os::keep_errno(|| {
        if !arch::EXISTS {
            return Err(Refused::NoCounter);
        }
        crate::prepare();
        boot::learn();
        CLOCK.layers.recheck_use();
        if let Some(reason) = CLOCK.layers.barred() {
            return Err(Refused::NotUsed(reason));
        }
        if arch::is_invariant() == Some(false) {
            return Err(Refused::NotInvariant);
        }
        let is_new = !COUNTER.is_of(process_mark());
        let begun = Stamps::COUNTER.renew(BoundsRequest::Asked);
        if is_new && begun.is_ok() {
            // Or nothing would be known of the rate in the first period.
            for _ in 0..2 {
                pause(FIRST_INTERVAL);
                let _ = Stamps::COUNTER.renew(BoundsRequest::Asked);
            }
        }
        match begun {
            Ok(()) => Ok(Stamps::COUNTER),
            // Another thread renews it; so it has begun.
            Err(Unrenewed::Busy) if COUNTER.is_of(process_mark()) => Ok(Stamps::COUNTER),
            Err(Unrenewed::Unobserved(Unobserved::Barred(reason))) => Err(Refused::NotUsed(reason)),
            Err(_) => Err(Refused::NotCompared),
        }
    })
}

/// Returns the source of stamps of the system's clock, and begins their history, which
/// [`Stamps::wall`] and [`Stamps::bounded`] need.
///
/// Cost: tens of microseconds. Not async-signal-safe.
#[must_use]
pub fn os() -> Stamps {
    os::keep_errno(|| {
        crate::prepare();
        boot::learn();
        // Where no clock answers there are no stamps to convert either.
        let _ = Stamps::OS.renew(BoundsRequest::Asked);
    });
    Stamps::OS
}

/// Compares the clocks now, for each history that has begun: stamps up to here can be converted,
/// and the bounds of the last ones may become smaller. From any thread.
///
/// - Cost: some microseconds, and what [`crate::bounded::now`] asks.
/// - Its system calls are those of [`crate::bounded::now`].
///
/// # Errors
/// No history has begun, or one was not renewed; stamps that it has can be converted all the same.
pub fn renew() -> Result<(), StampError> {
    os::keep_errno(|| {
        let owner = process_mark();
        let begun = [Stamps::COUNTER, Stamps::OS].into_iter().filter(|stamps| stamps.history().is_of(owner));
        let renewed = begun.map(|stamps| stamps.renew(BoundsRequest::Asked)).reduce(Result::and);
        renewed.map_or(Err(StampError::NoHistory), |renewed| renewed.map_err(StampError::from))
    })
}
