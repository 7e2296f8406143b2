//! Clocks whose batches are noted.

use std::collections::TryReserveError;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use clockscope_records::{RecordedBatch, RecordedClock};
use clockscope_system::Errno;

use super::deltas::differences;
use super::facts::{recorded_resolution, recorded_unit};
use super::log::Logged;
use super::recorder::Recorder;
use crate::catalog::{Catalog, CatalogEntry};
use crate::handoff::{HandoffState, Received};
use crate::pair::{Deadline, Side};
use crate::platform::Platform;
use crate::sampler::{Sampled, Sampler};
use crate::timer::Timer;

/// Answer to what *steps* never asks of a clock: ENOSYS.
pub(super) const NOT_RECORDED: Errno = Errno::new(38);

/// The batches of one clock.
type Batches = Arc<Mutex<Vec<RecordedBatch>>>;

/// A clock whose batches are being noted.
pub(super) struct ClockRecording {
    clock: RecordedClock,
    batches: Batches,
}

/// Returns the same clocks, which note their batches, and where these are noted.
pub(super) fn recording_catalog<P: Platform>(
    catalog: Catalog<P>,
    clocksource: Option<&str>,
) -> (Catalog<Recorder<P>>, Vec<ClockRecording>) {
    let (entries, noted) = catalog.entries.into_iter().map(|row| recording_entry(row, clocksource)).unzip();
    (Catalog { entries }, noted)
}

fn recording_entry<P: Platform>(
    row: CatalogEntry<P>,
    clocksource: Option<&str>,
) -> (CatalogEntry<Recorder<P>>, ClockRecording) {
    let batches = Batches::default();
    let clock = RecordedClock {
        identity: row.identity(clocksource),
        unit: recorded_unit(row.info.unit),
        resolution: recorded_resolution(&row.info.resolution),
        reason: row.failure_reason().map(|failure_reason| failure_reason.reason.clone()),
        failure: row.failure_reason().map(|failure_reason| failure_reason.failure),
        batches: Vec::new(),
        readings: Vec::new(),
    };
    let noted = ClockRecording { clock, batches: Arc::clone(&batches) };
    let watch = |inner| Box::new(RecordingSampler { inner, batches }) as Box<dyn Sampler<Recorder<P>>>;
    (CatalogEntry { info: row.info, sampler: row.sampler.map(watch) }, noted)
}

impl ClockRecording {
    /// Returns the record of the clock. Takes its readings, if it was read.
    pub(super) fn record(self, readings: &mut impl Iterator<Item = Vec<u64>>) -> RecordedClock {
        let batches = std::mem::take(&mut *self.batches.lock().unwrap_or_else(PoisonError::into_inner));
        let readings = if batches.is_empty() { None } else { readings.next() };
        RecordedClock { batches, readings: differences(readings.unwrap_or_default()), ..self.clock }
    }
}

/// A clock that notes its batches.
struct RecordingSampler<P: Platform> {
    inner: Box<dyn Sampler<P>>,
    batches: Batches,
}

impl<P: Platform> Sampler<Recorder<P>> for RecordingSampler<P> {
    fn attempt(&mut self) -> Result<(), Errno> {
        self.inner.attempt()
    }

    fn make_room(&mut self, reads: usize) -> Result<(), TryReserveError> {
        self.inner.make_room(reads)
    }

    /// Samples by the bare timer and reference, so that the batch is timed as without a recording,
    /// and logs their readings afterwards.
    fn sample(
        &mut self,
        timer: &Timer<Recorder<P>>,
        outer: Option<&Logged<P::Reference>>,
        reads: usize,
        stop: &AtomicBool,
    ) -> Sampled {
        let (bare, log) = match timer {
            Timer::Counter(counter) => (Timer::Counter(counter.clock.clone()), &counter.log),
            Timer::Reference(reference) => (Timer::Reference(reference.clock.clone()), &reference.log),
        };
        let sampled = self.inner.sample(&bare, outer.map(|outer| &outer.clock), reads, stop);
        let outside = outer.zip(sampled.reference_ns);
        if let Some((outer, (before, _))) = outside {
            outer.log.push(before);
        }
        log.push(sampled.before);
        log.push(sampled.after);
        if let Some((outer, (_, after))) = outside {
            outer.log.push(after);
        }
        let batch = RecordedBatch { delivered: sampled.delivered as u64, error: sampled.error.map(Errno::code) };
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
        sampled
    }

    fn values(&mut self, count: usize) -> &[u64] {
        self.inner.values(count)
    }

    fn free(&mut self) -> Vec<u64> {
        self.inner.free()
    }

    fn now(&self) -> Result<u64, Errno> {
        self.inner.now()
    }

    fn start_handoff(&self, _: &HandoffState<Recorder<P>>) -> Result<(), Errno> {
        Err(NOT_RECORDED)
    }

    fn mailbox(&self, _: &HandoffState<Recorder<P>>, _: Side, _: Option<Deadline<'_, Recorder<P>>>) -> Received {
        Received { error: Some(NOT_RECORDED), ..Received::default() }
    }

    fn lock(&self, _: &HandoffState<Recorder<P>>, _: Side, _: Option<Deadline<'_, Recorder<P>>>) -> Received {
        Received { error: Some(NOT_RECORDED), ..Received::default() }
    }
}
