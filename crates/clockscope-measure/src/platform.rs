//! The interface between questions and machines: clocks, CPUs and threads, calls that sleep, facts.
//!
//! Questions reach all of these through a [`Platform`], which has a trait for each of the four.
//! [`ThisMachine`] is the real one; tests bring simulated ones, whose true time they know.
//! Platforms are type parameters, so a timed loop is compiled for the clock in it.

pub(crate) mod failure_reason;
mod this_machine;
mod thread_error;

use std::sync::atomic::Ordering;

use clockscope_records::checks::HypervisorStatement;
use clockscope_records::{Adjtimex, Environment, Figure, KernelVerdict, Synchronization};
use clockscope_system::account;
use clockscope_system::adjtimex::AdjtimexError;
use clockscope_system::affinity::AffinityError;
use clockscope_system::child_read::{Outcome, SeveralThreads};
use clockscope_system::sleeping::{Call, SleepError};
use clockscope_system::{Errno, RawClock, Unavailable, Visitor};

pub use this_machine::ThisMachine;
pub use thread_error::ThreadError;

/// A clock that others are timed with, or judged against.
pub trait ReferenceClock: RawClock + Clone {
    /// Its name, as records have it.
    fn name(&self) -> &str;

    /// The step that it moves in, in ns; 0 for one that is finer than what is judged by it.
    fn tick_ns(&self) -> f64;

    /// Returns true if the kernel's vDSO reads it.
    fn is_vdso(&self) -> bool;

    /// Returns true if a time daemon may steer it.
    fn is_steered(&self) -> bool;
}

/// A word that threads share.
pub trait SharedWord: Send + Sync {
    /// Its value.
    fn load(&self, ordering: Ordering) -> u64;

    /// Gives it another value.
    fn store(&self, value: u64, ordering: Ordering);

    /// Adds to it, wrapping, and returns what it was.
    fn fetch_add(&self, value: u64, ordering: Ordering) -> u64;
}

/// Calls that sleep, with what they need.
pub trait SleepingCalls {
    /// Sleeps for `ns` nanoseconds. `monotonic_ns` is what CLOCK_MONOTONIC shows now. A signal may
    /// end it early.
    ///
    /// # Errors
    /// The call failed, or cannot sleep for so long.
    fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError>;
}

/// The clocks of a machine.
pub trait Clocks {
    /// The counter, read in order.
    type Counter: ReferenceClock;
    /// A clock that others are judged against.
    type Reference: ReferenceClock;

    /// Shows the counter in all its reading sequences; the cheapest comes first.
    fn counters(&self, visitor: &mut impl Visitor);

    /// Shows all other clocks. Reads none.
    fn clocks(&self, visitor: &mut impl Visitor);

    /// The counter's ordered read.
    ///
    /// # Errors
    /// There is none.
    fn ordered_counter(&self) -> Result<Self::Counter, Unavailable>;

    /// Clocks that others are judged against, the best first.
    fn references(&self) -> Vec<Self::Reference>;

    /// Attempts the items 0 to `count` - 1, where one that kills its process or does not return
    /// within `timeout_ms` harms nobody.
    ///
    /// # Errors
    /// The process has more than one thread, so that nothing can be attempted.
    fn attempt(
        &self,
        count: usize,
        timeout_ms: i32,
        read: &mut dyn FnMut(usize) -> Result<(), Errno>,
    ) -> Result<Vec<Outcome>, SeveralThreads>;

    /// The time of day for stamping a record: seconds since 1970. `None` where there is none.
    fn unix_seconds(&self) -> Option<u64>;
}

/// The CPUs of a machine, and threads on them. What concerns a thread concerns the calling one.
pub trait Threads: Send + Sync {
    /// A word that threads share.
    type Word: SharedWord;
    /// A thread that is bound to a CPU until this is dropped.
    type Pinned;

    /// CPUs that the thread may run on, ascending.
    ///
    /// # Errors
    /// The system refuses, or has no affinity.
    fn allowed_cpus(&self) -> Result<Vec<u32>, AffinityError>;

    /// The CPU that the thread runs on; `None` where the system does not show it.
    fn current_cpu(&self) -> Option<u32>;

    /// Binds the thread to a CPU until the answer is dropped, which gives it its former CPUs back.
    ///
    /// # Errors
    /// The CPU does not exist, is not allowed, or the system refuses.
    fn pin(&self, cpu: u32) -> Result<Self::Pinned, AffinityError>;

    /// Binds the thread to a CPU for the rest of its life.
    ///
    /// # Errors
    /// The CPU does not exist, or the system refuses.
    fn bind(&self, cpu: u32) -> Result<(), AffinityError>;

    /// Runs each of these on a thread of its own, all at once, until all have ended. A body that is
    /// not run is dropped.
    ///
    /// # Errors
    /// Each on its own: no thread can be started, or the body panicked.
    fn together<T: Send>(&self, bodies: Vec<impl FnOnce() -> T + Send>) -> Vec<Result<T, ThreadError>>;

    /// A word of this value.
    fn word(&self, value: u64) -> Self::Word;

    /// Spins until something holds that another thread makes hold by a word. Returns whether that
    /// took long: one of the two threads has lost its CPU.
    fn wait_until(&self, holds: impl FnMut() -> bool) -> bool;

    /// Account of the thread until now.
    fn thread_account(&self) -> account::ThreadAccount;

    /// Time for which the thread has waited for a CPU, in ns; `None` where it is not counted.
    fn thread_wait_ns(&self) -> Option<u64>;

    /// Account of a CPU until now.
    fn cpu_account(&self, cpu: u32) -> account::CpuAccount;
}

/// Facts about a machine.
pub trait Facts {
    /// Facts about the machine as it is now.
    fn environment(&self) -> Environment;

    /// Returns how the kernel steers its clock.
    ///
    /// # Errors
    /// The state is unknown.
    fn adjtimex(&self) -> Result<Adjtimex, AdjtimexError>;

    /// Returns the correction by which the kernel states that it steers its clock, in ppm, and
    /// reads no clock.
    fn steering_ppm(&self) -> Option<f64> {
        self.adjtimex().ok().map(|kernels| kernels.steering_ppm())
    }

    /// Returns what keeps the time of day.
    fn synchronization(&self) -> Synchronization;

    /// Returns the libraries that were preloaded into this process, or are into all.
    fn preloaded(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns true if the processor says that its counter counts at one rate; `None` where it does
    /// not say.
    fn is_invariant(&self) -> Option<bool>;

    /// The hypervisor's statement on the counter; `None` without a hypervisor, or if it says
    /// nothing.
    fn hypervisor_statement(&self) -> Option<HypervisorStatement>;

    /// The kernel's verdict on the counter.
    fn kernel_verdict(&self, environment: &Environment) -> KernelVerdict;
}

/// Waits of the calling thread.
pub trait Sleeps {
    /// The calls that sleep.
    type Sleeper: SleepingCalls;

    /// Sleeps for about `ns` nanoseconds, or for less: a signal or a limit of the platform ends it.
    fn sleep(&self, ns: u64);

    /// Calls that sleep, by name.
    fn sleeping_calls(&self) -> &'static [Call];

    /// Returns what makes the calls that sleep.
    fn sleeper(&self) -> Self::Sleeper;

    /// The thread's timer slack in ns, by which the kernel may wake it late on purpose; `None`
    /// where the kernel does not show it.
    fn timer_slack_ns(&self) -> Option<u64>;

    /// Waits for `ns` by reading the library's clock.
    fn spin(&self, ns: u64);

    /// Largest error of an interval by the library's clock, in ns.
    fn spin_error_ns(&self) -> u64;
}

/// A machine that can be asked.
pub trait Platform: Clocks + Threads + Facts + Sleeps + Sized + 'static {}

impl<P: Clocks + Threads + Facts + Sleeps + Sized + 'static> Platform for P {}

/// Returns how the kernel steers its clock, or why that is not known.
pub fn steering(platform: &impl Facts) -> Figure<Adjtimex> {
    platform.adjtimex().map_err(|error| error.to_string()).into()
}
