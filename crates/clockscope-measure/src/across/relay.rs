//! Readings of one clock that two CPUs hand to each other. The receiver's own reading, taken after it has received, must not
//! be smaller: what was sent happened before.
//!
//! *Mailbox*: each side publishes every reading that it takes and looks for the other's newest before each. Nobody waits,
//! so that nothing but the clock's own order keeps a read behind the load before it: an unordered read shows. *Lock*: a
//! ticket lock goes to and fro, and who holds it reads, as programs do that stamp what they do under a lock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clockscope::{Errno, RawClock};

use super::{Deadline, Side, wait_until};

/// A word with cache lines of its own: two, since some processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Word(AtomicU64);

/// What two threads share while they hand one clock's readings over. For one use.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    /// The newest message to each side.
    inboxes: [Word; 2],
    /// The lock: the next ticket, and the one that is served.
    tickets: Word,
    serving: Word,
    /// What the lock guards: the last message.
    guarded: Word,
    /// A reading near which all are.
    origin: AtomicU64,
    is_over: AtomicBool,
}

/// What one side received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) handoffs: u64,
    /// Times that its own reading was smaller.
    pub(crate) regressions: u64,
    /// By how much at most, in the clock's unit.
    pub(crate) worst: u64,
    /// Time that the side that keeps it measured.
    pub(crate) elapsed_ns: u64,
    /// What ended it early.
    pub(crate) error: Option<Errno>,
}

/// Bits of a message that tell it from the one before; the others are the reading, relative to the origin.
const TAG_BITS: u32 = 8;
/// Readings further from the origin than this count as being there: years.
const FURTHEST: i64 = i64::MAX >> TAG_BITS;

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

    fn ended(mut self, keeper: Option<&Deadline<'_>>, error: Option<Errno>) -> Self {
        self.elapsed_ns = keeper.map_or(0, Deadline::elapsed_ns);
        self.error = error;
        self
    }
}

impl Relay {
    /// Tells both sides where readings are. To be called by one of them, before they meet.
    pub(crate) fn start_at<C: RawClock>(&self, clock: &C) {
        self.origin.store(crate::timer::read(clock), Ordering::Relaxed);
    }

    /// Hands readings over through mailboxes until the side that has a deadline finds it over.
    #[inline(never)]
    pub(crate) fn mailbox<C: RawClock>(&self, clock: &C, side: Side, mut keeper: Option<Deadline<'_>>) -> Received {
        let (inbox, outbox) = (&self.inboxes[side.index()].0, &self.inboxes[side.other().index()].0);
        let origin = self.origin.load(Ordering::Relaxed);
        let (mut received, mut former, mut sent) = (Received::default(), 0, 0);
        loop {
            let newest = inbox.load(Ordering::Acquire);
            let own = match read_after(clock, origin) {
                Ok(own) => own,
                Err(error) => return self.over(received.ended(keeper.as_ref(), Some(error))),
            };
            if newest != former {
                former = newest;
                received.take(reading(newest), own);
            }
            sent += 1;
            outbox.store(message(own, sent), Ordering::Release);
            if self.is_over(&mut keeper) {
                return received.ended(keeper.as_ref(), None);
            }
        }
    }

    /// Hands readings over under a lock until the side that has a deadline finds it over. Tickets make the lock change
    /// sides whenever both want it.
    #[inline(never)]
    pub(crate) fn lock<C: RawClock>(&self, clock: &C, side: Side, mut keeper: Option<Deadline<'_>>) -> Received {
        let origin = self.origin.load(Ordering::Relaxed);
        // Under a lock nobody misses a message: the tag has room to tell whose it is.
        let own_tag = side.index() as u64;
        let mut received = Received::default();
        loop {
            let ticket = self.tickets.0.fetch_add(1, Ordering::Relaxed);
            wait_until(|| self.serving.0.load(Ordering::Acquire) == ticket);
            let own = read_after(clock, origin);
            let last = self.guarded.0.load(Ordering::Relaxed);
            if let Ok(own) = own {
                if last != 0 && last & 0xff != own_tag + 1 {
                    received.take(reading(last), own);
                }
                self.guarded.0.store(message(own, own_tag), Ordering::Relaxed);
            }
            self.serving.0.store(ticket + 1, Ordering::Release);
            if let Err(error) = own {
                return self.over(received.ended(keeper.as_ref(), Some(error)));
            }
            if self.is_over(&mut keeper) {
                return received.ended(keeper.as_ref(), None);
            }
        }
    }

    /// Two threads that hand a word to and fro with nothing in between: what the hardware can do.
    #[inline(never)]
    pub(crate) fn bare(&self, side: Side, mut keeper: Option<Deadline<'_>>) -> Received {
        let mut received = Received::default();
        let (turn, own) = (&self.guarded.0, side.index() as u64);
        loop {
            wait_until(|| turn.load(Ordering::Acquire) & 1 == own || self.is_over.load(Ordering::Relaxed));
            if self.is_over(&mut keeper) {
                return received.ended(keeper.as_ref(), None);
            }
            received.handoffs += 1;
            turn.store(own ^ 1, Ordering::Release);
        }
    }

    /// The side with a deadline decides for both.
    #[inline(always)]
    fn is_over(&self, keeper: &mut Option<Deadline<'_>>) -> bool {
        if keeper.as_mut().is_some_and(Deadline::is_over) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        self.is_over.load(Ordering::Relaxed)
    }

    fn over(&self, received: Received) -> Received {
        self.is_over.store(true, Ordering::Relaxed);
        received
    }
}

/// The clock now, relative to the origin.
#[inline(always)]
fn read_after<C: RawClock>(clock: &C, origin: u64) -> Result<i64, Errno> {
    let mut raw = C::Raw::default();
    clock.read(&mut raw)?;
    Ok((clock.value(&raw).wrapping_sub(origin) as i64).clamp(-FURTHEST, FURTHEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_keep_readings(value in -FURTHEST..=FURTHEST, number in any::<u32>()) {
            let sent = message(value, number.into());
            prop_assert_eq!(reading(sent), value);
            prop_assert!(sent != 0 && sent != message(value, u64::from(number) + 1));
        }

        #[test]
        fn readings_go_back_by_their_difference(sent in -FURTHEST..=FURTHEST, own in -FURTHEST..=FURTHEST) {
            let mut received = Received::default();
            received.take(sent, own);
            prop_assert_eq!(received.regressions, u64::from(own < sent));
            prop_assert_eq!(received.worst, if own < sent { (sent - own) as u64 } else { 0 });
        }
    }
}
