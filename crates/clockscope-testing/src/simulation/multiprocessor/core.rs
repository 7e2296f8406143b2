//! The state behind its lock, and how one simulated thread gives way to another.
//!
//! Simulated threads are coroutines on one OS thread, which has three consequences. They share
//! thread-local values. One that holds a lock of std's must not give way to another one that takes
//! it. One that unwinds never gives way, because std counts panics by OS thread.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use generator::{Generator, Gn};

use super::state::MachineState;

/// The stack of a simulated thread, in words of the machine that runs the simulation: 1 MiB.
const STACK_WORDS: usize = (1 << 20) / size_of::<usize>();

/// The text of the panic that ended a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked(pub String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the thread panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// The body of a simulated thread.
pub(super) type Body<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

/// State that the machine, its words and its threads share.
#[derive(Debug)]
pub(super) struct Core {
    state: Mutex<MachineState>,
}

impl Core {
    pub(super) fn new(state: MachineState) -> Self {
        Self { state: Mutex::new(state) }
    }

    /// Locks the state. No other thread can hold the lock, since one runs at a time.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, MachineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state when the running thread is not too far ahead of others.
    #[inline]
    pub(super) fn in_turn<'a>(&'a self, state: MutexGuard<'a, MachineState>) -> MutexGuard<'a, MachineState> {
        if state.is_ahead() { self.give_way(state) } else { state }
    }

    /// Lets other threads run. A thread that unwinds does not: one OS thread counts the panics of
    /// all simulated ones.
    #[cold]
    pub(super) fn give_way<'a>(&'a self, state: MutexGuard<'a, MachineState>) -> MutexGuard<'a, MachineState> {
        if thread::panicking() {
            return state;
        }
        drop(state);
        switch();
        self.lock()
    }

    /// Makes the running thread work for so long, and returns the state when it is its turn.
    #[inline]
    pub(super) fn step(&self, ps: u64) -> MutexGuard<'_, MachineState> {
        let mut state = self.lock();
        state.run(ps);
        self.in_turn(state)
    }

    /// Puts the running thread to sleep.
    pub(super) fn sleep(&self, ps: u64) {
        let mut state = self.lock();
        state.fall_asleep(ps);
        loop {
            state = self.in_turn(state);
            if state.wakes() {
                // Who wakes after the end of the simulation must not sleep again.
                return state.run(0);
            }
        }
    }

    /// Makes the running thread spin until this holds.
    pub(super) fn wait_until(&self, mut holds: impl FnMut() -> bool) {
        loop {
            self.lock().watch();
            let is_met = holds();
            let mut state = self.lock();
            if is_met || thread::panicking() {
                return state.stop_watching();
            }
            if state.has_changed() {
                continue;
            }
            if state.is_deadlocked() {
                let trace = state.text();
                state.stop_watching();
                drop(state);
                panic!("deadlock: a thread waits, and no thread can store a word any more\n{trace}");
            }
            state.block();
            self.give_way(state).spin();
        }
    }

    /// Runs all of these as threads until the last one has ended.
    pub(super) fn together<T: Send>(&self, bodies: Vec<Body<'_, T>>) -> Vec<Result<T, Panicked>> {
        let is_alone = self.lock().start(bodies.len());
        assert!(is_alone, "a simulated thread cannot start others");
        let results: Vec<Mutex<Result<T, Panicked>>> =
            bodies.iter().map(|_| Mutex::new(Err(Panicked("the thread has not ended".to_owned())))).collect();
        let mut threads: Vec<Generator<'_, (), ()>> =
            bodies.into_iter().zip(&results).map(|(body, result)| coroutine(body, result)).collect();
        loop {
            let Some(index) = self.lock().choose() else { break };
            let thread = &mut threads[index - 1];
            thread.resume();
            if thread.is_done() {
                self.lock().end();
            }
        }
        drop(threads);
        self.lock().join();
        results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}

/// Returns a coroutine that leaves the result of a body, or the reason of its panic.
fn coroutine<'a, T: Send>(body: Body<'a, T>, result: &'a Mutex<Result<T, Panicked>>) -> Generator<'a, (), ()> {
    Gn::new_opt(STACK_WORDS, move || {
        let ended = catch_unwind(AssertUnwindSafe(body)).map_err(|cause| {
            let text = cause.downcast_ref::<String>().cloned();
            let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Panicked(text.unwrap_or_else(|| "without a text".to_owned()))
        });
        *result.lock().unwrap_or_else(PoisonError::into_inner) = ended;
    })
}

/// Returns to `together`, which chooses the next thread.
#[expect(deprecated, reason = "a scope cannot be passed to where threads give way: in the midst of their reads")]
fn switch() {
    generator::yield_with(());
}
