//! Messages that two CPUs send back and forth, each stamped by its own counter: an exchange is a
//! bracket.

use std::sync::atomic::Ordering;

use clockscope_core::brackets::{Bracket, OffsetBounds};
use clockscope_system::RawClock;

use crate::instrument::bench::Bench;
use crate::instrument::pair::handoff::HandoffGuard;
use crate::instrument::timer::read;
use crate::platform::{Platform, SharedWord};

/// The word of one direction and what comes with it, in cache lines of their own.
#[repr(align(128))]
struct Channel<W> {
    number: W,
    stamp: W,
}

/// Findings of the side that asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Learned {
    pub(crate) bounds: OffsetBounds,
    /// Its counter did not advance as the reference did.
    pub(crate) parted: bool,
}

/// State that two threads share while one of them asks and the other answers. For one use.
pub(crate) struct Exchange<'a, P: Platform> {
    platform: &'a P,
    there: Channel<P::Word>,
    back: Channel<P::Word>,
    /// Not 0 once it is over.
    over: P::Word,
}

impl<W> Channel<W> {
    fn new<P: Platform<Word = W>>(platform: &P) -> Self {
        Self { number: platform.word(0), stamp: platform.word(0) }
    }
}

impl<'a, P: Platform> Exchange<'a, P> {
    pub(crate) fn new(platform: &'a P) -> Self {
        Self { platform, there: Channel::new(platform), back: Channel::new(platform), over: platform.word(0) }
    }

    /// Asks for so long. Returns what all answers show of the other's counter against this one,
    /// whose reads must be ordered on both sides.
    pub(crate) fn ask(&self, counter: &impl RawClock, bench: &Bench<'_, P>, slice_ns: u64) -> Learned {
        let mut bounds = OffsetBounds::default();
        let _ending = HandoffGuard(&self.over);
        let mut deadline = bench.deadline(slice_ns);
        for number in 1.. {
            let before = read(counter);
            self.there.number.store(number, Ordering::Release);
            let answered = &self.back.number;
            let is_long = self
                .platform
                .wait_until(|| answered.load(Ordering::Acquire) == number || self.over.load(Ordering::Relaxed) != 0);
            if answered.load(Ordering::Acquire) != number {
                break;
            }
            let after = read(counter);
            // It answers at the moment at which it stamps.
            let inner = self.back.stamp.load(Ordering::Relaxed);
            bounds.push(&Bracket { before, inner, after });
            if is_long {
                deadline.hurry();
            }
            if deadline.is_over() {
                break;
            }
        }
        Learned { bounds, parted: deadline.measured_ns().is_none() }
    }

    /// Answers until the other side has enough.
    pub(crate) fn answer(&self, counter: &impl RawClock) {
        let mut answered = 0;
        let _ending = HandoffGuard(&self.over);
        loop {
            let requested = &self.there.number;
            self.platform
                .wait_until(|| requested.load(Ordering::Acquire) != answered || self.over.load(Ordering::Acquire) != 0);
            if requested.load(Ordering::Acquire) == answered {
                return;
            }
            let stamp = read(counter);
            answered += 1;
            self.back.stamp.store(stamp, Ordering::Relaxed);
            self.back.number.store(answered, Ordering::Release);
        }
    }
}
