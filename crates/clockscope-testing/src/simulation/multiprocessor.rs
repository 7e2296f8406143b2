//! A machine of several CPUs and several threads, on one true time.
//!
//! Each simulated thread has its own time. One runs at a time, on one OS thread. It may run ahead
//! of the others by a time that is drawn anew at each switch; then the thread that is the furthest
//! behind goes on. The order is a function of the seed, so readings are, too.

mod change;
mod core;
mod memory;
mod state;
mod thread;
mod trace;
mod turns;
mod word;
mod world;

use std::sync::Arc;

use self::core::{Body, Core};
use self::state::MachineState;
use crate::simulation::clock::{ClockId, Refused, SimulatedClock};
use crate::simulation::counter::SimulatedCounter;
use crate::simulation::scheduler::Load;

pub use self::change::Change;
pub use self::core::Panicked;
pub use self::state::SimulatedCpuAccount;
pub use self::thread::SimulatedThreadAccount;
pub use self::trace::Lost;
pub use self::turns::Offline;
pub use self::word::Word;

/// Cost of a read, and how ordered it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCost {
    /// Duration of a read; half of that before the value is taken, unless the machine is set
    /// otherwise.
    pub ps: u64,
    /// Longest time before its place in the program at which the value may be taken; 0 for an
    /// ordered read.
    pub early_ps: u64,
}

impl ReadCost {
    /// An ordered read that takes `ps`.
    #[must_use]
    pub const fn ordered(ps: u64) -> Self {
        Self { ps, early_ps: 0 }
    }

    /// A read that takes `ps`, and whose value may be up to `early_ps` older than its place in the
    /// program.
    #[must_use]
    pub const fn unordered(ps: u64, early_ps: u64) -> Self {
        Self { ps, early_ps }
    }
}

/// A machine of several CPUs.
///
/// One OS thread drives it at a time. All methods that name no thread are about the simulated
/// thread that calls them. Two threads on one CPU run at once, as if it had two cores.
///
/// ```
/// use clockscope_testing::simulation::{SimulatedCounter, Multiprocessor, Offline, ReadCost};
///
/// let machine = Multiprocessor::new(SimulatedCounter::new(1e9, 0), 2, 7);
/// let word = machine.word(0);
/// let read = || machine.read_counter(ReadCost::ordered(20_000));
/// let ended = machine.together(vec![
///     Box::new(|| {
///         machine.bind(0)?;
///         let sent = read();
///         word.store(sent);
///         Ok(sent)
///     }) as Box<dyn FnOnce() -> Result<u64, Offline> + Send>,
///     Box::new(|| {
///         machine.bind(1)?;
///         machine.wait_until(|| word.load() > 0);
///         Ok(read())
///     }),
/// ]);
/// let [Ok(Ok(sent)), Ok(Ok(received))] = &ended[..] else { panic!("{}", machine.trace()) };
/// assert!(sent <= received);
/// ```
#[derive(Debug)]
pub struct Multiprocessor {
    core: Arc<Core>,
}

impl Multiprocessor {
    /// Returns a machine with this counter and no other clock, whose CPUs have nothing else to do.
    #[must_use]
    pub fn new(counter: SimulatedCounter, cpus: u32, seed: u64) -> Arc<Self> {
        Arc::new(Self { core: Arc::new(Core::new(MachineState::new(counter, cpus.max(1), seed))) })
    }

    /// Adds a clock.
    pub fn add(&self, clock: SimulatedClock) -> ClockId {
        self.core.lock().add_clock(&clock)
    }

    /// Gives a CPU other things to do from now on. Its `cpus` are ignored: a thread may migrate to
    /// any CPU of the machine unless it is bound.
    pub fn set_load(&self, cpu: u32, load: Load) {
        let now_ps = self.now_ps();
        self.at(now_ps, Change::SetLoad { cpu, load });
    }

    /// Makes reads longer by this share of their cost, on average.
    pub fn set_jitter(&self, share: f64) {
        self.core.lock().settings.jitter = share;
    }

    /// Sets the shares of a read's cost between which its value is taken: in the middle by default.
    pub fn set_taken(&self, from: f64, until: f64) {
        self.core.lock().settings.taken = (from.clamp(0.0, 1.0), until.clamp(0.0, 1.0));
    }

    /// Returns the true time at which the value of the last read was taken, in ps. Takes no time.
    #[must_use]
    pub fn taken_ps(&self) -> u128 {
        self.core.lock().taken_ps
    }

    /// Sets how long a word's new value takes to another CPU: 40 to 120 ns by default.
    pub fn set_transit_ps(&self, shortest: u64, longest: u64) {
        self.core.lock().settings.transit_ps = (shortest, longest);
    }

    /// Sets the additional transit time of words to this CPU: a way that is longer in one direction
    /// than in the other.
    pub fn set_detour_ps(&self, cpu: u32, ps: u64) {
        if let Some(detour_ps) = self.core.lock().detours_ps.get_mut(cpu as usize) {
            *detour_ps = ps;
        }
    }

    /// Sets how late sleepers wake: 2 to 60 µs by default.
    pub fn set_lateness_ps(&self, shortest: u64, longest: u64) {
        self.core.lock().settings.lateness_ps = (shortest, longest);
    }

    /// Sets how far a thread may run ahead of the others: up to 1 µs by default.
    pub fn set_lookahead_ps(&self, longest: u64) {
        self.core.lock().settings.lookahead_ps = longest;
    }

    /// Sets the step in which steal time is counted: 10 ms by default, as Linux does.
    pub fn set_steal_step_ns(&self, ns: u64) {
        self.core.lock().settings.steal_step_ns = ns;
    }

    /// Ends the simulation at a true time: a thread that works on after that panics with the
    /// [trace](Multiprocessor::trace). Loops that wait for a frozen clock end by that. There is no
    /// such time by default.
    pub fn set_end_ps(&self, ps: u128) {
        let mut state = self.core.lock();
        state.settings.end_ps = ps;
        state.forget_quiet();
    }

    /// Schedules a change at a true time. It happens then, or if a running thread is past that
    /// time, as soon as all are.
    pub fn at(&self, ps: u128, change: Change) {
        self.core.lock().at(ps, change);
    }

    /// Returns the thread's true time since the machine began, in ps.
    #[must_use]
    pub fn now_ps(&self) -> u128 {
        self.core.lock().now_ps()
    }

    /// Returns the CPU that the thread runs on.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.core.lock().thread().cpu
    }

    /// Returns the number of CPUs, including those that are offline.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.core.lock().cpus
    }

    /// Returns whether a CPU is there now.
    #[must_use]
    pub fn is_online(&self, cpu: u32) -> bool {
        self.core.lock().is_online(cpu)
    }

    /// Returns the number of the thread: 0 for the one that calls [`Multiprocessor::together`].
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.core.lock().thread().number
    }

    /// Binds the thread to a CPU, which takes some µs.
    ///
    /// # Errors
    /// The CPU is not there.
    pub fn bind(&self, cpu: u32) -> Result<(), Offline> {
        let mut state = self.core.lock();
        let bound = state.bind(cpu);
        drop(self.core.in_turn(state));
        bound
    }

    /// Lets the thread run on all CPUs, which takes some µs.
    pub fn unbind(&self) {
        let mut state = self.core.lock();
        state.unbind();
        drop(self.core.in_turn(state));
    }

    /// Reads the counter on the CPU that the thread runs on.
    pub fn read_counter(&self, cost: ReadCost) -> u64 {
        let mut state = self.core.lock();
        let (at_ps, cpu) = state.begin_read(cost.ps, cost.early_ps);
        let value = state.history.at(at_ps).counter.read(at_ps, cpu);
        state.end_read(cost.ps);
        drop(self.core.in_turn(state));
        value
    }

    /// Reads a clock, in ns.
    ///
    /// # Errors
    /// It refuses.
    ///
    /// # Panics
    /// There is no such clock.
    pub fn read_clock(&self, clock: ClockId, cost: ReadCost) -> Result<u64, Refused> {
        let mut state = self.core.lock();
        let (at_ps, cpu) = state.begin_read(cost.ps, cost.early_ps);
        let counted = state.history.at(at_ps).clocks[clock].counted();
        let counted_ps = state.counted_ps(counted, at_ps);
        let world = state.history.at(at_ps);
        let value = world.clocks[clock].read(counted_ps, cpu, &world.counter);
        state.end_read(cost.ps);
        drop(self.core.in_turn(state));
        value
    }

    /// Lets the thread work for so long, or longer if it loses its CPU meanwhile.
    pub fn work_ps(&self, ps: u64) {
        drop(self.core.step(ps));
    }

    /// Lets the thread sleep, and wake late.
    pub fn sleep_ps(&self, ps: u64) {
        self.core.sleep(ps);
    }

    /// Returns a new word that threads can share.
    #[must_use]
    pub fn word(&self, value: u64) -> Word {
        Word::new(&self.core, value)
    }

    /// Lets the thread spin until this holds, which may change only when a word is stored.
    ///
    /// While a panic unwinds, it returns at once.
    ///
    /// # Panics
    /// It does not hold, and no thread can store a word any more.
    pub fn wait_until(&self, holds: impl FnMut() -> bool) {
        self.core.wait_until(holds);
    }

    /// Runs each of these on a thread of its own, and returns what they return when all have ended.
    ///
    /// A thread must not hold a lock of std's that another one takes, while it uses the machine:
    /// all of them share one OS thread.
    ///
    /// # Errors
    /// Each on its own: the thread panicked.
    ///
    /// # Panics
    /// It was called by such a thread.
    pub fn together<T: Send>(&self, bodies: Vec<Body<'_, T>>) -> Vec<Result<T, Panicked>> {
        self.core.together(bodies)
    }

    /// Returns what the system counted of the thread. Takes no time.
    #[must_use]
    pub fn account(&self) -> SimulatedThreadAccount {
        let mut state = self.core.lock();
        let thread = state.thread();
        SimulatedThreadAccount { cpu: thread.cpu, ..thread.account }
    }

    /// Returns what the system counted of a CPU. Takes no time. Figures of a CPU on which another
    /// thread runs may be ahead.
    #[must_use]
    pub fn cpu_account(&self, cpu: u32) -> SimulatedCpuAccount {
        self.core.lock().cpu_account(cpu)
    }

    /// Returns all times in which simulated threads did not run although they would have.
    #[must_use]
    pub fn taken(&self) -> Vec<Lost> {
        self.core.lock().lost.clone()
    }

    /// Returns the counter's true value on a CPU at a true time: without steps, wraps and glitches.
    /// Changes up to that time count, including those that are scheduled.
    #[must_use]
    pub fn true_counter(&self, ps: u128, cpu: u32) -> u64 {
        self.core.lock().observe(ps, |world| world.counter.truth(ps, cpu))
    }

    /// Returns a clock's true time in ps at a true time, as above.
    ///
    /// # Panics
    /// There is no such clock.
    #[must_use]
    pub fn true_clock_ps(&self, clock: ClockId, ps: u128) -> i128 {
        self.core.lock().observe(ps, |world| world.clocks[clock].truth_ps(ps))
    }

    /// Returns what the machine did, line by line, in true time: the beginning and the end of it,
    /// and the longest of the times that threads lost.
    #[must_use]
    pub fn trace(&self) -> String {
        self.core.lock().text()
    }
}

#[cfg(test)]
mod tests;
