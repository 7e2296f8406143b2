//! Timer of batches, and the conversion of its unit to nanoseconds.

use std::convert::Infallible;

use clockscope_core::brackets::{Bracket, Ticks, narrowest};
use clockscope_records::{TimerRate, UnreadableClock};
use clockscope_system::RawClock;

use crate::instrument::stall_limit;
use crate::instrument::step::of_readings;
use crate::platform::{Clocks, ReferenceClock};

/// Brackets tried for one that no interruption widened.
const BRACKETS: u32 = 32;

/// Readings that the steps of timer and reference are found from.
const TIMER_READINGS: usize = 1 << 12;
const REFERENCE_READINGS: usize = 1 << 10;
/// Readings of a block that the cost of a call is found from.
const CALLS: usize = 1 << 6;

/// Reason why nothing can be timed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    /// None of these references answers.
    #[error("no clock answers that others could be measured against{}", if .0.is_empty() { ": this system has none" } else { "" })]
    NoReference(Vec<UnreadableClock>),
    /// Counter or reference stood still.
    #[error(
        "the counter {counter} or the reference {reference} stood still while it was calibrated: run with another clocksource"
    )]
    Frozen {
        /// Name of the counter.
        counter: String,
        /// Name of the reference.
        reference: String,
    },
    /// No counter answers, and the reference that takes its place stood still.
    #[error("the reference {0} stood still while it was calibrated: run with another clocksource")]
    ReferenceFrozen(String),
}

/// Timer of batches: the ordered counter, or the reference where no counter may be read.
pub(crate) enum Timer<P: Clocks> {
    Counter(P::Counter),
    Reference(P::Reference),
}

impl<P: Clocks> Clone for Timer<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Counter(counter) => Self::Counter(counter.clone()),
            Self::Reference(reference) => Self::Reference(reference.clone()),
        }
    }
}

impl<P: Clocks> Timer<P> {
    /// Reads the timer, in its own unit. After all that comes before it, before all that comes
    /// after it.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        match self {
            Self::Counter(counter) => read(counter),
            Self::Reference(reference) => read(reference),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Counter(counter) => counter.name(),
            Self::Reference(reference) => reference.name(),
        }
    }

    /// The step that it moves in, in ns.
    pub(crate) fn tick_ns(&self) -> f64 {
        match self {
            Self::Counter(counter) => counter.tick_ns(),
            Self::Reference(reference) => reference.tick_ns(),
        }
    }
}

/// Reads a clock that has answered before; if it refuses now, returns 0.
#[inline(always)]
pub(crate) fn read<C: RawClock>(clock: &C) -> u64 {
    let mut raw = C::Raw::default();
    match clock.read(&mut raw) {
        Ok(()) => clock.value(&raw),
        Err(_) => 0,
    }
}

/// The reference between two reads of the timer: the narrowest of several.
fn bracket<P: Clocks>(timer: &Timer<P>, reference: &P::Reference) -> Bracket {
    let take = || {
        let before = timer.now();
        let inner = read(reference);
        Ok::<_, Infallible>(Bracket { before, inner, after: timer.now() })
    };
    // One read first, unused: the first is cold.
    let Ok(_) = take();
    let Ok(bracket) = narrowest(take, Bracket::width, BRACKETS, 0);
    bracket
}

/// A calibration that began with a bracket and gives the mean rate since then at any time.
pub(crate) struct TimerCalibration<P: Clocks> {
    timer: Timer<P>,
    reference: P::Reference,
    start: Bracket,
    moves: Moves,
}

/// The ticks of timer (outer) and reference (inner), each in its own unit.
#[derive(Clone, Copy, Debug)]
struct Moves {
    ticks: Ticks,
    /// Largest cost of a system call that is the timer, in its unit; 0 for a counter.
    timer_call: f64,
    /// True if readings showed them; otherwise they are what the clocks state.
    timer_seen: bool,
    reference_seen: bool,
}

impl Moves {
    /// Returns what both state of themselves.
    fn of_nominal_ticks<P: Clocks>(reference: &P::Reference) -> Self {
        let ticks = Ticks { outer: 1.0, inner: reference.tick_ns() };
        Self { ticks, timer_call: 0.0, timer_seen: false, reference_seen: false }
    }

    /// Returns what their readings show, where that is more.
    fn seen<P: Clocks>(timer: &Timer<P>, reference: &P::Reference) -> Self {
        let nominal = Self::of_nominal_ticks::<P>(reference).ticks;
        let readings: Vec<u64> = (0..TIMER_READINGS).map(|_| timer.now()).collect();
        let of_timer = of_readings(&readings);
        let (of_reference, timer_call) = match timer {
            Timer::Counter(_) => {
                let of_reference = of_readings(&(0..REFERENCE_READINGS).map(|_| read(reference)).collect::<Vec<_>>());
                (of_reference, 0.0)
            }
            Timer::Reference(_) => (of_timer, call(&readings, of_timer)),
        };
        let ticks = Ticks { outer: nominal.outer.max(of_timer), inner: nominal.inner.max(of_reference) };
        Self { ticks, timer_call, timer_seen: of_timer > 0.0, reference_seen: of_reference > 0.0 }
    }
}

/// Returns what a reading costs at most, in the clock's unit, of a clock that moves in such steps:
/// the median over blocks of its readings, of which interruptions make a few longer.
fn call(readings: &[u64], step: f64) -> f64 {
    let blocks = readings.windows(CALLS + 1).step_by(CALLS);
    let mut lengths: Vec<u64> = blocks.map(|block| block[CALLS].saturating_sub(block[0])).collect();
    let middle = lengths.len() / 2;
    (*lengths.select_nth_unstable(middle).1 as f64 + step) / CALLS as f64
}

impl<P: Clocks> TimerCalibration<P> {
    pub(crate) fn start(timer: Timer<P>, reference: P::Reference) -> Self {
        let start = bracket(&timer, &reference);
        let moves = Moves::of_nominal_ticks::<P>(&reference);
        Self { timer, reference, start, moves }
    }

    /// Finds the steps in which timer and reference move.
    pub(crate) fn with_seen_moves(self) -> Self {
        let moves = Moves::seen(&self.timer, &self.reference);
        Self { moves, ..self }
    }

    /// The step that the timer moves in, in its unit, as far as it is known.
    pub(crate) fn timer_step(&self) -> f64 {
        self.moves.ticks.outer
    }

    /// The step that the reference moves in, in ns: the one that it states, or a longer one that
    /// its readings showed.
    pub(crate) fn reference_step_ns(&self) -> f64 {
        self.moves.ticks.inner
    }

    /// Largest cost of a call of the timer, in its unit; 0 for a counter, whose reads cost next to
    /// nothing beside a batch.
    pub(crate) fn timer_call(&self) -> f64 {
        self.moves.timer_call
    }

    /// Returns the timer's step if it was seen to move.
    pub(crate) fn seen_timer_step(&self) -> Option<f64> {
        self.moves.timer_seen.then_some(self.moves.ticks.outer)
    }

    /// Nanoseconds since the start, on the reference.
    pub(crate) fn elapsed_ns(&self) -> f64 {
        read(&self.reference).wrapping_sub(self.start.inner) as i64 as f64
    }

    /// Reading of the timer at the start.
    pub(crate) fn began(&self) -> u64 {
        self.start.after
    }

    /// Reading of the reference at the start.
    pub(crate) fn reference_began(&self) -> u64 {
        self.start.inner
    }

    /// Returns the timer and the reference.
    pub(crate) fn clocks(&self) -> (Timer<P>, P::Reference) {
        (self.timer.clone(), self.reference.clone())
    }

    /// Returns whether the reference was seen to move.
    pub(crate) fn moves(&self) -> bool {
        self.moves.reference_seen
    }

    /// Returns the rate after at least `ns` nanoseconds.
    ///
    /// # Errors
    /// The reference stands still, went back or refuses; or the timer does.
    pub(crate) fn rate_after(&self, ns: f64) -> Result<TimerRate, TimerError> {
        let most = stall_limit::turns(0.0, self.moves().then_some(self.moves.ticks.inner));
        let longest = most.max(2 * REFERENCE_READINGS as u32);
        let (mut furthest_ns, mut stalled) = (0.0, 0);
        // Bounded by turns as well: one that hardly moves must not hang us, either. A turn is a
        // system call, 100 ns at least.
        for _ in 0..(ns as u64 / 20) {
            let elapsed_ns = self.elapsed_ns();
            if elapsed_ns >= ns {
                return self.rate();
            }
            stalled = if elapsed_ns > furthest_ns { 0 } else { stalled + 1 };
            if stalled > longest {
                break;
            }
            furthest_ns = elapsed_ns.max(furthest_ns);
        }
        Err(TimerError::ReferenceFrozen(self.reference.name().to_owned()))
    }

    /// The mean rate from the start until now, which assumes nothing about what lies between. Its
    /// bound is half of both brackets' widths, and the steps of timer and reference, over the time
    /// between them.
    pub(crate) fn rate(&self) -> Result<TimerRate, TimerError> {
        if let Timer::Reference(_) = self.timer {
            return Ok(TimerRate { ns_per_unit: 1.0, bound_ppm: 0.0 });
        }
        let end = bracket(&self.timer, &self.reference);
        let (passed, ns) = (end.middle_since(&self.start), end.inner_since(&self.start));
        if passed <= 0.0 || ns <= 0.0 {
            let [counter, reference] = [self.timer.name(), self.reference.name()].map(str::to_owned);
            return Err(TimerError::Frozen { counter, reference });
        }
        let ns_per_unit = ns / passed;
        // Of the frequency, not of the unit: it is the furthest off with the shortest unit, and has
        // a bound also where the longest unit has none.
        let (_, most) = end.outer_since(&self.start, self.moves.ticks.outer);
        let shortest_unit = (ns - self.moves.ticks.inner) / most;
        let bound = if shortest_unit > 0.0 { ns_per_unit / shortest_unit - 1.0 } else { f64::MAX };
        Ok(TimerRate { ns_per_unit, bound_ppm: bound * 1e6 })
    }
}
