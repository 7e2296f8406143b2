//! Windows.

mod affinity;
pub(super) mod clock;
mod counter;
mod last_error;

pub use super::process::process;
pub use super::single_call::{Timeline, kernel_clock};
pub use super::unsupported::{
    ClockSet, call_in_child, clocksource, counter_is_clocksource, counter_is_permitted, no_fork as wipe_on_fork,
    perf_frequency, survive_disabled_counter,
};
pub use affinity::{allowed_cpus, current_cpu, set_allowed_cpus};
pub use counter::counter_is_accepted;
pub use last_error::keep_errno;

/// Name of the timeline's clock.
pub const TIMELINE: &str = "QueryPerformanceCounter";
