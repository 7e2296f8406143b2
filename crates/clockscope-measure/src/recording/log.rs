//! A clock that logs its readings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clockscope_system::{Errno, RawClock};

use crate::platform::ReferenceClock;

/// Readings that a log has room for from the start: as many as a run usually makes.
const ROOM: usize = 1 << 16;

/// The readings of a clock, in the order in which they were made.
#[derive(Debug)]
pub(super) struct Log {
    /// During child_reads: where they are made in a child process, nothing of them is seen here.
    is_paused: Arc<AtomicBool>,
    readings: Mutex<Vec<u64>>,
}

impl Log {
    pub(super) fn new(is_paused: Arc<AtomicBool>) -> Self {
        Self { is_paused, readings: Mutex::new(Vec::with_capacity(ROOM)) }
    }

    pub(super) fn push(&self, reading: u64) {
        if !self.is_paused.load(Ordering::Relaxed) {
            self.readings.lock().unwrap_or_else(PoisonError::into_inner).push(reading);
        }
    }

    pub(super) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.readings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A clock that logs its readings. Clones share the log.
#[derive(Clone, Debug)]
pub struct Logged<C> {
    pub(super) clock: C,
    pub(super) log: Arc<Log>,
}

impl<C: RawClock> RawClock for Logged<C> {
    type Raw = C::Raw;

    fn read(&self, raw: &mut C::Raw) -> Result<(), Errno> {
        let outcome = self.clock.read(raw);
        // As `timer::read` has it.
        self.log.push(if outcome.is_ok() { self.clock.value(raw) } else { 0 });
        outcome
    }

    fn value(&self, raw: &C::Raw) -> u64 {
        self.clock.value(raw)
    }
}

impl<C: ReferenceClock> ReferenceClock for Logged<C> {
    fn name(&self) -> &str {
        self.clock.name()
    }

    fn tick_ns(&self) -> f64 {
        self.clock.tick_ns()
    }

    fn is_vdso(&self) -> bool {
        self.clock.is_vdso()
    }
}
