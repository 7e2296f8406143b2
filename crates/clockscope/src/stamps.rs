//! Stamps: a bare count now, the exact time later.
//!
//! A [`Stamp`] is what the processor's counter showed: eight bytes, taken by one instruction. It
//! becomes a time when a program asks, from a history of comparisons of the counter with
//! CLOCK_MONOTONIC that the process keeps: what loggers, tracers and profilers need, who take
//! millions of stamps and look at few of them, or at all of them at leisure.
//!
//! ```
//! use clockscope::stamps::{self, Stamps};
//!
//! match stamps::counter() {
//!     Ok(stamps) => {
//!         let begun = stamps.now_unordered();
//!         // Work.
//!         let done = stamps.now_unordered();
//!         let (begun, done) = (stamps.instant(begun)?, stamps.instant(done)?);
//!         println!("{:?}, from {begun:?} on", done - begun);
//!     }
//!     Err(refused) => println!("{refused}: stamps::os() takes stamps of the system's clock"),
//! }
//! # Ok::<(), stamps::StampError>(())
//! ```
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
//! What was converted once stays: an earlier stamp never becomes a later time, whenever and by
//! whichever thread each is converted. The history takes a megabyte, enough for a quiet day. When
//! it is full, the oldest parts from which nothing was converted are joined, and their bounds grow.
//! If all have been, the oldest are given up.
//!
//! A stamp is a number: nothing in it shows where it comes from. One of another machine or boot
//! becomes a wrong time, if the history covers that count. So where stamps are kept in a file, that
//! begins with a [`Header`]: what `clockscope convert`, or [`Header::convert`], turns them into
//! times by.
//!
//! # Where the counter is disabled later
//!
//! [`CounterStamps`] reads the counter without a question. If the process is forbidden to read it
//! later (`prctl(PR_SET_TSC)`), the next stamp ends the process, as any read of the vDSO's clocks
//! does. [`crate::survive_disabled_counter`] lets it survive that.

mod boot;
mod by_piece;
mod errors;
mod header;
mod stamp;

use core::time::Duration;

use clockscope_core::{counter as arch, os, pause};

use crate::bounded::Interval;
use crate::disciplined::{CivilTime, Unobserved};
use crate::evidence::Demotion;
use crate::history::{Excerpt, History, Piece, Uncovered, Unrenewed};
use crate::native::CLOCK;
use crate::process::process_mark;
use crate::{Instant, WallTime};
use by_piece::{bounded_by, instant_by, wall_by};
pub use errors::{Refused, StampError};
pub use header::{Converted, Header, HeaderError, StampClock};
pub use stamp::Stamp;

/// Time between the first three comparisons.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);

/// Pieces of a history: a megabyte.
const PIECES: usize = 16_000;

/// That of the counter, and that of the OS clock, whose count is its time.
static COUNTER: History<PIECES> = History::new();
static OS: History<PIECES> = History::new();

/// A source of stamps, and their conversion.
pub trait Stamps: Copy {
    /// Takes a stamp that is ordered by nothing: the processor may take it earlier or later than
    /// the program says, by as much as it has instructions in flight.
    ///
    /// - Cost: for [`CounterStamps`], the counter's instruction alone.
    fn now_unordered(self) -> Stamp;

    /// Takes a stamp after all earlier loads: of two in happens-before order, on any threads, the
    /// later is not before the other.
    ///
    /// - Ordering and cost: [`ticks::now`](crate::ticks::now).
    fn now(self) -> Stamp;

    /// Returns the part of the history that has this stamp. A renewal for that asks for civil time,
    /// or does not.
    ///
    /// # Errors
    /// The history does not have it.
    #[doc(hidden)]
    fn piece(self, stamp: Stamp, civil: CivilTime) -> Result<Piece, StampError>;

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
    fn instant(self, stamp: Stamp) -> Result<Instant, StampError> {
        self.instant_with_bound(stamp).map(|(instant, _)| instant)
    }

    /// Returns how far [`Stamps::instant`] may be from CLOCK_MONOTONIC at that moment, if
    /// CLOCK_MONOTONIC changes its rate at most once in any two periods of renewal. (Periods that
    /// are shorter than a quarter of a millisecond, or than half of the one before, count as one.)
    /// The next renewals may show that it is smaller, or larger.
    ///
    /// # Errors
    /// The history does not have it.
    fn error_bound(self, stamp: Stamp) -> Result<Duration, StampError> {
        self.instant_with_bound(stamp).map(|(_, bound)| bound)
    }

    /// Returns both, of one state of the history.
    ///
    /// # Errors
    /// The history does not have it.
    fn instant_with_bound(self, stamp: Stamp) -> Result<(Instant, Duration), StampError> {
        let piece = self.piece(stamp, CivilTime::Unasked)?;
        Ok((instant_by(&piece, stamp)?, Duration::from_nanos(piece.error_ns())))
    }

    /// Returns the wall clock's time at a stamp, by the offset in force then: [`Stamps::instant`]
    /// and by how much CLOCK_REALTIME was ahead.
    ///
    /// - Error: [`Stamps::error_bound`], and that of the offset, which is no more than a comparison
    ///   of both clocks is wide: a fraction of a microsecond.
    /// - Ordering: on Linux, that of [`Stamps::instant`] while the wall clock is not set. Other
    ///   systems may steer the two clocks apart: there, offsets of two times differ by their
    ///   errors.
    ///
    /// # Errors
    /// The history does not have it, or the wall clock was set between the renewals around it.
    fn wall(self, stamp: Stamp) -> Result<WallTime, StampError> {
        wall_by(&self.piece(stamp, CivilTime::Unasked)?, stamp)
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
    fn bounded(self, stamp: Stamp) -> Result<Interval, StampError> {
        bounded_by(&self.piece(stamp, CivilTime::Asked)?, stamp)
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
    fn header(self, from: Stamp) -> Result<Header, StampError>;

    /// Converts many stamps, each as [`Stamps::instant`] does: some 2.5 ns each where neighbors are
    /// close in time.
    fn instants(self, stamps: impl IntoIterator<Item = Stamp>) -> impl Iterator<Item = Result<Instant, StampError>> {
        batch(self, stamps, CivilTime::Unasked, instant_by)
    }

    /// Converts many stamps, each as [`Stamps::wall`] does.
    fn walls(self, stamps: impl IntoIterator<Item = Stamp>) -> impl Iterator<Item = Result<WallTime, StampError>> {
        batch(self, stamps, CivilTime::Unasked, wall_by)
    }

    /// Converts many stamps, each as [`Stamps::bounded`] does.
    fn boundeds(self, stamps: impl IntoIterator<Item = Stamp>) -> impl Iterator<Item = Result<Interval, StampError>> {
        batch(self, stamps, CivilTime::Asked, bounded_by)
    }
}

/// Converts stamps, looking for a piece only where the last one does not have the next stamp.
fn batch<T>(
    of: impl Stamps,
    stamps: impl IntoIterator<Item = Stamp>,
    civil: CivilTime,
    by: impl Fn(&Piece, Stamp) -> Result<T, StampError>,
) -> impl Iterator<Item = Result<T, StampError>> {
    let mut last: Option<Piece> = None;
    stamps.into_iter().map(move |stamp| {
        if let Some(piece) = last.as_ref().filter(|piece| piece.is_of(stamp.0)) {
            return by(piece, stamp);
        }
        by(last.insert(of.piece(stamp, civil)?), stamp)
    })
}

/// Stamps of the counter: proof that this process was permitted to read it, and that it was fit,
/// when [`counter`] returned it.
#[derive(Clone, Copy, Debug)]
pub struct CounterStamps(());

/// Stamps of the system's clock, CLOCK_MONOTONIC on Linux: for where [`counter`] refuses.
#[derive(Clone, Copy, Debug)]
pub struct OsStamps(());

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
pub fn counter() -> Result<CounterStamps, Refused> {
    os::keep_errno(|| {
        if !arch::EXISTS {
            return Err(Refused::NoCounter);
        }
        crate::prepare();
        boot::learn();
        CLOCK.recheck_use();
        if let Some(reason) = CLOCK.barred() {
            return Err(Refused::NotUsed(reason));
        }
        if arch::is_invariant() == Some(false) {
            return Err(Refused::NotInvariant);
        }
        let is_new = !COUNTER.is_of(process_mark());
        let begun = renew_counter(CivilTime::Asked);
        if is_new && begun.is_ok() {
            // Or nothing would be known of the rate in the first period.
            for _ in 0..2 {
                pause(FIRST_INTERVAL);
                let _ = renew_counter(CivilTime::Asked);
            }
        }
        match begun {
            Ok(()) => Ok(CounterStamps(())),
            // Another thread renews it; so it has begun.
            Err(Unrenewed::Busy) if COUNTER.is_of(process_mark()) => Ok(CounterStamps(())),
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
pub fn os() -> OsStamps {
    os::keep_errno(|| {
        crate::prepare();
        boot::learn();
        // Where no clock answers there are no stamps to convert either.
        let _ = renew_os(CivilTime::Asked);
    });
    OsStamps(())
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
        let counter = COUNTER.is_of(owner).then(|| renew_counter(CivilTime::Asked));
        let os = OS.is_of(owner).then(|| renew_os(CivilTime::Asked));
        let renewed = counter.into_iter().chain(os).reduce(Result::and);
        renewed.map_or(Err(StampError::NoHistory), |renewed| renewed.map_err(StampError::from))
    })
}

fn renew_counter(civil: CivilTime) -> Result<(), Unrenewed> {
    COUNTER.renew_by(process_mark(), |enough| CLOCK.observe(enough, civil))
}

fn renew_os(civil: CivilTime) -> Result<(), Unrenewed> {
    OS.renew_by(process_mark(), |_| CLOCK.observe_os(civil))
}

/// The piece of a stamp, after a renewal where it is later than the last one.
fn piece_of(
    history: &History<PIECES>,
    renew: impl Fn() -> Result<(), Unrenewed>,
    stamp: Stamp,
) -> Result<Piece, StampError> {
    let owner = process_mark();
    let found = history.find_by(stamp.0, owner);
    if found != Err(Uncovered::After) {
        return found.map_err(StampError::from);
    }
    // Twice, where the first finds that the clocks did not go on, and only begins.
    for _ in 0..2 {
        let renewed = os::keep_errno(&renew);
        match (history.find_by(stamp.0, owner), renewed) {
            (Err(Uncovered::After), Err(reason)) => return Err(reason.into()),
            (Err(Uncovered::After), Ok(())) => {}
            (found, _) => return found.map_err(StampError::from),
        }
    }
    Err(StampError::Future)
}

/// The history from a stamp on, after two renewals: one that finds that the clocks did not go on
/// only begins. Where they fail the history ends before them.
fn excerpt_of(
    history: &History<PIECES>,
    renew: impl Fn() -> Result<(), Unrenewed>,
    from: Stamp,
) -> Result<Excerpt, StampError> {
    let owner = process_mark();
    os::keep_errno(|| {
        if history.is_of(owner) {
            let _ = renew().and_then(|()| renew());
        }
        Ok(history.excerpt(from.0)?)
    })
}

impl CounterStamps {
    /// Fails where the counter went back from CPU to CPU: brackets on one CPU do not show that.
    fn in_order() -> Result<(), StampError> {
        match CLOCK.barred() {
            Some(reason @ Demotion::OutOfOrder) => Err(StampError::GivenUp(reason)),
            _ => Ok(()),
        }
    }
}

impl Stamps for CounterStamps {
    #[inline(always)]
    fn now_unordered(self) -> Stamp {
        Stamp(arch::unordered())
    }

    #[inline(always)]
    fn now(self) -> Stamp {
        Stamp(arch::after())
    }

    fn piece(self, stamp: Stamp, civil: CivilTime) -> Result<Piece, StampError> {
        Self::in_order()?;
        piece_of(&COUNTER, || renew_counter(civil), stamp)
    }

    fn header(self, from: Stamp) -> Result<Header, StampError> {
        Self::in_order()?;
        excerpt_of(&COUNTER, || renew_counter(CivilTime::Unasked), from)
            .map(|history| Header::new(StampClock::Counter, history))
    }
}

impl Stamps for OsStamps {
    #[inline(always)]
    fn now_unordered(self) -> Stamp {
        self.now()
    }

    /// Zero where no clock answers.
    #[inline(always)]
    fn now(self) -> Stamp {
        Stamp(CLOCK.os_ns().unwrap_or(0))
    }

    fn piece(self, stamp: Stamp, civil: CivilTime) -> Result<Piece, StampError> {
        piece_of(&OS, || renew_os(civil), stamp)
    }

    fn header(self, from: Stamp) -> Result<Header, StampError> {
        excerpt_of(&OS, || renew_os(CivilTime::Unasked), from).map(|history| Header::new(StampClock::Os, history))
    }

    /// The stamp is the time, but for one that no [`Instant`] has.
    fn instant_with_bound(self, stamp: Stamp) -> Result<(Instant, Duration), StampError> {
        let ns = i64::try_from(stamp.0).map_err(|_| StampError::Future)?;
        Ok((Instant::from_signed_ns(ns), Duration::ZERO))
    }

    fn instants(self, stamps: impl IntoIterator<Item = Stamp>) -> impl Iterator<Item = Result<Instant, StampError>> {
        stamps.into_iter().map(move |stamp| self.instant(stamp))
    }
}
