//! What two threads share that work together: who is who, where they wait for each other, and when their time is over.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::platform::{Platform, Word};
use crate::timer::read;

/// Which of a pair's two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// On the first CPU: it keeps the time.
    First,
    Second,
}

impl Side {
    pub(crate) fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// Where the two threads of a pair wait for each other between tasks.
pub(crate) struct Meeting<'a, P: Platform> {
    platform: &'a P,
    arrived: [P::Word; 2],
    /// One of them has ended, and will not arrive any more.
    off: P::Word,
}

impl<'a, P: Platform> Meeting<'a, P> {
    pub(crate) fn new(platform: &'a P) -> Self {
        Self { platform, arrived: [0; 2].map(|none| platform.word(none)), off: platform.word(0) }
    }

    /// Waits until the other one has come as often. `false` if it will not.
    pub(crate) fn meet(&self, side: Side) -> bool {
        let times = self.arrived[side.index()].fetch_add(1, Ordering::AcqRel) + 1;
        let other = &self.arrived[side.other().index()];
        self.platform.wait_until(|| other.load(Ordering::Acquire) >= times || self.is_off());
        other.load(Ordering::Acquire) >= times
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::Acquire) != 0
    }

    /// Tells the other one not to wait.
    pub(crate) fn call_off(&self) {
        self.off.store(1, Ordering::Release);
    }
}

/// A clock that shows the same so often in a row, in the end every 4096 turns, stands still.
const STILL: u32 = 1 << 10;

/// Tells when a time is over, or somebody wants it to be, without asking the clock at every turn.
pub(crate) struct Deadline<'a, P: Platform> {
    reference: P::Reference,
    stop: &'a AtomicBool,
    start_ns: u64,
    length_ns: u64,
    asked_ns: u64,
    /// Turns between two looks at the clock, and what is left of them.
    between: u32,
    left: u32,
    /// How often the clock showed what it had shown before.
    still: u32,
}

impl<'a, P: Platform> Deadline<'a, P> {
    pub(crate) fn new(reference: P::Reference, length_ns: u64, stop: &'a AtomicBool) -> Self {
        let start_ns = read(&reference);
        Self { reference, stop, start_ns, length_ns, asked_ns: 0, between: 1, left: 1, still: 0 }
    }

    /// To be asked once a turn.
    #[inline(always)]
    pub(crate) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.ask()
    }

    #[cold]
    fn ask(&mut self) -> bool {
        let elapsed_ns = self.elapsed_ns();
        // As rarely as is still often enough: turns take from 30 ns to 100 µs.
        if elapsed_ns.saturating_sub(self.asked_ns) < self.length_ns / 128 {
            self.between = (self.between * 2).min(1 << 12);
        } else {
            self.between = (self.between / 2).max(1);
        }
        self.still = if elapsed_ns == self.asked_ns { self.still + 1 } else { 0 };
        self.asked_ns = elapsed_ns;
        self.left = self.between;
        elapsed_ns >= self.length_ns || self.still >= STILL || self.stop.load(Ordering::Relaxed)
    }

    /// Time since the start.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        // A reference that goes back is no reason to stay for ever.
        read(&self.reference).checked_sub(self.start_ns).unwrap_or(u64::MAX)
    }
}
