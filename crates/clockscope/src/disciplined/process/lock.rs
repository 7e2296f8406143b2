//! A lock that threads try and never wait for: every caller can answer without it. A holder that
//! does not return loses the lock.

#![allow(unsafe_code, reason = "handing out a mutable reference to what the lock guards")]

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};

use crate::disciplined::page::sync::{AtomicU64, Ordering, const_fn};
use crate::disciplined::page::version::EPOCHS;

/// Values behind a lock, one an epoch. All-zero memory is an unlocked one if it is a valid `T`.
///
/// A thread that takes the lock over from a lost holder uses another epoch, with another value: the
/// lost holder may still write to its own, which no thread reads before that holder has released
/// it.
#[repr(C)]
pub(crate) struct Lock<T> {
    word: AtomicU64,
    values: [UnsafeCell<T>; EPOCHS],
}

// SAFETY: the value of an epoch is reachable only through a `Guard` of that epoch, of which the
// word lets one exist at a time: no guard is made in an epoch whose holder is lost. Taking the lock
// acquires what all earlier holders released.
unsafe impl<T: Send> Sync for Lock<T> {}

/// The word of a lock: its holder, or the last one.
///
/// The lowest bit is set while the lock is held. Above it is the epoch; then a bit for each epoch
/// whose holder lost the lock and has not returned; then the number of the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockState(u64);

const LOCKED: u64 = 1;
const EPOCH_SHIFT: u32 = 1;
const LOST_SHIFT: u32 = EPOCH_SHIFT + EPOCHS.ilog2();
const ONE_HOLDER: u64 = 1 << (LOST_SHIFT + EPOCHS as u32);

impl LockState {
    fn epoch(self) -> usize {
        (self.0 >> EPOCH_SHIFT) as usize % EPOCHS
    }

    fn is_lost(self, epoch: usize) -> bool {
        self.0 >> LOST_SHIFT >> epoch & 1 != 0
    }

    /// The next holder in the same epoch.
    fn next(self) -> Self {
        Self(self.0.wrapping_add(ONE_HOLDER) | LOCKED)
    }

    /// The next holder in a free epoch; `None` if there is none.
    fn successor(self) -> Option<Self> {
        let free = (0..EPOCHS).find(|epoch| *epoch != self.epoch() && !self.is_lost(*epoch))?;
        let epoch = (self.epoch() ^ free) as u64;
        Some(Self(self.next().0 ^ epoch << EPOCH_SHIFT | 1 << self.epoch() << LOST_SHIFT))
    }

    pub(crate) fn is_locked(self) -> bool {
        self.0 & LOCKED != 0
    }

    /// A number that no other holder has, and never 0.
    pub(crate) fn number(self) -> u64 {
        self.0 / ONE_HOLDER + 1
    }
}

/// The mark of a process: no ancestor and no child has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark(u64);

impl ProcessMark {
    /// Makes the mark of this process. Safe code makes none: two marks would open one lock twice.
    ///
    /// # Safety
    /// `number` is not 0, and no ancestor of this process has used it. All threads of the process
    /// use this mark.
    #[cfg(not(clockscope_models))]
    pub(crate) const unsafe fn new(number: u64) -> Self {
        Self(number)
    }

    /// Makes a mark for a test that keeps the rules of [`ProcessMark::new`].
    #[cfg(test)]
    pub(crate) const fn for_test(number: u64) -> Self {
        Self(number)
    }

    /// Returns its number, which is not 0.
    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

/// A value behind a lock of one process's threads. A forked child takes it from a thread of the
/// parent, which is not in the child.
#[repr(C)]
pub(crate) struct ProcessLock<T> {
    /// The mark of the process that holds it; 0 for none.
    holder: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reachable only through a `ProcessGuard`, of which the word lets one exist at
// a time among the threads of a process: all use one mark, as `ProcessMark::new` demands. Taking
// the lock acquires what the last holder released.
unsafe impl<T: Send> Sync for ProcessLock<T> {}

/// The lock of a process, held by a thread of the one that has this mark.
pub(crate) struct ProcessGuard<'a, T> {
    lock: &'a ProcessLock<T>,
    mark: ProcessMark,
}

impl<T> ProcessLock<T> {
    pub(crate) const fn new(holder: AtomicU64, value: T) -> Self {
        Self { holder, value: UnsafeCell::new(value) }
    }

    /// The lock for a thread of the process that has this mark. Never waits.
    pub(crate) fn try_lock(&self, mark: ProcessMark) -> Option<ProcessGuard<'_, T>> {
        let holder = self.holder.load(Ordering::Relaxed);
        if holder == mark.0 {
            return None;
        }
        self.holder.compare_exchange(holder, mark.0, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(ProcessGuard { lock: self, mark })
    }
}

impl<T> Deref for ProcessGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the only guard in this process, whose memory is its own.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for ProcessGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for ProcessGuard<'_, T> {
    #[inline(never)]
    fn drop(&mut self) {
        // Unless this is a parent's, which a fork in a signal handler has brought into the child.
        let _ = self.lock.holder.compare_exchange(self.mark.0, 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// The lock, held.
pub(crate) struct Guard<'a, T> {
    lock: &'a Lock<T>,
    state: LockState,
}

impl<T: Copy> Lock<T> {
    const_fn! {
        /// The lock of a value, free.
        pub(crate) fn new(value: T) -> Self {
            // One by one: `[..; EPOCHS]` would copy a cell.
            Self { word: AtomicU64::new(0), values: [UnsafeCell::new(value), UnsafeCell::new(value)] }
        }
    }

    /// Takes the lock from its holder, if any, and replaces what it guarded by `value`.
    ///
    /// # Safety
    /// No guard may be in use, now or later: its thread is gone.
    #[cfg(not(clockscope_models))]
    pub(crate) unsafe fn break_open(&self, value: T) {
        for cell in &self.values {
            // SAFETY: the caller's promise: there is no other reference to the value.
            unsafe { *cell.get() = value };
        }
        self.word.store(0, Ordering::Release);
    }

    /// The lock, or its holder. Never waits, so it may be called in a signal handler.
    pub(crate) fn try_lock(&self) -> Result<Guard<'_, T>, LockState> {
        // Loaded first: a failed exchange would take the cache line from the holder.
        let free = self.state();
        if free.is_locked() { Err(free) } else { self.exchange(free, free.next()) }
    }

    /// The lock, taken from a lost holder; or its holder now. The value may be that of an earlier
    /// epoch, whose holder returned late.
    pub(crate) fn take_over(&self, from: LockState) -> Result<Guard<'_, T>, LockState> {
        match from.successor() {
            Some(to) if from.is_locked() => self.exchange(from, to),
            _ => Err(from),
        }
    }

    /// Returns true if there is an epoch for another holder.
    pub(crate) fn has_room(&self) -> bool {
        self.state().successor().is_some()
    }

    fn state(&self) -> LockState {
        LockState(self.word.load(Ordering::Relaxed))
    }

    fn exchange(&self, from: LockState, to: LockState) -> Result<Guard<'_, T>, LockState> {
        match self.word.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Ok(Guard { lock: self, state: to }),
            Err(now) => Err(LockState(now)),
        }
    }
}

impl<T> Guard<'_, T> {
    pub(crate) fn epoch(&self) -> usize {
        self.state.epoch()
    }

    /// Returns true if the lock was not taken over from this guard.
    pub(crate) fn is_current(&self) -> bool {
        LockState(self.lock.word.load(Ordering::Acquire)).number() == self.state.number()
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one of its epoch, so there is no mutable reference.
        unsafe { &*self.lock.values[self.epoch()].get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one of its epoch and borrowed mutably, so there is no
        // other reference.
        unsafe { &mut *self.lock.values[self.epoch()].get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(never)]
    fn drop(&mut self) {
        // Meanwhile other lost holders may have returned, too.
        let _ = self.lock.word.fetch_update(Ordering::Release, Ordering::Relaxed, |word| {
            let is_current = LockState(word).number() == self.state.number();
            Some(word & !if is_current { LOCKED } else { 1 << self.epoch() << LOST_SHIFT })
        });
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;

    /// One thread of a process has it at a time; and another process takes it from one.
    #[test]
    #[cfg(not(clockscope_models))]
    fn the_lock_of_a_process_is_one_threads() {
        let lock = ProcessLock::new(AtomicU64::new(0), 0u64);
        let [parent, child, grandchild] = [1, 2, 3].map(ProcessMark::for_test);
        let held = lock.try_lock(parent).unwrap();
        assert!(lock.try_lock(parent).is_none());
        let other = lock.try_lock(child).unwrap();
        drop(held);
        assert!(lock.try_lock(child).is_none(), "a parent's guard gives nothing back");
        drop(other);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut turns = 0;
                    while turns < 50_000 {
                        if let Some(mut value) = lock.try_lock(grandchild) {
                            (*value, turns) = (*value + 1, turns + 1);
                        }
                    }
                });
            }
        });
        assert_eq!(*lock.try_lock(grandchild).unwrap(), 100_000);
    }

    fn lock() -> Lock<(u64, u64)> {
        Lock::new((0, 0))
    }

    #[test]
    fn one_at_a_time() {
        let lock = lock();
        let mut guard = lock.try_lock().ok().unwrap();
        assert!(lock.try_lock().is_err());
        guard.0 += 8;
        drop(guard);
        assert_eq!(lock.try_lock().ok().unwrap().0, 8);
    }

    #[test]
    fn an_owner_that_comes_back_late_harms_nobody() {
        let lock = lock();
        for round in 0..20 {
            let mut away = Vec::new();
            for _ in 0..EPOCHS - 1 {
                away.push(lock.try_lock().ok().unwrap());
                let state = lock.try_lock().err().unwrap();
                let mut guard = lock.take_over(state).ok().unwrap();
                assert!(lock.take_over(state).is_err(), "it is taken over once");
                assert!(guard.is_current() && !away.iter().any(Guard::is_current));
                assert!(away.iter().all(|away| away.epoch() != guard.epoch()));
                guard.0 = round;
                away.iter_mut().for_each(|away| away.0 = 7777);
                assert_eq!(guard.0, round);
            }
            let last = lock.try_lock().ok().unwrap();
            let state = lock.try_lock().err().unwrap();
            assert!(lock.take_over(state).is_err() && !lock.has_room(), "there is room for no more");
            drop(away);
            assert!(lock.has_room() && lock.try_lock().is_err(), "what the late ones release is not held");
            drop(last);
            assert!(lock.try_lock().is_ok());
        }
    }

    #[test]
    fn what_it_guards_is_not_torn() {
        let lock = lock();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        if let Ok(mut guard) = lock.try_lock() {
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
