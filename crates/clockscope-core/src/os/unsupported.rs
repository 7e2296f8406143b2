//! Items that some systems lack, with the signatures of those that have it. A system's folder names
//! what it takes from here.

#![allow(dead_code, unreachable_pub, reason = "each system takes what it lacks")]

use crate::clocksource::ClocksourceName;
use crate::wakeup::Wakeup;
use crate::{Errno, Unavailable};

/// Returns that there are no perf events.
///
/// # Errors
/// Always.
pub fn perf_frequency() -> Result<f64, Unavailable> {
    Err(Unavailable::Missing("only Linux has perf events".into()))
}

/// Returns that nothing is known of the counter's permission.
#[must_use]
pub fn counter_is_permitted() -> Option<bool> {
    None
}

/// Returns that it is not known what the system's clocks are made of.
#[must_use]
pub fn counter_is_clocksource() -> Option<bool> {
    None
}

/// Returns that the system does not say whether it accepts the counter.
#[must_use]
pub fn counter_is_accepted() -> Option<bool> {
    None
}

/// Returns that nothing is known of the system's clocksource.
#[must_use]
pub fn clocksource() -> Option<ClocksourceName> {
    None
}

/// Returns that the CPUs cannot be listed.
///
/// # Errors
/// Always.
pub fn allowed_cpus() -> Result<Vec<u32>, Errno> {
    Err(Errno::UNSUPPORTED)
}

/// Returns that no CPU can be chosen.
///
/// # Errors
/// Always.
pub fn set_allowed_cpus(_: &[u32]) -> Result<(), Errno> {
    Err(Errno::UNSUPPORTED)
}

/// Returns that the CPU is not known.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    None
}

/// Returns that the memory is not wiped: no such promise is known of the system.
///
/// # Safety
/// None is needed.
#[allow(unsafe_code, reason = "the signature of the other backends")]
pub unsafe fn wipe_on_fork<T>(_: &'static T) -> bool {
    false
}

/// Returns that nothing is wiped, because nothing has to be: the system has no fork.
///
/// # Safety
/// None is needed.
#[allow(unsafe_code, reason = "the signature of the other backends")]
pub unsafe fn no_fork<T>(_: &'static T) -> bool {
    true
}

/// Returns 1: there is one process.
#[must_use]
pub fn process() -> u64 {
    1
}

/// Does nothing: there are no such children.
pub fn call_in_child(_: extern "C" fn()) {}

/// Refuses: nothing disables the counter.
///
/// # Errors
/// Always.
pub fn survive_disabled_counter(_: fn()) -> Result<(), Errno> {
    Err(Errno::UNSUPPORTED)
}

/// Does some work: there is no error number that it could change.
pub fn keep_errno<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// A notice that the wall clock was set, which the system does not give.
#[derive(Debug)]
pub struct ClockSet(core::convert::Infallible);

impl ClockSet {
    /// Returns that there is none.
    #[must_use]
    pub fn new() -> Option<Self> {
        None
    }

    /// Is never called.
    #[must_use]
    pub fn wait(&self, _: std::time::Duration) -> Wakeup {
        match self.0 {}
    }

    /// Is never called.
    pub fn wake(&self) {
        match self.0 {}
    }
}
