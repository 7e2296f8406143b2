//! State of two threads that work together: their sides, the place where they wait for each other,
//! and the end of their time.

pub(crate) mod handoff;
pub(crate) mod sampler;
pub(crate) mod store_rounds;

use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::TimerRate;

use crate::instrument::stall_limit;
use crate::instrument::timer::{Timer, read};
use crate::platform::{Clocks, ReferenceClock, SharedWord, Threads};

/// Limits, as a factor and in ns, by which a time may be longer by the counter than asked for
/// before the reference is no longer waited for.
const PATIENCE_FACTOR: f64 = 2.0;
const PATIENCE_NS: f64 = 1e6;
/// Limit in steps of the reference by which a time may be longer by the counter than asked for.
const PATIENCE_STEPS: f64 = 4.0;
/// Turns in which a reference may stand still where no counter measures the time, if it was not
/// seen to move: at 30 ns a turn, more than any clock's step.
const PATIENCE_TURNS: u64 = 1 << 22;
/// Fewest turns in which a reference that was seen to move may stand still: it moved within as many
/// readings.
const MIN_TURNS: u64 = 1 << 10;

/// Largest difference between the counter and the reference beside the uncertainty of the rate, as
/// a share of the time and in ns: a clock that is steered differs by less, one that stands still by
/// more.
const PACE_SHARE: f64 = 2e-3;
const PACE_NS: f64 = 2_000.0;

/// One of a pair's two threads.
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

/// Place where the two threads of a pair wait for each other between tasks.
pub(crate) struct Rendezvous<'a, P: Threads> {
    platform: &'a P,
    arrived: [P::Word; 2],
    /// One of them has ended, and will not arrive any more.
    off: P::Word,
}

impl<'a, P: Threads> Rendezvous<'a, P> {
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

    /// Stops the other one from waiting.
    pub(crate) fn call_off(&self) {
        self.off.store(1, Ordering::Release);
    }
}

/// A time limit and the stop flag. The clock is not read at every turn.
pub(crate) struct Deadline<'a, P: Clocks> {
    reference: P::Reference,
    stop: &'a AtomicBool,
    start_ns: u64,
    length_ns: u64,
    checked_ns: u64,
    counter: Option<Watchdog<'a, P>>,
    /// Turns since the reference last moved, and the most in which one that works does not.
    unchanged: u64,
    most_unchanged: u64,
    /// Turns between two looks at the clock, and what is left of them.
    between: u32,
    left: u32,
}

/// The counter beside a reference, which shows whether that fails.
struct Watchdog<'a, P: Clocks> {
    timer: &'a Timer<P>,
    rate: TimerRate,
    /// Its readings before and after the reference was read at the start.
    start: [u64; 2],
}

impl<P: Clocks> Watchdog<'_, P> {
    /// Returns the nanoseconds since then by the counter.
    fn ns(&self, from: u64) -> f64 {
        self.timer.now().wrapping_sub(from) as i64 as f64 * self.rate.ns_per_unit
    }
}

impl<'a, P: Clocks> Deadline<'a, P> {
    pub(crate) fn new(reference: P::Reference, length_ns: u64, stop: &'a AtomicBool) -> Self {
        let start_ns = read(&reference);
        let (counter, most_unchanged) = (None, PATIENCE_TURNS);
        Self {
            reference,
            stop,
            start_ns,
            length_ns,
            checked_ns: 0,
            counter,
            unchanged: 0,
            most_unchanged,
            between: 1,
            left: 1,
        }
    }

    /// Returns the same of a reference that was seen to move by such a step.
    pub(crate) fn with_step(mut self, step_ns: Option<f64>) -> Self {
        self.most_unchanged =
            step_ns.map_or(PATIENCE_TURNS, |_| MIN_TURNS.max(stall_limit::turns(0.0, step_ns).into()));
        self
    }

    /// Returns the same from now on, which ends also where the reference stands still, by a timer
    /// of this rate.
    pub(crate) fn beside(mut self, timer: &'a Timer<P>, rate: TimerRate) -> Self {
        if let Timer::Counter(_) = timer {
            let before = timer.now();
            self.start_ns = read(&self.reference);
            self.counter = Some(Watchdog { timer, rate, start: [before, timer.now()] });
        }
        self
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
        if elapsed_ns.saturating_sub(self.checked_ns) < self.length_ns / 128 {
            self.between = (self.between * 2).min(1 << 12);
        } else {
            self.between = (self.between / 2).max(1);
        }
        self.unchanged = if elapsed_ns == self.checked_ns { self.unchanged + u64::from(self.between) } else { 0 };
        self.checked_ns = elapsed_ns;
        self.left = self.between;
        elapsed_ns >= self.length_ns || self.stop.load(Ordering::Relaxed) || self.is_out_of_patience()
    }

    /// Returns whether the reference stood still for so long that it will not end this.
    fn is_out_of_patience(&self) -> bool {
        match &self.counter {
            Some(counter) => {
                let slack_ns = PATIENCE_NS.max(PATIENCE_STEPS * self.reference.tick_ns());
                counter.ns(counter.start[1]) > PATIENCE_FACTOR * self.length_ns as f64 + slack_ns
            }
            None => self.unchanged > self.most_unchanged,
        }
    }

    /// Time since the start.
    fn elapsed_ns(&self) -> u64 {
        // A reference that goes back is no reason to stay for ever.
        read(&self.reference).checked_sub(self.start_ns).unwrap_or(u64::MAX)
    }

    /// Returns the time since the start in ns; `None` where the reference failed, or the counter
    /// advanced otherwise.
    pub(crate) fn measured_ns(&self) -> Option<u64> {
        let counter = self.counter.as_ref();
        // An interruption between two of these reads is held against neither clock.
        let least_ns = counter.map(|counter| counter.ns(counter.start[1]));
        let elapsed_ns = self.elapsed_ns();
        let most_ns = counter.map(|counter| counter.ns(counter.start[0]));
        if elapsed_ns == u64::MAX || self.unchanged > self.most_unchanged {
            return None;
        }
        let (ns, uncertain) = (elapsed_ns as f64, counter.map_or(0.0, |counter| counter.rate.bound_ppm));
        let slack_ns = ns * (PACE_SHARE + uncertain * 1e-6) + PACE_NS + self.reference.tick_ns();
        let agrees =
            least_ns.is_none_or(|least| least <= ns + slack_ns) && most_ns.is_none_or(|most| most >= ns - slack_ns);
        agrees.then_some(elapsed_ns)
    }
}
