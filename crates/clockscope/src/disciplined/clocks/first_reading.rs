//! The first reading of the process. It is outside of the memory that a fork wipes: a child that is
//! forked before the system is asked to wipe would inherit it, and may be on another timeline.

use clockscope_core::atomic::AtomicU64;
use core::sync::atomic::Ordering;

/// A number that no process has.
const NO_PROCESS: u64 = u64::MAX;

/// A reading, and the process that took it, or asked the system's questions without one. All zero
/// is the state before the first.
#[derive(Debug)]
pub struct FirstReading {
    ns: AtomicU64,
    process: AtomicU64,
}

impl FirstReading {
    /// No reading.
    #[allow(clippy::new_without_default, reason = "it is for a static")]
    #[must_use]
    pub const fn new() -> Self {
        Self { ns: AtomicU64::new(0), process: AtomicU64::new(0) }
    }

    /// No reading; not all zero, so that a static one is in the memory of variables that have a
    /// value. A dynamic linker has written there before the program begins, so that the first
    /// reading waits for no page.
    #[must_use]
    pub const fn in_used_memory() -> Self {
        Self { ns: AtomicU64::new(0), process: AtomicU64::new(NO_PROCESS) }
    }

    /// Returns true if it was taken, or the questions were asked, by this process or an ancestor.
    pub(crate) fn was_taken(&self) -> bool {
        !matches!(self.process.load(Ordering::Relaxed), 0 | NO_PROCESS)
    }

    /// Keeps it; 0 where the questions are asked without one. Threads may race: the latest counts.
    pub(crate) fn keep(&self, ns: u64, process: u64) {
        self.ns.fetch_max(ns, Ordering::Relaxed);
        self.process.store(process, Ordering::Release);
    }

    /// The reading, if this process took it.
    pub(crate) fn taken_by(&self, process: u64) -> Option<u64> {
        if self.process.load(Ordering::Acquire) == process { Some(self.ns.load(Ordering::Relaxed)) } else { None }
    }
}
