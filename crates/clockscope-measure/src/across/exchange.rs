//! Messages that two CPUs send to and fro, each stamped by its own counter: four timestamps an exchange.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clockscope::RawClock;
use clockscope::offset::OffsetBounds;

use crate::pair::{Deadline, wait_until};
use crate::relay::Ending;
use crate::timer::read;

/// The word of one direction and what comes with it, in cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line {
    number: AtomicU64,
    stamp: AtomicU64,
}

/// What two threads share while one of them asks and the other answers. For one use.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    there: Line,
    back: Line,
    is_over: AtomicBool,
}

impl Exchange {
    /// Asks until the time is over: what all answers tell about the other's counter against this one. The counter's
    /// reads must be ordered on both sides.
    pub(crate) fn ask(&self, counter: &impl RawClock, deadline: &mut Deadline<'_>) -> OffsetBounds {
        let mut bounds = OffsetBounds::default();
        let _ending = Ending(&self.is_over);
        for number in 1.. {
            let left = read(counter);
            self.there.number.store(number, Ordering::Release);
            let is_answered = || self.back.number.load(Ordering::Acquire) == number;
            wait_until(|| is_answered() || self.is_over.load(Ordering::Relaxed));
            if !is_answered() {
                break;
            }
            let arrived = read(counter);
            // It answers at the moment at which it stamps: both are one reading.
            let there = self.back.stamp.load(Ordering::Relaxed);
            bounds.push([left, there, there, arrived]);
            if deadline.is_over() {
                break;
            }
        }
        bounds
    }

    /// Answers until the other side has enough.
    pub(crate) fn answer(&self, counter: &impl RawClock) {
        let mut answered = 0;
        let _ending = Ending(&self.is_over);
        loop {
            let asked = || self.there.number.load(Ordering::Acquire);
            wait_until(|| asked() != answered || self.is_over.load(Ordering::Acquire));
            if asked() == answered {
                return;
            }
            let stamp = read(counter);
            answered += 1;
            self.back.stamp.store(stamp, Ordering::Relaxed);
            self.back.number.store(answered, Ordering::Release);
        }
    }
}
