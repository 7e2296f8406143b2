//! Readings and batches that are delivered again, and what did not fit meanwhile.

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clockscope_records::{RecordedBatch, RecordedReference};
use clockscope_system::{Errno, RawClock};

use super::deltas::readings;
use super::facts::length_ns;
use super::fault::{RecordingFault, ReplayMismatch};
use super::recording_sampler::NOT_RECORDED;
use crate::handoff::{HandoffState, Received};
use crate::pair::{Deadline, Side};
use crate::platform::{Platform, ReferenceClock};
use crate::sampler::{Sampled, Sampler};
use crate::timer::{Timer, read};

/// A clock that others were timed with or judged against. Clones share the readings.
#[derive(Clone, Debug)]
pub(super) struct ReplayedClock(Arc<RecordedReadings>);

#[derive(Debug)]
struct RecordedReadings {
    name: String,
    tick_ns: f64,
    readings: Vec<u64>,
    next: AtomicUsize,
}

impl ReplayedClock {
    /// # Errors
    /// No clock steps so.
    pub(super) fn new(record: RecordedReference) -> Result<Self, RecordingFault> {
        let RecordedReference { name, tick_ns, readings: differences } = record;
        let readings = readings(differences);
        Ok(Self(Arc::new(RecordedReadings { name, tick_ns: length_ns(tick_ns)?, readings, next: AtomicUsize::new(0) })))
    }

    /// Returns what does not fit, if the readings were not made as often as they were recorded.
    pub(super) fn mismatch(&self) -> Option<ReplayMismatch> {
        let (needed, recorded) = (self.0.next.load(Ordering::Relaxed), self.0.readings.len());
        (needed != recorded).then(|| ReplayMismatch::Readings { clock: self.0.name.clone(), recorded, needed })
    }
}

impl RawClock for ReplayedClock {
    type Raw = u64;

    /// Reads on after the last reading, too, by a quarter of the range at a time: a wait for
    /// whatever time ends then.
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        let RecordedReadings { readings, next, .. } = &*self.0;
        let place = next.fetch_add(1, Ordering::Relaxed);
        *raw = readings.get(place).copied().unwrap_or_else(|| {
            let beyond = (place - readings.len()) as u64 + 1;
            readings.last().copied().unwrap_or(0).wrapping_add(beyond << 62)
        });
        Ok(())
    }

    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

impl ReferenceClock for ReplayedClock {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn tick_ns(&self) -> f64 {
        self.0.tick_ns
    }

    /// Returns `false`: a recording does not say by which path it was read, and only *offsets*
    /// asks.
    fn is_vdso(&self) -> bool {
        false
    }
}

/// Facts that all clocks of a recording share.
#[derive(Debug)]
pub(super) struct ReplayProgress {
    interrupted: bool,
    /// Batches that were not delivered yet.
    left: AtomicUsize,
    /// The first thing that did not fit.
    mismatch: Mutex<Option<ReplayMismatch>>,
}

impl ReplayProgress {
    pub(super) fn new(batches: usize, interrupted: bool) -> Self {
        Self { interrupted, left: AtomicUsize::new(batches), mismatch: Mutex::new(None) }
    }

    /// Returns true if the run was interrupted before it read any clock.
    pub(super) fn is_stopped_from_the_start(&self) -> bool {
        self.interrupted && self.left.load(Ordering::Relaxed) == 0
    }

    /// Returns the first thing that did not fit, and forgets it.
    pub(super) fn mismatch(&self) -> Option<ReplayMismatch> {
        let left = self.left.load(Ordering::Relaxed);
        let noted = self.mismatch.lock().unwrap_or_else(PoisonError::into_inner).take();
        noted.or((left > 0).then_some(ReplayMismatch::BatchesLeft(left)))
    }

    pub(super) fn does_not_fit(&self, what: impl FnOnce() -> ReplayMismatch) {
        self.mismatch.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(what);
    }

    /// Takes a batch off. Returns whether it is the one in which the run was interrupted.
    fn is_cut_by_next(&self) -> bool {
        self.left.fetch_sub(1, Ordering::Relaxed) == 1 && self.interrupted
    }
}

/// A clock whose batches are delivered again.
pub(super) struct ReplayedSampler {
    pub(super) name: String,
    pub(super) batches: std::vec::IntoIter<RecordedBatch>,
    /// The readings of the last batch.
    pub(super) values: Vec<u64>,
    pub(super) progress: Arc<ReplayProgress>,
}

impl ReplayedSampler {
    /// The next batch, of so many reads.
    fn batch(&mut self, reads: usize, stop: &AtomicBool) -> (usize, Option<Errno>) {
        let Some(RecordedBatch { delivered, error }) = self.batches.next() else {
            self.progress.does_not_fit(|| ReplayMismatch::NoBatch { clock: self.name.clone(), reads });
            return (0, Some(NOT_RECORDED));
        };
        let is_cut = self.progress.is_cut_by_next();
        if is_cut {
            stop.store(true, Ordering::Relaxed);
        }
        let asked = reads as u64;
        if delivered > asked || (delivered < asked && error.is_none() && !is_cut) {
            self.progress.does_not_fit(|| ReplayMismatch::Batch { clock: self.name.clone(), delivered, reads });
        }
        (delivered as usize, error.map(Errno::new))
    }
}

impl<P: Platform> Sampler<P> for ReplayedSampler {
    fn attempt(&mut self) -> Result<(), Errno> {
        Err(NOT_RECORDED)
    }

    /// Takes none: the readings are there.
    fn make_room(&mut self, _: usize) -> Result<(), TryReserveError> {
        Ok(())
    }

    fn sample(&mut self, timer: &Timer<P>, outer: Option<&P::Reference>, reads: usize, stop: &AtomicBool) -> Sampled {
        let outer_before = outer.map(read);
        let before = timer.now();
        let (delivered, error) = self.batch(reads, stop);
        let after = timer.now();
        let reference_ns = outer_before.zip(outer.map(read));
        Sampled { before, after, reference_ns, delivered, error }
    }

    fn values(&mut self, count: usize) -> &[u64] {
        let recorded = self.values.len();
        if count != recorded {
            let mismatch = || ReplayMismatch::Readings { clock: self.name.clone(), recorded, needed: count };
            self.progress.does_not_fit(mismatch);
        }
        &self.values[..count.min(recorded)]
    }

    fn free(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.values)
    }

    fn now(&self) -> Result<u64, Errno> {
        Err(NOT_RECORDED)
    }

    fn start_handoff(&self, _: &HandoffState<P>) -> Result<(), Errno> {
        Err(NOT_RECORDED)
    }

    fn mailbox(&self, _: &HandoffState<P>, _: Side, _: Option<Deadline<'_, P>>) -> Received {
        Received { error: Some(NOT_RECORDED), ..Received::default() }
    }

    fn lock(&self, _: &HandoffState<P>, _: Side, _: Option<Deadline<'_, P>>) -> Received {
        Received { error: Some(NOT_RECORDED), ..Received::default() }
    }
}
