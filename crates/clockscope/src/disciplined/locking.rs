//! Takes the lock, and takes it over from a holder that does not return.

use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering;

use super::layers::Locking;
use super::lines::generation::Generation;
use super::lines::state::SteeringState;
use super::page::version::{ServingMode, Version};
use super::process::lock::{Guard, LockState};
use super::{Counter, Demotion, OsClock};

/// Longest time for which a holder has the lock, in ns, before it is considered lost.
const MAX_HELD_NS: u64 = 100_000_000;

/// Attempts of a question to take the lock, with pauses that grow up to this number of turns of a
/// loop: some milliseconds in all.
const TRIES: u32 = 1000;
const MAX_PAUSE_TURNS: u32 = 200;

/// The lock, held: its content, and the version that its holder may replace.
pub(super) struct SteeringGuard<'a> {
    steering: Guard<'a, SteeringState>,
    pub(super) version: Version,
}

impl<C: Counter, S: OsClock> Locking<C, S> {
    /// Waits for the lock: for questions, never for readings. Makes no system call meanwhile but to
    /// read the OS clock, because a confined process may not. Takes the lock over from a lost
    /// holder: a signal handler that asks may have interrupted it, again and again. `None` while
    /// the counter is not used, and while another thread holds the lock.
    pub(super) fn wait_lock(&self) -> Option<SteeringGuard<'_>> {
        if self.page.mode() != ServingMode::Open {
            return None;
        }
        // The holder returns within microseconds, unless it is not running: it may be waiting for
        // this CPU.
        for turn in 0..TRIES {
            if let Some(guard) = self.try_lock() {
                return Some(guard);
            }
            (0..turn.min(MAX_PAUSE_TURNS)).for_each(|_| core::hint::spin_loop());
        }
        self.lock()
    }

    /// The lock, unless another thread holds it.
    pub(super) fn try_lock(&self) -> Option<SteeringGuard<'_>> {
        self.guard(self.shared.steering.try_lock().ok()?)
    }

    /// The lock, unless another thread holds it that is not lost.
    pub(super) fn lock(&self) -> Option<SteeringGuard<'_>> {
        match self.shared.steering.try_lock() {
            Ok(guard) => self.guard(guard),
            Err(state) if self.is_overdue(state) => self.take_over(state),
            Err(_) => None,
        }
    }

    /// Returns true if this holder is lost. The first thread that finds it records the time.
    fn is_overdue(&self, state: LockState) -> bool {
        let page = &self.page;
        // Read now: this thread may have been stopped since its last reading.
        let Ok(os_ns) = self.os_ns() else { return false };
        if !state.is_locked() {
            return false;
        }
        let since_ns = page.awaited_since_ns.load(Ordering::Relaxed);
        if page.awaited.load(Ordering::Acquire) == state.number() && since_ns <= os_ns {
            return os_ns - since_ns > MAX_HELD_NS;
        }
        page.awaited_since_ns.store(os_ns, Ordering::Relaxed);
        page.awaited.store(state.number(), Ordering::Release);
        false
    }

    /// Takes the lock from a lost holder. That thread can publish nothing from now on, and its
    /// state is dropped.
    #[cold]
    pub(super) fn take_over(&self, state: LockState) -> Option<SteeringGuard<'_>> {
        let steering = match self.shared.steering.take_over(state) {
            Ok(steering) => steering,
            Err(same) if same == state && same.is_locked() => {
                self.decide(|mode| match mode {
                    ServingMode::Barred(Demotion::Abandoned | Demotion::OutOfOrder) => None,
                    _ => Some(ServingMode::Barred(Demotion::Abandoned)),
                });
                return None;
            }
            Err(_) => return None,
        };
        let mut version = self.page.version();
        // Unless another thread takes the lock over meanwhile.
        while steering.is_current() {
            let next = version.without_line(version.mode()).in_epoch(steering.epoch());
            if self.page.end_line_of(&mut version, next) {
                self.next_generation(self.page.largest_error_ns.load(Ordering::Relaxed), None);
                let mut guard = SteeringGuard { steering, version };
                guard.restart_next();
                return Some(guard);
            }
            version = self.page.version();
        }
        None
    }

    /// Loads the version for a new holder. Clears the state if another thread than the last holder
    /// has changed the version since. `None` if the lock was taken over meanwhile.
    fn guard<'a>(&self, steering: Guard<'a, SteeringState>) -> Option<SteeringGuard<'a>> {
        self.os.preemption_point();
        let version = self.page.version();
        // A thread that has lost the lock may have loaded the version of its successor.
        if !steering.is_current() {
            return None;
        }
        let mut guard = SteeringGuard { steering, version };
        if !guard.version_left.is_as(version) {
            guard.restart(Generation::NONE);
        }
        Some(guard)
    }
}

impl Drop for SteeringGuard<'_> {
    fn drop(&mut self) {
        self.steering.version_left = self.version;
    }
}

impl Deref for SteeringGuard<'_> {
    type Target = SteeringState;

    fn deref(&self) -> &SteeringState {
        &self.steering
    }
}

impl DerefMut for SteeringGuard<'_> {
    fn deref_mut(&mut self) -> &mut SteeringState {
        &mut self.steering
    }
}
