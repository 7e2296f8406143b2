//! Systems that this crate does not know yet: only the clocks of Rust's standard library are read
//! there.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::civil::KernelClockState;
use crate::woken::Woken;
use crate::{Errno, Unavailable};

/// There are no perf events.
///
/// # Errors
/// Always.
pub fn perf_frequency() -> Result<f64, Unavailable> {
    Err(Unavailable::Missing("only Linux has perf events".into()))
}

/// Nothing is known of the counter's permission.
#[must_use]
pub fn counter_is_permitted() -> Option<bool> {
    None
}

/// Nothing is known of the system's clocksource.
#[must_use]
pub fn counter_is_clocksource() -> Option<bool> {
    None
}

/// Nothing is known of the system's clocksource.
#[must_use]
pub fn clocksource() -> Option<String> {
    None
}

/// The CPUs are unknown.
///
/// # Errors
/// Always.
pub fn allowed_cpus() -> Result<Vec<u32>, Errno> {
    Err(Errno::UNSUPPORTED)
}

/// No CPU can be chosen.
///
/// # Errors
/// Always.
pub fn set_allowed_cpus(_: &[u32]) -> Result<(), Errno> {
    Err(Errno::UNSUPPORTED)
}

/// Not known.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    None
}

/// The standard library's monotonic clock, from the first call on.
#[derive(Debug)]
pub struct Timeline(());

impl Timeline {
    /// The clock.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        Self(())
    }

    /// The time in ns.
    ///
    /// # Errors
    /// None.
    pub fn now_ns(&self) -> Result<u64, Errno> {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        Ok(ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64)
    }

    /// The standard library's wall clock in ns since the Unix epoch.
    ///
    /// # Errors
    /// None.
    pub fn wall_ns(&self) -> Result<i64, Errno> {
        Ok(unix_ns() as i64)
    }

    /// It is.
    #[must_use]
    pub fn is_monotonic(&self) -> bool {
        true
    }

    /// Nothing is stated.
    #[must_use]
    pub fn tick_ns(&self, _: bool) -> u64 {
        1
    }

    /// Not known.
    #[must_use]
    pub fn suspended_ns(&self) -> Option<u64> {
        None
    }

    /// Not announced.
    #[must_use]
    pub fn raw_ns(&self) -> Option<u64> {
        None
    }

    /// Not announced.
    #[must_use]
    pub fn disruptions(&self) -> Option<u64> {
        None
    }

    /// Not known.
    #[must_use]
    pub fn current_cpu(&self) -> Option<u32> {
        None
    }

    /// There is nothing to prepare.
    pub fn prepare(&self, _: bool) {}

    /// The clock is another one than the counter's.
    pub fn counter_is_disabled(&self) {}
}

/// Nothing can be wiped.
///
/// # Safety
/// None is needed.
#[allow(unsafe_code, reason = "the signature of the other backends")]
pub unsafe fn wipe_on_fork<T>(_: &'static T) -> bool {
    true
}

/// There are no such children.
pub fn call_in_child(_: extern "C" fn()) {}

/// Nothing disables the counter.
///
/// # Errors
/// Always.
pub fn survive_disabled_counter(_: fn()) -> Result<(), Errno> {
    Err(Errno::UNSUPPORTED)
}

/// Civil time, whose error nobody states.
///
/// # Errors
/// None.
pub fn civil() -> Result<KernelClockState, Errno> {
    Ok(KernelClockState::unsynchronized(unix_ns()))
}

/// The wall clock in ns since the Unix epoch, negative before it.
fn unix_ns() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// There is no errno to be kept.
pub fn keep_errno<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Nothing says that the wall clock was set.
#[derive(Debug)]
pub struct ClockSet(core::convert::Infallible);

impl ClockSet {
    /// There is none.
    #[must_use]
    pub fn new() -> Option<Self> {
        None
    }

    /// Never called.
    #[must_use]
    pub fn wait(&self, _: std::time::Duration) -> Woken {
        match self.0 {}
    }

    /// Never called.
    pub fn wake(&self) {
        match self.0 {}
    }
}
