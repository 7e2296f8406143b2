//! All that threads share and that a forked child must forget; and the lock in it, which is tried and never waited for:
//! who does not get it has another way to answer.

#![allow(unsafe_code, reason = "handing out a mutable reference to what the lock guards")]

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};

#[cfg(not(loom))]
use super::line::Line;
#[cfg(not(loom))]
use super::page::Mode;
use super::page::Page;
use super::steering::Steering;
use super::sync::{AtomicU32, Ordering};

/// The shared state. All zero is the state before the first use, if it is one of the OS clock.
///
/// Pages of its own, so that the kernel can wipe them in a forked child: a lock that another thread held while the
/// process forked would never be released there.
#[cfg_attr(not(loom), repr(C, align(4096)))]
pub(crate) struct Shared<S> {
    /// Here for the sake of who calls rarely: what such a call reads lies side by side.
    pub(super) os: S,
    pub(super) page: Page,
    pub(super) steering: TryLock<Steering>,
}

impl<S> Shared<S> {
    #[cfg(not(loom))]
    pub(super) const fn new(os: S) -> Self {
        Self { os, page: Page::new(), steering: TryLock::new(Steering::ZERO) }
    }

    #[cfg(loom)]
    pub(super) fn new(os: S) -> Self {
        Self { os, page: Page::new(), steering: TryLock::new(Steering::ZERO) }
    }

    /// Forgets all but the floor and the OS clock, where the kernel cannot wipe the memory.
    ///
    /// # Safety
    /// No other thread may be there: the caller is a child that was just forked.
    #[cfg(not(loom))]
    pub(crate) unsafe fn forget(&self) {
        // SAFETY: whoever held the lock is not there any more.
        unsafe { self.steering.break_open(Steering::ZERO) };
        self.page.publish(&Line::default());
        self.page.set_mode(Mode::New);
    }
}

/// A value behind a lock. All-zero memory is an unlocked one if it is a valid `T`.
#[repr(C)]
pub(super) struct TryLock<T> {
    locked: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reachable only through `Guard`, of which the flag lets one exist at a time; taking the lock
// acquires what releasing it released.
unsafe impl<T: Send> Sync for TryLock<T> {}

/// The lock, held.
pub(super) struct Guard<'a, T> {
    lock: &'a TryLock<T>,
}

impl<T> TryLock<T> {
    #[cfg(not(loom))]
    const fn new(value: T) -> Self {
        Self { locked: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    #[cfg(loom)]
    fn new(value: T) -> Self {
        Self { locked: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Takes the lock from whoever holds it, and puts `value` in place of what it guarded.
    ///
    /// # Safety
    /// No guard may be in use, now or later: its thread is gone.
    #[cfg(not(loom))]
    unsafe fn break_open(&self, value: T) {
        // SAFETY: the caller's promise: nobody else refers to the value.
        unsafe { *self.value.get() = value };
        self.locked.store(0, Ordering::Release);
    }

    /// The lock, unless another holds it. Never waits, so it may be called in a signal handler.
    pub(super) fn try_lock(&self) -> Option<Guard<'_, T>> {
        // Looked at first: a failed exchange would take the cache line from the holder.
        let free = self.locked.load(Ordering::Relaxed) == 0
            && self.locked.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Made only when it is free: dropping a guard unlocks.
        free.then(|| Guard { lock: self })
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, so nobody holds a mutable reference.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one and borrowed mutably, so there is no other reference.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.locked.store(0, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let lock = TryLock::new(7);
        let mut guard = lock.try_lock().unwrap();
        assert!(lock.try_lock().is_none());
        *guard += 1;
        drop(guard);
        assert_eq!(*lock.try_lock().unwrap(), 8);
    }

    #[test]
    fn what_it_guards_is_not_torn() {
        let lock = TryLock::new((0u64, 0u64));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        if let Some(mut guard) = lock.try_lock() {
                            assert_eq!(guard.0, guard.1);
                            guard.0 += 1;
                            guard.1 += 1;
                        }
                    }
                });
            }
        });
    }
}
