//! Decisions on the counter and the end of a generation, by any thread, without the lock.

use core::ops::Deref;
use core::sync::atomic::Ordering;

use clockscope_core::atomic::AtomicU64;

use super::clocks::first_reading::FirstReading;
use super::lines::errors::MAX_SPEEDUP;
use super::page::version::{ServingMode, Version};
use super::process::shared::Shared;
use super::readings::Readings;
use super::trust::Trust;
use super::{Counter, OsClock};

/// Decides whether the counter is used, without the lock. Has all of the clock's state. The layers
/// above it have none.
#[repr(C)]
pub(crate) struct Decisions<C, S> {
    pub(super) shared: Shared<C, S>,
    // Outside of the shared state, because a fork wipes that one.
    pub(super) generation: AtomicU64,
    pub(super) wall_generation: AtomicU64,
    pub(super) trust: Trust,
    pub(super) first: FirstReading,
}

impl<C, S> Decisions<C, S> {
    /// A clock's state before its first use.
    pub(super) const fn new(shared: Shared<C, S>) -> Self {
        Self {
            shared,
            generation: AtomicU64::new(0),
            wall_generation: AtomicU64::new(0),
            trust: Trust::new(),
            first: FirstReading::new(),
        }
    }

    /// Returns the lowest layer of a clock that no thread reads yet.
    pub(super) const fn readings_mut(&mut self) -> &mut Readings<C, S> {
        &mut self.shared.readings
    }
}

impl<C, S> Deref for Decisions<C, S> {
    type Target = Readings<C, S>;

    #[inline(always)]
    fn deref(&self) -> &Readings<C, S> {
        &self.shared.readings
    }
}

impl<C: Counter, S: OsClock> Decisions<C, S> {
    /// Changes the mode to the one that `decision` returns for the current one, if any: the
    /// calibration begins anew. Takes effect at once, without the lock.
    pub(super) fn decide(&self, decision: impl Fn(ServingMode) -> Option<ServingMode>) {
        let page = &self.page;
        loop {
            let mut version = page.version();
            let Some(mode) = decision(version.mode()) else { return };
            page.next_try_ns.store(0, Ordering::Relaxed);
            if self.end_line_unlocked(&mut version, mode) {
                return;
            }
        }
    }

    /// Ends the line of this version, if there is one, and the generation, without the lock: the
    /// calibration begins anew. `false` if the version was replaced meanwhile.
    pub(super) fn end_line_unlocked(&self, version: &mut Version, mode: ServingMode) -> bool {
        // No bracket will show the error of readings since the last one.
        let open_ns = if version.has_line() { (2.0 * self.window_ns() as f64 * MAX_SPEEDUP) as u64 } else { 0 };
        let next = version.without_line(mode);
        let is_ended = self.page.end_line_of(version, next);
        if is_ended {
            let largest_ns = self.page.largest_error_ns.load(Ordering::Relaxed);
            self.next_generation(largest_ns.saturating_add(open_ns), None);
        }
        is_ended
    }

    /// Returns the number that changes whenever the calibration is invalidated.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Begins a generation. Its largest error begins with the one in which the generation before
    /// ended, at this time, or at that of the largest before.
    #[cold]
    #[inline(never)]
    pub(super) fn next_generation(&self, error_ns: u64, at_ns: Option<u64>) {
        self.page.largest_error_ns.store(error_ns, Ordering::Relaxed);
        if let Some(at_ns) = at_ns {
            self.page.largest_error_at_ns.store(at_ns, Ordering::Relaxed);
        }
        // The system's statement may be based on the clock that was wrong.
        self.shared.statement.forget();
        self.os.preemption_point();
        self.generation.fetch_add(1, Ordering::Relaxed);
    }
}
