//! Who holds the lock, and for how long: a holder that does not come back loses it.

use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering;

use super::shared::{Guard, Holder};
use super::steering::Steering;
use super::version::{Mode, Version};
use super::{Counter, Demotion, Disciplined, OsClock};

/// Who has held the lock for so long, in ns, does not come back.
const OVERDUE_NS: u64 = 100_000_000;

/// The lock, held: what it guards, and the version that its holder may replace.
pub(super) struct Held<'a> {
    steering: Guard<'a, Steering>,
    pub(super) version: Version,
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// Waits for the lock: for questions, never for readings.
    pub(super) fn with_steering<T>(&self, work: impl Fn(&mut Held<'_>) -> Option<T>) -> Option<T> {
        // The holder is done within microseconds, or is not running: then one turn of a scheduler will do.
        for _ in 0..1000 {
            if let Some(mut held) = self.try_lock() {
                return work(&mut held);
            }
            std::thread::yield_now();
        }
        None
    }

    /// The lock, unless another holds it.
    pub(super) fn try_lock(&self) -> Option<Held<'_>> {
        Some(self.held(self.shared.steering.try_lock().ok()?))
    }

    /// The lock, unless another holds it and may yet come back.
    pub(super) fn lock(&self, os_ns: u64) -> Option<Held<'_>> {
        match self.shared.steering.try_lock() {
            Ok(guard) => Some(self.held(guard)),
            Err(holder) if self.is_overdue(holder, os_ns) => self.take_over(holder),
            Err(_) => None,
        }
    }

    /// Whether this holder was there long ago. Its first witness writes down when that was.
    fn is_overdue(&self, holder: Holder, os_ns: u64) -> bool {
        let page = &self.shared.page;
        if page.awaited.load(Ordering::Acquire) == holder.number() {
            return os_ns.saturating_sub(page.awaited_since_ns.load(Ordering::Relaxed)) > OVERDUE_NS;
        }
        page.awaited_since_ns.store(os_ns, Ordering::Relaxed);
        page.awaited.store(holder.number(), Ordering::Release);
        false
    }

    /// Takes the lock from a holder that does not come back. What that one would publish is in vain from here on, and whatever
    /// it knew is forgotten.
    #[cold]
    pub(super) fn take_over(&self, holder: Holder) -> Option<Held<'_>> {
        if holder.is_last() {
            if self.shared.page.mode() != Mode::Barred(Demotion::Deserted) {
                self.bar(Demotion::Deserted);
            }
            return None;
        }
        let steering = self.shared.steering.take_over(holder).ok()?;
        let epoch = steering.epoch();
        self.shared.page.end_line(|version| version.without_line(version.mode()).in_epoch(epoch));
        self.next_generation();
        Some(self.held(steering))
    }

    fn held<'a>(&self, steering: Guard<'a, Steering>) -> Held<'a> {
        let mut held = Held { steering, version: self.shared.page.version() };
        let generation = self.generation();
        if held.generation != generation {
            *held = held.anew(generation);
        }
        held
    }
}

impl Deref for Held<'_> {
    type Target = Steering;

    fn deref(&self) -> &Steering {
        &self.steering
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Steering {
        &mut self.steering
    }
}
