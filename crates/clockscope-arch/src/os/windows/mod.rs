//! Windows.

pub(super) mod clock;
mod counter;
mod last_error;

pub use super::lacking::{
    ClockSet, allowed_cpus, call_in_child, clocksource, counter_is_clocksource, counter_is_permitted, current_cpu,
    no_fork as wipe_on_fork, perf_frequency, set_allowed_cpus, survive_disabled_counter,
};
pub use super::plain::{Timeline, civil};
pub use super::process::process;
pub use counter::counter_is_accepted;
pub use last_error::keep_errno;

/// Name of the timeline's clock.
pub const TIMELINE: &str = "QueryPerformanceCounter";
