//! Readings of one clock that two CPUs hand to each other. The receiver's own reading, taken after
//! it has received, must not be smaller: what was sent happened before.
//!
//! *Mailbox*: each side publishes every reading that it takes and looks for the other's newest
//! before each. Nobody waits, so that nothing but the clock's own order keeps a read behind the
//! load before it: an unordered read shows. *Lock*: a ticket lock changes sides, and its holder
//! reads, as programs do that stamp what they do under a lock.

use std::sync::atomic::Ordering;

use clockscope_system::{Errno, RawClock};

use crate::instrument::pair::{Deadline, Side};
use crate::platform::{Clocks, Platform, SharedWord};

/// A word with cache lines of its own: two, since some processors fetch lines in pairs.
#[repr(align(128))]
pub(crate) struct Apart<W>(pub(crate) W);

impl<W> Apart<W> {
    /// Makes a word of the platform, which is 0.
    pub(crate) fn word<P: Platform<Word = W>>(platform: &P) -> Self {
        Self(platform.word(0))
    }
}

/// A ticket lock and what it guards, side by side: the lock's cache line brings the message with
/// it.
#[repr(align(128))]
struct TicketLock<W> {
    next: W,
    serving: W,
    /// The last holder's message; for the bare way, whose turn it is.
    guarded: W,
}

/// State that two threads share while they hand one clock's readings over in one way. For one use.
pub(crate) struct HandoffState<'a, P: Platform> {
    platform: &'a P,
    /// The newest message to each side.
    inboxes: [Apart<P::Word>; 2],
    lock: TicketLock<P::Word>,
    /// A reading near which all are.
    origin: P::Word,
    /// Not 0 once it is over.
    over: P::Word,
    /// Handoffs after which the side that has a deadline ends it early, if the clock has moved.
    enough: u64,
}

/// Ends a handoff for both sides when one of them ends, however it does.
pub(crate) struct HandoffGuard<'a, W: SharedWord>(pub(crate) &'a W);

impl<W: SharedWord> Drop for HandoffGuard<'_, W> {
    fn drop(&mut self) {
        self.0.store(1, Ordering::Release);
    }
}

/// Readings that one side received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) handoffs: u64,
    /// Times that its own reading was smaller.
    pub(crate) regressions: u64,
    /// The largest of these regressions, in the clock's unit.
    pub(crate) worst: u64,
    /// Time that the side that keeps it measured; `None` where the reference failed.
    pub(crate) elapsed_ns: Option<u64>,
    /// Pace of its own readings.
    pub(crate) pace: Pace,
    /// Error that ended it early.
    pub(crate) error: Option<Errno>,
}

/// Advance of a clock's readings on one side, by which one that stands still is noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    last: i64,
    /// Readings; those that differed from the one before; and those since the last such.
    pub(crate) readings: u64,
    pub(crate) moved: u64,
    pub(crate) unchanged: u64,
    /// The smallest difference by which they grew, in the clock's unit; 0 before there is one.
    pub(crate) step: u64,
}

impl Pace {
    #[inline(always)]
    fn take(&mut self, own: i64) {
        // The first reading differs from nothing.
        let has_moved = self.readings > 0 && own != self.last;
        self.readings += 1;
        self.moved += u64::from(has_moved);
        self.unchanged = if has_moved { 0 } else { self.unchanged + 1 };
        if has_moved {
            self.step = smaller(self.step, own.wrapping_sub(self.last).max(0) as u64);
        }
        self.last = own;
    }
}

/// Returns the smaller of two steps; 0 stands for none.
pub(crate) fn smaller(one: u64, other: u64) -> u64 {
    if one == 0 || other == 0 { one.max(other) } else { one.min(other) }
}

/// Bits of a message that distinguish it from the one before; the others are the reading, relative
/// to the origin.
const TAG_BITS: u32 = 8;
/// Readings further from the origin than this count as being there: 160 days at 2.6 GHz, a year in
/// ns.
const MAX_DISTANCE_UNITS: i64 = i64::MAX >> TAG_BITS;

/// A reading as a message: never 0, which stands for none.
#[inline(always)]
fn message(reading: i64, number: u64) -> u64 {
    ((reading << TAG_BITS) as u64) | (number % 255 + 1)
}

/// The reading of a message.
#[inline(always)]
fn reading(message: u64) -> i64 {
    (message as i64) >> TAG_BITS
}

impl Received {
    #[inline(always)]
    fn take(&mut self, sent: i64, own: i64) {
        self.handoffs += 1;
        if own < sent {
            self.regressions += 1;
            self.worst = self.worst.max(sent.wrapping_sub(own) as u64);
        }
    }

    fn ended(mut self, keeper: Option<&Deadline<'_, impl Clocks>>, error: Option<Errno>) -> Self {
        self.elapsed_ns = keeper.and_then(Deadline::measured_ns);
        self.error = error;
        self
    }
}

impl<'a, P: Platform> HandoffState<'a, P> {
    /// A handoff that ends after its time, or once the side that keeps it has received `enough`.
    pub(crate) fn new(platform: &'a P, enough: u64) -> Self {
        Self {
            platform,
            inboxes: [Apart::word(platform), Apart::word(platform)],
            lock: TicketLock { next: platform.word(0), serving: platform.word(0), guarded: platform.word(0) },
            origin: platform.word(0),
            over: platform.word(0),
            enough,
        }
    }

    /// Sets where both sides find readings. One of them calls this, before they meet.
    ///
    /// # Errors
    /// The clock refused: the handoff is over before it began.
    pub(crate) fn start_at<C: RawClock>(&self, clock: &C) -> Result<(), Errno> {
        let mut raw = C::Raw::default();
        let ending = HandoffGuard(&self.over);
        clock.read(&mut raw)?;
        self.origin.store(clock.value(&raw), Ordering::Relaxed);
        std::mem::forget(ending);
        Ok(())
    }

    /// Hands readings over through mailboxes until the side that has a deadline finds it over.
    #[inline(never)]
    pub(crate) fn mailbox<C: RawClock>(&self, clock: &C, side: Side, mut keeper: Option<Deadline<'_, P>>) -> Received {
        let (inbox, outbox) = (&self.inboxes[side.index()].0, &self.inboxes[side.other().index()].0);
        let origin = self.origin.load(Ordering::Relaxed);
        let (mut received, mut former, mut sent) = (Received::default(), 0, 0);
        let _ending = HandoffGuard(&self.over);
        while !self.is_over(&mut keeper, received.handoffs >= self.enough && received.pace.moved > 0) {
            let newest = inbox.load(Ordering::Acquire);
            let own = match read_after(clock, origin) {
                Ok(own) => own,
                Err(error) => return received.ended(keeper.as_ref(), Some(error)),
            };
            received.pace.take(own);
            if newest != former {
                former = newest;
                received.take(reading(newest), own);
            }
            sent += 1;
            outbox.store(message(own, sent), Ordering::Release);
        }
        received.ended(keeper.as_ref(), None)
    }

    /// Hands readings over under a lock until the side that has a deadline finds it over. Tickets
    /// make the lock change sides whenever both want it.
    #[inline(never)]
    pub(crate) fn lock<C: RawClock>(&self, clock: &C, side: Side, mut keeper: Option<Deadline<'_, P>>) -> Received {
        let origin = self.origin.load(Ordering::Relaxed);
        // Under a lock nobody misses a message: the tag has room for its sender.
        let own_tag = side.index() as u64;
        let TicketLock { next, serving, guarded } = &self.lock;
        let mut received = Received::default();
        let _ending = HandoffGuard(&self.over);
        while !self.is_over(&mut keeper, received.handoffs >= self.enough && received.pace.moved > 0) {
            let ticket = next.fetch_add(1, Ordering::Relaxed);
            let is_long = self.platform.wait_until(|| serving.load(Ordering::Acquire) == ticket || self.has_ended());
            hurry(is_long, &mut keeper);
            if serving.load(Ordering::Acquire) != ticket {
                break;
            }
            let own = match read_after(clock, origin) {
                Ok(own) => own,
                Err(error) => return received.ended(keeper.as_ref(), Some(error)),
            };
            received.pace.take(own);
            let last = guarded.load(Ordering::Relaxed);
            if last != 0 && last & 0xff != own_tag + 1 {
                received.take(reading(last), own);
            }
            guarded.store(message(own, own_tag), Ordering::Relaxed);
            serving.store(ticket + 1, Ordering::Release);
        }
        received.ended(keeper.as_ref(), None)
    }

    /// Two threads that hand a word back and forth with nothing in between: what the hardware can
    /// do.
    #[inline(never)]
    pub(crate) fn bare(&self, side: Side, mut keeper: Option<Deadline<'_, P>>) -> Received {
        let mut received = Received::default();
        let (turn, own) = (&self.lock.guarded, side.index() as u64);
        let _ending = HandoffGuard(&self.over);
        while !self.is_over(&mut keeper, received.handoffs >= self.enough) {
            hurry(self.platform.wait_until(|| turn.load(Ordering::Acquire) == own || self.has_ended()), &mut keeper);
            received.handoffs += 1;
            turn.store(own ^ 1, Ordering::Release);
        }
        received.ended(keeper.as_ref(), None)
    }

    /// The side with a deadline decides for both.
    #[inline(always)]
    fn is_over(&self, keeper: &mut Option<Deadline<'_, P>>, is_enough: bool) -> bool {
        keeper.as_mut().is_some_and(|keeper| is_enough || keeper.is_over()) || self.has_ended()
    }

    #[inline(always)]
    fn has_ended(&self) -> bool {
        self.over.load(Ordering::Relaxed) != 0
    }
}

/// After a long wait, the side with a deadline looks at the clock.
#[inline(always)]
pub(crate) fn hurry<P: Clocks>(is_long: bool, keeper: &mut Option<Deadline<'_, P>>) {
    if let (true, Some(keeper)) = (is_long, keeper) {
        keeper.hurry();
    }
}

/// The clock now, relative to the origin.
#[inline(always)]
fn read_after<C: RawClock>(clock: &C, origin: u64) -> Result<i64, Errno> {
    let mut raw = C::Raw::default();
    clock.read(&mut raw)?;
    Ok((clock.value(&raw).wrapping_sub(origin) as i64).clamp(-MAX_DISTANCE_UNITS, MAX_DISTANCE_UNITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::ThisMachine;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::sync::atomic::AtomicU64;

    thread_local! {
        static HAS_READ: Cell<bool> = const { Cell::new(false) };
    }

    /// Counts its reads in two ways: one that no race can harm, one that any would. Refuses once
    /// both threads have read, however late the second one starts.
    #[derive(Default)]
    struct Counting {
        readers: AtomicU64,
        reads: AtomicU64,
        fragile: AtomicU64,
    }

    impl RawClock for Counting {
        type Raw = u64;

        fn read(&self, raw: &mut u64) -> Result<(), Errno> {
            let is_first = !HAS_READ.replace(true);
            let readers = self.readers.fetch_add(u64::from(is_first), Ordering::Relaxed) + u64::from(is_first);
            let fragile = self.fragile.load(Ordering::Relaxed);
            *raw = self.reads.fetch_add(1, Ordering::SeqCst);
            self.fragile.store(fragile + 1, Ordering::Relaxed);
            if *raw < 200_000 || readers < 2 || is_first { Ok(()) } else { Err(Errno::new(22)) }
        }

        fn value(&self, raw: &u64) -> u64 {
            *raw
        }
    }

    /// Readings of one count are in order whatever the threads do, so nothing may go back; and
    /// under the lock nobody reads beside another.
    #[test]
    fn what_is_in_order_does_not_go_back() {
        for way in [0, 1] {
            let (handoff, clock) = (HandoffState::new(&ThisMachine, u64::MAX), Counting::default());
            let play =
                |side| if way == 0 { handoff.mailbox(&clock, side, None) } else { handoff.lock(&clock, side, None) };
            let received = std::thread::scope(|scope| {
                let sides = [Side::First, Side::Second].map(|side| scope.spawn(move || play(side)));
                sides.map(|side| side.join().unwrap())
            });
            let sum = |of: fn(&Received) -> u64| received.iter().map(of).sum::<u64>();
            assert!(sum(|received| received.handoffs) > 0 && sum(|received| received.regressions) == 0, "{received:?}");
            if way == 1 {
                assert_eq!(clock.fragile.into_inner(), clock.reads.into_inner());
            }
        }
    }

    /// Reads a few times and then refuses, or panics.
    struct Failing(AtomicU64, bool);

    impl RawClock for Failing {
        type Raw = u64;

        fn read(&self, raw: &mut u64) -> Result<(), Errno> {
            *raw = self.0.fetch_add(1, Ordering::Relaxed);
            assert!(*raw < 100 || !self.1, "on purpose");
            if *raw < 100 { Ok(()) } else { Err(Errno::new(22)) }
        }

        fn value(&self, raw: &u64) -> u64 {
            *raw
        }
    }

    /// Whichever side fails, the other one ends as well: no deadline is needed.
    #[test]
    fn a_failure_ends_both_sides() {
        for (way, panics) in [(0, false), (0, true), (1, false), (1, true)] {
            let (handoff, clock) = (HandoffState::new(&ThisMachine, u64::MAX), Failing(AtomicU64::new(0), panics));
            handoff.start_at(&clock).unwrap();
            let play =
                |side| if way == 0 { handoff.mailbox(&clock, side, None) } else { handoff.lock(&clock, side, None) };
            let failed = std::thread::scope(|scope| {
                let sides = [Side::First, Side::Second].map(|side| scope.spawn(move || play(side)));
                sides.map(|side| side.join().map_or(true, |received| received.error.is_some()))
            });
            assert!(failed.contains(&true), "{way} {panics}");
        }
        let gone = Failing(AtomicU64::new(100), false);
        let handoff = HandoffState::new(&ThisMachine, u64::MAX);
        assert!(handoff.start_at(&gone).is_err());
        assert_eq!(handoff.mailbox(&gone, Side::Second, None).handoffs, 0);
    }

    proptest! {
        #[test]
        fn messages_keep_readings(value in -MAX_DISTANCE_UNITS..=MAX_DISTANCE_UNITS, number in any::<u32>()) {
            let sent = message(value, number.into());
            prop_assert_eq!(reading(sent), value);
            prop_assert!(sent != 0 && sent != message(value, u64::from(number) + 1));
        }

        #[test]
        fn readings_go_back_by_their_difference(sent in -MAX_DISTANCE_UNITS..=MAX_DISTANCE_UNITS, own in -MAX_DISTANCE_UNITS..=MAX_DISTANCE_UNITS) {
            let mut received = Received::default();
            received.take(sent, own);
            prop_assert_eq!(received.regressions, u64::from(own < sent));
            prop_assert_eq!(received.worst, if own < sent { (sent - own) as u64 } else { 0 });
        }
    }
}
