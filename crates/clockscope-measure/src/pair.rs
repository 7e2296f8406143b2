//! What two threads share that work together: who is who, where they wait for each other, and when their time is over.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::platform::{Platform, Word, Yardstick};
use crate::timer::{Timer, read};

/// How much longer than asked for a time may be by the counter, and by how many ns, before the reference is no longer waited for.
const PATIENCE: f64 = 2.0;
const PATIENCE_NS: f64 = 1e6;
/// The same in steps of the reference.
const PATIENT_STEPS: f64 = 4.0;
/// Turns in which a reference may stand still where no counter tells the time: at 30 ns a turn, more than any clock's step.
const PATIENT_TURNS: u64 = 1 << 22;

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

/// A time limit and the stop flag. The clock is not read at every turn.
pub(crate) struct Deadline<'a, P: Platform> {
    reference: P::Reference,
    stop: &'a AtomicBool,
    start_ns: u64,
    length_ns: u64,
    asked_ns: u64,
    /// The counter when it began and its unit in ns, for a reference that stands still.
    counter: Option<(Timer<P>, u64, f64)>,
    /// Turns since the reference last moved.
    still: u64,
    /// Turns between two looks at the clock, and what is left of them.
    between: u32,
    left: u32,
}

impl<'a, P: Platform> Deadline<'a, P> {
    pub(crate) fn new(reference: P::Reference, length_ns: u64, stop: &'a AtomicBool) -> Self {
        let start_ns = read(&reference);
        Self { reference, stop, start_ns, length_ns, asked_ns: 0, counter: None, still: 0, between: 1, left: 1 }
    }

    /// Returns the same, which ends also where the reference stands still, by a timer of this unit in ns.
    pub(crate) fn beside(self, timer: &Timer<P>, ns_per_unit: f64) -> Self {
        let counter = matches!(timer, Timer::Counter(_)).then(|| (timer.clone(), timer.now(), ns_per_unit));
        Self { counter, ..self }
    }

    /// To be asked once a turn.
    #[inline(always)]
    pub(crate) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.ask()
    }

    /// Looks at the clock at the next turn: this one took long.
    pub(crate) fn hurry(&mut self) {
        (self.left, self.between) = (1, 1);
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
        self.still = if elapsed_ns == self.asked_ns { self.still + u64::from(self.between) } else { 0 };
        self.asked_ns = elapsed_ns;
        self.left = self.between;
        elapsed_ns >= self.length_ns || self.stop.load(Ordering::Relaxed) || self.is_out_of_patience()
    }

    /// Returns whether the reference stood still for so long that it will not end this.
    fn is_out_of_patience(&self) -> bool {
        match &self.counter {
            Some((timer, start, ns_per_unit)) => {
                let elapsed_ns = timer.now().wrapping_sub(*start) as i64 as f64 * ns_per_unit;
                let slack_ns = PATIENCE_NS.max(PATIENT_STEPS * self.reference.tick_ns());
                elapsed_ns > PATIENCE * self.length_ns as f64 + slack_ns
            }
            None => self.still > PATIENT_TURNS,
        }
    }

    /// Time since the start.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        // A reference that goes back is no reason to stay for ever.
        read(&self.reference).checked_sub(self.start_ns).unwrap_or(u64::MAX)
    }
}
