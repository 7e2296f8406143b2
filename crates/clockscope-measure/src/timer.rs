//! What batches are timed with, and how its unit becomes nanoseconds.

use clockscope::RawClock;

use crate::platform::{Platform, Yardstick};

/// Brackets tried for one that no interruption widened.
const BRACKETS: usize = 32;

/// Why nothing can be timed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    /// No reference answers.
    #[error("no clock answers that others could be measured against ({0}); is clock_gettime filtered by seccomp?")]
    NoReference(String),
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
}

/// What batches are timed with: the ordered counter, or the reference where no counter may be read.
pub(crate) enum Timer<P: Platform> {
    Counter(P::Counter),
    Reference(P::Reference),
}

impl<P: Platform> Clone for Timer<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Counter(counter) => Self::Counter(counter.clone()),
            Self::Reference(reference) => Self::Reference(reference.clone()),
        }
    }
}

impl<P: Platform> Timer<P> {
    /// Reads the timer, in its own unit. After all that comes before it, before all that comes after it.
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

/// Reads a clock that has answered before; if it refuses now, it tells 0.
#[inline(always)]
pub(crate) fn read<C: RawClock>(clock: &C) -> u64 {
    let mut raw = C::Raw::default();
    match clock.read(&mut raw) {
        Ok(()) => clock.value(&raw),
        Err(_) => 0,
    }
}

/// One comparison of timer and reference: the reference was read between two reads of the timer.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    before: u64,
    after: u64,
    reference_ns: u64,
}

impl Bracket {
    /// The narrowest of several: an interruption only ever widens a bracket.
    fn take<P: Platform>(timer: &Timer<P>, reference: &P::Reference) -> Self {
        let take = |_| {
            let before = timer.now();
            let reference_ns = read(reference);
            Self { before, after: timer.now(), reference_ns }
        };
        // One read first, unused: the first is cold.
        (0..=BRACKETS).map(take).skip(1).min_by_key(Bracket::width).unwrap_or_else(|| take(0))
    }

    fn width(&self) -> u64 {
        self.after.wrapping_sub(self.before)
    }

    fn middle(&self) -> f64 {
        self.before as f64 + self.width() as f64 / 2.0
    }
}

/// The timer's rate: the mean between two brackets, which assumes nothing about what lies between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) ns_per_unit: f64,
    /// Half of both brackets' widths, and the reference's tick, over the time between them.
    pub(crate) bound_ppm: f64,
}

/// A calibration under way: it began with a bracket and tells the mean rate since then at any time.
pub(crate) struct Calibration<P: Platform> {
    timer: Timer<P>,
    reference: P::Reference,
    start: Bracket,
}

impl<P: Platform> Calibration<P> {
    pub(crate) fn start(timer: Timer<P>, reference: P::Reference) -> Self {
        let start = Bracket::take(&timer, &reference);
        Self { timer, reference, start }
    }

    /// Nanoseconds since the start, on the reference.
    pub(crate) fn elapsed_ns(&self) -> f64 {
        read(&self.reference).wrapping_sub(self.start.reference_ns) as i64 as f64
    }

    /// The rate after at least `ns` nanoseconds.
    pub(crate) fn rate_after(&self, ns: f64) -> Result<Rate, TimerError> {
        // Bounded by turns as well: a frozen reference must not hang us. A turn is a system call, 100 ns at least.
        for _ in 0..(ns as u64 / 20) {
            if self.elapsed_ns() >= ns {
                break;
            }
        }
        self.rate()
    }

    /// The mean rate from the start until now.
    pub(crate) fn rate(&self) -> Result<Rate, TimerError> {
        if let Timer::Reference(_) = self.timer {
            return Ok(Rate { ns_per_unit: 1.0, bound_ppm: 0.0 });
        }
        let end = Bracket::take(&self.timer, &self.reference);
        let ticks = end.middle() - self.start.middle();
        let ns = end.reference_ns.wrapping_sub(self.start.reference_ns) as i64 as f64;
        if ticks <= 0.0 || ns <= 0.0 {
            let [counter, reference] = [self.timer.name(), self.reference.name()].map(str::to_owned);
            return Err(TimerError::Frozen { counter, reference });
        }
        let ns_per_unit = ns / ticks;
        let widths_ns = (self.start.width() + end.width()) as f64 / 2.0 * ns_per_unit;
        Ok(Rate { ns_per_unit, bound_ppm: (widths_ns + self.reference.tick_ns()) / ns * 1e6 })
    }
}
