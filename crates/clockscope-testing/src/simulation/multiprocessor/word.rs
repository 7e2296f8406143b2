//! Words that threads share.

use std::fmt;
use std::sync::Arc;

use super::core::Core;
use super::state::MachineState;

/// Cost of an access where the value is.
const LOCAL_PS: u64 = 1_000;

/// A word in a cache line of its own.
///
/// A store is visible at the storing thread's time. A thread on another CPU that loads the value
/// for the first time waits for its transit. If the loader's time is before the store's, it waits
/// for that, too: no thread sees a value from its future.
pub struct Word {
    core: Arc<Core>,
    index: usize,
}

impl Word {
    pub(super) fn new(core: &Arc<Core>, value: u64) -> Self {
        let index = core.lock().add_word(value);
        Self { core: Arc::clone(core), index }
    }

    /// Returns the value.
    #[must_use]
    pub fn load(&self) -> u64 {
        let mut state = self.core.step(LOCAL_PS);
        let value = state.load_word(self.index);
        drop(self.core.in_turn(state));
        value
    }

    /// Stores a value.
    pub fn store(&self, value: u64) {
        self.core.step(LOCAL_PS).store_word(self.index, value);
    }

    /// Adds to the value, which wraps, and returns the previous one. Takes a transit unless the
    /// word was last used on this CPU alone.
    pub fn fetch_add(&self, more: u64) -> u64 {
        let mut state = self.core.step(LOCAL_PS);
        let value = state.take_word(self.index);
        state.store_word(self.index, value.wrapping_add(more));
        drop(self.core.in_turn(state));
        value
    }

    /// Returns the true time at which the value became visible, in ps. Takes no time.
    #[must_use]
    pub fn stored_ps(&self) -> u128 {
        self.core.lock().words.line(self.index).stored_ps
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Word").field("index", &self.index).finish_non_exhaustive()
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        self.core.lock().words.remove(self.index);
    }
}

impl MachineState {
    fn add_word(&mut self, value: u64) -> usize {
        let index = self.words.add(value, self.cpus);
        let (now_ps, number) = (self.now_ps(), self.thread().number);
        let line = self.words.line(index);
        (line.stored_ps, line.writer) = (now_ps, Some(number));
        index
    }

    fn load_word(&mut self, index: usize) -> u64 {
        self.bring_word(index, false);
        let line = self.words.line(index);
        let (value, version) = (line.value, line.version);
        let thread = self.thread();
        if thread.is_watching {
            thread.observed.push((index, version));
        }
        value
    }

    /// Loads a word that is stored next, in one step.
    fn take_word(&mut self, index: usize) -> u64 {
        // Earlier stores of this thread come first.
        let stored_ps = self.thread().stored_ps;
        self.spin_until(stored_ps);
        self.bring_word(index, true);
        self.words.line(index).value
    }

    /// Waits until the value is here.
    fn bring_word(&mut self, index: usize, alone: bool) {
        let (number, cpu) = (self.thread().number, self.thread().cpu);
        let line = self.words.line(index);
        let is_own = line.writer == Some(number);
        let is_here = if alone { line.is_only_at(cpu) } else { line.is_at(cpu) };
        if is_here && is_own {
            return;
        }
        let stored_ps = if is_own { 0 } else { line.stored_ps };
        line.bring_to(cpu);
        let (shortest, longest) = self.settings.transit_ps;
        let transit_ps = if is_here {
            0
        } else {
            self.random.between(shortest, longest.saturating_add(1)) + self.detours_ps[cpu as usize]
        };
        let come_ps = self.now_ps().max(stored_ps) + u128::from(transit_ps);
        self.spin_until(come_ps);
    }

    /// Stores are visible in the order in which the thread made them, and none before the store
    /// that it replaces.
    fn store_word(&mut self, index: usize, value: u64) {
        let (now_ps, number, cpu) = (self.now_ps(), self.thread().number, self.thread().cpu);
        let line = self.words.line(index);
        let stored_ps = now_ps.max(self.threads[self.running].stored_ps).max(line.stored_ps);
        line.store(value, stored_ps, number, cpu);
        self.thread().stored_ps = stored_ps;
        self.wake_watchers(index, stored_ps);
    }
}
