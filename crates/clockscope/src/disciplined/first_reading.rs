//! The first reading of the process. Not in the memory that a fork wipes: a forked child would
//! inherit it before the system was asked to wipe that, and may be on another timeline.

use clockscope_core::atomic::AtomicU64;
use core::sync::atomic::Ordering;

/// A reading, and the process that took it. All zero is the state before the first.
pub(super) struct FirstReading {
    ns: AtomicU64,
    process: AtomicU64,
}

impl FirstReading {
    pub(super) const fn new() -> Self {
        Self { ns: AtomicU64::new(0), process: AtomicU64::new(0) }
    }

    /// Returns true if it was taken, by this process or by the one that made it. By an exchange, so
    /// that the memory's first access is a write: one page fault, not two.
    pub(super) fn was_taken(&self) -> bool {
        self.process.fetch_or(0, Ordering::Relaxed) != 0
    }

    /// Keeps it. Threads may race: the latest counts.
    pub(super) fn keep(&self, ns: u64, process: u64) {
        self.ns.fetch_max(ns, Ordering::Relaxed);
        self.process.store(process, Ordering::Release);
    }

    /// The reading, if this process took it.
    pub(super) fn of(&self, process: u64) -> Option<u64> {
        (self.process.load(Ordering::Acquire) == process).then(|| self.ns.load(Ordering::Relaxed))
    }
}
