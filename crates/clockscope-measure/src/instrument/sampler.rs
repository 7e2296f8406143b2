//! Samples one clock in batches. The loop is compiled once for every clock, with that clock's read
//! inlined in it.

use std::collections::TryReserveError;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::RecordedTimer;
use clockscope_system::{Errno, RawClock};

use crate::instrument::timer::{Timer, read};
use crate::platform::Platform;

/// Most reads in a batch: readings of 16 bytes then fill half of a usual first-level cache, so that
/// storing them costs nothing that shows.
pub(crate) const MAX_BATCH_READS: usize = 1024;

/// Reads between two looks at the flag that stops the run: a look takes a nanosecond.
const BETWEEN_STOPS: usize = 1 << 14;

/// One batch, as it was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampled {
    /// The timer before the first and after the last read, in its unit.
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// The reference outside of those, in ns, where one was asked for.
    pub(crate) reference_ns: Option<[u64; 2]>,
    /// Readings that were delivered, by the last pass.
    pub(crate) delivered: usize,
    /// Passes over the same room, one after the other: more than one of the empty loop alone.
    pub(crate) passes: u32,
    /// Error that ended the batch early.
    pub(crate) error: Option<Errno>,
}

impl Sampled {
    /// Returns the time of a pass in the timer's unit.
    pub(crate) fn elapsed(&self) -> f64 {
        self.after.wrapping_sub(self.before) as i64 as f64 / f64::from(self.passes)
    }

    /// Returns the times before and after, in ns since some origin: by the reference where it was
    /// asked for.
    pub(crate) fn bounds(&self, timer: &RecordedTimer) -> [f64; 2] {
        // Whole numbers are subtracted first: a float loses ns of a machine that has run for 104
        // days.
        match self.reference_ns {
            Some(around) => around.map(|ns| ns.wrapping_sub(timer.reference_origin) as i64 as f64),
            None => [self.before, self.after].map(|reading| timer.ns_between(timer.origin, reading)),
        }
    }
}

/// Work between two reads of the counter, and these between two of a clock, each in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) outer: [u64; 2],
    pub(crate) inner: [u64; 2],
}

/// A clock whose type was forgotten: what happens inside a call is compiled for that type.
pub(crate) trait Sampler<P: Platform>: Send + Sync {
    /// Reads the clock once.
    fn attempt(&mut self) -> Result<(), Errno>;

    /// Takes room for `reads` readings.
    ///
    /// # Errors
    /// There is no memory for them.
    fn make_room(&mut self, reads: usize) -> Result<(), TryReserveError>;

    /// Reads the clock `reads` times (1 or more, or as often as there is room for) between two
    /// reads of the timer, and these between two of `outer`, if any. Looks at `stop` every
    /// [`BETWEEN_STOPS`] reads.
    fn sample(&mut self, timer: &Timer<P>, outer: Option<&P::Reference>, reads: usize, stop: &AtomicBool) -> Sampled;

    /// The first `count` readings of the last batch as numbers.
    fn values(&mut self, count: usize) -> &[u64];

    /// Gives the room for readings back, and what [`Self::values`] returned last.
    fn free(&mut self) -> Vec<u64>;

    /// One reading as a number.
    fn now(&self) -> Result<u64, Errno>;

    /// Reads the clock before and after two reads of the counter, between which the work is done.
    fn around(&self, counter: &P::Counter, work: &mut dyn FnMut()) -> Result<Around, Errno>;
}

/// A clock with room for a batch of its readings.
pub(crate) struct Probe<C: RawClock> {
    pub(crate) clock: C,
    passes: u32,
    raw: Vec<C::Raw>,
    values: Vec<u64>,
}

impl<C: RawClock> Probe<C> {
    pub(crate) fn new(clock: C) -> Self {
        // The room is taken by `make_room` when the clock is measured: a list of clocks needs none.
        Self { clock, passes: 1, raw: Vec::new(), values: Vec::new() }
    }

    /// Makes room for at least `reads` readings, which is touched, so that no read has to wait for
    /// it.
    fn grow(&mut self, reads: usize) {
        if self.raw.len() < reads {
            self.raw.resize(reads, C::Raw::default());
            self.values.resize(reads, 0);
        }
    }
}

impl<C: RawClock, P: Platform> Sampler<P> for Probe<C> {
    fn attempt(&mut self) -> Result<(), Errno> {
        self.clock.read(&mut C::Raw::default())
    }

    fn make_room(&mut self, reads: usize) -> Result<(), TryReserveError> {
        let more = reads.saturating_sub(self.raw.len());
        self.raw.try_reserve_exact(more)?;
        self.values.try_reserve_exact(more)?;
        self.grow(reads);
        Ok(())
    }

    // Compiled in this crate alone. A copy in the command, which the profile `release` optimizes
    // less, adds to a batch what shows in clocks of a nanosecond.
    #[inline(never)]
    fn sample(&mut self, timer: &Timer<P>, outer: Option<&P::Reference>, reads: usize, stop: &AtomicBool) -> Sampled {
        self.grow(MAX_BATCH_READS);
        let reads = reads.clamp(1, self.raw.len());
        let slots = &mut self.raw[..reads];
        let outer_before = outer.map(read);
        let before = timer.now();
        let (mut delivered, mut error) = fill_until(&self.clock, slots, stop);
        for _ in 1..self.passes {
            (delivered, error) = fill_until(&self.clock, slots, stop);
        }
        let after = timer.now();
        let reference_ns = outer_before.zip(outer.map(read)).map(<[u64; 2]>::from);
        Sampled { before, after, reference_ns, delivered, passes: self.passes, error }
    }

    fn values(&mut self, count: usize) -> &[u64] {
        for (value, raw) in self.values.iter_mut().zip(&self.raw[..count]) {
            *value = self.clock.value(raw);
        }
        &self.values[..count]
    }

    fn free(&mut self) -> Vec<u64> {
        self.raw = Vec::new();
        std::mem::take(&mut self.values)
    }

    fn now(&self) -> Result<u64, Errno> {
        let mut raw = C::Raw::default();
        self.clock.read(&mut raw)?;
        Ok(self.clock.value(&raw))
    }

    #[inline(never)]
    fn around(&self, counter: &P::Counter, work: &mut dyn FnMut()) -> Result<Around, Errno> {
        let mut raw = [C::Raw::default(), C::Raw::default()];
        self.clock.read(&mut raw[0])?;
        let begun = read(counter);
        work();
        let ended = read(counter);
        self.clock.read(&mut raw[1])?;
        Ok(Around { outer: raw.map(|raw| self.clock.value(&raw)), inner: [begun, ended] })
    }
}

/// Fills the slots unless the run is stopped.
fn fill_until<C: RawClock>(clock: &C, slots: &mut [C::Raw], stop: &AtomicBool) -> (usize, Option<Errno>) {
    let mut delivered = 0;
    for part in slots.chunks_mut(BETWEEN_STOPS) {
        let (more, error) = fill(clock, part);
        delivered += more;
        if error.is_some() || stop.load(Ordering::Relaxed) {
            return (delivered, error);
        }
    }
    (delivered, None)
}

/// The loop that is measured. A function of its own, so that its code is the same wherever it is
/// called from.
#[inline(never)]
fn fill<C: RawClock>(clock: &C, slots: &mut [C::Raw]) -> (usize, Option<Errno>) {
    for (index, slot) in slots.iter_mut().enumerate() {
        if let Err(error) = clock.read(slot) {
            return (index, Some(error));
        }
    }
    (slots.len(), None)
}

/// No clock: the measuring loop itself.
pub(crate) struct EmptyLoop;

impl Probe<EmptyLoop> {
    /// Passes that make a batch of the empty loop: one takes some 0.3 µs, which is few steps of a
    /// timer that moves every 10 ns or more.
    const PASSES: u32 = 32;

    /// Times the measuring loop itself.
    pub(crate) fn empty_loop() -> Self {
        Self { passes: Self::PASSES, ..Self::new(EmptyLoop) }
    }
}

impl RawClock for EmptyLoop {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        // Hidden from the compiler, which would otherwise turn the loop into one call of memset.
        *raw = black_box(0);
        Ok(())
    }

    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use clockscope_records::TimerRate;

    use super::*;

    /// A counter that counts the ns of its reference.
    pub(crate) fn ns_timer() -> RecordedTimer {
        RecordedTimer {
            name: "counter".to_owned(),
            is_counter: true,
            tick_ns: 0.0,
            step: 1.0,
            call: 0.0,
            origin: 0,
            first_rate: TimerRate { ns_per_unit: 1.0, bound_ppm: 0.0 },
            mean_rate: None,
            reference: "reference".to_owned(),
            reference_tick_ns: 1.0,
            steering: 0.0,
            reference_origin: 0,
        }
    }

    /// The reference's clock starts anywhere, and passes 2^53 ns after 104 days.
    #[test]
    fn a_batch_is_timed_to_the_ns_wherever_the_reference_starts() {
        let edges = [0, 1 << 53, 1 << 63].map(|edge: u64| [edge.wrapping_sub(1), edge, edge + 1]);
        for reference_origin in edges.concat() {
            let timer = RecordedTimer { reference_origin, ..ns_timer() };
            for (before, after) in [(0, 1), (1, 2), (1001, 1002), (-1, 0), (-3, 4)] {
                let around = [before, after].map(|ns| reference_origin.wrapping_add_signed(ns));
                let sampled =
                    Sampled { before: 0, after: 0, reference_ns: Some(around), delivered: 1, passes: 1, error: None };
                assert_eq!(sampled.bounds(&timer), [before as f64, after as f64], "{reference_origin}");
            }
        }
    }
}
