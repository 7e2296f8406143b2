//! Systems whose clocks this crate does not know yet: only those of Rust's standard library are read there.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::civil_state::State;
use crate::{Errno, RawClock, Unavailable, Visitor};

/// The standard library's monotonic clock: the only one that is known here.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    origin: Instant,
}

impl RawClock for Reference {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        *raw = self.origin.elapsed().as_nanos() as u64;
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

/// The one reference, which counts from this call on.
#[must_use]
pub fn references() -> Vec<Reference> {
    vec![Reference { origin: Instant::now() }]
}

impl Reference {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        "rust_instant"
    }

    /// Its tick in ns; 0, because nothing is stated.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        0.0
    }
}

/// Seconds since 1970 in UTC; `None` for a clock set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

pub(super) fn each(_: &mut impl Visitor) {}

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

/// The CPUs cannot be told.
///
/// # Errors
/// Always.
pub fn allowed_cpus() -> Result<Vec<u32>, Errno> {
    Err(Errno(0))
}

/// No CPU can be chosen.
///
/// # Errors
/// Always.
pub fn set_allowed_cpus(_: &[u32]) -> Result<(), Errno> {
    Err(Errno(0))
}

/// Not known.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    None
}

/// The standard library's monotonic clock, from the first call on.
#[derive(Debug)]
pub(crate) struct Timeline(());

impl Timeline {
    pub(crate) const fn new() -> Self {
        Self(())
    }

    /// The time in ns.
    ///
    /// # Errors
    /// None.
    pub(crate) fn now_ns(&self) -> Result<u64, Errno> {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        Ok(ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64)
    }

    /// The standard library's wall clock in ns since the Unix epoch.
    ///
    /// # Errors
    /// None.
    pub(crate) fn wall_ns(&self) -> Result<i64, Errno> {
        Ok(match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as i64,
            Err(before) => -(before.duration().as_nanos() as i64),
        })
    }

    pub(crate) fn is_monotonic(&self) -> bool {
        true
    }

    /// Nothing is stated.
    pub(crate) fn tick_ns(&self, _: bool) -> u64 {
        1
    }

    /// Not known.
    pub(crate) fn suspended_ns(&self) -> Option<u64> {
        None
    }

    /// Not announced.
    pub(crate) fn raw_ns(&self) -> Option<u64> {
        None
    }

    pub(crate) fn disruptions(&self) -> Option<u64> {
        None
    }

    /// Not known.
    pub(crate) fn current_cpu(&self) -> Option<u32> {
        None
    }

    pub(crate) fn prepare(&self, _: bool) {}

    pub(crate) fn counter_is_disabled(&self) {}
}

/// Nothing can be wiped.
///
/// # Safety
/// None is needed.
#[allow(unsafe_code, reason = "the signature of the other backends")]
pub(crate) unsafe fn wipe_on_fork<T>(_: &'static T) -> bool {
    true
}

pub(crate) fn call_in_child(_: extern "C" fn()) {}

/// Nothing disables the counter.
pub(crate) fn survive_disabled_counter(_: fn()) -> Result<(), Errno> {
    Err(Errno(0))
}

/// Civil time, whose error nobody states.
pub(crate) fn civil() -> Result<State, Errno> {
    let now = SystemTime::now();
    let unix_ns = match now.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    };
    Ok(State::unsynchronized(unix_ns))
}

/// There is no errno to be kept.
pub(crate) fn keep_errno<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Nothing says that the wall clock was set.
#[derive(Debug)]
pub(crate) struct ClockSet(core::convert::Infallible);

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the other backends' answers")]
pub(crate) enum Woken {
    InTime,
    ByClock,
    ByThread,
}

impl ClockSet {
    pub(crate) fn new() -> Option<Self> {
        None
    }

    pub(crate) fn wait(&self, _: std::time::Duration) -> Woken {
        match self.0 {}
    }

    pub(crate) fn wake(&self) {
        match self.0 {}
    }
}
