//! Systems that this crate does not know: only the clocks of Rust's standard library are read
//! there.

pub(super) mod clock {
    use std::sync::OnceLock;
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use crate::Errno;

    /// The standard library's monotonic clock, from the first call on: other processes have other
    /// timelines.
    pub(in super::super) fn monotonic_ns() -> Result<u64, Errno> {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        Ok(ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64)
    }

    /// The standard library's wall clock.
    pub(in super::super) fn wall_ns() -> Result<i64, Errno> {
        Ok(match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as i64,
            Err(before) => -(before.duration().as_nanos() as i64),
        })
    }

    /// None is known.
    pub(in super::super) fn boot_ns() -> Result<i64, Errno> {
        Err(Errno::UNSUPPORTED)
    }

    /// Nothing is stated.
    pub(in super::super) fn nominal_tick_ns() -> u64 {
        1
    }

    /// It is not known.
    pub(in super::super) fn suspended_ns() -> Option<u64> {
        None
    }
}

#[cfg(any(unix, windows))]
pub use super::process::process;
pub use super::single_call::{Timeline, kernel_clock};
#[cfg(not(any(unix, windows)))]
pub use super::unsupported::process;
pub use super::unsupported::{
    ClockSet, allowed_cpus, call_in_child, clocksource, counter_is_accepted, counter_is_clocksource,
    counter_is_permitted, current_cpu, keep_errno, perf_frequency, set_allowed_cpus, survive_disabled_counter,
    wipe_on_fork,
};

/// Name of the timeline's clock.
pub const TIMELINE: &str = "std::time::Instant";
